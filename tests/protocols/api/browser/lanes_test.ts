/** Tickets, lanes and controllers without a socket: the routing table of B6.3 row by row. */
import type { BrowserOutcome } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Controller, Transport } from "@/protocols/api/browser/controller.ts";
import { Lanes } from "@/protocols/api/browser/lanes.ts";
import type { Frame, Registration } from "@/protocols/api/browser/protocol.ts";
import { assert, assertEquals, assertMatch } from "../../../support/assert.ts";

const { clock, ids } = createDenoPlatform();

function makeLanes(commandMs = 10_000) {
  const time = { now: 1_000 };
  const notes: string[] = [];
  const lanes = new Lanes({
    clock: { ...clock, monotonic: () => time.now },
    ids,
    note: (event, { controllerId }) => void notes.push(`${event} ${controllerId}`),
    commandMs,
  });
  return { lanes, notes, time };
}

function registration(patch: Partial<Registration> = {}): Registration {
  return {
    lane: { sessionId: "s", keyId: null, family: "local-api" },
    controllerId: "c",
    browserProfileId: "p",
    capabilities: ["browser_click", "controller.noop"],
    client: "test",
    ...patch,
  };
}

class Line implements Transport {
  readonly frames: Frame[] = [];
  isOpen = true;

  send(frame: Frame): boolean {
    if (this.isOpen) this.frames.push(JSON.parse(JSON.stringify(frame)));
    return this.isOpen;
  }

  // deno-lint-ignore no-explicit-any
  get last(): any {
    return this.frames.at(-1)?.params;
  }

  methods(): string[] {
    return this.frames.map(({ method }) => method.slice("browser.controller.".length));
  }
}

function run(controller: Controller, action?: string, callId?: string, signal?: AbortSignal) {
  return controller.run(action ?? "browser_click", { ref: "e1" }, {
    callId: callId ?? "call_1",
    signal: signal ?? new AbortController().signal,
  });
}

function answer(
  controller: Controller,
  line: Line,
  commandId: string,
  params: Record<string, unknown>,
): void {
  controller.take(line, {
    method: "browser.controller.result",
    params: { command_id: commandId, ...params },
  });
}

const errorOf = (outcome: BrowserOutcome) => outcome.ok ? null : outcome.error;

Deno.test("api 60: Lanes: a ticket has 43 characters, lets in once, and not after 30 s of the monotonic clock", () => {
  const { lanes, time } = makeLanes();
  const [one, two] = [lanes.issue(registration()), lanes.issue(registration({ controllerId: "d" }))];
  assertMatch(one, /^[A-Za-z0-9_-]{43}$/);
  assert(one !== two);
  assertEquals([lanes.isGood(one), lanes.isGood("x".repeat(43)), lanes.isGood("")], [true, false, false]);
  assertEquals(lanes.redeem(one)?.controllerId, "c");
  assertEquals([lanes.isGood(one), lanes.redeem(one)], [false, null]);
  time.now += 29_999;
  assert(lanes.isGood(two));
  time.now += 1;
  assertEquals([lanes.isGood(two), lanes.redeem(two)], [false, null]);
});

Deno.test("Lanes: unused tickets are bounded, the oldest go", () => {
  const { lanes } = makeLanes();
  const first = lanes.issue(registration());
  const second = lanes.issue(registration());
  for (let i = 0; i < 999; i++) lanes.issue(registration());
  assertEquals([lanes.isGood(first), lanes.isGood(second)], [false, true]);
});

