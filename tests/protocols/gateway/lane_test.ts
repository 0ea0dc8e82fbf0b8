import { assertEquals } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";
import type { Incoming } from "../../../src/protocols/gateway/frame.ts";
import { Lane, type Received } from "../../../src/protocols/gateway/lane.ts";

/** A lane whose `stuck` frames wait until they are let go; all others are done at once. */
function makeLane(waitMs = 60_000): { lane: Lane; seen: string[]; letGo(): void } {
  const seen: string[] = [];
  const held: (() => void)[] = [];
  const nameOf = (frame: Incoming) => frame.type === "request" ? `${frame.method} ${frame.id}` : frame.type;
  const lane = new Lane({
    ready: () => null,
    handle: (frame) => {
      seen.push(nameOf(frame));
      if (frame.type !== "request" || !frame.params["stuck"]) return null;
      return new Promise((resolve) => held.push(resolve));
    },
    onQuiet: () => seen.push("quiet"),
  }, waitMs);
  return { lane, seen, letGo: () => held.splice(0).forEach((resolve) => resolve()) };
}

function request(id: number, method: string, params: Record<string, unknown> = {}): string {
  return JSON.stringify({ id, method, params });
}

async function until(seen: string[], count: number): Promise<void> {
  await eventually(() => seen.length >= count || undefined, 5_000, `${count} frames`);
}

Deno.test("Lane lets only stops and answers pass a slow method; all others keep their order", async () => {
  for (const together of [true, false]) {
    const { lane, seen, letGo } = makeLane();
    const frames = [
      request(2, "config.set"),
      request(3, "approval.respond"),
      request(4, "session.title"),
      '{"id":"srq-000000000000","result":{"choice":"once"}}',
      request(5, "session.interrupt"),
      request(6, "ping"),
    ];
    lane.receive(request(1, "session.save", { stuck: true }));
    if (!together) await until(seen, 1);
    for (const frame of frames) lane.receive(frame);
    await until(seen, 4);
    assertEquals(seen, ["session.save 1", "approval.respond 3", "response", "session.interrupt 5"]);
    letGo();
    await lane.quiet();
    assertEquals(seen.slice(4), ["config.set 2", "session.title 4", "ping 6", "quiet"]);
    assertEquals(lane.backlog, 0);
  }
});

Deno.test("Lane lets nothing pass a prompt, nor words that only look like a stop", async () => {
  const queued: Received[] = [
    request(2, "session.title", { title: '"session.interrupt" approval.respond"' }),
    request(3, "prompt.submit", { text: "go" }),
    request(4, "session.interrupt"),
  ];
  const barriers: Received[][] = [queued, [request(2, "x".repeat(20_000)), queued[2]!], [null, queued[2]!]];
  for (const barrier of barriers) {
    const { lane, seen, letGo } = makeLane();
    lane.receive(request(1, "session.save", { stuck: true }));
    for (const frame of [request(9, "sudo.respond"), ...barrier]) lane.receive(frame);
    await until(seen, 2);
    lane.receive(request(5, "clarify.respond"));
    assertEquals(seen, ["session.save 1", "sudo.respond 9"]);
    letGo();
    await lane.quiet();
    assertEquals(seen.slice(-3), ["session.interrupt 4", "clarify.respond 5", "quiet"]);
  }
});

Deno.test("Lane goes on when a method takes longer than it may", async () => {
  const { lane, seen, letGo } = makeLane(10);
  lane.receive(request(1, "prompt.submit", { stuck: true }));
  lane.receive(request(2, "ping"));
  await lane.quiet();
  assertEquals(seen, ["prompt.submit 1", "ping 2", "quiet"]);
  letGo();
});

Deno.test("Lane keeps the order and loses nothing over thousands of frames", async () => {
  const { lane, seen, letGo } = makeLane();
  lane.receive(request(0, "ping", { stuck: true }));
  for (let id = 1; id < 3000; id++) lane.receive(request(id, "ping"));
  letGo();
  await lane.quiet();
  assertEquals(seen.slice(0, -1), Array.from({ length: 3000 }, (_, id) => `ping ${id}`));
  assertEquals(lane.backlog, 0);
});
