/** `hermes run` against a scripted model: what goes to stdout, JSON lines, and every exit code. */
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram, startProgram } from "../../support/program.ts";

type Line = Record<string, unknown> & { type: string };

function jsonLines(stdout: string): Line[] {
  return stdout.trim().split("\n").map((line) => JSON.parse(line));
}

async function runScript(
  args: string[],
  turns: ScriptTurn[],
  config: Record<string, unknown> = {},
  input = "",
) {
  await using server = await startModelServer({ turns });
  await using rig = await makeRig({ config: modelConfig(server.url, config) });
  const finished = await runProgram(["run", ...args], { rig, input });
  return { ...finished, calls: server.calls().map((call) => call.body), rig };
}

Deno.test("run prints the answer and nothing else on stdout, exit 0", async () => {
  const { code, stdout, stderr } = await runScript(["say hi"], ["Hello there."]);
  assertEquals({ code, stdout, stderr }, { code: 0, stdout: "Hello there.\n", stderr: "" });
});

Deno.test("run leaves text before a tool call out of the answer in a pipe", async () => {
  const { code, stdout } = await runScript(["go"], [
    { steps: [{ text: "Let me look." }, { tool: "search_files", args: { pattern: "*", target: "files" } }] },
    "All done.",
  ]);
  assertEquals({ code, stdout }, { code: 0, stdout: "All done.\n" });
});

Deno.test("run reads the prompt from stdin, alone or where a dash stands", async () => {
  const alone = await runScript([], ["ok"], {}, "from the pipe\n");
  assertEquals(alone.code, 0);
  assertEquals(alone.calls[0].messages.at(-1), { role: "user", content: "from the pipe" });
  const both = await runScript(["Review:", "-"], ["ok"], {}, "line 1\nline 2\n");
  assertEquals(both.calls[0].messages.at(-1).content, "Review:\n\nline 1\nline 2");
});

Deno.test("run without any prompt is wrong usage, exit 2", async () => {
  const { code, stdout, stderr } = await runScript([], [], {}, "  \n");
  assertEquals([code, stdout], [2, ""]);
  assertMatch(stderr, /the prompt is empty/);
});

Deno.test("run --json prints events with stable fields and ends with the result", async () => {
  const { code, stdout } = await runScript(["--json", "list"], [
    { steps: [{ tool: "search_files", args: { pattern: "*", target: "files" } }] },
    { steps: [{ text: "Two " }, { text: "words" }] },
  ]);
  assertEquals(code, 0);
  const lines = jsonLines(stdout);
  assertEquals(lines[0]!.type, "turn.start");
  assertEquals(lines.filter((line) => line.type === "result").length, 1);
  const result = lines.at(-1)!;
  for (const line of lines.slice(0, -1)) {
    assertEquals([line.session_id, line.turn_id], [result.session_id, result.turn_id]);
    assertEquals(typeof line.seq, "number");
  }
  const seqs = lines.slice(0, -1).map((line) => line.seq as number);
  assertEquals(seqs, [...seqs].sort((a, b) => a - b));
  const start = lines.find((line) => line.type === "tool.start")!;
  const end = lines.find((line) => line.type === "tool.end")!;
  assertEquals([start.tool, end.tool_call_id, end.is_error], ["search_files", start.tool_call_id, false]);
  assertEquals(
    lines.filter((line) => line.type === "text.delta").map((line) => line.text).join(""),
    "Two words",
  );
  assertEquals(
    [result.outcome, result.text, result.exit_code, result.error, result.api_calls, result.model],
    ["completed", "Two words", 0, null, 2, "scripted"],
  );
});

Deno.test("FC-04: run tells a failed turn on stderr and by exit 1", async () => {
  const { code, stdout, stderr } = await runScript(["hi"], [{ steps: [{ error: { status: 401 } }] }]);
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /^hermes: .*401/m);
});

Deno.test("core 74: run with nothing configured exits 1 and names hermes setup and --demo", async () => {
  await using rig = await makeRig();
  const text = await runProgram(["run", "hi"], { rig });
  assertEquals([text.code, text.stdout], [1, ""]);
  assertMatch(text.stderr, /hermes setup/);
  assertMatch(text.stderr, /--demo/);
  const json = await runProgram(["run", "--json", "hi"], { rig });
  const result = jsonLines(json.stdout).at(-1)!;
  assertEquals([json.code, result.type, result.outcome, result.exit_code], [1, "result", "failed", 1]);
  assertMatch((result.error as { message: string }).message, /hermes setup/);
});

Deno.test("run does not do what needs an approval: exit 3, and says what and how to allow it", async () => {
  const turns: ScriptTurn[] = [
    { steps: [{ tool: "terminal", args: { command: "rm -rf build" } }] },
    "I could not.",
  ];
  await using server = await startModelServer({ turns });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  await Deno.mkdir(`${rig.workspace}/build`);
  const { code, stdout, stderr } = await runProgram(["run", "clean"], { rig });
  assertEquals([code, stdout], [3, "I could not.\n"]);
  assertMatch(stderr, /needs an approval[\s\S]*rm -rf build[\s\S]*--yolo/);
  assert((await Deno.stat(`${rig.workspace}/build`)).isDirectory);
});

