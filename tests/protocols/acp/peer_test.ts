/** Proves src/protocols/acp/peer.ts: ids, order, hold-back, cancellation in both directions. */
import { FrameWriter } from "../../../src/lib/frame_writer.ts";
import { Peer, PeerError, type PeerHandlers, type RequestContext } from "../../../src/protocols/acp/peer.ts";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

class Wire {
  readonly frames: Json[] = [];
  readonly peer: Peer;
  readonly seen: string[] = [];
  readonly contexts: RequestContext[] = [];
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly done: Promise<void>;

  constructor(request: PeerHandlers["request"] = () => ({})) {
    const writer = new FrameWriter({
      write: (bytes) => {
        for (const line of new TextDecoder().decode(bytes).trim().split("\n")) {
          this.frames.push(JSON.parse(line));
        }
        return Promise.resolve(bytes.length);
      },
    });
    this.peer = new Peer(writer, {
      request: (method, params, context) => {
        this.seen.push(method);
        this.contexts.push(context);
        return request(method, params, context);
      },
      notification: (method) => void this.seen.push(method),
      toRpcError: (error) => ({ code: -32603, message: String((error as Error).message) }),
    });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#input = writable.getWriter();
    this.done = this.peer.read(readable);
  }

  async send(...frames: Json[]): Promise<void> {
    const lines = frames.map((frame) =>
      typeof frame === "string" ? frame : JSON.stringify({ jsonrpc: "2.0", ...frame })
    );
    await this.#input.write(new TextEncoder().encode(lines.join("\n") + "\n"));
  }

  async end(): Promise<void> {
    await this.#input.close();
    await this.done;
  }

  answer(id: unknown): Promise<Json> {
    return eventually(() => this.frames.find((f) => f.id === id && !f.method), 2_000, `the answer ${id}`);
  }
}

Deno.test("Peer answers with the id it was given, results as objects, throws as errors", async () => {
  const wire = new Wire((method) => {
    if (method === "boom") throw new Error("no");
    return method === "later" ? Promise.resolve(undefined) : { ok: method };
  });
  await wire.send({ id: 1, method: "a" }, { id: "1", method: "later" }, { id: null, method: "b" }, {
    id: 2,
    method: "boom",
  });
  await wire.end();
  await wire.peer.quiet();
  await eventually(() => wire.frames.length === 4);
  assertEquals((await wire.answer(1)).result, { ok: "a" });
  assertEquals((await wire.answer("1")).result, {});
  assertEquals((await wire.answer(null)).result, { ok: "b" });
  assertEquals((await wire.answer(2)).error, { code: -32603, message: "no" });
});

Deno.test("acp 3: Peer holds everything back after initialize until it is released, in order", async () => {
  const wire = new Wire((method) => ({ method }));
  await wire.send(
    { id: 1, method: "initialize" },
    { id: 2, method: "a" },
    { method: "n" },
    "broken",
    { id: 3, method: "b" },
  );
  await wire.answer(1);
  assertEquals(wire.seen, ["initialize"]);
  wire.peer.release();
  await wire.answer(3);
  assertEquals(wire.seen, ["initialize", "a", "n", "b"]);
  assertEquals(wire.frames.map((f) => f.id), [1, 2, null, 3]);
  await wire.end();
});

Deno.test("Peer.release() stops at another initialize and keeps the rest in order", async () => {
  const wire = new Wire(() => ({}));
  await wire.send({ id: 1, method: "initialize" }, { id: 2, method: "initialize" }, { id: 3, method: "x" });
  await wire.answer(1);
  wire.peer.release();
  await wire.answer(2);
  assertEquals(wire.seen, ["initialize", "initialize"]);
  wire.peer.release();
  await wire.answer(3);
  await wire.end();
});

Deno.test("acp 32: $/cancel_request aborts the signal of the request it names and no other", async () => {
  const wire = new Wire(() => undefined);
  await wire.send({ id: 1, method: "x" }, { id: "1", method: "x" }, {
    method: "$/cancel_request",
    params: { requestId: 1 },
  }, { method: "$/cancel_request", params: { requestId: 99 } });
  await eventually(() => wire.contexts.length === 2 && wire.contexts[0]!.signal.aborted);
  assertEquals(wire.contexts[1]!.signal.aborted, false);
  for (const context of wire.contexts) context.respond({});
  wire.contexts[0]!.respond({ again: true });
  wire.contexts[0]!.fail(new Error("late"));
  await wire.end();
  await wire.peer.quiet();
  await eventually(() => wire.frames.length >= 2);
  assertEquals(wire.frames.length, 2);
});

