import { assertEquals } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";
import { RpcError } from "../../../src/protocols/gateway/errors.ts";
import { type Client, type Method, Peer, Reply, TOO_LARGE } from "../../../src/protocols/gateway/peer.ts";

type Handler = Method["run"];

interface Linked {
  readonly peer: Peer;
  /** Parsed frames, in order. */
  // deno-lint-ignore no-explicit-any
  readonly out: any[];
  readonly faults: string[];
}

function link(
  methods: Record<string, Handler>,
  options: { workers?: number; laneWaitMs?: number; load?: () => Promise<void> } = {},
): Linked {
  const out: unknown[] = [];
  const faults: string[] = [];
  const client: Client = { send: (frame) => void out.push(JSON.parse(frame)), room: () => null };
  const table = new Map<string, Method>();
  for (const [name, run] of Object.entries(methods)) {
    table.set(name, { name, kind: name.startsWith("slow") ? "worker" : "inline", run });
  }
  const peer = new Peer({
    client,
    methods: async () => {
      await options.load?.();
      return table;
    },
    ...(options.workers === undefined ? {} : { workers: options.workers }),
    ...(options.laneWaitMs === undefined ? {} : { laneWaitMs: options.laneWaitMs }),
    onFault: (where, error) => faults.push(`${where}: ${(error as Error).message}`),
  });
  return { peer, out, faults };
}

function ask(id: number, method: string): string {
  return JSON.stringify({ id, method });
}

/** A handler that answers when it is told to, by call order. */
function gate(): { run: Handler; open(at: number): void; started: () => number } {
  const doors: PromiseWithResolvers<unknown>[] = [];
  return {
    run: () => {
      const door = Promise.withResolvers<unknown>();
      doors.push(door);
      return door.promise;
    },
    open: (at) => doors[at]!.resolve({ at }),
    started: () => doors.length,
  };
}

Deno.test("Peer answers a result, an unknown method, a refusal and a line that was too large", async () => {
  const { peer, out } = link({
    hello: () => ({ ok: true }),
    no: () => {
      throw new RpcError(4001, "session not found", { x: 1 });
    },
  });
  peer.receive('{"id":"a","method":"hello"}');
  peer.receive('{"id":"x","method":"no.such"}');
  peer.receive('{"id":2,"method":"no"}');
  peer.receive(TOO_LARGE);
  peer.receive(null);
  peer.receive('{"method":"hello"}');
  await peer.idle();
  assertEquals(out, [
    { jsonrpc: "2.0", id: "a", result: { ok: true } },
    { jsonrpc: "2.0", id: "x", error: { code: -32601, message: "unknown method: no.such" } },
    { jsonrpc: "2.0", id: 2, error: { code: 4001, message: "session not found", data: { x: 1 } } },
    { jsonrpc: "2.0", id: null, error: { code: -32600, message: "frame too large" } },
    { jsonrpc: "2.0", id: null, error: { code: -32700, message: "parse error: not UTF-8" } },
    { jsonrpc: "2.0", id: null, result: { ok: true } },
  ]);
});

Deno.test("Peer answers inline methods in the order of their requests, also asynchronous ones", async () => {
  const { peer, out } = link({
    now: () => ({}),
    later: () => new Promise((resolve) => setTimeout(() => resolve({}), 5)),
  });
  for (let id = 0; id < 20; id++) peer.receive(ask(id, id % 3 === 0 ? "later" : "now"));
  await peer.idle();
  assertEquals(out.map((frame) => frame.id), [...Array(20).keys()]);
});

Deno.test("Peer answers inline methods while workers run, and workers when they are done", async () => {
  const slow = gate();
  const { peer, out } = link({ slow: slow.run, quick: () => ({}) });
  peer.receive(ask(1, "slow"));
  peer.receive(ask(2, "slow"));
  peer.receive(ask(3, "quick"));
  await Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(out.map((frame) => frame.id), [3]);
  slow.open(1);
  slow.open(0);
  await peer.idle();
  assertEquals(out.map((frame) => frame.id), [3, 2, 1]);
});

Deno.test("Peer runs no more workers than the pool has; the rest waits and is run", async () => {
  const slow = gate();
  const { peer, out } = link({ slow: slow.run, quick: () => ({}) }, { workers: 2 });
  for (let id = 0; id < 4; id++) peer.receive(ask(id, "slow"));
  peer.receive(ask(9, "quick"));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(slow.started(), 2);
  assertEquals(out.map((frame) => frame.id), [9]);
  slow.open(0);
  slow.open(1);
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(slow.started(), 4);
  slow.open(2);
  slow.open(3);
  await peer.idle();
  assertEquals(out.map((frame) => frame.id), [9, 0, 1, 2, 3]);
});

