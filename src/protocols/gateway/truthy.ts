/** "Truthy" of the vocabulary: `true`, one of the yes-words, or any other truthy non-string. */
export function isTruthy(value: unknown): boolean {
  if (typeof value !== "string") return Boolean(value);
  return ["1", "true", "yes", "on"].includes(value.trim().toLowerCase());
}
