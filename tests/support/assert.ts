/** The few assertions the tests use, over the runtime's own assert. */
import nodeAssert from "node:assert/strict";
import { patient } from "./patience.ts";

export function assert(value: unknown, message?: string): asserts value {
  nodeAssert.ok(value, message);
}

export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.deepStrictEqual(actual, expected, message);
}

export function assertMatch(text: string, pattern: RegExp, message?: string): void {
  nodeAssert.match(text, pattern, message);
}

export function assertThrows(run: () => unknown, pattern?: RegExp): void {
  if (pattern) nodeAssert.throws(run, pattern);
  else nodeAssert.throws(run);
}

export async function assertRejects(run: () => Promise<unknown>, pattern?: RegExp): Promise<void> {
  if (pattern) await nodeAssert.rejects(run, pattern);
  else await nodeAssert.rejects(run);
}

/** What takes at most `boundMs` on an idle machine has taken no longer than tests are patient. */
export function assertWithin(tookMs: number, boundMs: number, what = "it"): void {
  const allowed = patient(boundMs);
  nodeAssert.ok(tookMs < allowed, `${what} took ${tookMs.toFixed(0)} ms; allowed are ${allowed} ms`);
}
