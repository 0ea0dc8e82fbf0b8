/**
 * The OpenAPI 3.1 document of the server, made from the shapes and the table of routes. It says nothing about this
 * machine, so it needs no key. Pure: the same program gives the same document.
 */
import * as z from "zod/mini";
import type { Scope } from "../api_keys.ts";
import { HEADERS, type Operation, OPERATIONS, SHAPES } from "./operations.ts";

export type Json = Readonly<Record<string, unknown>>;

/** What the table of routes knows. */
export interface RouteFacts {
  readonly method: string;
  readonly path: string;
  readonly isPublic?: true;
  readonly scopes?: readonly Scope[];
}

const ERRORS: Readonly<Record<number, string>> = {
  400: "The request cannot be meant",
  401: "The key is missing or wrong",
  403: "The key lacks a scope, or the host or origin is not allowed",
  404: "There is no such thing, or it is not yours",
  409: "The state does not allow it",
  413: "The body is too large",
  426: "Only a WebSocket is served here",
  429: "Too many at once, or too many per minute; see Retry-After",
  500: "The server has failed",
  502: "The turn gave no usable answer",
  503: "The server shuts down, or no model is configured",
};

export function openApiDocument(version: string, routes: readonly RouteFacts[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const route = routes.find((route) =>
      route.method.toLowerCase() === operation.method && openPath(route.path) === operation.path
    );
    if (!route) throw new Error(`No route for ${operation.method} ${operation.path}`);
    (paths[operation.path] ??= {})[operation.method] = describe(operation, route);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "hermes serve",
      version,
      description: "An agent behind an OpenAI-compatible API: one request is one whole agent turn. " +
        "What does not fit the schema of a body is refused with 400; a member marked `x-lenient` is never the reason: " +
        "yes and no may be words or numbers there, and what cannot be used counts as absent.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    tags: [...new Set(OPERATIONS.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    webhooks: {
      runEnded: {
        post: {
          summary: "The end of a run, sent to its callback_url and signed as Standard Webhooks are",
          operationId: "runEnded",
          parameters: ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => ({
            name,
            in: "header",
            required: true,
            schema: { type: "string" },
          })),
          requestBody: { content: { "application/json": { schema: ref("RunCallbackEvent") } } },
          responses: { "2XX": { description: "Taken; anything else is tried again" } },
        },
      },
    },
    components: {
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: "The server's key, or one with scopes." },
      },
      schemas: Object.fromEntries(Object.entries(SHAPES).map(([name, shape]) => [name, schemaOf(shape)])),
    },
  };
}

/** `/v1/runs/:id` as OpenAPI writes it. */
export function openPath(path: string): string {
  return path.replace(/:(\w+)(\{[^}]*\})?/g, "{$1}");
}

function schemaOf(shape: z.core.$ZodType): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: "input" }) as Record<string, unknown>;
  return schema;
}

function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

function describe(operation: Operation, route: RouteFacts): Json {
  const { method, path, tag, summary, body, examples } = operation;
  const scopes = route.scopes ?? [];
  return {
    operationId: idOf(method, path),
    tags: [tag],
    summary,
    ...(route.isPublic ? { security: [] } : {}),
    ...(scopes.length === 0 ? {} : { "x-scopes": scopes, description: `Scopes: ${scopes.join(", ")}.` }),
    parameters: parametersOf(operation),
    ...(body === undefined ? {} : {
      requestBody: {
        required: true,
        content: {
          "application/json": {
            schema: ref(body),
            examples: Object.fromEntries(
              Object.entries(examples ?? {}).map(([name, value]) => [name, { value }]),
            ),
          },
        },
      },
    }),
    responses: responsesOf(operation, route),
  };
}

/** `post /v1/runs/{id}/stop` → `postRunsStop`. */
function idOf(method: string, path: string): string {
  const words = path.replace(/^\/(v1|api)\//, "/").split(/[/_.]/).filter((word) => word !== "");
  const isOne = /\{id\}$/.test(path);
  const name = words.filter((word) => !word.startsWith("{"))
    .map((word) => word[0]!.toUpperCase() + word.slice(1)).join("");
  return method + (path.startsWith("/v1/health") ? "V1" : "") + name + (isOne ? "ById" : "");
}

function parametersOf({ path, query, headers }: Operation): Json[] {
  const inPath = /\{(\w+)\}/.exec(path)?.[1];
  return [
    ...(inPath === undefined
      ? []
      : [{ name: inPath, in: "path", required: true, schema: { type: "string" } }]),
    ...(query ?? []).map(([name, type, description]) => ({
      name,
      in: "query",
      description,
      schema: { type },
    })),
    ...(headers ?? []).map((name) => ({
      name,
      in: "header",
      description: HEADERS[name],
      schema: { type: "string" },
    })),
  ];
}

function responsesOf({ status, answer, type, stream, errors }: Operation, route: RouteFacts): Json {
  const content = status === 101 ? {} : {
    ...(answer === null ? {} : { "application/json": { schema: ref(answer) } }),
    ...(stream
      ? {
        "text/event-stream": {
          schema: { type: "string", description: `Frames whose data is one ${stream.event}.` },
          "x-event-schema": ref(stream.event),
        },
      }
      : answer === null
      ? { [type ?? "text/plain"]: { schema: { type: "string" } } }
      : {}),
  };
  const all = new Set(route.isPublic ? [403, ...errors] : [401, 403, 429, ...errors]);
  return Object.fromEntries([
    [String(status), { description: status === 101 ? "Connected" : "Done", content }],
    ...[...all].sort((a, b) => a - b).map((code) => [
      String(code),
      { description: ERRORS[code]!, content: { "application/json": { schema: ref("ErrorBody") } } },
    ]),
  ]);
}
