/** Subagents over ACP (acp.md C11, decision 27; core rows 71 and 72): cards, and results inside the turn. */
import { type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { ModelServerRequest, ScriptTurn } from "../../support/model_server.ts";

const isChild = (request: ModelServerRequest) =>
  request.body.messages.some((one: Json) =>
    one.role === "system" && one.content.includes("You are a subagent")
  );
const lastOf = (request: ModelServerRequest) => request.body.messages.at(-1);

/** The parent delegates `tasks` once; children answer as `child` says. */
function delegating(args: Json, child: (request: ModelServerRequest) => ScriptTurn) {
  return (request: ModelServerRequest): ScriptTurn => {
    if (isChild(request)) return child(request);
    if (lastOf(request).role === "tool") return "all done";
    return { steps: [{ tool: "delegate_task", args, id: "call_d" }] };
  };
}

function cardOf(updates: Json[], id: string): Json[] {
  return updates.filter((update) => update.toolCallId === id);
}

Deno.test("core 71: delegate_task answers inside the turn, and each child is a card of its own", async () => {
  const respond = delegating({ tasks: [{ goal: "read it" }, { goal: "fail" }] }, (request) => {
    const { role, content } = lastOf(request);
    if (content === "fail") return { steps: [{ error: { status: 400, message: "no such thing" } }] };
    return role === "tool" ? "it says one" : { steps: [{ tool: "read_file", args: { path: "a.txt" } }] };
  });
  await withAcp({ respond }, async ({ acp, rig, model, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "one\n");
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
    const updates = acp.updates(sessionId);
    const starts = updates.filter((update) =>
      String(update.toolCallId).startsWith("hermes-subagent:sa-") &&
      update.sessionUpdate === "tool_call"
    );
    assertEquals(starts.map((one) => [one.title, one.kind, one.status]), [
      ["Subagent 1 of 2", "other", "in_progress"],
      ["Subagent 2 of 2", "other", "in_progress"],
    ]);
    const [first, second] = starts.map((one) => cardOf(updates, one.toolCallId));
    assertEquals([first!.at(-1).status, second!.at(-1).status], ["completed", "failed"]);
    assertMatch(first!.at(-1).content[0].content.text, /^completed, \d+\.\d s\nit says one$/);
    assert(second!.at(-1).content[0].content.text.includes("no such thing"));
    assert(first!.some((one) => one.content[0].content.text.includes("read_file: ")));
    const { subagentProgress } = first!.at(-1)._meta.hermes;
    assertEquals(
      [
        subagentProgress.phase,
        subagentProgress.status,
        subagentProgress.toolCount,
        subagentProgress.taskCount,
      ],
      ["complete", "completed", 1, 2],
    );

    const call = updates.find((one) => one.sessionUpdate === "tool_call" && one.name === "delegate_task");
    assertEquals([call.title, call.kind], ["delegate batch (2 tasks)", "execute"]);
    const end = cardOf(updates, call.toolCallId).at(-1);
    assertEquals(end.status, "completed");
    assertMatch(
      end.content[0].content.text,
      /^1\. completed, scripted, \d+\.\d s\nit says one\n\n2\. failed, /,
    );
    assertEquals(updates.filter((one) => one.toolCallId === call.toolCallId).length, 2);
    const names = model.calls().find(isChild)!.body.tools.map((one: Json) => one.function.name);
    for (const name of ["clarify", "memory", "delegate_task"]) assert(!names.includes(name), name);

    const { result } = await acp.send("session/list", {}).answer;
    assertEquals(result.sessions.map((one: Json) => one.sessionId), [sessionId]);
  });
});

Deno.test("a cancel ends the children, closes their cards before the answer, and nothing comes after it", async () => {
  const respond = delegating({ goal: "hang" }, () => ({ steps: [{ text: "…" }, { stall: true }] }));
  await withAcp({ respond }, async ({ acp, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "go");
    await acp.update((one) => one._meta?.hermes?.subagentProgress?.phase === "start");
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
    const end = acp.indexOfAnswer(sent.id);
    const last = acp.updates(sessionId).filter((one) => String(one.toolCallId).startsWith("hermes-subagent:"))
      .at(-1);
    assertEquals(last.status, "failed");
    assertEquals(
      acp.frames.slice(end + 1).filter(({ frame }) => frame.method === "session/update").length,
      0,
    );
  });
});

Deno.test("core 72: a child asks nobody, and an edit that would be asked about is not made", async () => {
  const respond = delegating(
    { goal: "write" },
    (request) =>
      lastOf(request).role === "tool"
        ? "could not"
        : { steps: [{ tool: "write_file", args: { path: "new.txt", content: "x" } }] },
  );
  await withAcp({ respond }, async ({ acp, rig, model, sessionId }) => {
    await acp.prompt(sessionId, "go");
    assertEquals(acp.requests("session/request_permission"), []);
    await Deno.stat(`${rig.workspace}/new.txt`).then(() => assert(false, "it was written"), () => {});
    const told = lastOf(model.calls().filter(isChild)[1]!);
    assert(told.content.includes("nobody"), told.content);
  });
});
