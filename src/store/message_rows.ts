/**
 * The `messages` table: conversation to rows and back (core.md D.4). A content list, and a text the column cannot
 * hold as it is, is stored as NUL + "json:" + JSON. What a row is found by in a search is worked out here, once.
 */
import type {
  AssistantMessage,
  Content,
  ContentPart,
  Message,
  TodoItem,
  ToolCall,
  ToolMessage,
  ToolMeta,
  UserMessage,
} from "@/core/contract.ts";
import { HermesError, textOf } from "@/core/contract.ts";
import type { Steps } from "@/lib/slices.ts";
import { type Db, type SqlValue, withoutNul } from "./db.ts";

const JSON_MARK = "\u0000json:";
/** Characters of a row that are indexed; a row says more than that only in bulk. */
const SEARCH_MAX = 65_536;
const SEARCH_MAX_TOOL = 8_192;
/** Characters of display data kept per row; edits beyond are left out of a later replay (FC-18). */
const METADATA_MAX = 4_194_304;
/** Characters kept of the first text; lists show as many as their contract says. */
const FIRST_TEXT_MAX = 80;
const PREVIEW_MAX = 60;

/** The pattern of the scripts takes a third of a millisecond to make, and most programs never see one of them. */
export function hasCjk(text: string): boolean {
  return /[\u1100-\uffff]/.test(text) &&
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text);
}

/** Columns a copy of a row takes over as they are. */
export const COPIED_COLUMNS =
  `role, timestamp, display_kind, search_kind, tool_call_id, tool_name, effect_disposition,
  finish_reason, content, tool_calls, reasoning, reasoning_content, reasoning_details, display_metadata, search_text,
  token_count`;

// The driver cuts texts at a NUL; only marked contents begin with one, and those are read as bytes.
const CONTENT_COLUMN = "CASE WHEN content < char(1) THEN CAST(content AS BLOB) ELSE content END AS content";

const READ_COLUMNS = `id, role, timestamp, display_kind, display_identity, tool_call_id, tool_name,
  effect_disposition, finish_reason, ${CONTENT_COLUMN}, tool_calls, reasoning, reasoning_content,
  reasoning_details, display_metadata, token_count`;

// ── Content ─────────────────────────────────────────────────────────────────────────────────────────────────

function encodeContent(content: Content | null): string | null {
  if (content === null) return null;
  if (typeof content !== "string") return JSON_MARK + JSON.stringify(content);
  return content.includes("\u0000") ? JSON_MARK + JSON.stringify(content) : content;
}

const decoder = new TextDecoder();

function decodeContent(value: SqlValue | undefined): Content | null {
  if (typeof value === "string") return value;
  if (!(value instanceof Uint8Array)) return null;
  const text = decoder.decode(value);
  if (!text.startsWith(JSON_MARK)) return text;
  try {
    return JSON.parse(text.slice(JSON_MARK.length)) as string | ContentPart[];
  } catch {
    return "[unreadable content]"; // a damaged row must not hide the rest of the conversation
  }
}

function parseJson<T>(value: SqlValue | undefined): T | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return JSON.parse(value) as T;
  } catch {
    return undefined; // as above
  }
}

// ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────────

interface SearchFacts {
  readonly kind: 0 | 1 | 2;
  /** `null` = the content column itself. */
  readonly text: string | null;
}

function searchFactsOf(message: Message, stored: string | null): SearchFacts {
  if (message.displayKind !== undefined) return { kind: 0, text: null };
  const max = message.role === "tool" ? SEARCH_MAX_TOOL : SEARCH_MAX;
  const parts = [textOf(message.content).slice(0, max)];
  if (message.role === "tool") parts.push(message.toolName);
  if (message.role === "assistant") {
    for (const call of message.toolCalls ?? []) {
      parts.push(call.name, call.arguments.slice(0, SEARCH_MAX_TOOL));
    }
  }
  const text = parts.filter((part) => part !== "").join(" ").replaceAll("\u0000", " ");
  if (text === "") return { kind: 0, text: null };
  return { kind: hasCjk(text) ? 2 : 1, text: text === stored ? null : text };
}

/** JSON of the calls; `providerId` is written as `call_id`, the name other tools know it by. */
function encodeCalls(calls: readonly ToolCall[] | undefined): string | null {
  if (calls === undefined || calls.length === 0) return null;
  return JSON.stringify(calls.map(({ id, name, arguments: args, providerId }) => ({
    id,
    ...(providerId === undefined ? {} : { call_id: providerId }),
    type: "function",
    function: { name, arguments: args },
  })));
}

