/** README "Exit code": what is wrong in an argument is 2 in every command, once on stderr, and leaves nothing behind. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const BAD: readonly (readonly [args: readonly string[], said: RegExp])[] = [
  [["run", "--demo", "-C", "/nope", "hi"], /--cwd \/nope is not a directory/],
  [["run", "--demo", "--session", "nope", "hi"], /"nope"/],
  [["run", "--provider", "nope", "hi"], /Unknown provider "nope"/],
  [["chat", "--demo", "-C", "/nope"], /--cwd \/nope is not a directory/],
  [["chat", "--demo", "--session", "nope"], /"nope"/],
  [["chat", "--provider", "nope"], /Unknown provider "nope"/],
  [["sessions", "show", "nope"], /"nope"/],
  [["sessions", "delete", "nope"], /"nope"/],
  [["sessions", "export", "nope"], /"nope"/],
  [["sessions", "restore", "nope"], /"nope"/],
  [["audit", "--session", "nope"], /"nope"/],
  [["config", "get", "nope.key"], /"nope\.key"/],
  [["config", "unset", "nope.key"], /"nope\.key"/],
  [["config", "set", "approvals.timeout", "soon"], /wanted an integer/],
  [["config", "set", "approvals.mode", "maybe"], /wanted one of/],
  [["policy", "explain", "--cwd", "/nope", "ls"], /--cwd \/nope is not a directory/],
  [["setup", "--provider", "nope", "--model", "x"], /Unknown provider "nope"/],
  [["mcp", "remove", "nope"], /"nope"/],
  [["mcp", "test", "nope"], /"nope"/],
  [["mcp", "add", "desk", "http://mcp.example/mcp", "--oauth"], /needs an https:\/\/ address/],
];

Deno.test("a name, a value or a directory that is none is exit 2 in every command, stdout stays empty", async () => {
  await using rig = await makeRig();
  for (const [args, said] of BAD) {
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
    assertMatch(stderr, said);
  }
});

Deno.test("a provider that the configuration names wrongly is no fault of the arguments: exit 1", async () => {
  await using rig = await makeRig({ config: { model: { provider: "nope", default: "x" } } });
  const { code, stderr } = await runProgram(["run", "hi"], { rig });
  assertEquals(code, 1);
  assertMatch(stderr, /Unknown provider "nope"/);
});

Deno.test("core D.1: a setup that fails leaves no profile behind; one that writes makes it", async () => {
  await using rig = await makeRig();
  const closed = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  closed.close();
  const server = `http://127.0.0.1:${closed.addr.port}/v1`;
  const setup = (...more: string[]) =>
    runProgram([
      "-p",
      "office",
      "setup",
      "--provider",
      "custom",
      "--base-url",
      server,
      "--model",
      "m",
      ...more,
    ], {
      rig,
    });
  assertEquals((await setup()).code, 1);
  assertEquals([...Deno.readDirSync(rig.home)], []);
  assertEquals(
    (await runProgram(["-p", "office", "setup", "--provider", "nope", "--model", "m"], { rig })).code,
    2,
  );
  assertEquals([...Deno.readDirSync(rig.home)], []);
  assertEquals((await setup("--no-test")).code, 0);
  assert(Deno.statSync(`${rig.home}/profiles/office/config.jsonc`).isFile);
  // What was there before stays when the next one fails.
  const before = await Deno.readTextFile(`${rig.home}/profiles/office/config.jsonc`);
  assertEquals((await setup()).code, 1);
  assertEquals(await Deno.readTextFile(`${rig.home}/profiles/office/config.jsonc`), before);
});

Deno.test("core D.1: a data home that cannot be used is told once", async () => {
  await using rig = await makeRig();
  const home = `${rig.workspace}/a-file`;
  await Deno.writeTextFile(home, "");
  for (const args of [["run", "--demo", "hi"], ["chat", "--demo"], ["sessions", "list"], ["audit"]]) {
    const { code, stdout, stderr } = await runProgram(args, {
      rig,
      env: { HERMES_HOME: home },
      input: "hi\nho\n",
    });
    assertEquals([args, code, stdout], [args, 1, ""]);
    assertEquals([args, stderr.split("Cannot use the data home").length - 1], [args, 1]);
    assertEquals(stderr.trimEnd().split("\n").length, 2, stderr);
  }
});
