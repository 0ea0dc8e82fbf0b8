/** The request dialect against the real program: gateway rows 75–78, and that the two dialects never mix. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { dangerous, exists, terminal, toolTurn, withGateway } from "./scene.ts";
import { withWsGateway, type WsHost } from "./ws_scene.ts";

const QUESTION_EVENT = /^(approval|clarify|sudo|secret)\.(request|expire)$/;

interface AnyHost {
  readonly frames: Json[];
  until<T>(look: () => T | undefined, what: string): Promise<T>;
}

/** The `nth` request of ours. */
function asked(host: AnyHost, nth = 0): Promise<Json> {
  const requests = () =>
    host.frames.filter((frame) => typeof frame.method === "string" && frame.method !== "event");
  return host.until(() => requests()[nth], `request #${nth}`);
}

function questionEvents(host: AnyHost): Json[] {
  return host.frames.filter((frame) => QUESTION_EVENT.test(frame.params?.type ?? ""));
}

function cancels(host: AnyHost): Json[] {
  return host.frames.filter((frame) => frame.params?.type === "request.cancel").map((frame) =>
    frame.params.payload
  );
}

async function respond(host: GatewayHost, id: unknown, answer: Json): Promise<void> {
  await host.sendLine(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}

async function optIn(host: GatewayHost | WsHost): Promise<void> {
  assertEquals(await host.request("client.capabilities", { server_requests: true }), {
    server_requests: ["approval", "clarify", "secret", "sudo"],
    declines_not_shown: false,
  });
}

/** A turn that wants to remove `dir`. */
async function removing(
  host: GatewayHost,
  workspace: string,
  name = "build",
): Promise<{ sid: string; dir: string }> {
  const dir = `${workspace}/${name}`;
  await Deno.mkdir(dir);
  const { sid } = await host.session();
  await host.request("prompt.submit", { session_id: sid, text: "remove" });
  return { sid, dir };
}

function removal(rig: { workspace: string }, name = "build"): Json {
  return toolTurn(terminal(dangerous(`${rig.workspace}/${name}`)));
}

Deno.test("gateway 75: an approval is a request, no event, and its response resolves it", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    model.push(removal(rig), "Gone.");
    await optIn(host);
    const { sid, dir } = await removing(host, rig.workspace);
    const request = await asked(host);
    assertMatch(request.id, /^srq-[0-9a-f]{12}$/);
    assertEquals(
      [
        request.jsonrpc,
        request.method,
        request.params.session_id,
        request.params.command,
        request.params.choices,
      ],
      ["2.0", "approval", sid, dangerous(dir), ["once", "session", "always", "deny"]],
    );
    assertMatch(request.params.request_id, /^[0-9a-f]{8}$/);
    assertEquals(request.params.tool_id, host.eventsOf("tool.start", sid)[0]!.payload.tool_id);
    const pending = await host.request("approval.pending", { session_id: sid });
    assertEquals(pending.approvals.map((one: Json) => one.request_id), [request.params.request_id]);
    const received = { session_id: sid, request_id: request.params.request_id };
    assertEquals(await host.request("approval.received", received), { acknowledged: true });
    assertEquals(await host.request("approval.received", { ...received, request_id: "00000000" }), {
      acknowledged: false,
    });
    assertEquals((await host.refused("approval.received", { session_id: sid })).code, 4006);
    const before = host.frames.length;
    await respond(host, request.id, { result: { choice: "once" } });
    assertEquals((await host.event("message.complete", sid)).text, "Gone.");
    assertEquals(await exists(dir), false);
    assertEquals(questionEvents(host), []);
    assertEquals(cancels(host), []);
    assertEquals(
      host.frames.slice(before).filter((frame) => frame.id !== undefined),
      [],
      "no reply to a response",
    );
    await respond(host, request.id, { result: { choice: "deny" } });
    assertEquals(await host.request("ping"), { pong: true });
    assertEquals(host.frames.filter((frame) => frame.id === request.id).length, 1);
  });
});

Deno.test("gateway 76: an error response, and a choice that was not offered, block the command", async () => {
  for (
    const answer of [{ error: { code: -32601, message: "no" } }, { result: { choice: "maybe" } }, {
      result: 7,
    }]
  ) {
    await withGateway({}, async ({ host, model, rig }) => {
      model.push(removal(rig), "Left.");
      await optIn(host);
      const { sid, dir } = await removing(host, rig.workspace);
      await respond(host, (await asked(host)).id, answer);
      const complete = await host.event("message.complete", sid);
      assertEquals([complete.status, complete.text], ["complete", "Left."]);
      assertEquals((await host.event("tool.complete", sid)).result.status, "blocked");
      assert(await exists(dir));
    });
  }
});