Deno.test("run --yolo does it, exit 0", async () => {
  const turns: ScriptTurn[] = [{ steps: [{ tool: "terminal", args: { command: "rm -rf build" } }] }, "Done."];
  await using server = await startModelServer({ turns });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  await Deno.mkdir(`${rig.workspace}/build`);
  const { code } = await runProgram(["run", "--yolo", "clean"], { rig });
  assertEquals(code, 0);
  assertEquals([...Deno.readDirSync(rig.workspace)].map((entry) => entry.name), []);
});

Deno.test("run exits 4 when the provider's filter refuses, and when a safety rule blocks even --yolo", async () => {
  const filtered = await runScript(["hi"], [{ steps: [{ text: "I can" }, { finish: "content_filter" }] }]);
  assertEquals(filtered.code, 4);
  assertMatch(filtered.stderr, /filter/);
  const blocked = await runScript(["--yolo", "go"], [
    { steps: [{ tool: "terminal", args: { command: "rm -rf /" } }] },
    "No.",
  ]);
  assertEquals(blocked.code, 4);
  assertMatch(blocked.stderr, /refused by a safety rule/);
});

Deno.test("run exits 5 when a limit ends the turn: turn budget, --timeout", async () => {
  const call: ScriptTurn = { steps: [{ tool: "search_files", args: { pattern: "x" } }] };
  const budget = await runScript(["go"], [call, "A summary."], { agent: { max_turns: 1 } });
  assertEquals(budget.code, 5);
  const started = performance.now();
  const slow = await runScript(["--timeout", "0.5", "go"], [{ steps: [{ stall: true }] }]);
  assertEquals(slow.code, 5);
  assertMatch(slow.stderr, /stopped after 0\.5 s/);
  assertWithin(performance.now() - started, 10_000);
});

Deno.test("run is interrupted by SIGINT: exit 130, the model's connection is closed", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ text: "start" }, { stall: true }] }] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const child = startProgram(["run", "--json", "go"], { rig });
  await child.stdin.close();
  const output = new Response(child.stdout).text();
  const errors = new Response(child.stderr).text();
  await eventually(() => server.calls().length === 1, 15_000, "the model call");
  child.kill("SIGINT");
  const { code } = await child.status;
  assertEquals(code, 130);
  const result = jsonLines(await output).at(-1)!;
  assertEquals([result.outcome, result.exit_code], ["cancelled", 130]);
  assertMatch(await errors, /interrupted/);
  await eventually(() => server.calls()[0]!.aborted, 2_000, "the closed connection");
});

Deno.test("run --session continues a stored session by id, prefix and title, and refuses an unknown one", async () => {
  await using server = await startModelServer({ turns: ["one", "two", "three"] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const first = jsonLines((await runProgram(["run", "--json", "first"], { rig })).stdout).at(-1)!;
  const id = first.session_id as string;
  const second = await runProgram(["run", "--session", id, "second"], { rig });
  assertEquals([second.code, second.stdout], [0, "two\n"]);
  const third = await runProgram(["run", "-s", id.slice(0, -2), "third"], { rig });
  assertEquals([third.code, third.stdout], [0, "three\n"]);
  const users = (server.calls()[2]!.body.messages as { role: string; content: string }[])
    .filter((message) => message.role === "user").map((message) => message.content);
  assertEquals(users, ["first", "second", "third"]);
  const unknown = await runProgram(["run", "--session", "nope", "x"], { rig });
  assertEquals([unknown.code, unknown.stdout], [2, ""]);
  assertMatch(unknown.stderr, /"nope"[\s\S]*hermes sessions list/);
});

Deno.test("run --cwd works in that directory and refuses one that is none", async () => {
  await using rig = await makeRig();
  await Deno.mkdir(`${rig.workspace}/sub`);
  await Deno.writeTextFile(`${rig.workspace}/sub/only-here.txt`, "x");
  const inside = await runProgram(["run", "--demo", "--cwd", "sub", "list files"], { rig });
  assertEquals(inside.code, 0);
  assertMatch(inside.stdout, /only-here\.txt/);
  const missing = await runProgram(["run", "--demo", "--cwd", "gone", "hi"], { rig });
  assertEquals([missing.code, missing.stdout], [2, ""]);
  assertMatch(missing.stderr, /--cwd gone is not a directory/);
});

Deno.test("FC-26: a key that the provider repeats in its error is not shown by run", async () => {
  const key = "zz-UNIQUE-0123456789abcdef";
  await using server = await startModelServer({
    respond: () => ({ steps: [{ error: { status: 401, message: `bad key ${key}` } }] }),
  });
  const config = modelConfig(server.url);
  await using rig = await makeRig({
    config: { ...config, model: { ...config.model as Record<string, unknown>, api_key: key } },
  });
  for (const args of [["run", "hi"], ["run", "--json", "hi"]]) {
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([code, stdout.includes(key), stderr.includes(key)], [1, false, false]);
  }
});

Deno.test("run: --demo together with another choice of model is wrong usage, not a silent choice", async () => {
  await using rig = await makeRig();
  for (const other of [["--provider", "nope"], ["--model", "m"]]) {
    const { code, stdout, stderr } = await runProgram(["run", "--demo", ...other, "hi"], { rig });
    assertEquals([code, stdout], [2, ""]);
    assertMatch(stderr, /--demo is a model of its own: leave out --(provider|model)/);
  }
});
