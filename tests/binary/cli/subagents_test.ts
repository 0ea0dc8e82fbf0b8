/** Subagents in `hermes run` and `hermes chat` (core row 71). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ModelServerRequest, type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

function respond(request: ModelServerRequest): ScriptTurn {
  const { messages } = request.body;
  const isChild = messages.some((one: Json) =>
    one.role === "system" && one.content.includes("You are a subagent")
  );
  const isTold = messages.at(-1).role === "tool";
  if (isChild) return isTold ? "counted 7" : { steps: [{ tool: "todo", args: {} }] };
  return isTold ? "there are 7" : { steps: [{ tool: "delegate_task", args: { goal: "count" } }] };
}

async function run(args: string[], input = "") {
  await using model = await startModelServer({ respond });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  return await runProgram(args, { rig, input });
}

Deno.test("run --json tells every step of a child between the call and its end", async () => {
  const { code, stdout } = await run(["run", "--json", "go"]);
  assertEquals(code, 0);
  const lines: Json[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
  const steps = lines.filter((line) => line.type === "subagent");
  assertEquals(steps.map((line) => line.phase), [
    "spawn_requested",
    "start",
    "tool",
    "text",
    "progress",
    "complete",
  ]);
  assertEquals(new Set(steps.map((line) => line.subagent_id)).size, 1);
  const end = steps.at(-1);
  assertEquals(
    [end.status, end.exit_reason, end.summary, end.api_calls, end.depth, end.parent_id, end.tool_count],
    ["completed", "completed", "counted 7", 2, 0, null, 1],
  );
  const at = (type: string) => lines.findIndex((line) => line.type === type);
  assert(at("tool.start") < lines.indexOf(steps[0]) && lines.indexOf(end) < at("tool.end"));
  const result = lines.at(-1);
  assertEquals([result.text, result.api_calls], ["there are 7", 4]);
});

Deno.test("chat shows a child as lines under the call that ordered it", async () => {
  const { stdout, stderr } = await run(["chat"], "go\n");
  assertEquals(stdout.trim(), "there are 7");
  assertMatch(
    stderr,
    /delegate: count\n {2}◦ subagent: count\n {2}· subagent: todo.*\n {2}✓ subagent completed, /,
  );
});

Deno.test("what a child changed is put back with the turn that it worked for", async () => {
  await using model = await startModelServer({
    respond: (request) => {
      const { messages } = request.body;
      const isChild = messages.some((one: Json) =>
        one.role === "system" && one.content.includes("You are a subagent")
      );
      const isTold = messages.at(-1).role === "tool";
      if (isTold) return "done";
      return {
        steps: [
          isChild
            ? { tool: "write_file", args: { path: "new.txt", content: "made" } }
            : { tool: "delegate_task", args: { goal: "write" } },
        ],
      };
    },
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const path = `${rig.workspace}/new.txt`;
  const ran = await runProgram(["run", "--json", "-C", rig.workspace, "go"], { rig });
  const { session_id } = JSON.parse(ran.stdout.trim().split("\n").at(-1)!);
  assertEquals(await Deno.readTextFile(path), "made");
  const restored = await runProgram(["sessions", "restore", session_id], { rig });
  assertEquals(restored.code, 0, restored.stderr);
  assertEquals(await Deno.stat(path).then(() => true, () => false), false);
});
