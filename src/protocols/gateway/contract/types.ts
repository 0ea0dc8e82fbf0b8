/** The contract as a TypeScript declaration file, written from the OpenRPC document. Pure. */
import type { ContractDocument, JsonSchema, OpenRpcMethod } from "./document.ts";

export function contractTypes(document: ContractDocument): string {
  const { info, methods, components } = document;
  const shapes = Object.entries(components.schemas).map(([name, schema]) =>
    `export type ${name} = ${render(schema, "")};`
  );
  const events = Object.entries(document["x-events"]).map(([type, payload]) =>
    `  ${JSON.stringify(type)}: ${payload === null ? "undefined" : render(payload, "  ")};`
  );
  return [
    `// The contract of \`hermes gateway\`, version ${info.version}. Written by \`hermes gateway --types\`.`,
    ...shapes,
    "/** Parameters and result of every method. */",
    "export interface Methods {",
    ...methods.map(renderMethod),
    "}",
    "/** Payload of every event. */",
    "export interface Events {",
    ...events,
    "}",
    ...FRAMES,
    "",
  ].join("\n");
}

const FRAMES = [
  "export type MethodName = keyof Methods;",
  "export type EventType = keyof Events;",
  "export interface Request<M extends MethodName = MethodName> {",
  '  jsonrpc?: "2.0";',
  "  id: string | number;",
  "  method: M;",
  '  params?: Methods[M]["params"];',
  "}",
  "export interface RpcError {",
  "  code: number;",
  "  message: string;",
  "  data?: unknown;",
  "}",
  "export type Response<M extends MethodName = MethodName> =",
  '  | { jsonrpc: "2.0"; id: string | number | null; result: Methods[M]["result"] }',
  '  | { jsonrpc: "2.0"; id: string | number | null; error: RpcError };',
  "export interface EventParams<T extends EventType = EventType> {",
  "  type: T;",
  "  session_id?: string;",
  "  payload: Events[T];",
  "  seq?: number;",
  "}",
  "export interface EventFrame<T extends EventType = EventType> {",
  '  jsonrpc: "2.0";',
  '  method: "event";',
  "  params: EventParams<T>;",
  "}",
];

function renderMethod(method: OpenRpcMethod): string {
  const params = method.params.map(({ name, schema }) => `      ${key(name)}?: ${render(schema, "      ")};`);
  const body = params.length === 0 ? "Record<string, never>" : `{\n${params.join("\n")}\n    }`;
  return `  ${JSON.stringify(method.name)}: {\n    params: ${body};\n    result: ${
    render(method.result.schema, "    ")
  };\n  };`;
}

function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}

function render(schema: JsonSchema, indent: string): string {
  const { $ref, anyOf, type } = schema;
  if (typeof $ref === "string") return $ref.slice($ref.lastIndexOf("/") + 1);
  if (Array.isArray(anyOf)) return anyOf.map((one) => render(one, indent)).join(" | ");
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(type)) return type.map((one) => render({ type: one }, indent)).join(" | ");
  switch (type) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return type;
    case "integer":
      return "number";
    case "array":
      return renderArray(schema, indent);
    case "object":
      return renderObject(schema, indent);
    default:
      return "unknown";
  }
}

function renderArray(schema: JsonSchema, indent: string): string {
  const { items } = schema;
  if (Array.isArray(items)) return `[${items.map((one) => render(one, indent)).join(", ")}]`;
  return `Array<${items === undefined ? "unknown" : render(items as JsonSchema, indent)}>`;
}

function renderObject(schema: JsonSchema, indent: string): string {
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  const required = new Set((schema["required"] ?? []) as string[]);
  const more = schema["additionalProperties"];
  const values = typeof more === "object" && more !== null ? render(more as JsonSchema, indent) : "unknown";
  if (properties.length === 0) return `Record<string, ${values}>`;
  const inner = `${indent}  `;
  const lines = properties.map(([name, own]) =>
    `${inner}${key(name)}${required.has(name) ? "" : "?"}: ${render(own, inner)};`
  );
  return `{\n${lines.join("\n")}\n${inner}[more: string]: unknown;\n${indent}}`;
}
