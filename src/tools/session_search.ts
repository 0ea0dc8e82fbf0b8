/**
 * `session_search`: looking back into stored conversations (core.md B.12). What is asked follows from the arguments:
 * scroll around a message, read a session, discover by words, browse the newest. Reads only; the conversation that asks
 * is left out, it is before the model already.
 */
import {
  HermesError,
  type Message,
  type SessionOwners,
  type SessionRow,
  type SessionStore,
  type Tool,
} from "@/core/contract.ts";
import { type Args, maybeNumber, maybeString, readInteger, readStrings, shorten, ToolError } from "./args.ts";
import { settle, succeed } from "./result.ts";
import { metaOf, shownMessage, time } from "./session_search_view.ts";

/** What the tool needs of the store. */
export type SessionReader =
  & Pick<
    SessionStore,
    | "getSession"
    | "listSessions"
    | "loadMessages"
    | "loadLineage"
    | "ancestors"
    | "tipOf"
    | "search"
    | "findByTitle"
    | "findByPrefix"
  >
  & {
    /** Which scoped key of the HTTP API a conversation belongs to; absent: none has an owner. */
    readonly owners?: Pick<SessionOwners, "ofSession">;
  };

const SCANNED = 300;
const TITLES = 200;
const FIRST = 20;
const LAST = 10;
const AROUND = 5;
const BOOKEND = 3;
const READ_CHARS = 2_000;
const AROUND_CHARS = 1_200;
const BOOKEND_CHARS = 300;
const HIDDEN = ["subagent", "tool"];

export function createSessionSearch(sessions: () => SessionReader): Tool {
  return {
    name: "session_search",
    toolset: "session_search",
    description:
      "Earlier conversations. query finds by words (prefix*, OR, NOT); session_id reads one, with " +
      "around_message_id a place in it; nothing lists the newest.",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string" },
        limit: { type: "integer", minimum: 1, maximum: 10, default: 3 },
        sort: { type: "string", enum: ["newest", "oldest"] },
        session_id: { type: "string" },
        around_message_id: { type: "integer" },
        window: { type: "integer", minimum: 1, maximum: 20, default: 5 },
        role_filter: { type: "string", default: "user,assistant" },
      },
    },
    parallel: "safe",
    describe(args) {
      const label = shorten(maybeString(args, "query") ?? maybeString(args, "session_id") ?? "newest");
      return { title: `sessions: ${label}`, label, kind: "search", locations: [], startText: "" };
    },
    execute(args, context) {
      const look = () => answer(args, { store: sessions(), current: context.sessionId });
      return settle(() => Promise.resolve().then(() => succeed(storeErrors(look))), { success: false });
    },
  };
}

interface Look {
  readonly store: SessionReader;
  /** Public id of the conversation that asks. */
  readonly current: string;
}

/** A store that cannot answer is told to the model in words. */
function storeErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof HermesError) throw new ToolError(error.message);
    throw error;
  }
}

function answer(args: Args, look: Look): Record<string, unknown> {
  const id = maybeString(args, "session_id")?.trim();
  const query = maybeString(args, "query")?.trim();
  if (id) {
    const row = findSession(id, look);
    const anchor = maybeNumber(args, "around_message_id");
    return anchor === null ? read(row, look) : scroll(row, anchor, args, look);
  }
  if (maybeNumber(args, "around_message_id") !== null) {
    throw new ToolError("'around_message_id' needs the 'session_id' it belongs to");
  }
  return query ? discover(query, args, look) : browse(args, look);
}

/** By id, by a unique beginning of an id, or by title. */
function findSession(id: string, look: Look): SessionRow {
  const { store } = look;
  const isShared = sharing(look);
  const wanted = id.replace(/^default\//, "");
  const row = store.getSession(wanted);
  if (row && isShared(row.id)) return row;
  const matches = (wanted.length >= 6 ? store.findByPrefix(wanted) : []).filter((one) => isShared(one.id));
  if (matches.length === 1) return matches[0]!;
  const titled = store.findByTitle(wanted);
  if (titled && isShared(titled.id)) return titled;
  throw new ToolError(`Session '${id}' not found. Without arguments this tool lists the newest`);
}

/** First id of everything this conversation grew from; a conversation that is not stored is its own. */
function rootOf(id: string, store: SessionReader): string {
  return store.ancestors(id).rows.at(-1)?.id ?? id;
}

/**
 * Which conversations this one may look into: with an owner, those of the same owner alone; without one, all, as the
 * person at the machine and the full key may.
 */
function sharing({ store, current }: Look): (id: string) => boolean {
  const ownerOf = (id: string) => store.owners?.ofSession(rootOf(id, store)) ?? null;
  const owner = ownerOf(current);
  return (id) => owner === null || ownerOf(id) === owner;
}

// ── Scroll and read ─────────────────────────────────────────────────────────────────────────────────────────

function scroll(
  row: SessionRow,
  anchor: number,
  args: Args,
  { store, current }: Look,
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
    session_id: row.id,
    around_message_id: anchor,
    session_meta: metaOf(row),
    window,
    messages: messages.slice(from, to).map((message) => shownMessage(message, READ_CHARS, anchor)),
    messages_before: from,
    messages_after: messages.length - to,
    ...(warning ? { warning } : {}),
  };
}

