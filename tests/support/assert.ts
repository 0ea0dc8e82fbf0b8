/** The few assertions the tests use, over the runtime's own assert. */
import nodeAssert from "node:assert/strict";

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
