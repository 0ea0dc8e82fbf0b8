/** The JSON Schema of `config.jsonc`, made from the table of settings, for editors and `hermes config schema`. */
import type { JsonSchema } from "@/core/contract.ts";
import { ALIASES, type KeySpec, listKeys } from "./keys.ts";
import { describeKind, kindSchema } from "./kinds.ts";

interface MutableSchema {
  [member: string]: unknown;
  properties?: Record<string, MutableSchema>;
}

function describe(spec: KeySpec): string {
  const env = spec.env ? ` Environment: ${spec.env}.` : "";
  return `${spec.doc}${env}`;
}

function leaf(spec: KeySpec): MutableSchema {
  const schema: JsonSchema = kindSchema(spec.kind);
  const wanted = spec.kind.type === "any" && spec.kind.wanted !== "any value"
    ? ` Wanted: ${describeKind(spec.kind)}.`
    : "";
  const templated = ["int", "number", "bool"].includes(spec.kind.type)
    ? { anyOf: [schema, { type: "string", pattern: "\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}" }] }
    : schema;
  return { ...templated as MutableSchema, description: describe(spec) + wanted, default: spec.fallback };
}

function place(root: MutableSchema, spec: KeySpec): void {
  let here = root;
  for (const segment of spec.path.slice(0, -1)) {
    here.properties ??= {};
    here = here.properties[segment] ??= { type: "object", properties: {} };
  }
  here.properties ??= {};
  here.properties[spec.path.at(-1) as string] = leaf(spec);
}

/** Draft 2020-12. Unknown members are allowed: files are shared with newer versions. */
export function configSchema(): Record<string, unknown> {
  const root: MutableSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "hermes configuration",
    type: "object",
    properties: { $schema: { type: "string", description: "Where this schema is, for editors." } },
  };
  for (const spec of listKeys()) place(root, spec);
  const properties = root.properties as Record<string, MutableSchema>;
  const model = properties["model"] as MutableSchema;
  properties["model"] = {
    description: "The model: its name alone, or an object.",
    anyOf: [{ type: "string" }, model],
  };
  for (const [from, to] of ALIASES) {
    if (!from.includes(".")) properties[from] = { description: `Short for ${to}.` };
  }
  return root as Record<string, unknown>;
}
