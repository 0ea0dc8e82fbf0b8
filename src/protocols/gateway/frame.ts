/**
 * The envelopes of the gateway (tui-gateway.md A.3, A.6): text in, one checked request or one refusal out, and the
 * other way round. Promises: an id comes back as the very characters it was sent with, no outgoing frame holds a
 * raw line break, and nothing here throws on foreign bytes. Knows no method and no session.
 *
 *   text ──parseFrame──► request {id, method, params} | response {id, result} | invalid {id, code, message}
 *   value ──encodeResult / encodeError / eventFrame──► one line ended by LF
 */
import { lineJson } from "@/lib/line_json.ts";

export type Incoming =
  /** `id` is raw JSON text; `"null"` when the request had none. */
  | {
    readonly type: "request";
    readonly id: string;
    readonly method: string;
    readonly params: Readonly<Record<string, unknown>>;
  }
  /** An answer to a request of ours; whether there is one is not looked at here. */
  | {
    readonly type: "response";
    /** Raw JSON text. */
    readonly id: string;
    readonly of: unknown;
    /** Absent when it is an error. */
    readonly result?: unknown;
  }
  | { readonly type: "invalid"; readonly id: string; readonly code: number; readonly message: string };

const MAX_DEPTH = 512;
/** A text this short cannot be nested deeper than `MAX_DEPTH`. */
const SHALLOW_LENGTH = 2 * MAX_DEPTH;

const LINE_BREAK = /[\u2028\u2029\u0085]/;
const LINE_BREAKS = /[\u2028\u2029\u0085]/g;

function escapeBreaks(json: string): string {
  if (!LINE_BREAK.test(json)) return json;
  return json.replace(LINE_BREAKS, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Compact JSON without any raw line break. Throws on cycles, as `JSON.stringify` does. */
export function toJson(value: unknown): string {
  return lineJson(value);
}

/** Position behind the string that opens at `at`; jumps from quote to quote, so long strings cost little. */
function skipString(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end + 1;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

function isIdKey(token: string): boolean {
  return token === '"id"' || (token.includes("\\") && JSON.parse(token) === "id");
}

/**
 * Walks text that is known to be JSON. `id` is the raw token of the last top-level member `id` (the one that
 * `JSON.parse` keeps), `null` when there is none.
 */
function scan(text: string): { depth: number; id: string | null } {
  let depth = 0;
  let deepest = 0;
  let key = "";
  let idStart = -1;
  let id: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x22) {
      const end = skipString(text, at);
      if (depth === 1 && idStart === -1) key = text.slice(at, end);
      at = end - 1;
    } else if (c === 0x7b || c === 0x5b) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (c === 0x3a && depth === 1) {
      if (isIdKey(key)) idStart = at + 1;
    } else if (c === 0x2c || c === 0x7d || c === 0x5d) {
      if (depth === 1 && idStart !== -1) {
        id = text.slice(idStart, at).trim();
        idStart = -1;
      }
      if (c !== 0x2c) depth--;
    }
  }
  return { depth: deepest, id };
}

/** Line ends inside a raw token are white space between values: JSON strings cannot hold them raw. */
function safeRawId(raw: string | null): string {
  return raw === null ? "null" : escapeBreaks(raw.replace(/[\r\n]/g, " "));
}

function invalid(id: string, code: number, message: string): Incoming {
  return { type: "invalid", id, code, message };
}

/** Checks one frame by the table of A.6. `null` stands for bytes that are not UTF-8. */
export function parseFrame(text: string | null): Incoming {
  if (text === null) return invalid("null", -32700, "parse error: not UTF-8");
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid("null", -32700, "parse error");
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject && text.length <= SHALLOW_LENGTH) return notAnObject(value);
  const { depth, id: raw } = scan(text);
  if (depth > MAX_DEPTH) {
    return invalid("null", -32700, `parse error: nested deeper than ${MAX_DEPTH} levels`);
  }
  if (!isObject) return notAnObject(value);
  return checkEnvelope(value as Record<string, unknown>, safeRawId(raw));
}

function notAnObject(value: unknown): Incoming {
  const batch = Array.isArray(value) ? " (batches are not supported)" : "";
  return invalid("null", -32600, `invalid request: expected an object${batch}`);
}

function checkEnvelope(frame: Record<string, unknown>, id: string): Incoming {
  const { method } = frame;
  const isResponse = !("method" in frame) && "id" in frame && ("result" in frame || "error" in frame);
  if (isResponse) {
    return {
      type: "response",
      id,
      of: frame["id"],
      ...("error" in frame ? {} : { result: frame["result"] }),
    };
  }
  if (typeof method !== "string" || method === "") {
    return invalid(id, -32600, "invalid request: method must be a non-empty string");
  }
  const params = frame["params"] ?? {};
  if (typeof params !== "object" || Array.isArray(params)) {
    return invalid(id, -32602, "invalid params: expected an object");
  }
  return { type: "request", id, method, params: params as Record<string, unknown> };
}

/** A success response. Throws when the result cannot be serialised. */
export function encodeResult(id: string, result: unknown): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${toJson(result)}}\n`;
}

/** Characters; what a request has named may be in it, however long. */
const MAX_MESSAGE = 4_000;

export function encodeError(id: string, code: number, text: string, data?: unknown): string {
  const message = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE).toWellFormed()}…` : text;
  const error = data === undefined ? { code, message } : { code, message, data };
  return `{"jsonrpc":"2.0","id":${id},"error":${toJson(error)}}\n`;
}

/** A request of ours to a host (tui-gateway.md E.2). */
export function encodeRequest(id: string, method: string, params: Record<string, unknown>): string {
  return `${toJson({ jsonrpc: "2.0", id, method, params })}\n`;
}

const EVENT_HEAD = '{"jsonrpc":"2.0","method":"event","params":';

/** Start of every event frame of a session, up to where `,"payload"` or `,"seq"` follows. */
export function eventHead(type: string, sessionId: string): string {
  return `${EVENT_HEAD}{"type":${toJson(type)},"session_id":${toJson(sessionId)}`;
}

const DELTA = `${EVENT_HEAD}{"type":"`;
const DELTA_TYPES = ['message.delta"', 'reasoning.delta"', 'thinking.delta"'];

/** True for a frame of streamed text, which may be held for a moment (A.2). */
export function isDelta(frame: string): boolean {
  return frame.startsWith(DELTA) && DELTA_TYPES.some((type) => frame.startsWith(type, DELTA.length));
}

/** A frame without a sequence number: process-wide events and `gateway.ready`. */
export function eventFrame(params: Record<string, unknown>): string {
  return `${EVENT_HEAD}${toJson(params)}}\n`;
}

/** The `params` of an event frame made by this file, as JSON text. */
export function paramsOf(frame: string): string {
  return frame.slice(EVENT_HEAD.length, -2);
}
