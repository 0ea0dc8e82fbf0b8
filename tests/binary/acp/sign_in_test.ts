/** Ways to a usable model (acp.md C1, C2): signing in, the names the program is started under, another handshake. */
import config from "../../../deno.json" with { type: "json" };
import { calls, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, programCommand, runProgram } from "../../support/program.ts";

Deno.test("C2: authenticate reads .env and the configuration again: -32000 until the provider can be used", async () => {
  const key = "zz-UNIQUE-0123456789abcdef";
  await using model = await startModelServer({ respond: () => "hi", key });
  await using rig = await makeRig({ config: { model: { default: "x/y", provider: "openrouter" } } });
  await using acp = startAcp(rig);
  const { authMethods } = await acp.initialize();
  assertEquals(authMethods.map((one: { id: string }) => one.id), ["hermes-credentials", "builtin-demo"]);
  const answerTo = async (methodId: string) => {
    const { error, result } = await acp.ask("authenticate", { methodId });
    return error ? [error.code, error.data] : [result];
  };
  const required = [-32000, {
    authMethods: ["hermes-credentials", "builtin-demo"],
    hint: "hermes acp --setup",
  }];
  assertEquals(await answerTo("hermes-credentials"), required);
  // Tolerated although it was not offered.
  assertEquals(await answerTo("hermes-setup"), required);
  await Deno.writeTextFile(`${rig.home}/.env`, "OPENROUTER_API_KEY=sk-or-0123456789abcdef\n");
  assertEquals(await answerTo("hermes-credentials"), [{}]);
  await Deno.writeTextFile(`${rig.home}/.env`, "");
  assertEquals(await answerTo("hermes-credentials"), required);
  // What a set-up in a terminal would have written meanwhile.
  await Deno.writeTextFile(`${rig.home}/.env`, `CUSTOM_API_KEY=${key}\n`);
  const custom = { default: "scripted", provider: "custom", base_url: model.url, api_key: key };
  await rig.writeConfig({ model: custom });
  assertEquals(await answerTo("hermes-setup"), [{}]);
  const sessionId = await acp.newSession(rig.workspace);
  assertEquals((await acp.prompt(sessionId, "hello")).stopReason, "end_turn");
});

Deno.test("acp 7: without a home, a client of the older terminal sign-in has its answer within 5 s, as the first line", async () => {
  await using rig = await makeRig();
  const started = performance.now();
  await using acp = startAcp(rig, { env: { HOME: "/nonexistent", HERMES_HOME: "" } });
  const { authMethods } = await acp.initialize({ _meta: { "terminal-auth": true } });
  assertWithin(performance.now() - started, 5_000);
  assertEquals(acp.frames[0]!.frame.id, 1);
  const [setup] = authMethods;
  assertEquals(Object.keys(setup).sort(), ["_meta", "description", "id", "name"]);
  assertEquals(setup._meta, {
    "terminal-auth": {
      label: "Configure Hermes provider",
      command: programCommand()[0],
      args: ["acp", "--setup"],
    },
  });
});

Deno.test("C2: the capabilities of the last initialize count", async () => {
  const turns = [calls(["clarify", { question: "Which?", choices: ["a", "b"] }]), "ok"];
  await withAcp({ turns, capabilities: { elicitation: { form: {} } } }, async ({ acp, sessionId }) => {
    await acp.initialize({ elicitation: {} });
    acp.onPermission = () => ({ outcome: { outcome: "selected", optionId: "choice-1" } });
    await acp.prompt(sessionId, "ask me");
    assertEquals(acp.requests("elicitation/create"), []);
    assertEquals(acp.requests("session/request_permission").length, 1);
  });
});

Deno.test("C1: --setup replaces the words of the command line, --accept-hooks is taken, both as they are written", async () => {
  await using rig = await makeRig();
  for (const args of [["--setup"], ["acp", "--setup"]]) {
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([code, stdout], [1, ""], args.join(" "));
    assertMatch(stderr, /needs a terminal/);
  }
  const { code, stdout } = await runProgram(["acp", "--accept-hooks", "--check"], { rig });
  assertEquals([code, stdout], [0, "Hermes ACP check OK\n"]);
});

Deno.test({
  name: "C1: started as hermes-acp it is hermes acp",
  // The source has no name of its own.
  ignore: programCommand().length > 1,
  fn: async () => {
    await using rig = await makeRig();
    const path = `${rig.home}/hermes-acp`;
    const run = async (...args: string[]) => {
      const child = new Deno.Command(path, { args, env: rig.env, clearEnv: true, stdin: "null" });
      const { code, stdout } = await child.output();
      return { code, stdout: new TextDecoder().decode(stdout) };
    };
    const program = programCommand()[0]!;
    for (const make of [Deno.copyFile, ...Deno.build.os === "linux" ? [Deno.symlink] : []]) {
      await make(program, path);
      assertEquals(await run("--version"), { code: 0, stdout: `${config.version}\n` }, make.name);
      assertEquals(await run("--check"), { code: 0, stdout: "Hermes ACP check OK\n" });
      // It serves: the end of input ends it, without a word.
      assertEquals(await run(), { code: 0, stdout: "" });
      assert((await run("--bogus")).code === 2);
      // What it starts itself for is none of the door's options: there is no image, and no such database.
      assertEquals([(await run("image-fit", "9", "9")).code, (await run("fold-back", "/no.db")).code], [
        1,
        1,
      ]);
      await Deno.remove(path);
    }
  },
});
