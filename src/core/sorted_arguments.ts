/**
 * Arguments of tool calls as requests carry them (core.md A.1): compact, keys in order, no half characters. One object
 * is always the same bytes, however it was written, so the beginning of a request stays one that a provider knows.
 */
import { parseArguments } from "./arguments.ts";
import type { ToolCall } from "./messages.ts";

/** For one conversation: what was put in order is remembered for as long as the calls are. */
export class SortedArguments {
  readonly #known = new WeakMap<readonly ToolCall[], readonly ToolCall[]>();

  /** The list itself when nothing has to be changed. */
  of(calls: readonly ToolCall[]): readonly ToolCall[] {
    let sorted = this.#known.get(calls);
    if (sorted === undefined) {
      sorted = sortAll(calls);
      this.#known.set(calls, sorted);
    }
    return sorted;
  }
}

function sortAll(calls: readonly ToolCall[]): readonly ToolCall[] {
  const texts = calls.map((call) => sortedArguments(call.arguments));
  if (texts.every((text, at) => text === calls[at]!.arguments)) return calls;
  return calls.map((call, at) => ({ ...call, arguments: texts[at]! }));
}

/** What is no JSON object, or cannot be read without loss, comes back as it is. */
export function sortedArguments(text: string): string {
  if (text === "") return text;
  const parsed = parseArguments(text);
  return parsed.type === "ok" && isExact(parsed.args) ? JSON.stringify(inOrder(parsed.args)) : text;
}

/** False where an integer had more digits than are kept when it is read, or a number was too large altogether. */
function isExact(value: unknown): boolean {
  if (typeof value === "number") {
    return Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));
  }
  return typeof value !== "object" || value === null || Object.values(value).every(isExact);
}

function inOrder(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
  return Object.fromEntries(members.map(([key, member]) => [key.toWellFormed(), inOrder(member)]));
}
