/** `terminal.home_mode` (core.md E.4): HOME of what runs for the model, in the real program. */
import { assertEquals } from "../../support/assert.ts";
import { call, calling, type Json, results, shell, withCore } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram } from "../../support/program.ts";

const outputs = (request: Json) => results(request).map((text) => JSON.parse(text).output?.trim());

Deno.test("auto: the user's HOME, and the data home's directory once that is there", async () => {
  await using model = await startModelServer({ turns: [calling(shell("echo $HOME")), "ok"], loop: true });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await runProgram(["run", "go"], { rig });
  await Deno.mkdir(`${rig.home}/home`);
  await runProgram(["run", "go"], { rig });
  await rig.writeConfig(modelConfig(model.url, { terminal: { home_mode: "real" } }));
  await runProgram(["run", "go"], { rig });
  const homes = [1, 3, 5].map((n) => outputs(model.calls()[n])[0]);
  assertEquals(homes, [rig.env["HOME"], `${rig.home}/home`, rig.env["HOME"]]);
  assertEquals(
    [0, 2, 4].map((n) => model.calls()[n]!.body.messages[0].content.includes("HOME of commands:")),
    [false, true, false],
  );
});

Deno.test("profile: made private with the first command, and not before; background commands have it, too", async () => {
  await withCore({
    model: {
      turns: [
        calling(call("read_file", { path: "a.txt" })),
        "read",
        calling(shell("echo $HOME; cd; pwd -P; touch x; ls")),
        calling(shell("echo $HOME > home.txt", { background: true })),
        "ok",
      ],
    },
    config: { terminal: { home_mode: "profile" } },
  }, async ({ rig, host, model, open }) => {
    const { sid } = await open();
    const own = `${rig.home}/home`;
    await host.turn(sid, "read");
    assertEquals(await exists(own), false);
    await host.turn(sid, "go");
    assertEquals(outputs(model.calls()[3]).at(-1), [own, own, "x"].join("\n"));
    assertEquals((await Deno.stat(own)).mode! & 0o777, 0o700);
    assertEquals(await exists(`${rig.env["HOME"]}/x`), false);
    const written = await eventually(() => Deno.readTextFile(`${own}/home.txt`).catch(() => undefined));
    assertEquals(written, `${own}\n`);
  });
});

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
