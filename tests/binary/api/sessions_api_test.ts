/** `/api/sessions`, toolsets, skills and the absent jobs. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { collectSse, readSse, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig } from "../../support/program.ts";
import { ask, refusal, risky, type Wire } from "./run_scene.ts";

Deno.test("B10: a session is made, named, listed, changed and deleted", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({ model });
  const made = await ask(api, "/api/sessions", { body: { title: "Work", system_prompt: "be brief" } });
  assertEquals([made.status, made.body.object], [201, "hermes.session"]);
  const { id, started_at, last_active, ...session } = made.body.session;
  assertMatch(id, /^api_\d{10}_[0-9a-f]{8}$/);
  assert(started_at > 1e9 && last_active >= started_at);
  assertEquals(session, {
    source: "api_server",
    user_id: null,
    model: null,
    title: "Work",
    ended_at: null,
    end_reason: null,
    message_count: 0,
    tool_call_count: 0,
    input_tokens: 0,
    output_tokens: 0,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated_cost_usd: null,
    actual_cost_usd: null,
    api_call_count: 0,
    parent_session_id: null,
    preview: "",
    has_system_prompt: true,
    has_model_config: false,
  });
  const path = `/api/sessions/${id}`;
  const turn = await ask(api, `${path}/chat`, { body: { message: "hi there", instructions: "and kind" } });
  assertEquals([turn.status, turn.body.object, turn.body.session_id, turn.body.message], [
    200,
    "hermes.session.chat.completion",
    id,
    { role: "assistant", content: "hello" },
  ]);
  assertMatch(model.calls()[0]!.body.messages[0].content, /\n\nbe brief\nand kind\n\nConversation started: /);
  const [row] = (await ask(api, "/api/sessions?limit=1&source=api_server")).body.data;
  assertEquals([row.id, row.preview, row.message_count], [id, "hi there", 2]);
  assertEquals(
    (await ask(api, path, { method: "PATCH", body: { title: "Play" } })).body.session.title,
    "Play",
  );
  assertEquals((await ask(api, path)).body.session.title, "Play");
  assertEquals((await ask(api, path, { method: "DELETE" })).body, {
    object: "hermes.session.deleted",
    id,
    deleted: true,
  });
  assertEquals(await refusal(api, path), [404, "session_not_found"]);
});

Deno.test("B10: what cannot be is refused with its code", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  await ask(api, "/api/sessions", { body: { id: "one", title: "Taken" } });
  const create = (body: Record<string, unknown>) => refusal(api, "/api/sessions", { body });
  assertEquals(await create({ session_id: "one" }), [409, "session_exists"]);
  assertEquals(await create({ id: "../x" }), [400, "invalid_session_id"]);
  assertEquals(await create({ title: "Taken" }), [400, "invalid_title"]);
  assertEquals(await create({ title: "x".repeat(101) }), [400, "invalid_title"]);
  assertEquals(await create({ system_prompt: 5 }), [400, "invalid_system_prompt"]);
  const patch = { method: "PATCH", body: { model: "x" } };
  assertEquals(await refusal(api, "/api/sessions/one", patch), [400, "unsupported_session_field"]);
  assertEquals(await refusal(api, "/api/sessions/one/chat", { body: {} }), [400, "missing_message"]);
  assertEquals(await refusal(api, "/api/sessions/two/chat", { body: { message: "x" } }), [
    404,
    "session_not_found",
  ]);
  assertEquals(await refusal(api, "/api/sessions?limit=0"), [400, "invalid_pagination"]);
  assertEquals((await ask(api, "/api/jobs")).body, {
    error: "Scheduled jobs are not available in this server",
  });
  for (const [method, path] of [["GET", "/api/jobs"], ["POST", "/api/jobs/abc/pause"]] as const) {
    assertEquals((await ask(api, path, { method })).status, 501);
  }
});

Deno.test("B10: messages are paged, a fork copies them and ends its source", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "echo hi" } }] }, "one", "in the fork"],
  });
  {
    await using api = await startApi({ model, rig });
    await ask(api, "/api/sessions", { body: { id: "src" } });
    await ask(api, "/api/sessions/src/chat", { body: { input: "first" } });
    await api.stop();
  }
  await using api = await startApi({ model, rig });
  const { body } = await ask(api, "/api/sessions/src/messages");
  assertEquals([body.object, body.session_id], ["list", "src"]);
  assertEquals(body.data.map((m: Wire) => [m.role, m.tool_name, m.session_id]), [
    ["user", null, "src"],
    ["assistant", null, "src"],
    ["tool", "terminal", "src"],
    ["assistant", null, "src"],
  ]);
  assertEquals(body.data[1].tool_calls[0].function.name, "terminal");
  const latest = (await ask(api, "/api/sessions/src/messages?order=latest&limit=1")).body;
  assertEquals([latest.data[0].content, latest.has_more], ["one", true]);
  const fork = await ask(api, "/api/sessions/src/fork", { body: { id: "child" } });
  assertEquals([fork.status, fork.body.session.id, fork.body.session.parent_session_id], [
    201,
    "child",
    "src",
  ]);
  assertEquals((await ask(api, "/api/sessions/src")).body.session.end_reason, "branched");
  const turn = await ask(api, "/api/sessions/child/chat", { body: { message: "go on" } });
  assertEquals(turn.body.message.content, "in the fork");
  assertMatch(JSON.stringify(model.calls()[2]!.body.messages), /first.*one.*go on/);
});

Deno.test("B10: a fork needs no body; one that is no JSON is refused", async () => {
  await using api = await startApi({ args: ["--demo"] });
  await ask(api, "/api/sessions", { body: { id: "src" } });
  assertEquals((await refusal(api, "/api/sessions/src/fork", { body: "{" }))[0], 400);
  const fork = await ask(api, "/api/sessions/src/fork", { method: "POST" });
  assertEquals([fork.status, fork.body.session.parent_session_id], [201, "src"]);
});

Deno.test("B10: a streamed turn tells its events in order and asks for leave under its run id", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "hm" }, risky("gone")] }, "done"] });
  await using api = await startApi({ model });
  await ask(api, "/api/sessions", { body: { id: "s" } });
  const events: Wire[] = [];
  const names: (string | undefined)[] = [];
  for await (
    const frame of readSse(await api.call("/api/sessions/s/chat/stream", { body: { message: "go" } }))
  ) {
    names.push(frame.event);
    events.push(frame.json);
    if (frame.event !== "approval.request") continue;
    const path = `/v1/runs/${frame.json.run_id}/approval`;
    assertEquals((await ask(api, path, { body: { choice: "deny" } })).status, 200);
  }
  assertEquals(names, [
    "run.started",
    "message.started",
    "assistant.delta",
    "tool.started",
    "approval.request",
    "approval.responded",
    "tool.failed",
    "assistant.delta",
    "assistant.completed",
    "run.completed",
    "done",
  ]);
  assertEquals(events.map((event) => event.seq), events.map((_, i) => i + 1));
  assertEquals(new Set(events.map((event) => `${event.session_id} ${event.run_id}`)).size, 1);
  assertEquals(events.at(-3).content, "done");
  assertEquals(events.at(-2).messages.map((message: Wire) => message.role), [
    "user",
    "assistant",
    "tool",
    "assistant",
  ]);
});

Deno.test("B10: leaving a streamed turn ends it; a running session is not deleted", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "x" }, { stall: true }] }, "next"],
  });
  await using api = await startApi({ model });
  await ask(api, "/api/sessions", { body: { id: "s" } });
  for await (
    const frame of readSse(await api.call("/api/sessions/s/chat/stream", { body: { message: "go" } }))
  ) {
    if (frame.event !== "assistant.delta") continue;
    assertEquals(await refusal(api, "/api/sessions/s", { method: "DELETE" }), [409, "session_active_turn"]);
    break;
  }
  await eventually(() => model.calls()[0]!.aborted);
  assertEquals(
    (await ask(api, "/api/sessions/s/chat", { body: { message: "on" } })).body.message.content,
    "next",
  );
  const failing = await collectSse(
    await api.call("/api/sessions/s/chat/stream", { body: { message: "end of the script" } }),
  );
  assertEquals(failing.at(-1)!.event, "done");
});

Deno.test("D7: a stop signal ends a streamed turn of a session with error and done", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "x" }, { stall: true }] }] });
  await using api = await startApi({ model });
  await ask(api, "/api/sessions", { body: { id: "s" } });
  const names: (string | undefined)[] = [];
  let stopped: Promise<Deno.CommandStatus> | null = null;
  const response = await api.call("/api/sessions/s/chat/stream", { body: { message: "go" } });
  for await (const frame of readSse(response)) {
    names.push(frame.event);
    if (frame.event === "assistant.delta") stopped ??= api.stop("SIGTERM");
  }
  assertEquals(names, ["run.started", "message.started", "assistant.delta", "error", "done"]);
  assertEquals((await stopped!).code, 0);
});

Deno.test("D7: a stream is stopped under the id it has told, and ends as one that was interrupted", async () => {
  const half = { steps: [{ text: "half" }, { stall: true as const }] };
  await using model = await startModelServer({ turns: [half, half] });
  await using api = await startApi({ model });
  await ask(api, "/api/sessions", { body: { id: "s" } });
  const names: (string | undefined)[] = [];
  const response = await api.call("/api/sessions/s/chat/stream", { body: { message: "go" } });
  for await (const { event, json } of readSse(response)) {
    names.push(event);
    if (event !== "assistant.delta") continue;
    const { status, body } = await ask(api, `/v1/runs/${json.run_id}/stop`, { method: "POST" });
    assertEquals([status, body], [200, { run_id: json.run_id, status: "stopping" }]);
  }
  assertEquals(names.slice(-2), ["error", "done"]);
  let [last, id] = [null as Wire, ""];
  for await (
    const { json } of readSse(await api.chat({ stream: true, messages: [{ role: "user", content: "hi" }] }))
  ) {
    if (json?.choices?.[0]?.delta.content === "half") {
      id = json.id;
      assertEquals((await ask(api, `/v1/runs/${id}/stop`, { method: "POST" })).body.status, "stopping");
    }
    last = json ?? last;
  }
  assertEquals([last.id, last.choices[0].finish_reason, last.hermes.partial], [id, "error", true]);
  assertEquals(await refusal(api, `/v1/runs/${id}/stop`, { method: "POST" }), [404, "run_not_found"]);
});

Deno.test("B10: toolsets and skills are lists", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  const { body } = await ask(api, "/v1/toolsets");
  assertEquals([body.object, body.platform], ["list", "api_server"]);
  const terminal = body.data.find((row: Wire) => row.tools.includes("terminal"));
  assertEquals([terminal.enabled, typeof terminal.label, typeof terminal.description], [
    true,
    "string",
    "string",
  ]);
  const clarify = body.data.find((row: Wire) => row.tools.includes("clarify"));
  assertEquals(clarify.enabled, false);
  assertEquals((await ask(api, "/v1/skills")).body, { object: "list", data: [] });
  assertEquals((await ask(api, "/api/sessions")).body.data, []);
});

Deno.test("B10, A9: a session id in any letters is the same in bodies, addresses and headers, as UTF-8", async () => {
  await using model = await startModelServer({ respond: () => "said" });
  await using api = await startApi({ model });
  const id = "Gespräch 日本";
  const bytes = String.fromCharCode(...new TextEncoder().encode(id));
  const path = `/api/sessions/${encodeURIComponent(id)}`;
  assertEquals((await ask(api, "/api/sessions", { body: { id } })).body.session.id, id);
  const answered = await ask(api, `${path}/chat`, { body: { message: "one" } });
  assertEquals([answered.status, answered.headers.get("X-Hermes-Session-Id")], [200, bytes]);
  const frames = await collectSse(await api.call(`${path}/chat/stream`, { body: { message: "two" } }));
  assertEquals(frames.at(-1)!.event, "done");
  const headers = { "X-Hermes-Session-Id": bytes };
  const chat = await ask(api, "/v1/chat/completions", {
    body: { messages: [{ role: "user", content: "three" }] },
    headers,
  });
  assertEquals([chat.status, chat.headers.get("X-Hermes-Session-Id")], [200, bytes]);
  const response = await ask(api, "/v1/responses", { body: { input: "four" }, headers });
  assertEquals([response.status, response.headers.get("X-Hermes-Session-Id")], [200, bytes]);
  // A chain has its session from the store.
  const body = { input: "five", previous_response_id: response.body.id };
  assertEquals((await ask(api, "/v1/responses", { body })).headers.get("X-Hermes-Session-Id"), bytes);
  const { data } = (await ask(api, `${path}/messages`)).body;
  const said = data.filter((m: { role: string }) => m.role === "user").map((m: { content: string }) =>
    m.content
  );
  assertEquals(said, ["one", "two", "three", "four", "five"]);
  // What is no UTF-8 is Latin-1, as browsers send it, and comes back as it was.
  const latin = await ask(api, "/v1/responses", {
    body: { input: "x" },
    headers: { "X-Hermes-Session-Id": "é" },
  });
  assertEquals(latin.headers.get("X-Hermes-Session-Id"), "é");
  assertEquals((await ask(api, "/api/sessions/%C3%A9")).status, 200);
});

Deno.test("A9: an id that no header or address could name is refused wherever it comes from, and nothing runs", async () => {
  await using model = await startModelServer({ respond: () => "said" });
  await using api = await startApi({ model });
  for (const id of ["a\u0001b", "a\u007fb", "a\u0085b", "a\tb", "\ud800", ".", "a..b", "a/b", "c:x"]) {
    assertEquals(await refusal(api, "/api/sessions", { body: { id } }), [400, "invalid_session_id"]);
    assertEquals(await refusal(api, "/v1/runs", { body: { input: "x", session_id: id } }), [400, null]);
  }
  assertEquals(model.calls().length, 0);
});

Deno.test("B10: PATCH refuses an end reason that is none, instead of answering as if it had been taken", async () => {
  await using api = await startApi({});
  await ask(api, "/api/sessions", { body: { id: "s" } });
  for (const end_reason of ["", " ", 5, true, [], {}, "x".repeat(101)]) {
    const { status, body } = await ask(api, "/api/sessions/s", { method: "PATCH", body: { end_reason } });
    assertEquals([status, body.error.param], [400, "end_reason"]);
  }
  const { body } = await ask(api, "/api/sessions/s", { method: "PATCH", body: { end_reason: null } });
  assertEquals(body.session.end_reason, null);
});

Deno.test("B10: a session that was made and holds no message yet is in the list", async () => {
  await using model = await startModelServer({ turns: [] });
  await using api = await startApi({ model });
  await ask(api, "/api/sessions", { body: { id: "made", title: "My project" } });
  const rows = async (query: string) => (await ask(api, `/api/sessions${query}`)).body.data;
  const [row, ...more] = await rows("");
  assertEquals([row.id, row.title, more], ["made", "My project", []]);
  assertEquals((await rows("?source=api_server")).length, 1);
  assertEquals(await rows("?source=tui"), []);
});
