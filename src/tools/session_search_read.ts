/** `session_search` in one conversation, and the list of the newest (core.md B.12 "scroll", "read", "browse"). */
import type { SessionRow } from "@/core/contract.ts";
import { type Args, readInteger, ToolError } from "./args.ts";
import { HIDDEN, type Look, rootOf, sharing } from "./session_search_look.ts";
import { metaOf, shownMessage, time } from "./session_search_view.ts";

const FIRST = 20;
const LAST = 10;
const AROUND = 5;
const READ_CHARS = 2_000;

/** By id, by a unique beginning of an id, or by title. */
export function findSession(id: string, look: Look): SessionRow {
  const { store } = look;
  const isShared = sharing(look);
  const row = store.getSession(id);
  if (row && isShared(row.id)) return row;
  const matches = (id.length >= 6 ? store.findByPrefix(id) : []).filter((one) => isShared(one.id));
  if (matches.length === 1) return matches[0]!;
  const titled = store.findByTitle(id);
  if (titled && isShared(titled.id)) return titled;
  throw new ToolError(`Session '${id}' not found. Without arguments this tool lists the newest`);
}

export function scroll(
  row: SessionRow,
  anchor: number,
  args: Args,
  { store, current, prefix }: Look,
): Record<string, unknown> {
  if (rootOf(row.id, store) === rootOf(current, store)) {
    throw new ToolError(
      "That message belongs to the conversation you are in: you have it before you already",
    );
  }
  const window = readInteger(args, "window", { or: AROUND, min: 1, max: 20 });
  let messages = store.loadMessages(row.id);
  let at = messages.findIndex((message) => message.rowId === anchor);
  let warning: string | null = null;
  if (at === -1) {
    messages = store.loadLineage(store.tipOf(row.id)?.id ?? row.id);
    at = messages.findIndex((message) => message.rowId === anchor);
    warning = "The message is in another part of this conversation, before or after a compression";
  }
  if (at === -1) throw new ToolError(`Session '${row.id}' has no message ${anchor}`);
  const from = Math.max(0, at - window), to = Math.min(messages.length, at + window + 1);
  return {
    success: true,
    mode: "scroll",
    session_id: prefix + row.id,
    around_message_id: anchor,
    session_meta: metaOf(row),
    window,
    messages: messages.slice(from, to).map((message) => shownMessage(message, READ_CHARS, anchor)),
    messages_before: from,
    messages_after: messages.length - to,
    ...(warning ? { warning } : {}),
  };
}

export function read(row: SessionRow, { store, prefix }: Look): Record<string, unknown> {
  const messages = store.loadLineage(row.id);
  const whole = messages.length <= FIRST + LAST;
  const shown = whole ? messages : [...messages.slice(0, FIRST), ...messages.slice(-LAST)];
  return {
    success: true,
    mode: "read",
    session_id: prefix + row.id,
    session_meta: metaOf(row),
    message_count: messages.length,
    messages: shown.map((message) => shownMessage(message, READ_CHARS)),
    truncated: !whole,
    ...(whole ? {} : { omitted: messages.length - shown.length, hint: "Scroll with around_message_id" }),
  };
}

export function browse(args: Args, look: Look): Record<string, unknown> {
  const { store, current, prefix } = look;
  const isShared = sharing(look);
  const limit = readInteger(args, "limit", { or: 3, min: 1, max: 10 });
  const own = rootOf(current, store);
  const results = store.listSessions({
    limit: limit + 5,
    excludeSources: HIDDEN,
    filter: (summary) => isShared(summary.id),
  }).filter((summary) => summary.rootId !== own && rootOf(summary.id, store) !== own)
    .slice(0, limit)
    .map((summary) => ({
      session_id: prefix + summary.id,
      title: summary.title,
      source: summary.source,
      started_at: time(summary.startedAt),
      last_active: time(summary.lastActivityAt),
      message_count: summary.messageCount,
      preview: summary.preview,
    }));
  return { success: true, mode: "browse", results, count: results.length };
}