Deno.test("Peer.request() resolves with the answer of its own id; strangers are ignored", async () => {
  const wire = new Wire();
  const { signal } = new AbortController();
  const first = wire.peer.request("a", {}, { signal });
  const second = wire.peer.request("b", {}, { signal });
  await wire.send({ id: 77, result: "x" }, { id: "0", result: "x" }, { id: 1, result: "two" }, {
    id: 0,
    result: "one",
  }, {
    id: 0,
    result: "again",
  });
  assertEquals([await first, await second], ["one", "two"]);
  await wire.end();
});

Deno.test("Peer.request() rejects with PeerError for an error answer", async () => {
  const wire = new Wire();
  const asked = wire.peer.request("a", {}, { signal: new AbortController().signal });
  await wire.send({ id: 0, error: { code: 1, message: "no" } });
  const error = await asked.catch((e) => e);
  assert(error instanceof PeerError);
  await wire.end();
});

Deno.test("acp 30: an aborted Peer.request() tells the client and drops the late answer", async () => {
  const wire = new Wire();
  const controller = new AbortController();
  const asked = wire.peer.request("a", {}, { signal: controller.signal });
  controller.abort();
  await assertRejects(() => asked);
  await wire.send({ id: 0, result: "late" });
  await wire.end();
  assertEquals(wire.frames.map((f) => f.method), ["a", "$/cancel_request"]);
  assertEquals(wire.frames[1].params, { requestId: 0 });
});

Deno.test("acp 45: the end of input fails every wait on the client at once, and later ones too", async () => {
  const wire = new Wire();
  const { signal } = new AbortController();
  const asked = wire.peer.request("a", {}, { signal });
  const rejected = assertRejects(() => asked);
  await wire.end();
  await rejected;
  assertEquals(wire.peer.inputEnded.aborted, true);
  await assertRejects(() => wire.peer.request("b", {}, { signal }));
});

Deno.test("RequestContext.afterResponse() runs right after the answer, not after an error", async () => {
  const wire = new Wire((method, _params, context) => {
    context.afterResponse(() => wire.peer.notify("after", { method }));
    if (method === "bad") throw new Error("no");
    return {};
  });
  await wire.send({ id: 1, method: "good" }, { id: 2, method: "bad" });
  await wire.answer(2);
  await wire.end();
  assertEquals(wire.frames.map((f) => f.method ?? f.id), [1, "after", 2]);
});

Deno.test("Peer.read() leaves the thread to others while it works through a flood of lines, and keeps their order", async () => {
  const LINES = 2_000;
  const ids: unknown[] = [];
  const wire = new Wire((_, _params, context) => {
    ids.push(context.id);
    const until = performance.now() + 0.02;
    while (performance.now() < until);
    return {};
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await wire.send(...Array.from({ length: LINES }, (_, id) => ({ id, method: "x" })));
  await wire.answer(LINES - 1);
  clearInterval(timer);
  assertEquals(ids, Array.from({ length: LINES }, (_, id) => id));
  // 40 ms of work in slices of 2 ms; in one piece nothing else would have had a turn before the last answer.
  assert(turns >= 5, `${turns} turns of others`);
  await wire.end();
});

Deno.test("finish() answers what is still open, and nothing is written behind that", async () => {
  const late = Promise.withResolvers<unknown>();
  const wire = new Wire((method) => method === "slow" ? late.promise : {});
  await wire.send({ id: 1, method: "slow" }, { id: 2, method: "slow" }, { id: 3, method: "quick" });
  await wire.answer(3);
  wire.peer.notify("update", {});
  wire.peer.finish((context) =>
    context.id === 1 ? context.respond({ stopReason: "cancelled" }) : context.fail(new Error("ended"))
  );
  wire.peer.notify("late", {});
  wire.peer.writeRaw('{"jsonrpc":"2.0","method":"raw"}\n');
  late.resolve({ stopReason: "end_turn" });
  await wire.end();
  assertEquals((await wire.answer(1)).result, { stopReason: "cancelled" });
  assertEquals((await wire.answer(2)).error, { code: -32603, message: "ended" });
  await wire.peer.flushed();
  assertEquals(wire.frames.map((frame) => frame.method ?? frame.id), [3, "update", 1, 2]);
});
