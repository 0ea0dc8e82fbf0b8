import type { Clock } from "@/platform/mod.ts";
import { NoticeLimiter, OutputWatch } from "@/tools/process_watch.ts";
import { assertEquals } from "../support/assert.ts";

class HandClock implements Clock {
  time = 0;
  now = () => this.time;
  monotonic = () => this.time;
  delay = () => Promise.resolve();
}

Deno.test("OutputWatch tells one match per 15 s and finds lines over chunk borders", () => {
  const clock = new HandClock();
  const watch = new OutputWatch(["ERR"], clock, new NoticeLimiter());
  assertEquals(watch.feed("ok\nE"), []);
  assertEquals(watch.feed("RR one\n"), [{ kind: "match", text: "ERR one" }]);
  assertEquals(watch.feed("ERR two\nERR three\n"), []);
  clock.time = 15_000;
  assertEquals(watch.feed("ERR four\n"), [{
    kind: "match",
    text: "ERR four (2 more matches since the last notice)",
  }]);
});

Deno.test("OutputWatch switches itself off after three noisy intervals in a row", () => {
  const clock = new HandClock();
  const watch = new OutputWatch(["ERR"], clock, new NoticeLimiter());
  const kinds: string[] = [];
  for (let round = 0; round < 4; round++) {
    clock.time = round * 15_000;
    kinds.push(...watch.feed("ERR a\nERR b\n").map(({ kind }) => kind));
  }
  assertEquals(kinds, ["match", "match", "match", "watch_disabled"]);
  assertEquals(watch.disabled, true);
});

Deno.test("OutputWatch forgives after a quiet interval", () => {
  const clock = new HandClock();
  const watch = new OutputWatch(["ERR"], clock, new NoticeLimiter());
  for (let round = 0; round < 12; round++) {
    clock.time = round * 15_000;
    watch.feed(round % 2 === 0 ? "ERR a\nERR b\n" : "ERR a\n");
  }
  assertEquals(watch.disabled, false);
});

Deno.test("NoticeLimiter pauses all for 30 s after 15 in 10 s", () => {
  const limiter = new NoticeLimiter();
  const allowed = Array.from({ length: 16 }, (_, i) => limiter.allow(i));
  assertEquals(allowed.filter(Boolean).length, 15);
  assertEquals([limiter.allow(30_000), limiter.allow(30_015)], [false, true]);
});
