/**
 * Shapes of what clients send (acp.md A3), loose on unknown fields so that newer clients pass. Written with our own
 * small shapes: the first `session/new` would wait several milliseconds for the schema library.
 */
import * as s from "@/lib/shape.ts";
import { invalidParams } from "./errors.ts";

const MAX_ISSUES = 8;

const optionalText = s.optional(s.text);

const textResource = s.object({ uri: s.text, mimeType: optionalText, text: s.text });
const blobResource = s.object({ uri: s.text, mimeType: optionalText, blob: s.text });

export const contentBlock = s.byType({
  text: s.object({ text: s.text }),
  image: s.object({ data: optionalText, mimeType: optionalText, uri: optionalText }),
  audio: s.object({ data: s.text, mimeType: s.text }),
  resource_link: s.object({
    uri: s.text,
    name: optionalText,
    title: optionalText,
    description: optionalText,
    mimeType: optionalText,
    size: s.optional(s.number),
  }),
  resource: s.object({
    resource: s.either([textResource, blobResource], () => undefined, "a resource with uri and text or blob"),
  }),
});

const namedValue = s.object({ name: s.text, value: s.text });

function remoteServer<const T extends string>(type: T) {
  return s.object({ type: s.literal(type), name: s.text, url: s.text, headers: s.list(namedValue) });
}

const httpServer = remoteServer("http");
const sseServer = remoteServer("sse");
const stdioServer = s.object({
  type: s.optional(s.literal("stdio")),
  name: s.text,
  command: s.text,
  args: s.list(s.text),
  env: s.list(namedValue),
});

const mcpServer = s.either(
  [httpServer, sseServer, stdioServer],
  (value) => {
    const type = (value as { type?: unknown } | null)?.type;
    return type === "http" ? httpServer : type === "sse" ? sseServer : stdioServer;
  },
  "an MCP server",
);

const place = { cwd: s.text, additionalDirectories: s.optional(s.list(s.text)) };
const sessionId = s.text;

export const authenticateParams = s.object({ methodId: s.text });
export const newParams = s.object({ ...place, mcpServers: s.list(mcpServer) });
export const loadParams = s.object({ ...place, sessionId, mcpServers: s.list(mcpServer) });
export const resumeParams = s.object({ ...place, sessionId, mcpServers: s.optional(s.list(mcpServer)) });
export const listParams = s.object({ cwd: optionalText, cursor: optionalText });
export const sessionParams = s.object({ sessionId });
export const promptParams = s.object({ sessionId, prompt: s.list(contentBlock) });
export const steeringParams = s.object({ sessionId, prompt: s.list(contentBlock), _meta: s.anything });
export const setModeParams = s.object({ sessionId, modeId: s.text });
export const setConfigOptionParams = s.object({
  sessionId,
  configId: s.text,
  value: s.either([s.text, s.flag], () => undefined, "a string or a boolean"),
});
export const setModelParams = s.object({ sessionId, modelId: s.text });

export type ContentBlock = s.TypeOf<typeof contentBlock>;
export type McpServer = s.TypeOf<typeof mcpServer>;
export type NewParams = s.TypeOf<typeof newParams>;
export type LoadParams = s.TypeOf<typeof loadParams>;
export type ResumeParams = s.TypeOf<typeof resumeParams>;

/** The parameters as they came, or a -32602 that says which fields are wrong. */
export function parseParams<T>(shape: s.Shape<T>, params: unknown): T {
  const issues = s.findIssues(shape, params).slice(0, MAX_ISSUES);
  if (issues.length === 0) return params as T;
  const where = issues.map((issue) => issue.path || "params").join(", ");
  throw invalidParams(`Invalid params: check ${where}`, { issues });
}
