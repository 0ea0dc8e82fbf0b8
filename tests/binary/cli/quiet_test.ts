/** `HERMES_QUIET` (core.md E.5 Debug): no progress, notice or banner on stderr; errors and warnings are still told. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram, startProgram } from "../../support/program.ts";
import { hasTerminal, KEY, onTerminal } from "./terminal_rig.ts";

const QUIET = { HERMES_QUIET: "1" };
const LOOK: ScriptTurn = { steps: [{ tool: "terminal", args: { command: "echo seen" } }] };
const ASKS: ScriptTurn = { steps: [{ tool: "terminal", args: { command: "rm -rf build" } }] };

Deno.test("E.5 HERMES_QUIET: chat in a pipe tells no progress, but questions and failures", async () => {
  const turns: ScriptTurn[] = [LOOK, "Done.", ASKS, "Left.", { steps: [{ error: { status: 401 } }] }];
  const stderrOf = async (env: Record<string, string>) => {
    await using server = await startModelServer({ turns });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    const { code, stdout, stderr } = await runProgram(["chat"], {
      rig,
      env,
      input: "look\nclean\ndeny\nfail\n",
    });
    assertEquals([code, stdout], [1, "Done.\nLeft.\n"]);
    return stderr;
  };
  assertMatch(await stderrOf({ HERMES_QUIET: "0" }), /echo seen/);
  const quiet = await stderrOf(QUIET);
  assert(!quiet.includes("echo seen"), quiet);
  assertMatch(quiet, /May this run\?[\s\S]*rm -rf build[\s\S]*failed: .*401/);
});

Deno.test("E.5 HERMES_QUIET: gateway leaves without a word; what goes wrong is still told", async () => {
  await using rig = await makeRig();
  const stderrOf = async (env: Record<string, string>) => {
    await using host = await startGateway({ rig, env, args: ["--demo"] });
    await host.session();
    return (await host.end()).stderr;
  };
  assertMatch(await stderrOf({}), /^\[gateway-exit\] stdin EOF/m);
  assertEquals(await stderrOf(QUIET), "");
  await Deno.writeTextFile(`${rig.home}/config.jsonc`, '{ "approvals": { "timeout": "soon" } }');
  const { stderr } = await runProgram(["run", "--demo", "hi"], { rig, env: QUIET });
  assertMatch(stderr, /warning: .*approvals\.timeout/);
});

Deno.test("E.5 HERMES_QUIET: serve shows a new key, which is told only once, and nothing around it", async () => {
  await using rig = await makeRig();
  const child = startProgram(["serve", "--demo", "--port", "0"], { rig, env: QUIET });
  let [out, err] = ["", ""];
  const reading = Promise.all([
    (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) out += text;
    })(),
    (async () => {
      for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) err += text;
    })(),
  ]);
  await eventually(() => out.includes("listening on") || undefined, 15_000, "the ready line");
  child.kill("SIGTERM");
  await child.stdin.close();
  assertEquals((await child.status).code, 0);
  await reading;
  const [told, key, ...more] = err.trimEnd().split("\n");
  assertMatch(told!, /^No API key was set\. Made one/);
  assertMatch(key!, /^ {2}\S{20,}$/);
  assertEquals(more, []);
});

Deno.test({
  name: "E.5 HERMES_QUIET: chat on a terminal has no banner, and a stdio server by hand no hint",
  ignore: !hasTerminal,
  fn: async () => {
    await using rig = await makeRig();
    {
      await using terminal = onTerminal(["chat", "--demo"], { rig, env: QUIET });
      await terminal.see(/› /);
      assert(!terminal.screen().includes("/help lists commands"), terminal.screen());
      await terminal.send(KEY.ctrlD);
      assertEquals(await terminal.exitCode, 0);
    }
    await using terminal = onTerminal(["gateway", "--demo"], { rig, env: QUIET });
    await terminal.see(/gateway\.ready/);
    await terminal.send(KEY.ctrlD);
    assertEquals(await terminal.exitCode, 0);
    assert(!terminal.screen().includes("waits for"), terminal.screen());
  },
});
