/**
 * Input schemas of strangers in a form that every provider takes (core.md G.2): an object schema with properties.
 * What a schema says beyond that is kept as it is. Pure.
 */
import type { JsonSchema } from "@/core/contract.ts";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Any value in, an object schema out; the input is not changed. */
export function normaliseSchema(schema: unknown): JsonSchema {
  const given = isRecord(schema) ? schema : {};
  const { $schema: _dialect, properties, required, ...rest } = given;
  const known = isRecord(properties) ? properties : {};
  const names = Array.isArray(required)
    ? required.filter((name) => typeof name === "string" && Object.hasOwn(known, name))
    : [];
  const clean: Record<string, JsonSchema> = {};
  for (const [name, property] of Object.entries(known)) {
    clean[name] = isRecord(property) ? property as JsonSchema : {};
  }
  return {
    ...rest,
    type: "object",
    properties: clean,
    ...(names.length > 0 ? { required: names as string[] } : {}),
  } as JsonSchema;
}
