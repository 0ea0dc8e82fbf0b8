/**
 * The value kinds of settings: what a value must look like, how text becomes one, how JSON Schema says it.
 * A kind is data; every rule about types lives here and nowhere else. Knows nothing of files or of key names.
 */
import type { JsonSchema } from "@/core/contract.ts";

/** Brings a value of the right kind into its one normal form; what it drops it warns of. */
export type Clean = (value: unknown, key: string, warn: (text: string) => void) => unknown;

export type Kind =
  | { readonly type: "string"; readonly nullable?: boolean }
  | {
    readonly type: "enum";
    readonly values: readonly string[];
    readonly aliases?: Readonly<Record<string, string>> | undefined;
  }
  | NumberKind
  | { readonly type: "bool"; readonly nullable?: boolean }
  /** A list of texts; `split` lets one text hold several, separated by commas. */
  | { readonly type: "list"; readonly split?: boolean }
  | { readonly type: "map"; readonly clean?: Clean }
  /** Any JSON value that passes `accepts`; `wanted` says in words what that is. */
  | {
    readonly type: "any";
    readonly wanted: string;
    readonly accepts: (value: unknown) => boolean;
    readonly clean?: Clean;
  };

export interface NumberKind {
  readonly type: "int" | "number";
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly nullable?: boolean;
  /** Values that mean "none" beside `null`. */
  readonly none?: readonly (string | number)[];
}

export type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

const BAD: Checked = { ok: false };
const TRUE_WORDS = ["true", "yes", "on"];
const FALSE_WORDS = ["false", "no", "off"];

