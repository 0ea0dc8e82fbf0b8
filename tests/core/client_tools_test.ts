/** Tools of the caller: offered with the turn, never run here, answered by a turn of their own. */
import { NOBODY_TO_ASK, type SubmitOptions, type ToolSpec } from "@/core/mod.ts";
import { callTool, done, makeScriptedCore, openSession, say, text } from "../support/scripted_core.ts";
import { assertEquals } from "../support/assert.ts";

const MINE: ToolSpec = { name: "mine", description: "d", parameters: { type: "object" } };
const OPTIONS: SubmitOptions = { asks: NOBODY_TO_ASK, clientTools: [MINE] };

Deno.test("a call of the caller's tool ends the turn, and a turn of results goes on without a user message", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(
    [[
      text("let me ask"),
      done({ finish: "tool_calls", toolCalls: [{ id: "c1", name: "mine", arguments: '{"a":1}' }] }),
    ]],
    say("thanks"),
  );
  const asked = await session.submit({ content: "go" }, OPTIONS).done;
  assertEquals([asked.outcome, asked.text, asked.exitReason], [
    "completed",
    "let me ask",
    "client_tool_calls",
  ]);
  assertEquals(asked.clientCalls, [{ id: asked.clientCalls![0]!.id, name: "mine", arguments: '{"a":1}' }]);
  assertEquals(core.requests[0]!.tools.at(-1), MINE);
  const results = [{
    role: "tool" as const,
    toolCallId: asked.clientCalls![0]!.id,
    toolName: "mine",
    content: "42",
  }];
  const answered = await session.submit({ content: "", results }, OPTIONS).done;
  assertEquals([answered.outcome, answered.text, answered.userRowId], ["completed", "thanks", null]);
  assertEquals(core.requests[1]!.messages.map((message) => message.role), ["user", "assistant", "tool"]);
  assertEquals(session.history().map((message) => message.role), ["user", "assistant", "tool", "assistant"]);
  assertEquals(core.ran, []);
});

Deno.test("a server tool of the same name wins; without client tools the name does not exist", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const [server] = core.services.toolSpecs("tui");
  core.push(say("ok"), callTool("mine", {}), say("sorry"));
  await session.submit({ content: "go" }, { ...OPTIONS, clientTools: [{ ...MINE, name: server!.name }] })
    .done;
  const offered = core.requests[0]!.tools.filter((tool) => tool.name === server!.name);
  assertEquals(offered.map((tool) => tool.description), [server!.description]);
  const result = await session.submit({ content: "go" }, { asks: NOBODY_TO_ASK }).done;
  assertEquals([result.text, result.clientCalls], ["sorry", undefined]);
});