Deno.test("Peer stops waiting for an inline method that hangs (FC-08)", async () => {
  const stuck = gate();
  const { peer, out } = link({ stuck: stuck.run, quick: () => ({}) }, { laneWaitMs: 10 });
  peer.receive(ask(1, "stuck"));
  peer.receive(ask(2, "quick"));
  while (out.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  assertEquals(out.map((frame) => frame.id), [2]);
  stuck.open(0);
  await peer.idle();
  assertEquals(out.map((frame) => frame.id), [2, 1]);
});

Deno.test("Peer tells a fault of ours vaguely and survives it", async () => {
  const boom = () => {
    throw new TypeError("secret detail");
  };
  const { peer, out, faults } = link({
    boom,
    slowBoom: () => Promise.reject(new Error("disk\nmore")),
    cyclic: () => {
      const loop: Record<string, unknown> = {};
      loop["loop"] = loop;
      return loop;
    },
  });
  peer.receive(ask(1, "boom"));
  peer.receive(ask(2, "slowBoom"));
  peer.receive(ask(3, "cyclic"));
  await peer.idle();
  const byId = new Map(out.map((frame) => [frame.id, frame.error]));
  assertEquals(byId.get(1), { code: -32603, message: "internal error" });
  assertEquals(byId.get(2), { code: -32000, message: "handler error: disk" });
  assertEquals(byId.get(3), { code: -32603, message: "internal error" });
  assertEquals(faults.map((fault) => fault.split(":")[0]).sort(), ["boom", "cyclic", "slowBoom"]);
});

Deno.test("Reply.after runs when its response was sent", async () => {
  const order: string[] = [];
  const client: Client = { send: (frame) => void order.push(JSON.parse(frame).id), room: () => null };
  const method: Method = {
    name: "start",
    kind: "inline",
    run: () => new Reply({ status: "streaming" }, () => order.push("event")),
  };
  const peer = new Peer({
    client,
    methods: () => Promise.resolve(new Map([["start", method]])),
    onFault: () => {},
  });
  peer.receive('{"id":"r","method":"start"}');
  await peer.idle();
  assertEquals(order, ["r", "event"]);
});

Deno.test("Peer keeps requests that came before the methods were loaded, in order", async () => {
  const loaded = Promise.withResolvers<void>();
  const { peer, out } = link({ hello: () => ({}) }, { load: () => loaded.promise });
  peer.receive(ask(1, "hello"));
  peer.receive("nonsense");
  peer.receive(ask(2, "hello"));
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(out, []);
  loaded.resolve();
  await peer.idle();
  assertEquals(out.map((frame) => frame.id), [1, null, 2]);
});

Deno.test("Peer answers every request when the program cannot be loaded", async () => {
  const { peer, out, faults } = link({}, { load: () => Promise.reject(new Error("no home")) });
  peer.receive(ask(1, "session.create"));
  peer.receive(ask(2, "anything"));
  await peer.idle();
  assertEquals(out.map((frame) => [frame.id, frame.error.code, frame.error.message]), [
    [1, -32000, "Cannot start: no home"],
    [2, -32000, "Cannot start: no home"],
  ]);
  assertEquals(faults, ["start: no home"]);
});

Deno.test("abandon() answers what is open once, tells the handlers, and drops late results", async () => {
  const slow = gate();
  let told = false;
  const { peer, out } = link({
    slow: (params, client, signal) => {
      signal.addEventListener("abort", () => told = true);
      return slow.run(params, client, signal);
    },
  });
  peer.receive(ask(1, "slow"));
  await new Promise((resolve) => setTimeout(resolve));
  peer.abandon("the gateway is shutting down");
  slow.open(0);
  await peer.idle();
  assertEquals(told, true);
  assertEquals(out, [
    { jsonrpc: "2.0", id: 1, error: { code: -32000, message: "the gateway is shutting down" } },
  ]);
});

Deno.test("Peer lets a stop or an answer pass a slow inline method at once; no stop passes its prompt", async () => {
  for (const urgent of ["session.interrupt", "approval.respond"]) {
    for (const together of [true, false]) {
      const stuck = gate();
      const { peer, out } = link(
        { stuck: stuck.run, quick: () => ({}), [urgent]: () => ({ done: true }) },
        { laneWaitMs: 60_000 },
      );
      peer.receive(ask(1, "stuck"));
      if (!together) await eventually(() => stuck.started() === 1 || undefined, 5_000, "the start");
      peer.receive(ask(2, urgent));
      await eventually(() => out.length > 0 || undefined, 5_000, "the answer");
      assertEquals(out.map((frame) => frame.id), [2]);
      stuck.open(0);
      await peer.idle();
      assertEquals(out.map((frame) => frame.id), [2, 1]);
    }
  }
  for (const [first, second] of [["stuck", "quick"], ["prompt.submit", "session.interrupt"]] as const) {
    const stuck = gate();
    const { peer, out } = link({ [first]: stuck.run, [second]: () => ({}) }, { laneWaitMs: 60_000 });
    for (const [id, name] of [[1, first], [2, second]] as const) peer.receive(ask(id, name));
    await eventually(() => stuck.started() === 1 || undefined, 5_000, "the start");
    assertEquals(out, []);
    stuck.open(0);
    await peer.idle();
    assertEquals(out.map((frame) => frame.id), [1, 2]);
  }
});
