/** The two session headers of api-server.md A9: their format rules, and nothing about what they mean. */
import { badRequest } from "./errors.ts";

export interface SessionHeaders {
  readonly sessionId: string | null;
  readonly sessionKey: string | null;
}

const MAX_LENGTH = 256;

export function readSessionHeaders(headers: Headers): SessionHeaders {
  return { sessionId: readSessionId(headers), sessionKey: readSessionKey(headers) };
}

function readSessionId(headers: Headers): string | null {
  return checkSessionId(headers.get("X-Hermes-Session-Id") ?? "");
}

/** Trimmed; `null` when empty. Throws 400 for what could be mistaken for a path. */
export function checkSessionId(value: string): string | null {
  const id = value.trim();
  if (id === "") return null;
  if (id.length > MAX_LENGTH) throw badRequest("Session ID too long");
  if (/[\r\n\0/\\]|\.\.|^[A-Za-z]:/.test(id)) throw badRequest("Invalid session ID");
  return id;
}

function readSessionKey(headers: Headers): string | null {
  const key = headers.get("X-Hermes-Session-Key")?.trim() ?? "";
  if (key === "") return null;
  if (key.length > MAX_LENGTH) throw badRequest("Session key too long");
  if (/[\r\n\0]/.test(key)) throw badRequest("Invalid session key");
  return key;
}