function good(value: unknown): Checked {
  return { ok: true, value };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkNumber(kind: NumberKind, value: unknown): Checked {
  if (value === null) return kind.nullable ? good(null) : BAD;
  const word = typeof value === "string" ? value.trim().toLowerCase() : value;
  if (kind.none?.some((none) => none === word)) return good(null);
  if (typeof value !== "number" || !Number.isFinite(value)) return BAD;
  if (kind.type === "int" && !Number.isInteger(value)) return BAD;
  if (kind.min !== undefined && value < kind.min) return BAD;
  if (kind.max !== undefined && value > kind.max) return BAD;
  return good(value);
}

function checkEnum(kind: Kind & { type: "enum" }, value: unknown): Checked {
  const word = String(value).toLowerCase();
  const alias = kind.aliases && Object.hasOwn(kind.aliases, word) ? kind.aliases[word] : undefined;
  if (alias !== undefined) return good(alias);
  if (typeof value !== "string") return BAD;
  const found = kind.values.find((candidate) => candidate.toLowerCase() === word);
  return found === undefined ? BAD : good(found);
}

function checkList(kind: Kind & { type: "list" }, value: unknown): Checked {
  if (typeof value === "string" && kind.split) return good(splitList(value));
  if (!Array.isArray(value)) return BAD;
  return value.every((item) => typeof item === "string") ? good(value) : BAD;
}

/** Is `value`, as JSON gave it, one of this kind? Answers it in its normal form. */
export function checkValue(kind: Kind, value: unknown): Checked {
  switch (kind.type) {
    case "string":
      return typeof value === "string" || (value === null && kind.nullable) ? good(value) : BAD;
    case "bool":
      return typeof value === "boolean" || (value === null && kind.nullable) ? good(value) : BAD;
    case "enum":
      return checkEnum(kind, value);
    case "int":
    case "number":
      return checkNumber(kind, value);
    case "list":
      return checkList(kind, value);
    case "map":
      return isRecord(value) ? good(value) : BAD;
    case "any":
      return kind.accepts(value) ? good(value) : BAD;
  }
}

export function splitList(text: string): string[] {
  return text.split(",").map((part) => part.trim()).filter((part) => part !== "");
}

/** Text of a command line or of the environment as a value of this kind. */
export function parseText(kind: Kind, text: string): Checked {
  const word = text.trim().toLowerCase();
  switch (kind.type) {
    case "string":
      return good(text);
    case "enum":
      return checkEnum(kind, text.trim());
    case "bool":
      if (TRUE_WORDS.includes(word) || word === "1") return good(true);
      if (FALSE_WORDS.includes(word) || word === "0") return good(false);
      return word === "null" && kind.nullable ? good(null) : BAD;
    case "int":
    case "number":
      if (kind.nullable && ["null", "none"].includes(word)) return good(null);
      return checkNumber(kind, /^[+-]?\d+(\.\d+)?$/.test(word) ? Number(word) : word);
    case "list":
      return kind.split && !word.startsWith("[") ? good(splitList(text)) : parseJson(kind, text);
    case "map":
      return parseJson(kind, text);
    case "any": {
      // What is written as JSON of a list or an object is meant as one.
      const json = /^[[{]/.test(word) ? parseJson(kind, text) : BAD;
      if (json.ok) return json;
      const guess = guessValue(text);
      return kind.accepts(guess) ? good(guess) : kind.accepts(text) ? good(text) : parseJson(kind, text);
    }
  }
}

function parseJson(kind: Kind, text: string): Checked {
  try {
    return checkValue(kind, JSON.parse(text));
  } catch {
    // Not JSON: then it is not a list or a map.
    return BAD;
  }
}

/** The coercion of core.md E.3 for keys whose type nobody knows. */
export function guessValue(text: string): unknown {
  const word = text.trim().toLowerCase();
  if (TRUE_WORDS.includes(word)) return true;
  if (FALSE_WORDS.includes(word)) return false;
  if (/^[+-]?\d+$/.test(word) && Number.isSafeInteger(Number(word))) return Number(word);
  if (/^[+-]?\d*\.\d+$/.test(word)) return Number(word);
  return text;
}

function describeNumber(kind: NumberKind): string {
  const noun = kind.type === "int" ? "an integer" : "a number";
  const { min, max } = kind;
  const range = min !== undefined && max !== undefined
    ? ` from ${min} to ${max}`
    : min !== undefined
    ? ` of at least ${min}`
    : "";
  return `${noun}${range}${kind.nullable ? " or null" : ""}`;
}

/** What a value of this kind is, in words for a message: "an integer of at least 1". */
export function describeKind(kind: Kind): string {
  switch (kind.type) {
    case "string":
      return kind.nullable ? "a text or null" : "a text";
    case "enum":
      return `one of ${kind.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "int":
    case "number":
      return describeNumber(kind);
    case "bool":
      return kind.nullable ? "true, false or null" : "true or false";
    case "list":
      return kind.split ? "a list of texts or one text with commas" : "a list of texts";
    case "map":
      return "an object";
    case "any":
      return kind.wanted;
  }
}

function numberSchema(kind: NumberKind): JsonSchema {
  const base = kind.type === "int" ? "integer" : "number";
  return {
    type: kind.nullable ? [base, "null"] : base,
    ...(kind.min === undefined ? {} : { minimum: kind.min }),
    ...(kind.max === undefined ? {} : { maximum: kind.max }),
  };
}

/** The kind as JSON Schema. A text with `${VAR}` is allowed where a number or a truth value is wanted. */
export function kindSchema(kind: Kind): JsonSchema {
  switch (kind.type) {
    case "string":
      return { type: kind.nullable ? ["string", "null"] : "string" };
    case "enum":
      return { enum: kind.values };
    case "int":
    case "number":
      if (!kind.none) return numberSchema(kind);
      return { anyOf: [numberSchema(kind), { enum: kind.none }] };
    case "bool":
      return { type: kind.nullable ? ["boolean", "null"] : "boolean" };
    case "list":
      return { type: kind.split ? ["array", "string"] : "array", items: { type: "string" } };
    case "map":
      return { type: "object" };
    case "any":
      return {};
  }
}
