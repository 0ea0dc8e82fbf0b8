import { isYes } from "@/lib/yes.ts";

/** "Truthy" of the vocabulary: `true`, one of the yes-words, or any other truthy non-string. */
export function isTruthy(value: unknown): boolean {
  return typeof value === "string" ? isYes(value) : Boolean(value);
}
