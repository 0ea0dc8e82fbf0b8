/**
 * Arguments of a tool call: text → object, then coerced against the tool's schema before dispatch (core.md A.10).
 * Coercion never guesses: what cannot be converted stays as it is and the tool answers for it.
 */
import { isTooDeep, MAX_JSON_DEPTH } from "@/lib/json_depth.ts";
import type { JsonSchema } from "./ports.ts";

/** Characters; no tool has a use for more, and everything that looks at them takes time with their length. */
export const MAX_ARGUMENTS = 4 << 20;

export type ParsedArguments =
  | { readonly type: "ok"; readonly args: Record<string, unknown> }
  /** Cut in the middle: must never run. */
  | { readonly type: "truncated" }
  | { readonly type: "invalid"; readonly message: string }
  | { readonly type: "not_object" };

export function parseArguments(text: string): ParsedArguments {
  if (text.length > MAX_ARGUMENTS) {
    return { type: "invalid", message: `The arguments are longer than ${MAX_ARGUMENTS} characters` };
  }
  const trimmed = text.trim();
  if (!trimmed) return { type: "ok", args: {} };
  try {
    const value: unknown = JSON.parse(trimmed);
    if (isTooDeep(trimmed)) {
      return { type: "invalid", message: `The arguments are nested deeper than ${MAX_JSON_DEPTH} levels` };
    }
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return { type: "ok", args: value as Record<string, unknown> };
    }
    return { type: "not_object" };
  } catch (error) {
    if (!/[}\]]$/.test(trimmed)) return { type: "truncated" };
    return { type: "invalid", message: error instanceof Error ? error.message : String(error) };
  }
}

/** The text as it goes into the history: what is no JSON object would be refused by strict providers ever after. */
export function storableArguments(text: string): string {
  return text.trim() !== "" && parseArguments(text).type === "ok" ? text.trim().toWellFormed() : "{}";
}

function wants(schema: JsonSchema, type: string): boolean {
  if (Array.isArray(schema.type) ? schema.type.includes(type) : schema.type === type) return true;
  return schema.anyOf?.some((option) => wants(option, type)) ?? false;
}

function parseJson(text: string): unknown {
  try {
    return isTooDeep(text) ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function coerceText(value: string, schema: JsonSchema): unknown {
  if (wants(schema, "string")) return value;
  const text = value.trim();
  if (wants(schema, "integer") || wants(schema, "number")) {
    const number = text === "" ? NaN : Number(text);
    if (Number.isFinite(number) && (Number.isInteger(number) || wants(schema, "number"))) return number;
  }
  if (wants(schema, "boolean") && /^(true|false)$/i.test(text)) return text.toLowerCase() === "true";
  if (wants(schema, "null") && text === "null") return null;
  if (wants(schema, "array") || wants(schema, "object")) {
    const parsed = parseJson(text);
    if (Array.isArray(parsed) ? wants(schema, "array") : parsed !== null && typeof parsed === "object") {
      return coerceValue(parsed, schema);
    }
  }
  return wants(schema, "array") ? [coerceValue(value, schema.items ?? {})] : value;
}

function coerceValue(value: unknown, schema: JsonSchema): unknown {
  if (typeof value === "string") return schema.type || schema.anyOf ? coerceText(value, schema) : value;
  if (Array.isArray(value)) return schema.items ? value.map((v) => coerceValue(v, schema.items!)) : value;
  if (value !== null && typeof value === "object") {
    return schema.properties ? coerceArguments(value as Record<string, unknown>, schema) : value;
  }
  if (value !== null && value !== undefined && wants(schema, "array")) {
    return [coerceValue(value, schema.items ?? {})];
  }
  return value;
}

/** A copy whose members fit the schema where they can. */
export function coerceArguments(args: Record<string, unknown>, schema: JsonSchema): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(args)) {
    const member = schema.properties?.[key];
    out[key] = member ? coerceValue(value, member) : value;
  }
  return out;
}
