/**
 * Shapes of what clients send (acp.md A3), loose on unknown fields so that newer clients pass. Loaded after the
 * `initialize` answer went out, because the schema library costs more than the whole answer.
 */
import * as z from "zod/mini";
import { invalidParams } from "./errors.ts";

const text = z.string();
const optionalText = z.optional(z.nullable(z.string()));

const textBlock = z.looseObject({ type: z.literal("text"), text });
const imageBlock = z.looseObject({
  type: z.literal("image"),
  data: optionalText,
  mimeType: optionalText,
  uri: optionalText,
});
const audioBlock = z.looseObject({ type: z.literal("audio"), data: text, mimeType: text });
const linkBlock = z.looseObject({
  type: z.literal("resource_link"),
  uri: text,
  name: optionalText,
  title: optionalText,
  description: optionalText,
  mimeType: optionalText,
  size: z.optional(z.nullable(z.number())),
});
const resourceBlock = z.looseObject({
  type: z.literal("resource"),
  resource: z.union([
    z.looseObject({ uri: text, mimeType: optionalText, text }),
    z.looseObject({ uri: text, mimeType: optionalText, blob: text }),
  ]),
});
export const contentBlock = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  audioBlock,
  linkBlock,
  resourceBlock,
]);

const namedValue = z.looseObject({ name: text, value: text });
const remoteServer = { name: text, url: text, headers: z.array(namedValue) };
const mcpServer = z.union([
  z.looseObject({ type: z.literal("http"), ...remoteServer }),
  z.looseObject({ type: z.literal("sse"), ...remoteServer }),
  z.looseObject({
    type: z.optional(z.literal("stdio")),
    name: text,
    command: text,
    args: z.array(text),
    env: z.array(namedValue),
  }),
]);

const directories = z.optional(z.nullable(z.array(text)));
const sessionId = text;

export const authenticateParams = z.looseObject({ methodId: text });
export const newParams = z.looseObject({
  cwd: text,
  mcpServers: z.array(mcpServer),
  additionalDirectories: directories,
});
export const loadParams = z.looseObject({
  sessionId,
  cwd: text,
  mcpServers: z.array(mcpServer),
  additionalDirectories: directories,
});
export const resumeParams = z.looseObject({
  sessionId,
  cwd: text,
  mcpServers: z.optional(z.nullable(z.array(mcpServer))),
  additionalDirectories: directories,
});
export const listParams = z.looseObject({ cwd: optionalText, cursor: optionalText });
export const sessionParams = z.looseObject({ sessionId });
export const promptParams = z.looseObject({ sessionId, prompt: z.array(contentBlock) });
export const steeringParams = z.looseObject({
  sessionId,
  prompt: z.array(contentBlock),
  _meta: z.optional(z.unknown()),
});
export const setModeParams = z.looseObject({ sessionId, modeId: text });
export const setConfigOptionParams = z.looseObject({
  sessionId,
  configId: text,
  value: z.union([text, z.boolean()]),
});
export const setModelParams = z.looseObject({ sessionId, modelId: text });

export type ContentBlock = z.infer<typeof contentBlock>;
export type McpServer = z.infer<typeof mcpServer>;
export type NewParams = z.infer<typeof newParams>;
export type LoadParams = z.infer<typeof loadParams>;
export type ResumeParams = z.infer<typeof resumeParams>;

/** Parses, or throws a -32602 that says which field is wrong. */
export function parseParams<T extends z.ZodMiniType>(schema: T, params: unknown): z.infer<T> {
  const result = z.safeParse(schema, params);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, 8).map((issue) => ({
    path: issue.path.map(String).join("."),
    message: issue.message || `invalid (${issue.code})`,
  }));
  const where = issues.map((issue) => issue.path || "params").join(", ");
  throw invalidParams(`Invalid params: check ${where}`, { issues });
}
