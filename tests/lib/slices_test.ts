/** Long work a slice at a time: when others have a turn, and that what comes next is a task of its own. */
import { inOneGo, inSlices, Slices, type Steps } from "@/lib/slices.ts";
import { assert, assertEquals } from "../support/assert.ts";

function busy(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function* work(steps: number, ms: number, log: string[]): Steps<number> {
  for (let n = 0; n < steps; n++) {
    busy(ms);
    log.push("step");
    yield;
  }
  return steps;
}

/** Names of what ran, in order; "other" is a timer that is set again and again. */
async function besideOthers(run: (log: string[]) => Promise<unknown>): Promise<string[]> {
  const log: string[] = [];
  let timer = setTimeout(function other() {
    log.push("other");
    timer = setTimeout(other, 0);
  }, 0);
  try {
    await run(log);
    log.push("next");
  } finally {
    clearTimeout(timer);
  }
  return log;
}

Deno.test("inSlices() gives others a turn between slices, and once more before its caller goes on", async () => {
  const log = await besideOthers(async (log) => assertEquals(await inSlices(work(8, 3, log)), 8));
  const between = log.slice(log.indexOf("step"), log.lastIndexOf("step"));
  assert(between.includes("other"), log.join());
  assertEquals(log.slice(-2), ["other", "next"]);
});

Deno.test("what needs no second slice pauses nowhere", async () => {
  const short = await besideOthers((log) => inSlices(work(8, 0, log)));
  assertEquals(short, [...Array(8).fill("step"), "next"]);
  const log: string[] = [];
  assertEquals(inOneGo(work(4, 3, log)), 4);
  assertEquals(await besideOthers(() => new Slices().end()), ["next"]);
});
