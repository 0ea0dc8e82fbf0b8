/**
 * A line of `hermes sessions export` back to a conversation (core.md D.10). Pure. What is no such line is told by a
 * `UsageError` with its number; fields that are not known are left out.
 */
import type { Content, ImportedSession, Message, ToolCall } from "@/core/contract.ts";
import { UsageError } from "./args.ts";

type Json = Record<string, unknown>;

/** core.md D.10. */
const MAX_SESSIONS = 500;
const MAX_MESSAGES = 10_000;
const MEGABYTE = 1_000_000;
const MAX_LINE = 5 * MEGABYTE;
export const MAX_IMPORT = 25 * MEGABYTE;

const ID = /^[\w.:@-]{1,200}$/;

/** All or nothing: the first line that is wrong is thrown. */
export function readImport(text: string): ImportedSession[] {
  const found: ImportedSession[] = [];
  const ids = new Set<string>();
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const wrong = (why: string) => new UsageError(`line ${at + 1}: ${why}`);
    if (found.length === MAX_SESSIONS) throw wrong(`more than ${MAX_SESSIONS} sessions`);
    if (line.length > MAX_LINE || new TextEncoder().encode(line).length > MAX_LINE) {
      throw wrong("a session of more than 5 MB");
    }
    const session = readSession(parse(line, wrong), wrong);
    if (ids.has(session.row.id)) throw wrong(`the session ${session.row.id} stands there twice`);
    ids.add(session.row.id);
    found.push(session);
  }
  return found;
}

function parse(line: string, wrong: (why: string) => Error): Json {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // Said below.
  }
  throw wrong("this is no JSON object");
}

function readSession(json: Json, wrong: (why: string) => Error): ImportedSession {
  const { id, messages } = json;
  if (typeof id !== "string" || !ID.test(id)) throw wrong("a session needs an id");
  if (!Array.isArray(messages)) throw wrong("a session needs messages, as sessions export writes them");
  if (messages.length > MAX_MESSAGES) throw wrong(`a session of more than ${MAX_MESSAGES} messages`);
  const startedAt = number(json["started_at"]);
  const model = text(json["model"]);
  const provider = text(json["provider"]);
  const ended = number(json["ended_at"]);
  return {
    row: {
      id,
      source: /^[\w-]{1,40}$/.test(String(json["source"])) ? String(json["source"]) : "cli",
      cwd: text(json["cwd"]) ?? null,
      git: { branch: text(json["git_branch"]) ?? null, root: text(json["git_repo_root"]) ?? null },
      config: { ...(model ? { model } : {}), ...(provider ? { provider } : {}) },
      title: text(json["title"]) ?? null,
      ...(startedAt === undefined ? {} : { startedAt }),
    },
    messages: messages.map((message: unknown, at) => {
      const read = isRecord(message) ? readMessage(message) : null;
      if (read === null) throw wrong(`message ${at + 1} is none that sessions export writes`);
      return read;
    }),
    lastActivityAt: number(json["last_activity_at"]) ?? startedAt ?? 0,
    endedAt: ended ?? null,
    endReason: ended === undefined ? null : text(json["end_reason"]) ?? "imported",
  };
}

function readMessage(json: Json): Message | null {
  const timestamp = number(json["timestamp"]);
  const displayKind = text(json["display_kind"]);
  const base = {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(displayKind === undefined ? {} : { displayKind }),
  };
  const content = readContent(json["content"]);
  if (json["role"] === "user" && content !== null) {
    const displayText = text(json["display_text"]);
    return { role: "user", content, ...base, ...(displayText === undefined ? {} : { displayText }) };
  }
  if (json["role"] === "assistant" && (json["content"] === null || typeof content === "string")) {
    const toolCalls = readCalls(json["tool_calls"]);
    const reasoning = text(json["reasoning"]);
    const finishReason = text(json["finish_reason"]);
    if (toolCalls === null) return null;
    return {
      role: "assistant",
      content: content as string | null,
      ...base,
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(reasoning === undefined ? {} : { reasoning }),
      ...(finishReason === undefined ? {} : { finishReason }),
    };
  }
  const toolCallId = text(json["tool_call_id"]);
  const toolName = text(json["tool_name"]);
  if (json["role"] !== "tool" || content === null || !toolCallId || !toolName) return null;
  const { effect } = json;
  return {
    role: "tool",
    toolCallId,
    toolName,
    content,
    ...base,
    ...(effect === "none" || effect === "unknown" ? { effect } : {}),
  };
}

/** `null` where it is none. */
function readContent(value: unknown): Content | null {
  if (typeof value === "string") return value;
  return Array.isArray(value) && value.every(isPart) ? value as Content : null;
}

function isPart(value: unknown): boolean {
  if (!isRecord(value)) return false;
  if (value["type"] === "text") return typeof value["text"] === "string";
  return value["type"] === "image_url" && isRecord(value["image_url"]) &&
    typeof value["image_url"]["url"] === "string";
}

function readCalls(value: unknown): ToolCall[] | null {
  if (value === undefined) return [];
  if (!Array.isArray(value)) return null;
  const calls: ToolCall[] = [];
  for (const entry of value) {
    const call = isRecord(entry) && isRecord(entry["function"]) ? entry["function"] : null;
    const id = text((entry as Json | null)?.["id"]);
    const name = text(call?.["name"]);
    if (!id || !name || typeof call?.["arguments"] !== "string") return null;
    calls.push({ id, name, arguments: call["arguments"] });
  }
  return calls;
}

function isRecord(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}
