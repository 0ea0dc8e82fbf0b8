/**
 * The contract for hosts as one OpenRPC document, made from the very schemas that check the parameters, and from
 * those of results and events beside them. Pure: the same program gives the same text.
 */
import * as z from "zod/mini";
import { allMethods } from "../methods/mod.ts";
import type { Gateway } from "../server.ts";
import { EVENTS } from "./events.ts";
import { RESULTS } from "./results.ts";
import { SHAPES } from "./shapes.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface OpenRpcMethod {
  readonly name: string;
  readonly paramStructure: "by-name";
  readonly params: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly result: { readonly name: "result"; readonly schema: JsonSchema };
}

export interface ContractDocument {
  readonly openrpc: "1.3.2";
  readonly info: { readonly title: string; readonly version: string };
  readonly methods: readonly OpenRpcMethod[];
  /** Event types with the JSON Schema of their payload; `null` = no payload. */
  readonly "x-events": Readonly<Record<string, JsonSchema | null>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

/** Only names and shapes are read; no handler runs. */
const NO_PROGRAM = { hermes: {}, live: {} } as unknown as Gateway;

const TEXT = { type: "string" };
/** Any JSON value; "yes" words count as true (see `isTruthy`). */
const TRUTHY = { type: ["boolean", "string", "number"] };
const INTEGER_LIKE = { type: ["integer", "string"] };

/** What hosts should send where the handler itself judges the value, to answer with a number of its own. */
const JUDGED: Readonly<Record<string, JsonSchema>> = {
  session_id: TEXT,
  current_session_id: TEXT,
  request_id: TEXT,
  question_id: TEXT,
  subagent_id: TEXT,
  id: TEXT,
  display_kind: { const: "hidden" },
  choice: { enum: ["once", "session", "always", "deny"] },
  argv: { type: "array", items: TEXT },
  subagents: { type: "array" },
  result: { type: "object" },
  hash: INTEGER_LIKE,
  client: { type: "object" },
  variables: { type: "object" },
  truncate_before_user_ordinal: INTEGER_LIKE,
  truncate_before_row_id: INTEGER_LIKE,
  truncate_before_message_id: TEXT,
  ...Object.fromEntries(
    [
      "all",
      "always",
      "close_on_disconnect",
      "confirm",
      "confirm_empty_truncate",
      "confirm_expensive_model",
      "confirm_truncate",
      "cross_session",
      "enable",
      "explicit_only",
      "fast",
      "include_unconfigured",
      "lazy",
      "eager_build",
      "defer_history",
      "omit_messages",
      "paused",
      "pinned",
      "queued",
      "refresh",
      "restore_files",
      "server_requests",
    ].map((name) => [name, TRUTHY]),
  ),
};

export async function contractDocument(version: string): Promise<ContractDocument> {
  const named = z.registry<{ id: string }>();
  for (const [id, shape] of Object.entries(SHAPES)) named.add(shape, { id });
  const schemas: Record<string, JsonSchema> = {};
  /** Named shapes go to `components`; what is left refers to them. */
  function toSchema(shape: z.ZodMiniType): JsonSchema {
    const made = z.toJSONSchema(shape, {
      target: "draft-7",
      metadata: named,
      io: "input",
      unrepresentable: "any",
    });
    const { $schema: _, definitions, id: _id, ...schema } = relinked(made);
    for (const [id, shared] of Object.entries((definitions ?? {}) as Record<string, JsonSchema>)) {
      const { id: _name, ...rest } = shared;
      schemas[id] = rest;
    }
    const own = named.get(shape)?.id;
    if (own === undefined || "$ref" in schema) return schema;
    schemas[own] = schema;
    return { $ref: `#/components/schemas/${own}` };
  }
  const methods = (await allMethods(NO_PROGRAM)).map(({ name, params }): OpenRpcMethod => ({
    name,
    paramStructure: "by-name",
    params: renderParams("json" in params ? params.json : toSchema(params)),
    result: { name: "result", schema: toSchema(resultOf(name)) },
  }));
  const events = Object.entries(EVENTS).map(([type, payload]) =>
    [type, payload && toSchema(payload)] as const
  );
  return {
    openrpc: "1.3.2",
    info: { title: "hermes gateway", version },
    methods,
    "x-events": Object.fromEntries(events),
    components: { schemas },
  };
}

function resultOf(name: string): z.ZodMiniType {
  const shape = RESULTS[name];
  if (!shape) throw new Error(`The contract has no result of ${name}`);
  return shape;
}

function relinked(schema: unknown): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', '"#/components/schemas/'));
}

function renderParams(schema: JsonSchema): OpenRpcMethod["params"] {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  return Object.entries(properties).map(([name, own]) => ({
    name,
    required: false, // what is missing is answered with a number of the method's own
    schema: Object.keys(own).length === 0 ? JUDGED[name] ?? {} : own,
  }));
}
