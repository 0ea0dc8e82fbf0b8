import { judgeFlat, type Measured, medianOf, slopeOf, type Timed } from "../../scripts/torture/flat.ts";
import { Judge } from "../../scripts/torture/judge.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";

const COUNT = 180;
/** One look and one turn a second. */
function measured(rss: (n: number) => number, files = (_: number) => 20, took = (_: number) => 30): Measured {
  const each = Array.from({ length: COUNT }, (_, n) => n);
  return {
    name: "door",
    samples: each.map((n) => ({ at: n * 1_000, rss: rss(n), files: files(n) })),
    turns: each.map((n) => ({ at: n * 1_000, took: took(n) })),
  };
}

const young = (took: (n: number) => number): readonly Timed[] =>
  Array.from({ length: COUNT }, (_, n) => ({ at: n * 1_000, took: took(n) }));

function findingsOf(one: Measured, yardstick = young(() => 30)): readonly string[] {
  const judge = new Judge("flat");
  judgeFlat(one, yardstick, judge);
  return judge.findings.map(({ what }) => what);
}

Deno.test("judgeFlat(): a growth before the end of the warm-up, noise and odd samples are no finding", () => {
  const noisy = (n: number) =>
    Math.min(100, 40 + n) + (n % 7) - 3 + (n % 31 === 0 ? 80 : 0) + (n > 170 ? 60 : 0);
  assertEquals(findingsOf(measured(noisy, (n) => n % 40 === 0 ? 90 : 20, (n) => n % 9 === 0 ? 900 : 30)), []);
});

Deno.test("judgeFlat(): memory, open files and turns that go on growing are each told with figure and bound", () => {
  const [memory, ...others] = findingsOf(measured((n) => 100 + 2 * n));
  assertMatch(
    memory!,
    /^door: memory grew by 238\.0 MiB in 2\.0 minutes \(120\.00 MiB a minute, median 340 MiB\); at most 120 MiB$/,
  );
  assertEquals(others, []);
  assertEquals(findingsOf(measured(() => 100, (n) => 20 + n / 2)), [
    "door: open files grew from 65 to 95 (medians); at most 12 more",
  ]);
  const slower = measured(() => 100, undefined, (n) => n < 120 ? 30 : 200);
  assertEquals(findingsOf(slower), [
    "door: a turn took 30 ms, later 200 ms (medians), in a young program 30 and 30 ms; at most 2.5 times as long beside it",
  ]);
});

Deno.test("judgeFlat(): a machine that gets slower is no finding, since a young program gets slower too", () => {
  const slower = measured(() => 100, undefined, (n) => n < 120 ? 30 : 200);
  assertEquals(findingsOf(slower, young((n) => n < 120 ? 25 : 160)), []);
});

Deno.test("slopeOf() and medianOf(): a third of wild points does not turn the slope", () => {
  const points = Array.from({ length: 90 }, (_, n) => [n, n % 3 === 0 ? 5_000 - 90 * n : 2 * n] as const);
  assertEquals(Math.abs(slopeOf(points) - 2) < 3, true);
  assertEquals([medianOf([3, 1, 2]), medianOf([5])], [2, 5]);
});
