/**
 * Messages that stand before every conversation in its requests and are never stored (core.md A.2):
 * `prefill_messages_file`, a JSON list of `{role, content}`. A file that cannot be used is told about, not guessed at.
 */
import { isAbsolute, join } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import type { Message } from "./messages.ts";

export type Prefill =
  | { readonly type: "messages"; readonly messages: readonly Message[] }
  | { readonly type: "unusable"; readonly why: string };

const MAX_CHARS = 200_000;

/** `path` is absolute, below `~`, or below the data home. */
export async function readPrefill(path: string, home: string, platform: Platform): Promise<Prefill> {
  const userHome = platform.env()["HOME"] ?? "";
  const spelled = path.startsWith("~/") ? join(userHome, path.slice(2)) : path;
  const full = isAbsolute(spelled) ? spelled : join(home, spelled);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await platform.files.read(full));
    if (text.length > MAX_CHARS) return unusable(`${full} is longer than ${MAX_CHARS} characters`);
    const messages = messagesIn(JSON.parse(text));
    return messages ? { type: "messages", messages } : unusable(`${full} is no list of {role, content}`);
  } catch (error) {
    return unusable(`${full}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function unusable(why: string): Prefill {
  return { type: "unusable", why: `prefill_messages_file cannot be used: ${why}` };
}

function messagesIn(value: unknown): Message[] | null {
  if (!Array.isArray(value)) return null;
  const messages = value.map(messageOf);
  return messages.every((message) => message !== null) ? messages : null;
}

function messageOf(value: unknown): Message | null {
  const { role, content } = (value ?? {}) as { role?: unknown; content?: unknown };
  if (typeof content !== "string" || (role !== "user" && role !== "assistant")) return null;
  return { role, content: content.toWellFormed() };
}
