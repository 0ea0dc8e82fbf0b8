/** `session_search` by words (core.md B.12 "discover"): one hit for each conversation, with what stands around it. */
import type { Message, SessionRow } from "@/core/contract.ts";
import { type Args, maybeString, readInteger, readStrings } from "./args.ts";
import { HIDDEN, type Look, rootOf, sharing } from "./session_search_look.ts";
import { metaOf, shownMessage } from "./session_search_view.ts";

const SCANNED = 300;
const TITLES = 200;
const AROUND = 5;
const BOOKEND = 3;
const AROUND_CHARS = 1_200;
const BOOKEND_CHARS = 300;

interface Candidate {
  readonly row: SessionRow;
  readonly messageId: number | null;
  readonly role: string;
  readonly snippet: string;
}

export function discover(query: string, args: Args, look: Look): Record<string, unknown> {
  const { store } = look;
  const limit = readInteger(args, "limit", { or: 3, min: 1, max: 10 });
  const isShared = sharing(look);
  const candidates = [...byTitle(query, look), ...byText(query, args, look)]
    .filter(({ row }) => isShared(row.id));
  const seen = new Set([rootOf(look.current, store)]);
  const roots = new Map<string, string>();
  const chosen: Candidate[] = [];
  const searched = new Set<string>();
  for (const candidate of cronLast(candidates)) {
    searched.add(candidate.row.id);
    if (chosen.length === limit) continue;
    const root = roots.get(candidate.row.id) ?? rootOf(candidate.row.id, store);
    roots.set(candidate.row.id, root);
    if (seen.has(root)) continue;
    seen.add(root);
    chosen.push(candidate);
  }
  return {
    success: true,
    mode: "discover",
    query,
    results: chosen.map((candidate) => found(candidate, look)),
    count: chosen.length,
    sessions_searched: searched.size,
    ...(chosen.length === 0 ? { message: "Nothing found. Try fewer or other words, or prefix*" } : {}),
  };
}

/** Among the newest conversations those whose title has the words; the exact title always. */
function byTitle(query: string, { store }: Look): Candidate[] {
  const wanted = query.toLowerCase();
  const exact = store.findByTitle(query);
  const like = store.listSessions({ limit: TITLES, excludeSources: HIDDEN })
    .filter((summary) => summary.title?.toLowerCase().includes(wanted) && summary.id !== exact?.id)
    .flatMap((summary) => store.getSession(summary.id) ?? []);
  return [...(exact ? [exact] : []), ...like]
    .filter((row) => !HIDDEN.includes(row.source))
    .map((row) => ({ row, messageId: null, role: "title", snippet: `>>>${row.title ?? ""}<<<` }));
}

function byText(query: string, args: Args, { store }: Look): Candidate[] {
  const wanted = (maybeString(args, "role_filter") ?? readStrings(args, "role_filter").join(","))
    .split(",").map((role) => role.trim().toLowerCase()).filter(Boolean);
  const roles = wanted.length > 0 ? wanted : ["user", "assistant"];
  const sort = maybeString(args, "sort")?.trim().toLowerCase();
  const rows = new Map<string, SessionRow | null>();
  const hits = store.search(query, {
    limit: SCANNED,
    roles,
    ...(sort === "newest" || sort === "oldest" ? { sort } : {}),
  });
  return hits.flatMap((hit) => {
    if (!rows.has(hit.sessionId)) rows.set(hit.sessionId, store.getSession(hit.sessionId));
    const row = rows.get(hit.sessionId);
    return row ? [{ row, messageId: hit.messageId, role: hit.role, snippet: hit.snippet }] : [];
  });
}

/** What scheduled jobs said ranks behind what was said with a person. */
function cronLast(candidates: readonly Candidate[]): readonly Candidate[] {
  return [
    ...candidates.filter(({ row }) => row.source !== "cron"),
    ...candidates.filter(({ row }) => row.source === "cron"),
  ];
}

function found(
  { row, messageId, role, snippet }: Candidate,
  { store, prefix }: Look,
): Record<string, unknown> {
  const messages = store.loadMessages(row.id);
  const at = messageId === null ? -1 : messages.findIndex((message) => message.rowId === messageId);
  const from = at === -1 ? 0 : Math.max(0, at - AROUND);
  const to = at === -1 ? 0 : Math.min(messages.length, at + AROUND + 1);
  const show = (list: readonly Message[], chars: number) =>
    list.map((message) => shownMessage(message, chars, messageId));
  return {
    session_id: prefix + row.id,
    ...metaOf(row),
    matched_role: role,
    match_message_id: messageId,
    snippet,
    bookend_start: show(messages.slice(0, BOOKEND), BOOKEND_CHARS),
    messages: show(messages.slice(from, to), AROUND_CHARS),
    bookend_end: show(messages.slice(Math.max(BOOKEND, messages.length - BOOKEND)), BOOKEND_CHARS),
    messages_before: from,
    messages_after: messages.length - to,
    ...(row.parentId ? { parent_session_id: prefix + row.parentId } : {}),
  };
}
