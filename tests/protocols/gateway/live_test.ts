import { assertEquals } from "../../support/assert.ts";
import type { Hermes } from "../../../src/app/mod.ts";
import type { CoreEvent, CoreEventBody, EventReader, Session, TurnResult } from "../../../src/core/mod.ts";
import { NO_USAGE } from "../../../src/core/mod.ts";
import { Dialects } from "../../../src/protocols/gateway/audience.ts";
import type { Client } from "../../../src/protocols/gateway/peer.ts";
import { LiveSession } from "../../../src/protocols/gateway/live.ts";
import { RingBudget } from "../../../src/protocols/gateway/ring.ts";
import { SkillIndex } from "../../../src/protocols/gateway/skill_index.ts";

const DONE: TurnResult = {
  outcome: "completed",
  text: "Done.",
  reasoning: "",
  exitReason: "",
  partial: false,
  failure: null,
  usage: NO_USAGE,
  apiCalls: 1,
  model: "m",
  provider: "p",
  pendingSteer: null,
  userRowId: 1,
};

/** A core session whose turns end when the test says so. */
class FakeSession {
  readonly submitted: string[] = [];
  interrupts = 0;
  acceptsSteer = false;
  closed = false;
  title = null;
  model = null;
  modelError = null;
  yolo = false;
  reasoningEffort = null;
  fast = false;
  cwd = "/nowhere";
  headId = "20260801_101500_9be2f1";
  #reader: EventReader = () => {};
  #settle: ((result: TurnResult) => void)[] = [];

  subscribe(reader: EventReader): () => void {
    this.#reader = reader;
    return () => {};
  }
  requireFree(): void {}
  submit(
    input: { content: string },
  ): { id: string; position: number; done: Promise<TurnResult>; cancel(): void } {
    this.submitted.push(input.content);
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    this.#settle.push(resolve);
    return { id: "t", position: 0, done: promise, cancel: () => {} };
  }
  interrupt(): void {
    this.interrupts++;
  }
  steer = () => this.acceptsSteer;
  asks = () => [];
  toolNames = () => [];
  mcpStatus = () => [];
  usage = () => ({ usage: NO_USAGE, calls: 0, contextUsed: 0, contextMax: null });

  publish(body: CoreEventBody): void {
    void this.#reader({ ...body, sessionId: "s", turnId: "t", seq: 1 } as CoreEvent);
  }
  /** The end of the oldest open turn, as the core tells it: first the event, then the promise. */
  async end(result: Partial<TurnResult> = {}): Promise<void> {
    this.publish({ type: "turn.end", result: { ...DONE, ...result } });
    await this.settle(result);
  }
  async settle(result: Partial<TurnResult> = {}): Promise<void> {
    this.#settle.shift()!({ ...DONE, ...result });
    await Promise.resolve();
    await Promise.resolve();
  }
}

const settings = {
  model: { default: "m", provider: "p" },
  agent: { reasoning_effort: "" },
  approvals: { mode: "manual" },
  display: { personality: "", tool_progress: "all" },
};
const hermes = {
  settings: () => settings,
  config: { get: () => "", warnings: () => [], settings: () => settings, env: () => undefined },
  tools: [],
  version: "0.0.0",
  platform: {
    clock: { now: () => 0, monotonic: () => 0 },
    files: { statSync: () => null, readTextSync: () => null },
  },
  isReady: true,
  sessions: {
    delegation: { active: () => [], isChild: () => false, detachedIn: () => 0, hasLater: () => false },
  },
} as unknown as Hermes;

function open(): { session: FakeSession; live: LiveSession; client: Client; types(): string[] } {
  const session = new FakeSession();
  // deno-lint-ignore no-explicit-any
  const frames: any[] = [];
  const client: Client = { send: (frame) => void frames.push(JSON.parse(frame)), room: () => null };
  const live = new LiveSession({
    sid: "5f2c9a10",
    session: session as unknown as Session,
    hermes,
    client,
    dialects: new Dialects(),
    budget: new RingBudget(),
    skills: new SkillIndex(hermes),
    closeOnDisconnect: false,
    yolo: false,
    onClosed: () => {},
    onFault: (where, error) => {
      throw new Error(where, { cause: error });
    },
  });
  return { session, live, client, types: () => frames.map((frame) => frame.params.type) };
}

Deno.test("texts that wait are merged by a blank line and run after the turn", async () => {
  const { session, live } = open();
  live.start({ content: "one" });
  assertEquals(
    [live.submitBusy({ content: "two" }, "queue"), live.submitBusy({ content: "three" }, "queue")],
    [
      "queued",
      "queued",
    ],
  );
  assertEquals([live.busy, live.queuedText, session.interrupts], [true, "two\n\nthree", 0]);
  await session.end();
  assertEquals(session.submitted, ["one", "two\n\nthree"]);
  await session.end();
  assertEquals(live.busy, false);
});

Deno.test("a text with a kind or of parts keeps a turn of its own", async () => {
  const { session, live } = open();
  live.start({ content: "one" });
  live.submitBusy({ content: "two" }, "queue");
  live.submitBusy({ content: "hidden", displayKind: "hidden" }, "queue");
  live.submitBusy({ content: "three" }, "queue");
  for (let turn = 0; turn < 4; turn++) await session.end();
  assertEquals(session.submitted, ["one", "two", "hidden", "three"]);
});

Deno.test("interrupt mode ends the turn, steer mode falls back to the slot when it is refused", () => {
  const { session, live } = open();
  live.start({ content: "one" });
  assertEquals(live.submitBusy({ content: "two" }, "interrupt"), "queued");
  assertEquals(session.interrupts, 1);
  assertEquals(live.submitBusy({ content: "x" }, "steer"), "queued");
  session.acceptsSteer = true;
  assertEquals(live.submitBusy({ content: "y" }, "steer"), "steered");
  assertEquals(live.queuedText, "two\n\nx");
});

Deno.test("steer text that is left runs before what waits", async () => {
  const { session, live } = open();
  live.start({ content: "one" });
  live.submitBusy({ content: "later", displayKind: "hidden" }, "queue");
  await session.end({ pendingSteer: "left" });
  assertEquals(session.submitted, ["one", "left"]);
});

Deno.test("interrupt() forgets what waits", async () => {
  const { session, live } = open();
  live.start({ content: "one" });
  live.submitBusy({ content: "two" }, "queue");
  live.interrupt();
  await session.end({ outcome: "cancelled" });
  assertEquals([session.submitted, live.busy], [["one"], false]);
});

Deno.test("a turn that was cancelled before it started has an end on the wire, too", async () => {
  const { session, live, types } = open();
  live.start({ content: "one" });
  await session.settle({ outcome: "cancelled" });
  assertEquals(types(), ["error", "message.complete", "session.info"]);
  assertEquals(live.busy, false);
});

Deno.test("events are numbered per session and kept while nobody listens", () => {
  const { session, live, client, types } = open();
  live.audience.remove(client);
  session.publish({ type: "turn.start", text: "x", userRowId: 1 });
  session.publish({ type: "text.delta", text: "a\u2028" });
  assertEquals(types(), []);
  assertEquals(live.ring.since(0).events, [
    { type: "message.start", session_id: "5f2c9a10", seq: 1 },
    { type: "message.delta", session_id: "5f2c9a10", payload: { text: "a\u2028" }, seq: 2 },
  ]);
});