Deno.test("gateway 77: a timeout and an interrupt are told by request.cancel, and a late response gets no reply", async () => {
  await withGateway({ config: { approvals: { timeout: 1 } } }, async ({ host, model, rig }) => {
    model.push(removal(rig), "Not done.");
    await optIn(host);
    const { sid } = await removing(host, rig.workspace);
    const { id } = await asked(host);
    assertEquals((await host.event("message.complete", sid)).text, "Not done.");
    assertEquals(cancels(host), [{ id, method: "approval", reason: "timeout" }]);
    await respond(host, id, { result: { choice: "once" } });
    assertEquals(await host.request("ping"), { pong: true });
    assertEquals(questionEvents(host), []);
    assertEquals(host.frames.filter((frame) => frame.id === id).length, 1);
  });
  await withGateway({}, async ({ host, model, rig }) => {
    model.push(removal(rig));
    await optIn(host);
    const { sid, dir } = await removing(host, rig.workspace);
    const { id } = await asked(host);
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    assertEquals(cancels(host), [{ id, method: "approval", reason: "interrupted" }]);
    assert(await exists(dir));
  });
});

Deno.test("R: clarify is asked by qid; answering, cancelling and locking it", async () => {
  const clarify = toolTurn({ tool: "clarify", args: { question: "Which?", choices: ["red", "blue"] } });
  const turns = [clarify, "1", clarify, "2", clarify, "3", clarify, "4"];
  await withGateway({ model: { turns } }, async ({ host }) => {
    await optIn(host);
    const { sid } = await host.session();
    const answers: Json[] = [];
    async function round(n: number, answer: (request: Json) => Promise<void>): Promise<void> {
      await host.request("prompt.submit", { session_id: sid, text: "ask" });
      const request = await asked(host, n);
      assertEquals(request.method, "clarify");
      assertEquals(request.params.questions, [
        { qid: "q1", question: "Which?", choices: ["red", "blue"], multi_select: false },
      ]);
      await answer(request);
      await host.event("message.complete", sid, n);
      await host.idle(sid);
      answers.push(host.eventsOf("tool.complete", sid)[n]!.payload.result.user_response);
    }
    await round(0, (request) => respond(host, request.id, { result: { answers: { q1: "blue" } } }));
    await round(1, (request) => respond(host, request.id, { result: {} }));
    await round(2, async (request) => {
      const lock = (params: Json) =>
        host.request("clarify.lock", { question_id: "q1", answer: "red", ...params });
      const refused = { request_id: request.params.request_id, question_id: "q9", answer: "x" };
      assertEquals((await host.refused("clarify.lock", refused)).code, 4002);
      assertEquals(await lock({ request_id: "00000000" }), { status: "expired" });
      assertEquals(await lock({ request_id: request.params.request_id }), { status: "ok", remaining: [] });
      assertEquals(await lock({ request_id: request.params.request_id }), { status: "expired" });
    });
    await round(3, async (request) => {
      const answer = { id: request.id, result: { answers: { q1: "by hand" } } };
      assertEquals(await host.request("request.answer", answer), { status: "ok" });
      assertEquals(await host.request("request.answer", answer), { status: "expired" });
      assertEquals((await host.refused("request.answer", { result: {} })).code, 4002);
    });
    assertEquals([answers[0], answers[2], answers[3]], ["blue", "red", "by hand"]);
    assertEquals(cancels(host).map((cancel) => [cancel.method, cancel.reason]), [["clarify", "resolved"]]);
  });
});

Deno.test("R: all answers every open approval, and *.respond keeps working", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    for (const name of ["a", "b"]) await Deno.mkdir(`${rig.workspace}/${name}`);
    const both = ["a", "b"].map((name) => terminal(dangerous(`${rig.workspace}/${name}`)));
    model.push(toolTurn(...both), "Both gone.", removal(rig, "c"), "Kept.");
    await optIn(host);
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "remove" });
    const [first, second] = [await asked(host, 0), await asked(host, 1)];
    assert(first.id !== second.id);
    await respond(host, first.id, { result: { choice: "once", all: true } });
    assertEquals((await host.event("message.complete", sid)).text, "Both gone.");
    assertEquals([await exists(`${rig.workspace}/a`), await exists(`${rig.workspace}/b`)], [false, false]);
    await host.idle(sid);
    await host.request("prompt.submit", { session_id: sid, text: "again" });
    const third = await asked(host, 2);
    const denial = { session_id: sid, request_id: third.params.request_id, choice: "deny" };
    assertEquals(await host.request("approval.respond", denial), { resolved: 1 });
    assertEquals((await host.event("message.complete", sid, 1)).text, "Kept.");
    assertEquals(cancels(host), [{ id: third.id, method: "approval", reason: "resolved" }]);
  });
});

