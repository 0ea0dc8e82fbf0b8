/**
 * Full-text search over all stored conversations (core.md D.9). Few matches are ranked; of many the newest come
 * first, because ranking would have to read every one of them.
 */
import { HermesError, type SearchHit, type SearchNeighbour } from "@/core/contract.ts";
import type { Db, SqlRow, SqlValue } from "./db.ts";
import { HIDDEN_SOURCES } from "./listing.ts";
import { planSearch, type SearchPlan } from "./search_query.ts";

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 500;
/** Up to so many matches are ranked. */
const RANKED_MAX = 1_000;
/** Of more matches than this only the newest are looked through for the wanted sources. */
const SCAN_MAX = 50_000;
/** A word of more messages than this is not weighed: ranking would count every one of them. */
const WEIGHED_MAX = 50_000;
const SNIPPET_TOKENS = 40;
/** Trigram tokens are single characters with an overlap; characters around a contained term. */
const SNIPPET_TRIGRAMS = 64;
const SNIPPET_MARGIN = 60;
const NEIGHBOUR_CHARS = 200;
/** Rows of other sessions between two of one: further away nothing is looked for. */
const NEIGHBOUR_ROWS = 1_000;

export interface SearchOptions {
  readonly limit?: number;
  readonly offset?: number;
  readonly sources?: readonly string[];
  /** Whose messages; absent: everybody's. */
  readonly roles?: readonly string[];
  /** Absent: few matches by rank, many by age. */
  readonly sort?: "newest" | "oldest";
  /** Each match with the messages before and after it: two more looks for each. */
  readonly around?: boolean;
}

/** Rows of subagents and tools only when asked for by `sources`. */
export function searchMessages(db: Db, query: string, options: SearchOptions = {}): SearchHit[] {
  const plan = planSearch(query);
  const limit = Math.min(Math.max(0, Math.trunc(options.limit ?? DEFAULT_LIMIT)), MAX_LIMIT);
  if (plan === null || limit === 0) return [];
  const page = { limit, offset: Math.max(0, Math.trunc(options.offset ?? 0)) };
  try {
    const hits = plan.type === "contains"
      ? searchContained(db, plan.terms, page, options)
      : searchIndex(db, plan, page, options);
    return options.around ? hits.map((hit) => withNeighbours(db, hit)) : hits;
  } catch (error) {
    if (!/no such (table|module)/i.test(String(error))) throw error;
    throw new HermesError(
      "store_failed",
      "Search is unavailable: this database was made without a text index",
    );
  }
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

function filterOf({ sources, roles }: SearchOptions): { sql: string; values: string[] } {
  const source = sources === undefined
    ? { sql: "s.source NOT IN (SELECT value FROM json_each(?))", value: JSON.stringify(HIDDEN_SOURCES) }
    : { sql: "s.source IN (SELECT value FROM json_each(?))", value: JSON.stringify(sources) };
  if (roles === undefined) return { sql: source.sql, values: [source.value] };
  const sql = `${source.sql} AND m.role IN (SELECT value FROM json_each(?))`;
  return { sql, values: [source.value, JSON.stringify(roles)] };
}

function searchIndex(
  db: Db,
  plan: Exclude<SearchPlan, { type: "contains" }>,
  page: Page,
  options: SearchOptions,
): SearchHit[] {
  const { sources, roles, sort } = options;
  const table = plan.type === "words" ? "messages_fts" : "messages_fts_trigram";
  const width = plan.type === "words" ? SNIPPET_TOKENS : SNIPPET_TRIGRAMS;
  const filter = filterOf(options);
  if (sources !== undefined && !hasSource(db, sources)) return [];
  const isWeighed = sort === undefined && mayWeigh(db, table, plan) &&
    matchAt(db, table, plan.match, RANKED_MAX) === null;
  // Most messages are of these two; others may be so few that every match would be looked through for them.
  const isRare = sources !== undefined ||
    (roles !== undefined && !roles.includes("user") && !roles.includes("assistant"));
  const order = sort === "oldest" ? "ASC" : "DESC";
  const bound = !isWeighed && isRare ? matchAt(db, table, plan.match, SCAN_MAX, order) : null;
  const rows = db.all(
    `SELECT f.rowid AS id, m.session_id, m.role, s.title, s.started_at,
       snippet(${table}, 0, '>>>', '<<<', '…', ${width}) AS snippet
     FROM ${table} f JOIN messages m ON m.id = f.rowid JOIN sessions s ON s.id = m.session_id
     WHERE ${table} MATCH ? AND f.rowid ${order === "ASC" ? "<" : ">"} ? AND ${filter.sql}
     ORDER BY ${isWeighed ? "f.rank, " : ""}f.rowid ${order} LIMIT ? OFFSET ?`,
    plan.match,
    bound ?? (order === "ASC" ? Number.MAX_SAFE_INTEGER : 0),
    ...filter.values,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toHit(row, row["snippet"] as string));
}

/** What the index takes for words. A pattern of letters takes half a millisecond to make: not before it is needed. */
function wordsOf(term: string): readonly string[] {
  return term.match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu) ?? [];
}

