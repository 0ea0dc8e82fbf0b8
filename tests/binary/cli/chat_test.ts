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

Deno.test("core B.11, H.2: chat has /skills, and each skill is a command of its own", async () => {
  await using server = await startModelServer({ turns: ["shipped"] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const skill = async (path: string, name: string) => {
    await Deno.mkdir(path, { recursive: true });
    await Deno.writeTextFile(
      `${path}/SKILL.md`,
      `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo ${name}.\n`,
    );
  };
  await skill(`${rig.home}/skills/deploy`, "deploy");
  await skill(`${rig.workspace}/kit/draw`, "draw");
  const input = [
    "/skills",
    `/skills browse ${rig.workspace}/kit`,
    `/skills install ${rig.workspace}/kit/draw`,
    "/skills search draw",
    "/deploy to the test server",
    "/deplo",
  ].join("\n") + "\n";
  const { code, stdout, stderr } = await runProgram(["chat"], { rig, input });
  assertEquals([code, stdout], [1, "shipped\n"]);
  assertMatch(stderr, /1 skill:\n\/deploy: Does deploy\./);
  assertMatch(stderr, /draw: Does draw\. \(.*kit/);
  assertMatch(stderr, /Installed draw in .*\/skills\/draw\. \/draw runs it\.\ndraw: Does draw\./);
  assertMatch(stderr, /unknown command \/deplo; did you mean \/deploy\?/);
  const { content } = (server.calls()[0]!.body.messages as { content: string }[]).at(-1)!;
  assertMatch(content, /Do deploy\.[\s\S]*to the test server/);
});

Deno.test("core F.10: chat has /fast, for models that have a fast mode and in words for others", async () => {
  await using server = await startModelServer({ turns: ["one", "two"], models: ["gpt-5.5"] });
  await using rig = await makeRig();
  const env = { OPENAI_API_KEY: "sk-test-0123456789", OPENAI_BASE_URL: server.url };
  const { stderr } = await runProgram(["chat", "--model", "openai-api:gpt-5.5"], {
    rig,
    env,
    input: "/fast\n/fast on\n/fast\n/fast toggle\n/fast maybe\n",
  });
  assertEquals(stderr.trimEnd().split("\n"), [
    "Mode: normal",
    "Mode: fast",
    "Mode: fast",
    "Mode: normal",
    "Usage: /fast [normal|fast|toggle|status]",
  ]);
  const demo = await runProgram(["chat", "--demo"], { rig, input: "/fast on\n" });
  assertEquals([demo.code, demo.stderr], [1, "The model demo has no fast mode\n"]);
});

Deno.test("core H.2: /compact in chat previews, keeps the last turns, and refuses an option that is none", async () => {
  await using server = await startModelServer({
    respond: (request) =>
      JSON.stringify(request.body.messages).includes("Summarise the conversation") ? "THE SUMMARY" : "ok",
  });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const { stdout, stderr } = await runProgram(["chat"], {
    rig,
    input: "a\nb\nc\n/compact --preview here\n/compact --all\n/compact here\n",
  });
  const told = stdout + stderr;
  assertMatch(told, /Preview, nothing was changed: 6 → 3 messages[\s\S]*Kept: your last turn/);
  assertMatch(told, /\/compress has no option --all: use a topic, here,/);
  assertMatch(told, /Compressed: 6 → 3 messages/);
  assertEquals(server.calls().length, 4);
});
