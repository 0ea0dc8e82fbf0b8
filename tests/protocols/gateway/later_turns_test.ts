import type {
  CoreEvent,
  DelegationControl,
  LaterResult,
  Session,
  TurnHandle,
  TurnResult,
} from "../../../src/core/mod.ts";
import { type LaterHost, LaterTurns } from "../../../src/protocols/gateway/later_turns.ts";
import { assertEquals } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

/** A desk with results in a list, and a session whose turns the test begins and ends. */
function rig(waiting: string[]) {
  const settled: string[] = [];
  const turns: { text: string; id: string; end(result?: Partial<TurnResult>): void }[] = [];
  let hold: Promise<void> = Promise.resolve();
  const delegation = {
    hasLater: () => true,
    takeLater: async (): Promise<LaterResult | null> => {
      const id = waiting.shift();
      await hold;
      return id === undefined ? null : { id, text: `text of ${id}` };
    },
    settleLater: (id: string, outcome: string) => {
      settled.push(`${id} ${outcome}`);
      if (outcome !== "stored") waiting.push(id);
      return Promise.resolve();
    },
  } as unknown as DelegationControl;
  const session = {
    headId: "s",
    stored: true,
    closed: false,
    running: false,
    requireFree() {},
  } as unknown as Session;
  const host: LaterHost & { busy: boolean } = {
    session,
    busy: false,
    startTurn: (input) => {
      const { promise, resolve } = Promise.withResolvers<TurnResult>();
      const id = `t${turns.length}`;
      const end = (result: Partial<TurnResult> = { outcome: "cancelled" }) => resolve(result as TurnResult);
      turns.push({ text: String(input.content), id, end });
      return { id, position: 0, done: promise, cancel: () => {} } as TurnHandle;
    },
    onFault: (where, error) => {
      throw new Error(where, { cause: error });
    },
  };
  const later = new LaterTurns(host, delegation);
  const begin = (turnId: string, userRowId: number | null = 1) =>
    later.onEvent({ type: "turn.start", turnId, userRowId } as CoreEvent);
  return { later, host, turns, settled, waiting, begin, holdTaking: (until: Promise<void>) => hold = until };
}

Deno.test("a result is settled when its turn has begun, and only one is brought in at a time", async () => {
  const { later, turns, settled, begin } = rig(["a", "b"]);
  later.offer();
  later.offer();
  await eventually(() => turns.length === 1);
  later.offer();
  begin("somebody else's");
  assertEquals([turns.length, settled], [1, []]);
  begin("t0");
  assertEquals(settled, ["a stored"]);
  turns[0]!.end();
  later.offer();
  await eventually(() => turns.length === 2);
  assertEquals(turns.map((turn) => turn.text), ["text of a", "text of b"]);
});

Deno.test("a prompt that comes while a result is taken goes first, and the result waits again", async () => {
  const { later, host, turns, settled, holdTaking } = rig(["a"]);
  const { promise, resolve } = Promise.withResolvers<void>();
  holdTaking(promise);
  later.offer();
  host.busy = true;
  resolve();
  await eventually(() => settled.length === 1);
  assertEquals([settled, turns.length], [["a unused"], 0]);
});

Deno.test("a turn that never began has failed its result, which is not tried again at once", async () => {
  const { later, turns, settled } = rig(["a"]);
  later.offer();
  await eventually(() => turns.length === 1);
  turns[0]!.end();
  await eventually(() => settled.length === 1);
  assertEquals([settled, turns.length], [["a failed"], 1]);
});

Deno.test("what comes in while nothing was found is not missed", async () => {
  const { later, turns, waiting, holdTaking } = rig([]);
  const { promise, resolve } = Promise.withResolvers<void>();
  holdTaking(promise);
  later.offer();
  await Promise.resolve();
  waiting.push("a");
  later.onEvent({ type: "session.change", what: "delegation" } as CoreEvent);
  resolve();
  await eventually(() => turns.length === 1);
  assertEquals(turns[0]!.text, "text of a");
});

Deno.test("core D.4: a result whose turn another program keeps out waits again; one without a row yet is stored at the end", async () => {
  const { later, turns, settled, begin } = rig(["a"]);
  later.offer();
  await eventually(() => turns.length === 1);
  begin("t0", null);
  assertEquals(settled, []);
  turns[0]!.end({ outcome: "failed", exitReason: "session_busy", failure: null });
  await eventually(() => settled.length === 1);
  assertEquals(settled, ["a unused"]);
  later.offer();
  await eventually(() => turns.length === 2);
  begin("t1", null);
  turns[1]!.end({ outcome: "completed" });
  await eventually(() => settled.length === 2);
  assertEquals(settled, ["a unused", "a stored"]);
});
