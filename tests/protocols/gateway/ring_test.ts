import { assertEquals } from "../../support/assert.ts";
import { eventHead } from "../../../src/protocols/gateway/frame.ts";
import { EventRing, MAX_EVENTS, MAX_RINGS, RingBudget } from "../../../src/protocols/gateway/ring.ts";

function frame(seq: number, text = ""): string {
  return `${eventHead("message.delta", "s")},"payload":{"text":"${text}"},"seq":${seq}}}\n`;
}

function seqs(events: unknown[]): number[] {
  return events.map((event) => (event as { seq: number }).seq);
}

Deno.test("EventRing gives back what came after a number, ascending", () => {
  const ring = new EventRing(new RingBudget());
  for (let seq = 1; seq <= 5; seq++) ring.push(frame(seq));
  assertEquals(seqs(ring.since(0).events), [1, 2, 3, 4, 5]);
  assertEquals(seqs(ring.since(3).events), [4, 5]);
  assertEquals(ring.since(5), { events: [], truncated: false });
  assertEquals(ring.since(99), { events: [], truncated: false });
  assertEquals(ring.latest, 5);
});

Deno.test("EventRing keeps 512 events and says when some are gone", () => {
  const ring = new EventRing(new RingBudget());
  for (let seq = 1; seq <= 600; seq++) ring.push(frame(seq));
  const { events, truncated } = ring.since(0);
  assertEquals([events.length, seqs(events)[0], truncated], [MAX_EVENTS, 89, true]);
  assertEquals(ring.since(88).truncated, false);
  assertEquals(ring.since(87).truncated, true);
});

Deno.test("EventRing keeps at most 4 MiB, and always the latest event", () => {
  const budget = new RingBudget();
  const ring = new EventRing(budget);
  for (let seq = 1; seq <= 10; seq++) ring.push(frame(seq, "x".repeat(1 << 20)));
  assertEquals(seqs(ring.since(0).events), [8, 9, 10]);
  ring.push(frame(11, "x".repeat(5 << 20)));
  assertEquals(seqs(ring.since(0).events), [11]);
  budget.remove(ring);
  assertEquals(budget.bytes, 0);
});

Deno.test("RingBudget empties the oldest ring beyond 64 and counts what is kept", () => {
  const budget = new RingBudget();
  const rings = Array.from({ length: MAX_RINGS }, () => new EventRing(budget));
  rings.forEach((ring) => ring.push(frame(1)));
  new EventRing(budget);
  assertEquals(rings[0]!.since(0), { events: [], truncated: true });
  assertEquals(budget.stats()["sessions"], MAX_RINGS);
  assertEquals(budget.stats()["events"], MAX_RINGS - 1);
});
