/** The dialog of `hermes setup` on a terminal: arrow keys, an endpoint's own models, a wrong key, leaving. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";
import { hasTerminal, KEY, type OnTerminal, onTerminal } from "./terminal_rig.ts";

const UP = "\x1b[A";

function terminalTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: !hasTerminal, fn: run });
}

/** "Another endpoint" is the third from below, whatever was found on this machine. */
async function chooseEndpoint(terminal: OnTerminal, url: string, key: string): Promise<void> {
  await terminal.see(/Where should the model come from\?/);
  await terminal.see(/More providers/);
  for (let i = 0; i < 3; i++) await terminal.send(UP);
  await terminal.see(/● .*Another endpoint/);
  await terminal.send(KEY.enter);
  await terminal.see(/Base URL/);
  await terminal.send(url + KEY.enter);
  await terminal.see(/API key/);
  await terminal.send(key + KEY.enter);
}

terminalTest(
  "setup on a terminal offers the endpoint's own models, and what was chosen is used",
  async () => {
    await using server = await startModelServer({
      respond: () => "hi",
      key: "right",
      models: ["one", "two"],
    });
    await using rig = await makeRig();
    await using terminal = onTerminal(["setup"], { rig });
    await chooseEndpoint(terminal, server.url, "right");
    await terminal.see(/Model[\s\S]*one[\s\S]*two/);
    await terminal.send("\x1b[B" + KEY.enter);
    await terminal.see(/✓ answered in/);
    assertEquals(await terminal.exitCode, 0);
    assertEquals(terminal.screen().includes("right"), false);
    assertEquals((await runProgram(["config", "get", "model.default"], { rig })).stdout, "two\n");
    assertEquals((await runProgram(["run", "hello"], { rig })).stdout, "hi\n");
  },
);

terminalTest("setup on a terminal with a wrong key says so and leaves nothing behind", async () => {
  await using server = await startModelServer({ respond: () => "hi", key: "right", models: ["one", "two"] });
  await using rig = await makeRig();
  await using terminal = onTerminal(["setup"], { rig });
  await chooseEndpoint(terminal, server.url, "wrong");
  await terminal.see(/no list of its models[\s\S]*Model name/);
  await terminal.send("one" + KEY.enter);
  await terminal.see(/✗ [\s\S]*401[\s\S]*Keep this setting/);
  await terminal.send(KEY.enter);
  await terminal.see(/nothing was changed/);
  assertEquals(await terminal.exitCode, 1);
  assertEquals(await Deno.readTextFile(`${rig.home}/.env`), "");
  assertEquals([...Deno.readDirSync(rig.home)].some(({ name }) => name === "config.jsonc"), false);
});

for (const [name, keys] of [["Ctrl-C", KEY.ctrlC], ["Ctrl-D", "\x04"]] as const) {
  terminalTest(`setup on a terminal is left by ${name}, exit 1, and writes nothing`, async () => {
    await using rig = await makeRig();
    await using terminal = onTerminal(["setup"], { rig, after: "stty -a" });
    await terminal.see(/More providers/);
    await terminal.send(keys);
    await terminal.see(/cancelled; nothing was changed/);
    assertEquals(await terminal.exitCode, 1);
    assertMatch(terminal.screen(), /[^-]icanon[\s\S]*[^-]echo /);
    assertEquals([...Deno.readDirSync(rig.home)].some(({ name }) => name === "config.jsonc"), false);
  });
}
