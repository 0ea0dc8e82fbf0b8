/** Subagents in the HTTP API (api-server.md B4.4, decision 27; core row 71). */
import { assert, assertEquals } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { type ModelServerRequest, type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { ask, eventsOf, namesOf, startRun, statusOf, type Wire } from "./run_scene.ts";

const isChild = (request: ModelServerRequest) =>
  request.body.messages.some((one: Wire) =>
    one.role === "system" && one.content.includes("You are a subagent")
  );

const USAGE = { usage: { prompt_tokens: 10, completion_tokens: 2 } };

function respond(request: ModelServerRequest): ScriptTurn {
  const isTold = request.body.messages.at(-1).role === "tool";
  if (isChild(request)) {
    return { steps: [isTold ? { text: "counted 7" } : { tool: "todo", args: {} }, USAGE] };
  }
  return {
    steps: [isTold ? { text: "there are 7" } : { tool: "delegate_task", args: { goal: "count" } }, USAGE],
  };
}

Deno.test("core 71: a run tells the start and the end of a child, and has its result in the same turn", async () => {
  await using model = await startModelServer({ respond });
  await using api = await startApi({ model });
  const id = await startRun(api);
  const frames = await eventsOf(api, id);
  assertEquals(namesOf(frames), [
    "tool.started",
    "subagent.start",
    "subagent.complete",
    "tool.completed",
    "message.delta",
    "run.completed",
  ]);
  const [, start, end] = frames.flatMap((frame) => frame.json ? [frame.json] : []);
  assertEquals(
    [start.goal, start.task_index, start.task_count, start.depth, start.model],
    ["count", 0, 1, 0, "scripted"],
  );
  assert(!("parent_id" in start), "nulls are left out");
  assertEquals(
    [end.subagent_id, end.status, end.summary, end.api_calls, end.tool_count, end.output_tail.length],
    [start.subagent_id, "completed", "counted 7", 2, 1, 1],
  );
  const status = await statusOf(api, id);
  assertEquals(status.output, "there are 7");
  const { body } = await ask(api, "/api/sessions");
  assertEquals(body.data.length, 1);
});

Deno.test("core 71: a chat completion waits for its children and counts their tokens", async () => {
  await using model = await startModelServer({ respond });
  await using api = await startApi({ model });
  const messages = [{ role: "user", content: "how many?" }];
  const { status, body } = await ask(api, "/v1/chat/completions", { body: { messages } });
  assertEquals([status, body.choices[0].message.content], [200, "there are 7"]);
  assertEquals([body.usage.prompt_tokens, body.usage.completion_tokens], [40, 8]);
});
