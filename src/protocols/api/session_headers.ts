/** The two session headers of api-server.md A9: their format rules, and nothing about what they mean. */
import { badRequest } from "./errors.ts";

export interface SessionHeaders {
  readonly sessionId: string | null;
  readonly sessionKey: string | null;
  /** The id with the bytes that it came in, to be echoed. */
  readonly sentId?: string;
}

const MAX_LENGTH = 256;

export function readSessionHeaders(headers: Headers): SessionHeaders {
  const sentId = headers.get("X-Hermes-Session-Id")?.trim() ?? "";
  const sessionId = checkSessionId(decoded(sentId));
  const sessionKey = readSessionKey(headers);
  return sessionId === null ? { sessionId, sessionKey } : { sessionId, sessionKey, sentId };
}

/**
 * Trimmed; `null` when empty. Throws 400 for what could be mistaken for a path, and for what no header could carry or
 * no address name.
 */
export function checkSessionId(value: string): string | null {
  const id = value.trim();
  if (id === "") return null;
  if (id.length > MAX_LENGTH) throw badRequest("Session ID too long");
  if (/[\p{Cc}/\\]|\.\.|^\.$|^[A-Za-z]:/u.test(id) || !id.isWellFormed()) {
    throw badRequest("Invalid session ID");
  }
  return id;
}

function readSessionKey(headers: Headers): string | null {
  const key = headers.get("X-Hermes-Session-Key")?.trim() ?? "";
  if (key === "") return null;
  if (key.length > MAX_LENGTH) throw badRequest("Session key too long");
  if (/[\r\n\0]/.test(key)) throw badRequest("Invalid session key");
  return key;
}

/** For the `X-Hermes-Session-Id` of an answer: a header has bytes, so letters beyond ASCII go as UTF-8. */
export function sessionHeader(id: string, { sentId }: Pick<SessionHeaders, "sentId"> = {}): string {
  if (sentId !== undefined) return sentId;
  return isAscii(id) ? id : String.fromCharCode(...new TextEncoder().encode(id));
}

/** The same the other way round: a header is read as one character per byte. */
function decoded(value: string): string {
  if (isAscii(value)) return value;
  try {
    const bytes = Uint8Array.from(value, (char) => char.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return value; // Latin-1, as browsers send it
  }
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}