Deno.test("api 60: Controller: noop round trip; once, from the owner, and only the literal true is success", async () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  const noop = run(controller, "controller.noop");
  const { command_id: id, ...command } = line.last;
  assertMatch(id, /^[0-9a-f]{32}$/);
  assertEquals(command, {
    action: "controller.noop",
    arguments: { ref: "e1" },
    controller_id: "c",
    browser_profile_id: "p",
    tool_call_id: "call_1",
  });
  answer(controller, new Line(), id, { ok: true, result: "a stranger's" });
  answer(controller, line, "0".repeat(32), { ok: true, result: "of nothing" });
  answer(controller, line, id, { ok: true, result: { fine: 1 } });
  answer(controller, line, id, { ok: true, result: "late" });
  assertEquals(await noop, { ok: true, result: { fine: 1 } });
  for (const ok of ["true", 1, false, undefined]) {
    const call = run(controller);
    answer(controller, line, line.last.command_id, { ok, result: "no", error: { message: "why" } });
    assertEquals(await call, { ok: false, error: "why", fromBrowser: true, mayHaveRun: true });
  }
  const silent = run(controller);
  answer(controller, line, line.last.command_id, { ok: false });
  assertEquals(errorOf(await silent), "The browser could not do this");
  assertEquals(controller.pending, 0);
});

Deno.test("Controller: offline or without the capability it fails at once, and nothing is sent", async () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  assertEquals(await run(controller, "browser_tabs"), {
    ok: false,
    error: "The connected browser does not offer browser_tabs",
    mayHaveRun: false,
  });
  assertEquals(line.frames, []);
  controller.lost(line);
  const away = await run(controller);
  assertMatch(errorOf(away)!, /^The browser of this session is offline/);
  assertEquals([away.ok === false && away.mayHaveRun, controller.pending], [false, 0]);
  assertEquals(lanes.find(registration().lane), controller);
});

Deno.test("Lanes: session, key and place make a lane; one that never had a controller is not there", () => {
  const { lanes } = makeLanes();
  const { lane } = registration();
  assertEquals(lanes.find(lane), null);
  const controller = lanes.attach(registration(), new Line());
  assertEquals(lanes.find({ ...lane }), controller);
  for (const other of [{ sessionId: "t" }, { keyId: "0123456789ab" }, { family: "remote-api" as const }]) {
    assertEquals(lanes.find({ ...lane, ...other }), null);
  }
});

Deno.test("Controller: an unanswered command ends with its deadline; the browser gets a cancel", async () => {
  const { lanes } = makeLanes(20);
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  const outcome = await run(controller);
  assertEquals(outcome, { ok: false, error: "The browser did not answer within 0.02 s", mayHaveRun: true });
  const [command, cancel] = line.frames;
  assertEquals(line.methods(), ["command", "cancel"]);
  assertEquals(cancel!.params, { command_id: command!.params.command_id, tool_call_id: "call_1" });
  answer(controller, line, command!.params.command_id as string, { ok: true });
  assertEquals(controller.pending, 0);
});

Deno.test("Controller: an abort cancels; what was aborted before is not sent", async () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  const abort = new AbortController();
  const call = run(controller, "browser_click", "call_1", abort.signal);
  abort.abort();
  assertEquals(errorOf(await call), "The call was cancelled");
  assertEquals(line.methods(), ["command", "cancel"]);
  assertEquals(
    errorOf(await run(controller, "browser_click", "call_2", abort.signal)),
    "The call was cancelled",
  );
  assertEquals(line.methods(), ["command", "cancel"]);
});

Deno.test("api 60: Lanes: the same controller again keeps its work, brings new capabilities, and hears missed cancels first", async () => {
  const { lanes, notes } = makeLanes();
  const old = new Line();
  const controller = lanes.attach(registration(), old);
  const kept = run(controller);
  const id = old.last.command_id;
  const abort = new AbortController();
  const dropped = run(controller, "browser_click", "call_2", abort.signal);
  const droppedId = old.last.command_id;
  controller.lost(old);
  assertEquals([controller.isOnline, controller.pending], [false, 2]);
  abort.abort();
  assertEquals(errorOf(await dropped), "The call was cancelled");
  const fresh = new Line();
  const again = lanes.attach(registration({ capabilities: ["browser_tabs"] }), fresh);
  assertEquals(again, controller);
  assertEquals(fresh.frames, [{
    method: "browser.controller.cancel",
    params: { command_id: droppedId, tool_call_id: "call_2" },
  }]);
  answer(controller, old, id, { ok: true, result: "by the old line" });
  controller.take(old, { method: "browser.controller.detach", params: {} });
  controller.lost(old);
  assert(controller.isOnline);
  answer(controller, fresh, id, { ok: true, result: "by the new line" });
  assertEquals(await kept, { ok: true, result: "by the new line" });
  const tabs = run(controller, "browser_tabs");
  assertEquals(fresh.methods(), ["cancel", "command"]);
  answer(controller, fresh, fresh.last.command_id, { ok: true });
  await tabs;
  assertEquals(errorOf(await run(controller)), "The connected browser does not offer browser_click");
  assertEquals(notes, ["connected c", "connected c"]);
});

