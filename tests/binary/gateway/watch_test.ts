/** Windows on subagents (tui-gateway.md B.4 `lazy`, C.5): seen as a native stream, never owned, taken up afterwards. */
import { assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import type { ModelServerRequest, ScriptTurn } from "../../support/model_server.ts";
import { withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

function isChild(request: ModelServerRequest): boolean {
  const system = request.body.messages.find((one: Json) => one.role === "system")?.content;
  return String(system).includes("You are a subagent");
}

/** One child that calls a tool, then speaks slowly. */
function respond(request: ModelServerRequest): ScriptTurn {
  const last = request.body.messages.at(-1);
  if (isChild(request) && last.role !== "tool") {
    return { steps: [{ delay_ms: 100 }, { tool: "todo", args: {} }] };
  }
  if (isChild(request)) return { steps: [{ text: "child " }, { delay_ms: 2_000 }, { text: "done" }] };
  if (last.role === "tool") return "told";
  if (last.content === "delegate") return { steps: [{ tool: "delegate_task", args: { goal: "work" } }] };
  return "hello";
}

async function watch(host: GatewayHost): Promise<{ sid: string; window: Json; child: string }> {
  const { sid } = await host.session();
  await host.request("prompt.submit", { session_id: sid, text: "delegate" });
  const { child_session_id: child } = await host.event("subagent.tool", sid);
  const window = await host.request("session.resume", { session_id: child, lazy: true });
  return { sid, window, child };
}

Deno.test("B.4 lazy, C.5: a window on a running child streams, refuses prompts, and is taken up by a later one", async () => {
  await withGateway({ model: { respond } }, async ({ host }) => {
    const { sid, window, child } = await watch(host);
    const on = { session_id: window.session_id };
    assertEquals(
      [window.status, window.running, window.info.running, window.inflight.user, window.resumed],
      ["streaming", true, true, "work", child],
    );
    assertEquals((await host.refused("prompt.submit", { ...on, text: "x" })).code, 4009);
    const { sessions } = await host.request("session.active_list");
    assertEquals(sessions.map((one: Json) => one.status), ["idle", "streaming"]);
    assertEquals((await host.request("session.status", on)).running, true);

    const seen = await host.event("message.complete", window.session_id);
    assertEquals([seen.text, seen.status], ["child done", "complete"]);
    assertEquals(host.streamed(window.session_id), "child done");
    await host.event("subagent.complete", sid);
    await host.idle(window.session_id);

    // One submit at once, whichever moment of the child's end it meets.
    assertEquals((await host.turn(window.session_id, "and now?")).text, "hello");
    const { messages } = await host.request("session.history", on);
    const texts = messages.filter((one: Json) => one.role !== "tool").map((one: Json) => one.text);
    assertEquals(texts, ["work", "child done", "and now?", "hello"]);
    assertEquals((await host.request("session.status", on)).status, "idle");
    assertEquals(await host.request("session.close", on), { closed: true });
    assertEquals((await host.refused("session.history", on)).code, 4001);
  });
});

Deno.test("C.5: calls of a watched subagent have ids of the window's own, start and end alike", async () => {
  const calls = (n: number): ScriptTurn => ({
    steps: [{ delay_ms: 1_500 }, { tool: "todo", args: {}, id: `c${n}` }],
  });
  const threeCalls = (request: ModelServerRequest): ScriptTurn => {
    if (!isChild(request)) return respond(request);
    const made = request.body.messages.filter((one: Json) => one.role === "tool").length;
    return made < 3 ? calls(made) : "done";
  };
  await withGateway({ model: { respond: threeCalls } }, async ({ host }) => {
    const { sid, window, child } = await watch(host);
    await host.event("message.complete", window.session_id);
    const ids = (type: string) =>
      host.eventsOf(type, window.session_id).map(({ payload }) => payload.tool_id);
    assertEquals(ids("tool.start").slice(-2), ids("tool.complete").slice(-2));
    const known = ids("tool.start");
    assertEquals(known, known.map((_, at) => `submirror:${child}:${at + 1}`));
    assertEquals(known.length >= 2 && ids("tool.complete").every((id) => known.includes(id)), true);
    assertEquals(host.eventsOf("tool.start", sid).map(({ payload }) => payload.name), ["delegate_task"]);
  });
});

Deno.test("C.5: closing a window does not end the child", async () => {
  await withGateway({ model: { respond } }, async ({ host }) => {
    const { sid, window } = await watch(host);
    const on = { session_id: window.session_id };
    assertEquals(await host.request("session.close", on), { closed: true });
    assertEquals((await host.refused("session.status", on)).code, 4001);
    const end = await host.event("subagent.complete", sid);
    assertEquals([end.status, end.summary], ["completed", "child done"]);
    assertEquals(host.eventsOf("message.complete", window.session_id), []);
  });
});

Deno.test("C.5, A.8: a connection that drops its window with close_on_disconnect does not end the child", async () => {
  await withWsGateway({ model: { respond } }, async ({ connect }) => {
    const owner = await connect();
    const { session_id: sid } = await owner.request("session.create");
    await owner.request("prompt.submit", { session_id: sid, text: "delegate" });
    const { child_session_id: child } = await owner.event("subagent.tool", sid);
    const other = await connect();
    const opened = await other.request("session.resume", {
      session_id: child,
      lazy: true,
      close_on_disconnect: true,
    });
    assertEquals(opened.status, "streaming");
    await other.close();
    assertEquals((await owner.event("subagent.complete", sid)).status, "completed");
  });
});

Deno.test("C.2: tool-progress mode off shows no step of a subagent", async () => {
  const env = { HERMES_TUI_TOOL_PROGRESS: "off" };
  await withGateway({ model: { respond }, env }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "delegate" });
    await host.event("message.complete", sid, 1);
    assertEquals(host.events.filter((event) => /^(subagent|tool)\./.test(event.type)), []);
  });
});
