/** Arguments of calls as they may be shown: every text in them, however deep, passes the redactor. */
export function redactValues(
  args: Record<string, unknown>,
  redact: (text: string) => string,
): Record<string, unknown> {
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value);
    if (Array.isArray(value)) return value.map(walk);
    if (value !== null && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, walk(v)]));
    }
    return value;
  };
  return walk(args) as Record<string, unknown>;
}