Deno.test("Controller: 512 missed cancels are kept, the oldest are forgotten", async () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  const abort = new AbortController();
  const calls = Array.from(
    { length: 520 },
    (_, i) => run(controller, "browser_click", `call_${i}`, abort.signal),
  );
  controller.lost(line);
  abort.abort();
  await Promise.all(calls);
  const fresh = new Line();
  lanes.attach(registration(), fresh);
  assertEquals([fresh.frames.length, fresh.frames[0]!.params.tool_call_id, fresh.last.tool_call_id], [
    512,
    "call_8",
    "call_519",
  ]);
});

for (const other of [{ controllerId: "d" }, { browserProfileId: "q" }]) {
  Deno.test(`Lanes: ${Object.keys(other)[0]} of another replaces the controller; its pending work is cancelled first`, async () => {
    const { lanes, notes } = makeLanes();
    const [old, fresh] = [new Line(), new Line()];
    const first = lanes.attach(registration(), old);
    const call = run(first);
    const id = old.last.command_id;
    const second = lanes.attach(registration(other), fresh);
    assert(second !== first);
    assertEquals(old.methods(), ["command", "cancel"]);
    assertMatch(errorOf(await call)!, /^Another browser was connected/);
    assertEquals([lanes.find(registration().lane), first.isOnline], [second, false]);
    first.take(old, { method: "browser.controller.heartbeat", params: { nonce: "n" } });
    answer(second, old, id, { ok: true });
    assertEquals([old.methods(), fresh.methods()], [["command", "cancel"], []]);
    assertEquals(notes.slice(1), ["replaced c", `connected ${other.controllerId ?? "c"}`]);
  });
}

Deno.test("Controller: detach answers ok and cancels at once; cancel by call id ends that one alone", async () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  const [one, two] = [run(controller, "browser_click", "a"), run(controller, "browser_click", "b")];
  controller.take(line, { method: "browser.controller.cancel", params: { tool_call_id: "a" } });
  assertEquals([errorOf(await one), controller.pending], ["Cancelled in the browser", 1]);
  controller.take(line, { method: "browser.controller.detach", params: {} });
  assertEquals(line.frames.at(-1), { method: "browser.controller.detach", params: { ok: true } });
  assertMatch(errorOf(await two)!, /cancelled$/);
  assertEquals(controller.isOnline, false);
});

Deno.test("Controller: heartbeats are echoed, answers to ours are not, and odd ones mean nothing", () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const controller = lanes.attach(registration(), line);
  for (
    const params of [{ nonce: "" }, { nonce: "x".repeat(129) }, { nonce: 5 }, {}, { nonce: "n", ok: true }]
  ) {
    controller.take(line, { method: "browser.controller.heartbeat", params });
  }
  assertEquals(line.frames, []);
  controller.take(line, { method: "browser.controller.heartbeat", params: { nonce: "n" } });
  assertEquals(line.last, { nonce: "n", ok: true });
});

Deno.test("Lanes: the server's end cancels what is pending", async () => {
  const { lanes } = makeLanes();
  const line = new Line();
  const ticket = lanes.issue(registration());
  const call = run(lanes.attach(registration(), line));
  lanes.close();
  assertEquals(errorOf(await call), "The server is shutting down");
  assertEquals([line.methods(), lanes.isGood(ticket)], [["command", "cancel"], false]);
});