Deno.test("a connection that has not opted in gets -32600 for a response, and can go back after opting in", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    await respond(host, "srq-000000000000", { result: { choice: "once" } });
    assertEquals((await host.response("srq-000000000000")).error.code, -32600);
    assertEquals(await host.request("gateway.capabilities"), {
      per_session_exclusive_submit: true,
      worker_snapshot_v1: false,
    });
    model.push(removal(rig), "Left.");
    await optIn(host);
    const { sid } = await removing(host, rig.workspace);
    const request = await asked(host);
    await host.request("client.capabilities", { server_requests: false });
    const event = await host.event("approval.request", sid);
    assertEquals(event.request_id, request.params.request_id);
    await host.request("approval.respond", { session_id: sid, request_id: event.request_id, choice: "deny" });
    assertEquals((await host.event("message.complete", sid)).text, "Left.");
  });
});

Deno.test("gateway 78: who reconnects gets what it missed, and the question that is still open", async () => {
  await withWsGateway({}, async ({ connect, model, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    model.push({ steps: [{ text: "Hm." }, ...removal(rig).steps] }, "Gone.");
    const a = await connect();
    await optIn(a);
    const { session_id, stored_session_id } = await a.request("session.create");
    await a.request("prompt.submit", { session_id, text: "remove" });
    const request = await asked(a);
    const epoch = a.frames[0].params.payload.replay_epoch;
    const numbers = a.events.filter((event) => event.session_id === session_id).map((event) => event.seq!);
    await a.close();

    const b = await connect();
    await optIn(b);
    assertEquals(b.frames[0].params.payload.replay_epoch, epoch);
    const resumed = await b.request("session.resume", { session_id: stored_session_id });
    const open = [{ id: request.id, method: "approval", params: request.params }];
    assertEquals([resumed.session_id, resumed.status, resumed.open_requests], [session_id, "waiting", open]);
    const seen = numbers[2]!;
    const since = await b.request("session.events.since", { session_id, last_seen: seen });
    assertEquals([since.epoch, since.open_requests, since.truncated], [epoch, open, false]);
    assertEquals(since.events.map((event: Json) => event.seq), numbers.filter((seq) => seq > seen));
    assertEquals(since.latest_seq, numbers.at(-1));
    b.socket.send(JSON.stringify({ jsonrpc: "2.0", id: request.id, result: { choice: "once" } }));
    assertEquals((await b.event("message.complete", session_id)).text, "Gone.");
    assertEquals(questionEvents(b), []);
  });
});

Deno.test("R: subscribers are added; a default connection beside them is asked in its own way, and one answer counts", async () => {
  await withWsGateway({}, async ({ connect, model, rig }) => {
    for (const name of ["build", "dist"]) await Deno.mkdir(`${rig.workspace}/${name}`);
    model.push(removal(rig), "First.", removal(rig, "dist"), "Second.");
    const [plain, one, two] = [await connect(), await connect(), await connect()];
    await optIn(one);
    await optIn(two);
    const { session_id } = await plain.request("session.create");
    await one.request("session.activate", { session_id });
    await two.request("session.activate", { session_id });
    await plain.request("prompt.submit", { session_id, text: "remove" });
    const event = await plain.event("approval.request", session_id);
    const [first, second] = [await asked(one), await asked(two)];
    assertEquals([first.id, first.params.request_id], [second.id, event.request_id]);
    one.socket.send(JSON.stringify({ id: first.id, error: { code: -32601, message: "not here" } }));
    two.socket.send(JSON.stringify({ id: first.id, result: { choice: "once" } }));
    for (const host of [plain, one, two]) {
      assertEquals((await host.event("message.complete", session_id)).text, "First.");
    }
    assertEquals(await plain.event("approval.expire", session_id), { request_id: event.request_id });
    assertEquals(cancels(one), [{ id: first.id, method: "approval", reason: "resolved" }]);
    assertEquals([questionEvents(one), questionEvents(two)], [[], []]);
    assertEquals(plain.frames.filter((frame) => String(frame.id).startsWith("srq-")), []);
    assertEquals(plain.frames.filter((frame) => frame.params?.type === "request.cancel"), []);

    await two.close();
    await one.request("prompt.submit", { session_id, text: "again" });
    const again = await plain.event("approval.request", session_id, 1);
    await plain.request("approval.respond", { session_id, request_id: again.request_id, choice: "deny" });
    assertEquals((await one.event("message.complete", session_id, 1)).text, "Second.");
    assertEquals(cancels(one).at(-1).reason, "resolved");
  });
});

Deno.test("E.1: an answer by method from a subscriber ends the question in both dialects, on every connection", async () => {
  await withWsGateway({}, async ({ connect, model, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    model.push(removal(rig), "Gone.");
    const [plain, one, two] = [await connect(), await connect(), await connect()];
    for (const host of [one, two]) await optIn(host);
    const { session_id } = await plain.request("session.create");
    for (const host of [one, two]) await host.request("session.activate", { session_id });
    await plain.request("prompt.submit", { session_id, text: "remove" });
    const { request_id } = await plain.event("approval.request", session_id);
    const { id } = await asked(one);
    await asked(two);
    const choice = { session_id, request_id, choice: "once" };
    assertEquals(await one.request("approval.respond", choice), { resolved: 1 });
    for (const host of [plain, one, two]) {
      assertEquals((await host.event("message.complete", session_id)).text, "Gone.");
    }
    const expired = plain.events.filter((event) => event.type === "approval.expire");
    assertEquals(expired.map((event) => event.payload), [{ request_id }]);
    for (const host of [one, two]) {
      assertEquals(cancels(host), [{ id, method: "approval", reason: "resolved" }]);
    }
    assertEquals(await two.request("approval.respond", choice), { resolved: 0 });
  });
});

Deno.test("R: a session lives while any subscriber is attached", async () => {
  await withWsGateway({ env: { HERMES_TUI_WS_ORPHAN_REAP_GRACE_S: "0.2" } }, async ({ connect }) => {
    const [one, two] = [await connect(), await connect()];
    await optIn(one);
    await optIn(two);
    const { session_id } = await one.request("session.create");
    await two.request("session.activate", { session_id });
    await one.close();
    const other = await two.request("session.create", { close_on_disconnect: true });
    const three = await connect();
    const ids = async () => (await three.request("session.active_list")).sessions.map((row: Json) => row.id);
    assertEquals(await ids(), [session_id, other.session_id]);
    await two.close();
    for (let n = 0; (await ids()).length > 0; n++) assert(n < 2_000, "the sessions are never closed");
  });
});

Deno.test("R: closing a session and ending the program say so in request.cancel", async () => {
  for (const [end, reason] of [["close", "session_closed"], ["signal", "shutdown"]] as const) {
    await withGateway({}, async ({ host, model, rig }) => {
      model.push(removal(rig));
      await optIn(host);
      const { sid, dir } = await removing(host, rig.workspace);
      const { id } = await asked(host);
      if (end === "close") await host.request("session.close", { session_id: sid });
      else host.kill("SIGTERM");
      await host.until(() => cancels(host)[0], "request.cancel");
      assertEquals(cancels(host), [{ id, method: "approval", reason }]);
      assert(await exists(dir));
    });
  }
});

Deno.test("E.1, A.8: who leaves the request dialect is an ordinary listener again: one of those hears the session", async () => {
  const turns = ["One.", "Two.", "Three."];
  await withWsGateway({ model: { turns } }, async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    const { session_id } = await a.request("session.create");
    const speak = (host: WsHost, server_requests: boolean) =>
      host.request("client.capabilities", { server_requests });
    const completed = (host: WsHost) =>
      host.events.filter((event) => event.type === "message.complete").map((event) => event.payload.text);
    // The last to come stays: b joined a's session as a subscriber.
    await speak(b, true);
    await b.request("session.activate", { session_id });
    await a.request("prompt.submit", { session_id, text: "both" });
    for (const host of [a, b]) await host.event("message.complete", session_id);
    await speak(b, false);
    await b.request("prompt.submit", { session_id, text: "b alone" });
    await b.event("message.complete", session_id, 1);
    assertEquals([completed(a), completed(b)], [["One."], ["One.", "Two."]]);

    // a comes back behind the subscriber b, which then leaves the dialect, and with it the session.
    await speak(b, true);
    await a.request("session.activate", { session_id });
    await speak(b, false);
    await a.request("prompt.submit", { session_id, text: "a alone" });
    await a.event("message.complete", session_id, 1);
    await b.request("ping");
    assertEquals([completed(a), completed(b)], [["One.", "Three."], ["One.", "Two."]]);
  });
});