interface StoredCall {
  readonly id: string;
  readonly call_id?: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** Entries that are no calls are left out: a damaged row must not hide the conversation. */
function decodeCalls(value: SqlValue | undefined): ToolCall[] {
  const stored = parseJson<(StoredCall | null)[]>(value);
  if (!Array.isArray(stored)) return [];
  return stored.flatMap((call) =>
    call?.function === undefined ? [] : [{
      id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
      ...(call.call_id === undefined ? {} : { providerId: call.call_id }),
    }]
  );
}

interface DisplayMetadata {
  readonly displayText?: string;
  readonly todos?: readonly TodoItem[];
  readonly meta?: ToolMeta;
}

function encodeMetadata(message: Message): string | null {
  if (message.role === "user") {
    const { displayText, todos } = message;
    return displayText === undefined && todos === undefined ? null : JSON.stringify({ displayText, todos });
  }
  if (message.role !== "tool" || message.meta === undefined) return null;
  const text = JSON.stringify({ meta: message.meta });
  if (text.length <= METADATA_MAX) return text;
  const { edits: _edits, ...meta } = message.meta;
  return JSON.stringify({ meta });
}

function plain(text: string | undefined): string | null {
  return text === undefined ? null : withoutNul(text);
}

/** Messages of one step, also into the text index. */
const STEP = 32;

/**
 * Appends rows in order, in steps, and returns their ids. `identityOf` names the row of an earlier session of the
 * chain that a message carries on. The session's own counters are the caller's business.
 */
export function* insertMessages(
  db: Db,
  sessionId: string,
  messages: readonly Message[],
  now: number,
  identityOf: (message: Message) => number | null = () => null,
): Steps<number[]> {
  const ids: number[] = [];
  for (const message of messages) {
    if (ids.length % STEP === 0 && ids.length > 0) yield;
    ids.push(insertMessage(db, sessionId, message, now, identityOf(message)));
  }
  return ids;
}

function insertMessage(
  db: Db,
  sessionId: string,
  message: Message,
  now: number,
  identity: number | null,
): number {
  const assistant = message.role === "assistant" ? message : undefined;
  const tool = message.role === "tool" ? message : undefined;
  const content = encodeContent(message.content);
  const search = searchFactsOf(message, content);
  const details = assistant?.reasoningDetails;
  const { lastId } = db.run(
    `INSERT INTO messages (session_id, role, timestamp, display_kind, display_identity, search_kind, tool_call_id,
       tool_name, effect_disposition, finish_reason, content, tool_calls, reasoning, reasoning_content,
       reasoning_details, display_metadata, search_text, token_count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    sessionId,
    message.role,
    message.timestamp ?? now,
    message.displayKind ?? null,
    identity,
    search.kind,
    plain(tool?.toolCallId),
    plain(tool?.toolName),
    tool?.effect ?? null,
    plain(assistant?.finishReason),
    content,
    encodeCalls(assistant?.toolCalls),
    plain(assistant?.reasoning),
    plain(assistant?.reasoningContent),
    details === undefined ? null : JSON.stringify(details),
    encodeMetadata(message),
    search.text,
    assistant?.tokenCount ?? null,
  );
  return lastId;
}

/** Replaces the content of one row and what it is found by. Throws `message_not_found`. */
export function replaceContent(db: Db, rowId: number, content: Content): void {
  const [row] = readRows(db, "WHERE id = ?", rowId);
  if (row === undefined) {
    throw new HermesError("message_not_found", `No message with row id ${rowId} is stored`, { rowId });
  }
  const stored = encodeContent(content);
  const search = searchFactsOf({ ...toMessage(row), content } as Message, stored);
  db.run(
    "UPDATE messages SET content = ?, search_kind = ?, search_text = ? WHERE id = ?",
    stored,
    search.kind,
    search.text,
    rowId,
  );
}

export function countCalls(messages: readonly Message[]): number {
  return messages.reduce((n, m) => n + (m.role === "assistant" ? m.toolCalls?.length ?? 0 : 0), 0);
}

/** Rows that count as messages: timeline rows do not. */
export function countMessages(messages: readonly Message[]): number {
  return messages.reduce((n, m) => n + (m.displayKind === undefined ? 1 : 0), 0);
}

/** First text of the user on one line, cut; empty when there is none. */
export function previewOf(messages: readonly Message[]): string {
  for (const message of messages) {
    if (message.role !== "user" || message.displayKind !== undefined) continue;
    const text = message.displayText ?? textOf(message.content);
    // A long paste need not be walked through for its first words.
    const line = text.slice(0, 4_096).toWellFormed().replace(/[\s\p{Cc}]+/gu, " ").trim();
    if (line !== "") return [...line].slice(0, FIRST_TEXT_MAX).join("");
  }
  return "";
}

/** The part of it that lists of core.md D.6 show. */
export function shortPreview(firstText: string): string {
  return firstText.length <= PREVIEW_MAX ? firstText : [...firstText].slice(0, PREVIEW_MAX).join("");
}

// ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────────

export interface StoredMessage {
  readonly message: Message;
  /** The row this one carries on from an earlier session of the chain; its own id otherwise. */
  readonly identity: number;
}

/** The columns of `READ_COLUMNS`, in their order. */
type MessageRow = readonly [
  id: number,
  role: string,
  timestamp: number,
  displayKind: string | null,
  displayIdentity: number | null,
  callId: string | null,
  toolName: string | null,
  effect: string | null,
  finishReason: string | null,
  content: SqlValue,
  calls: string | null,
  reasoning: string | null,
  reasoningContent: string | null,
  reasoningDetails: string | null,
  displayMetadata: string | null,
  tokenCount: number | null,
];

/** `where` completes `SELECT … FROM messages`. */
function readRows(db: Db, where: string, ...values: SqlValue[]): MessageRow[] {
  return db.arrays(`SELECT ${READ_COLUMNS} FROM messages ${where}`, ...values) as unknown as MessageRow[];
}

function toMessage(row: MessageRow): Message {
  const [rowId, role, timestamp, displayKind] = row;
  const base = { rowId, timestamp, ...(displayKind === null ? {} : { displayKind }) };
  const content = decodeContent(row[9]);
  if (role === "assistant") return toAssistant(row, content, base);
  if (role === "tool") return toTool(row, content, base);
  const { displayText, todos } = parseJson<DisplayMetadata>(row[14]) ?? {};
  const user: UserMessage = {
    role: "user",
    content: content ?? "",
    ...(displayText === undefined ? {} : { displayText }),
    ...(todos === undefined ? {} : { todos }),
    ...base,
  };
  return user;
}

function toAssistant(row: MessageRow, content: Content | null, base: object): AssistantMessage {
  const [, , , , , , , , finishReason, , storedCalls, reasoning, reasoningContent, storedDetails] = row;
  const tokenCount = row[15];
  const calls = decodeCalls(storedCalls);
  const details = parseJson<unknown[]>(storedDetails);
  return {
    role: "assistant",
    content: content === null ? null : textOf(content),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...(reasoning === null ? {} : { reasoning }),
    ...(reasoningContent === null ? {} : { reasoningContent }),
    ...(details === undefined ? {} : { reasoningDetails: details }),
    ...(finishReason === null ? {} : { finishReason }),
    ...(tokenCount === null ? {} : { tokenCount }),
    ...base,
  };
}

function toTool(row: MessageRow, content: Content | null, base: object): ToolMessage {
  const [, , , , , callId, toolName, effect] = row;
  const { meta } = parseJson<DisplayMetadata>(row[14]) ?? {};
  return {
    role: "tool",
    toolCallId: callId ?? "",
    toolName: toolName ?? "",
    content: content ?? "",
    ...(effect === "none" || effect === "unknown" ? { effect } : {}),
    ...(meta === undefined ? {} : { meta }),
    ...base,
  };
}

/** Active rows of one session by id; the results of one batch in the order of their calls. */
export function readMessages(db: Db, sessionId: string): StoredMessage[] {
  return orderResults(readRange(db, sessionId, 0, Number.MAX_SAFE_INTEGER));
}

/** Ids of the active rows of one session, in order. */
export function readIds(db: Db, sessionId: string): number[] {
  const sql = "SELECT id FROM messages WHERE session_id = ? AND active = 1 ORDER BY id";
  return db.arrays(sql, sessionId).map(([id]) => id as number);
}

/** The active rows with ids from `first` to `last`, by id; results stand as they were stored. */
export function readRange(db: Db, sessionId: string, first: number, last: number): StoredMessage[] {
  const where = "WHERE session_id = ? AND active = 1 AND id BETWEEN ? AND ? ORDER BY id";
  return readRows(db, where, sessionId, first, last)
    .map((row) => ({ message: toMessage(row), identity: row[4] ?? row[0] }));
}

/** Tools of one batch may finish in any order; providers and people read them in the order of the calls. */
export function orderResults(stored: StoredMessage[]): StoredMessage[] {
  for (let at = 0; at < stored.length; at++) {
    const { message } = stored[at]!;
    if (message.role !== "assistant" || message.toolCalls === undefined || message.toolCalls.length < 2) {
      continue;
    }
    let end = at + 1;
    while (end < stored.length && stored[end]!.message.role === "tool") end++;
    const order = new Map(message.toolCalls.map((call, index) => [call.id, index]));
    const place = (entry: StoredMessage) =>
      entry.message.role === "tool" ? order.get(entry.message.toolCallId) ?? order.size : order.size;
    const batch = stored.slice(at + 1, end).sort((a, b) => place(a) - place(b));
    stored.splice(at + 1, batch.length, ...batch);
    at = end - 1;
  }
  return stored;
}

/** The first words of the user that are active now. */
export function readPreview(db: Db, sessionId: string): string {
  const rows = readRows(
    db,
    "WHERE session_id = ? AND active = 1 AND role = 'user' AND display_kind IS NULL ORDER BY id LIMIT 3",
    sessionId,
  );
  return previewOf(rows.map(toMessage));
}
