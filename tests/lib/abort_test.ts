import { delay, within } from "@/lib/abort.ts";
import { assertEquals } from "../support/assert.ts";

/** Milliseconds that no timer takes: it would fire at once. */
const TOO_LONG = 1e13;

Deno.test("delay() and within() wait for a time that is too long for a timer", async () => {
  const leave = new AbortController();
  const ends: string[] = [];
  const waiting = delay(TOO_LONG, { signal: leave.signal }).then(
    () => ends.push("over"),
    () => ends.push("left"),
  );
  const { promise, resolve } = Promise.withResolvers<string>();
  const bounded = within(promise, TOO_LONG).then((value) => ends.push(String(value)));
  await delay(30);
  assertEquals(ends, []);
  resolve("done");
  leave.abort();
  await Promise.all([waiting, bounded]);
  assertEquals(ends.toSorted(), ["done", "left"]);
});
