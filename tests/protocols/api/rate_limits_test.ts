import type { ApiError } from "../../../src/protocols/api/errors.ts";
import { RateLimits } from "../../../src/protocols/api/rate_limits.ts";
import { assertEquals } from "../../support/assert.ts";

function makeLimits() {
  let now = 1_000;
  const limits = new RateLimits({ now: () => now, monotonic: () => now, delay: () => Promise.resolve() });
  const wait = (key: string, rate: number) => {
    try {
      limits.count(key, rate);
      return null;
    } catch (error) {
      return (error as ApiError).headers["Retry-After"];
    }
  };
  return { wait, pass: (ms: number) => void (now += ms) };
}

Deno.test("count() lets one minute's worth through at once, then one per share of a minute", () => {
  const { wait, pass } = makeLimits();
  assertEquals([1, 2, 3, 4].map(() => wait("a", 3)), [null, null, null, "20"]);
  pass(19_000);
  assertEquals(wait("a", 3), "1");
  pass(1_000);
  assertEquals([wait("a", 3), wait("a", 3)], [null, "20"]);
});

Deno.test("count() keeps keys apart, never holds more than a minute's worth, and follows a new rate", () => {
  const { wait, pass } = makeLimits();
  assertEquals([wait("a", 1), wait("a", 1), wait("b", 1)], [null, "60", null]);
  pass(3_600_000);
  assertEquals([wait("a", 1), wait("a", 1)], [null, "60"]);
  pass(1_000);
  // The second that has passed counts at the new rate.
  assertEquals([wait("a", 60), wait("a", 60)], [null, "1"]);
});
