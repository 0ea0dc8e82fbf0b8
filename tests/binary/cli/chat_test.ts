/** `hermes chat` in a pipe: line by line, approvals included. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

const REMOVE: ScriptTurn = { steps: [{ tool: "terminal", args: { command: "rm -rf build" } }] };

Deno.test("chat in a pipe answers every line in one session, stdout carries the agent's words only", async () => {
  await using server = await startModelServer({ turns: ["First.", "Second."] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const { code, stdout } = await runProgram(["chat"], { rig, input: "one\n\ntwo\n" });
  assertEquals([code, stdout], [0, "First.\nSecond.\n"]);
  const users = (server.calls()[1]!.body.messages as { role: string; content: string }[])
    .filter((message) => message.role === "user").map((message) => message.content);
  assertEquals(users, ["one", "two"]);
});

Deno.test("chat in a pipe takes the next line as the answer to a question", async () => {
  for (const [answer, isThere] of [["once", false], ["deny", true]] as const) {
    await using server = await startModelServer({ turns: [REMOVE, "Finished."] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await Deno.mkdir(`${rig.workspace}/build`);
    const { code, stdout, stderr } = await runProgram(["chat"], { rig, input: `clean\n${answer}\n` });
    assertEquals([code, stdout], [0, "Finished.\n"]);
    assertMatch(stderr, /May this run\?[\s\S]*rm -rf build/);
    assertEquals([...Deno.readDirSync(rig.workspace)].length, isThere ? 1 : 0);
  }
});

Deno.test("chat never takes an empty line, an unknown word or the end of input for consent", async () => {
  await using server = await startModelServer({ turns: [REMOVE, "Finished."] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  await Deno.mkdir(`${rig.workspace}/build`);
  const { code } = await runProgram(["chat"], { rig, input: "clean\n\nmaybe\n" });
  assertEquals(code, 3);
  assertEquals([...Deno.readDirSync(rig.workspace)].map((entry) => entry.name), ["build"]);
});

Deno.test("chat knows /commands, and says what is near an unknown one", async () => {
  await using rig = await makeRig();
  const { code, stderr } = await runProgram(["chat", "--demo"], {
    rig,
    input: "/hlep\n/help\n/quit\nnot read\n",
  });
  assertEquals(code, 1);
  assertMatch(stderr, /unknown command \/hlep; did you mean \/help\?/);
  assertMatch(stderr, /\/model/);
  assertMatch(stderr, /\/quit/);
});

Deno.test("FC-04: chat shows a failed turn and exits 1 in a pipe", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ error: { status: 401 } }] }, "ok"] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const { code, stdout, stderr } = await runProgram(["chat"], { rig, input: "one\ntwo\n" });
  assertEquals([code, stdout], [1, "ok\n"]);
  assertMatch(stderr, /failed: .*401/);
});

Deno.test("core 74: chat with nothing configured says what to do, exit 1", async () => {
  await using rig = await makeRig();
  const { code, stdout, stderr } = await runProgram(["chat"], { rig, input: "hi\n" });
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /hermes setup/);
});

Deno.test("core 74: builtin:script plays its turns through chat", async () => {
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/turns.jsonc`, '{ "turns": ["from the script"] }');
  const { code, stdout } = await runProgram(["chat", "--model", "builtin:script:./turns.jsonc"], {
    rig,
    input: "hi\n",
  });
  assertEquals([code, stdout], [0, "from the script\n"]);
});