function read(row: SessionRow, { store }: Look): Record<string, unknown> {
  const messages = store.loadLineage(row.id);
  const whole = messages.length <= FIRST + LAST;
  const shown = whole ? messages : [...messages.slice(0, FIRST), ...messages.slice(-LAST)];
  return {
    success: true,
    mode: "read",
    session_id: row.id,
    session_meta: metaOf(row),
    message_count: messages.length,
    messages: shown.map((message) => shownMessage(message, READ_CHARS)),
    truncated: !whole,
    ...(whole ? {} : { omitted: messages.length - shown.length, hint: "Scroll with around_message_id" }),
  };
}

// ── Discover and browse ─────────────────────────────────────────────────────────────────────────────────────

interface Candidate {
  readonly row: SessionRow;
  readonly messageId: number | null;
  readonly role: string;
  readonly snippet: string;
}

function discover(query: string, args: Args, look: Look): Record<string, unknown> {
  const { store } = look;
  const limit = readInteger(args, "limit", { or: 3, min: 1, max: 10 });
  const isShared = sharing(look);
  const candidates = [...byTitle(query, look), ...sorted(byText(query, args, look), args)]
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
    results: chosen.map((candidate) => found(candidate, store)),
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
  const roles = new Set(
    (maybeString(args, "role_filter") ?? readStrings(args, "role_filter").join(","))
      .split(",").map((role) => role.trim().toLowerCase()).filter(Boolean),
  );
  if (roles.size === 0) { for (const role of ["user", "assistant"]) roles.add(role); }
  const rows = new Map<string, SessionRow | null>();
  return store.search(query, { limit: SCANNED }).flatMap((hit) => {
    if (!roles.has(hit.role)) return [];
    if (!rows.has(hit.sessionId)) rows.set(hit.sessionId, store.getSession(hit.sessionId));
    const row = rows.get(hit.sessionId);
    return row ? [{ row, messageId: hit.messageId, role: hit.role, snippet: hit.snippet }] : [];
  });
}

function sorted(candidates: readonly Candidate[], args: Args): readonly Candidate[] {
  const sort = maybeString(args, "sort")?.trim().toLowerCase();
  if (sort !== "newest" && sort !== "oldest") return candidates;
  const sign = sort === "newest" ? -1 : 1;
  return candidates.toSorted((a, b) => sign * ((a.messageId ?? 0) - (b.messageId ?? 0)));
}

/** What scheduled jobs said ranks behind what was said with a person. */
function cronLast(candidates: readonly Candidate[]): readonly Candidate[] {
  return [
    ...candidates.filter(({ row }) => row.source !== "cron"),
    ...candidates.filter(({ row }) => row.source === "cron"),
  ];
}

function found({ row, messageId, role, snippet }: Candidate, store: SessionReader): Record<string, unknown> {
  const messages = store.loadMessages(row.id);
  const at = messageId === null ? -1 : messages.findIndex((message) => message.rowId === messageId);
  const from = at === -1 ? 0 : Math.max(0, at - AROUND);
  const to = at === -1 ? 0 : Math.min(messages.length, at + AROUND + 1);
  const show = (list: readonly Message[], chars: number) =>
    list.map((message) => shownMessage(message, chars, messageId));
  return {
    session_id: row.id,
    ...metaOf(row),
    matched_role: role,
    match_message_id: messageId,
    snippet,
    bookend_start: show(messages.slice(0, BOOKEND), BOOKEND_CHARS),
    messages: show(messages.slice(from, to), AROUND_CHARS),
    bookend_end: show(messages.slice(Math.max(BOOKEND, messages.length - BOOKEND)), BOOKEND_CHARS),
    messages_before: from,
    messages_after: messages.length - to,
    ...(row.parentId ? { parent_session_id: row.parentId } : {}),
  };
}

function browse(args: Args, look: Look): Record<string, unknown> {
  const { store, current } = look;
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
      session_id: summary.id,
      title: summary.title,
      source: summary.source,
      started_at: time(summary.startedAt),
      last_active: time(summary.lastActivityAt),
      message_count: summary.messageCount,
      preview: summary.preview,
    }));
  return { success: true, mode: "browse", results, count: results.length };
}
