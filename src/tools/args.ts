/**
 * Reading tool arguments that came from a model: already coerced by the schema where that was possible, but any
 * shape may still arrive. The `read…` functions throw `ToolError` with a text for the model; the `maybe…` ones never
 * throw and are what `describe` uses.
 */

export type Args = Readonly<Record<string, unknown>>;

/** What went wrong, in words the model can act on. Caught by the tool itself and turned into its error result. */
export class ToolError extends Error {
  /** More fields of the error result. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(message: string, data: Record<string, unknown> = {}) {
    super(message);
    this.name = "ToolError";
    this.data = data;
  }
}

export function maybeString(args: Args, name: string): string | null {
  const value = args[name];
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return null;
}

export function maybeNumber(args: Args, name: string): number | null {
  const value = args[name];
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value);
  return null;
}

export function readBoolean(args: Args, name: string): boolean {
  const value = args[name];
  return value === true || (typeof value === "string" && /^(true|yes|1)$/i.test(value.trim()));
}

/** A string that must be there and not blank. */
export function readText(args: Args, name: string): string {
  const text = maybeString(args, name);
  if (text === null || !text.trim()) throw new ToolError(`Missing required argument '${name}'`);
  return text;
}

/** A whole number in `[min, max]`: values outside are moved to the nearest end, anything else is an error. */
export function readInteger(
  args: Args,
  name: string,
  range: { or: number; min: number; max: number },
): number {
  if (args[name] === undefined || args[name] === null || args[name] === "") return range.or;
  const value = maybeNumber(args, name);
  if (value === null) {
    throw new ToolError(`Argument '${name}' must be a whole number, got ${JSON.stringify(args[name])}`);
  }
  return Math.min(range.max, Math.max(range.min, Math.trunc(value)));
}

/** A list of strings; one string counts as a list of one. */
export function readStrings(args: Args, name: string): string[] {
  const value = args[name];
  if (typeof value === "string") return value ? [value] : [];
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is string => typeof item === "string" && item !== "");
}

/** One line, at most `max` characters, for titles and labels. */
export function shorten(text: string, max = 80): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= max ? line : `${headOf(line, max - 1)}…`;
}

/** Cut at `max` characters with a note of the full length (acp.md C11). */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${headOf(text, max)}\n… (${text.length} characters in all)`;
}

/** The first `max` characters, one less rather than half of one. */
function headOf(text: string, max: number): string {
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
}
