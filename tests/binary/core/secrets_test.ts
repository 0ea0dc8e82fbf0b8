/** A key is never seen: FC-26. Everything the program writes anywhere is searched for it. */
import { calling, type Json, lastResult, shell, textsBelow } from "../../support/core_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

const KEY = "zz-UNIQUE-0123456789abcdef";
const LEAK = { steps: [{ error: { status: 401, message: `Incorrect API key provided: ${KEY}.` } }] };
const LOUD = { logging: { level: "DEBUG" }, agent: { api_max_retries: 1 } };

/** Files below the rig that hold the key, except where the user put it. */
async function leaks(home: string, allowed: string): Promise<string[]> {
  const found = await textsBelow(home.replace(/\/home$/, ""));
  return found.filter((file) => file.text.includes(KEY) && !file.path.endsWith(allowed)).map((file) =>
    file.path
  );
}

const PLACES: readonly [string, string][] = [["the config", "home/config.jsonc"], [".env", "home/.env"]];
for (const [place, file] of PLACES) {
  Deno.test(`FC-26: a provider key in ${place} is found nowhere else, whatever tools and provider do`, async () => {
    const commands = [
      "env",
      "cat /proc/self/environ | tr '\\0' '\\n'",
      "cat $HERMES_HOME/.env $HERMES_HOME/config.jsonc",
    ];
    await using model = await startModelServer({
      turns: [calling(...commands.map((command) => shell(command))), `The key is ${KEY}.`, LEAK],
    });
    const config = modelConfig(model.url, LOUD) as Json;
    config.model.api_key = place === ".env" ? "${MY_KEY}" : KEY;
    await using rig = await makeRig({ config });
    if (place === ".env") await Deno.writeTextFile(`${rig.home}/.env`, `MY_KEY=${KEY}\n`, { mode: 0o600 });
    const host = await startGateway({ rig });
    const { sid } = await host.session({ cwd: rig.workspace });
    await host.turn(sid, "go");
    const failed = await host.turn(sid, "fail");
    assertEquals(failed.status, "error");
    assertMatch(failed.text, /401/);
    assertEquals(model.calls()[0]!.headers["authorization"], `Bearer ${KEY}`);
    assertEquals(JSON.stringify(model.calls().map((request) => request.body)).includes(KEY), false);
    const { stderr } = await host.end();
    assertEquals(stderr.includes(KEY), false);
    assertEquals(host.lines.filter((line) => line.includes(KEY)), []);
    assertEquals(await leaks(rig.home, file), []);
  });
}

Deno.test("FC-26: a key of the environment reaches no tool, no output and no file", async () => {
  await using model = await startModelServer({ turns: [calling(shell("env")), "ok", LEAK] });
  await using rig = await makeRig({
    config: { ...LOUD, providers: { box: { base_url: model.url, key_env: "BOX_API_KEY", model: "m" } } },
    env: { BOX_API_KEY: KEY },
  });
  const args = ["run", "--json", "--model", "custom:box:m", "--yolo"];
  const first = await runProgram([...args, "go"], { rig });
  const second = await runProgram([...args, "fail"], { rig });
  assertEquals([first.code, second.code], [0, 1]);
  assertEquals(model.calls()[0]!.headers["authorization"], `Bearer ${KEY}`);
  assertEquals(/BOX_API_KEY/.test(lastResult(model.calls()[1]).output), false);
  for (const { stdout, stderr } of [first, second]) {
    assertEquals([stdout.includes(KEY), stderr.includes(KEY)], [false, false]);
  }
  assertEquals(await leaks(rig.home, "(nowhere)"), []);
});

Deno.test("FC-26: a key that comes in pieces is shown by no door, neither in text nor in thoughts", async () => {
  const pieces = ["The key is zz-UNI", "QUE-0123456", "789abcdef, so ", "what"];
  const turn = { steps: [{ reasoning: `They want ${KEY}` }, ...pieces.map((text) => ({ text }))] };
  await using model = await startModelServer({ turns: [turn, turn] });
  const config = modelConfig(model.url, LOUD) as Json;
  config.model.api_key = KEY;
  await using rig = await makeRig({ config });
  await using host = await startGateway({ rig });
  const { sid } = await host.session({ cwd: rig.workspace });
  await host.turn(sid, "go");
  const deltas = host.events.filter((event) => event.type === "message.delta");
  const parts = deltas.map((event) => event.payload.text).join("");
  assertEquals(parts, "The key is zz-UNI...cdef, so what");
  assertEquals(host.lines.filter((line) => line.includes(KEY) || line.includes("0123456")), []);
  const run = await runProgram(["run", "--json", "go"], { rig });
  assertEquals([run.code, run.stdout.includes("0123456")], [0, false]);
  assertEquals(await leaks(rig.home, "home/config.jsonc"), []);
});
