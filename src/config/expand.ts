/** `${VAR}` in texts of the configuration (core.md E.1). Unknown names stay as they stand; the input is not changed. */

const TEMPLATE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

export function hasTemplate(value: unknown): boolean {
  return typeof value === "string" && value.includes("${");
}

export function expandText(text: string, lookup: (name: string) => string | undefined): string {
  if (!text.includes("${")) return text;
  return text.replace(TEMPLATE, (whole, name: string) => lookup(name) ?? whole);
}

/** A deep copy with every text expanded. Members named `__proto__` are left out. */
export function expandTree(value: unknown, lookup: (name: string) => string | undefined): unknown {
  if (typeof value === "string") return expandText(value, lookup);
  if (Array.isArray(value)) return value.map((item) => expandTree(item, lookup));
  if (typeof value !== "object" || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    if (key !== "__proto__") copy[key] = expandTree(item, lookup);
  }
  return copy;
}