/**
 * Whether to find out if there are few matches, which may then be ranked: each look at a prefix gathers all its words
 * anew, and each at a phrase of frequent words compares all their places. Those are looked at once, the newest first.
 */
function mayWeigh(db: Db, table: string, plan: Exclude<SearchPlan, { type: "contains" }>): boolean {
  if (plan.match.includes('"*')) return false;
  const words = plan.type === "words" ? plan.terms.flatMap(wordsOf) : plan.terms;
  return words.length < 2 || !words.some((word) => matchAt(db, table, `"${word}"`, WEIGHED_MAX) !== null);
}

/** Row id of the n-th match, from 0, of the newest (`DESC`) or the oldest; `null` when there are not so many. */
function matchAt(
  db: Db,
  table: string,
  match: string,
  n: number,
  order: "DESC" | "ASC" = "DESC",
): number | null {
  const sql =
    `SELECT rowid AS id FROM ${table} WHERE ${table} MATCH ? ORDER BY rowid ${order} LIMIT 1 OFFSET ${n}`;
  return (db.get(sql, match)?.["id"] ?? null) as number | null;
}

/** Spares the walk over all matches when no conversation is of these sources. */
function hasSource(db: Db, sources: readonly string[]): boolean {
  const sql = `SELECT 1 FROM sessions s INDEXED BY sessions_recent_source
    WHERE s.listed = 1 AND s.message_count > 0 AND s.source IN (SELECT value FROM json_each(?)) LIMIT 1`;
  return db.get(sql, JSON.stringify(sources)) !== undefined;
}

function searchContained(
  db: Db,
  terms: readonly string[],
  page: Page,
  options: SearchOptions,
): SearchHit[] {
  const filter = filterOf(options);
  const patterns: SqlValue[] = terms.map((term) => `%${term.replace(/[\\%_]/g, "\\$&")}%`);
  const text = "coalesce(m.search_text, m.content)";
  const rows = db.all(
    `SELECT m.id, m.session_id, m.role, s.title, s.started_at, ${text} AS text
     FROM messages m INDEXED BY messages_cjk JOIN sessions s ON s.id = m.session_id
     WHERE m.search_kind = 2 AND m.display_identity IS NULL AND (m.active = 1 OR m.compacted = 1)
       AND ${filter.sql} ${patterns.map(() => `AND ${text} LIKE ? ESCAPE '\\'`).join(" ")}
     ORDER BY m.id ${options.sort === "oldest" ? "ASC" : "DESC"} LIMIT ? OFFSET ?`,
    ...filter.values,
    ...patterns,
    page.limit,
    page.offset,
  );
  return rows.map((row) => toHit(row, excerpt(row["text"] as string, terms)));
}

/** The first of the terms with some text around it. */
function excerpt(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const term = terms.find((candidate) => lower.includes(candidate.toLowerCase())) ?? "";
  const at = Math.max(0, lower.indexOf(term.toLowerCase()));
  const start = Math.max(0, at - SNIPPET_MARGIN);
  const end = Math.min(text.length, at + term.length + SNIPPET_MARGIN);
  const before = text.slice(start, at);
  const after = text.slice(at + term.length, end);
  const marked = `${before}>>>${text.slice(at, at + term.length)}<<<${after}`;
  return `${start > 0 ? "…" : ""}${marked}${end < text.length ? "…" : ""}`.toWellFormed();
}

function toHit(row: SqlRow, snippet: string): SearchHit {
  return {
    messageId: row["id"] as number,
    sessionId: row["session_id"] as string,
    role: row["role"] as string,
    snippet,
    title: row["title"] as string | null,
    startedAt: row["started_at"] as number,
  };
}

// By row id: an index of the session would gather all of its rows for one.
const NEIGHBOURS = `SELECT role, substr(coalesce(search_text, content), 1, ${NEIGHBOUR_CHARS}) AS text
  FROM messages NOT INDEXED WHERE session_id = ?1 AND display_kind IS NULL AND (active = 1 OR compacted = 1)`;
const BEFORE = `${NEIGHBOURS} AND id < ?2 AND id >= ?2 - ${NEIGHBOUR_ROWS} ORDER BY id DESC LIMIT 1`;
const AFTER = `${NEIGHBOURS} AND id > ?2 AND id <= ?2 + ${NEIGHBOUR_ROWS} ORDER BY id LIMIT 1`;

function withNeighbours(db: Db, hit: SearchHit): SearchHit {
  const look = (sql: string) => neighbour(db, sql, hit.sessionId, hit.messageId);
  return { ...hit, before: look(BEFORE), after: look(AFTER) };
}

function neighbour(db: Db, sql: string, sessionId: string, messageId: number): SearchNeighbour | null {
  const row = db.get(sql, sessionId, messageId);
  return row ? { role: row["role"] as string, text: ((row["text"] ?? "") as string).toWellFormed() } : null;
}
