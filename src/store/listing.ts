/**
 * The list of conversations (core.md D.6): tips only, newest activity first. Every page is one walk along an index
 * from where the cursor stands, so its cost does not depend on how much is stored.
 */
import type { SessionQuery, SessionSummary } from "@/core/contract.ts";
import type { Db, SqlRow, SqlValue } from "./db.ts";
import { shortPreview } from "./message_rows.ts";

/** Work of the agent itself, not conversations of a person; shown when asked for by name. */
export const HIDDEN_SOURCES: readonly string[] = ["subagent", "tool"];

const FIRST_CHUNK = 64;
const MAX_CHUNK = 1_024;
/** Up to so many directories are walked one by one; more are sorted out row by row. */
const MAX_DIRECTORIES = 32;

const WITH_MESSAGES = "s.listed = 1 AND s.message_count > 0";

interface Position {
  readonly lastActivityAt: number;
  readonly id: string;
}

export interface ListSql {
  /** Ends with three open values: the position's time and id, and the number of rows. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export function readList(db: Db, query: SessionQuery): SessionSummary[] {
  const accepts = query.cwd;
  if (accepts === undefined) return readPages(db, listSql(query), query, query.filter);
  if (query.withMessages ?? true) {
    const wanted = directories(db).filter(accepts);
    if (wanted.length <= MAX_DIRECTORIES) return readDirectories(db, query, wanted);
  }
  const known = new Map<string | null, boolean>();
  return readPages(db, listSql(query), query, (row) => {
    const accepted = known.get(row.cwd) ?? accepts(row.cwd);
    known.set(row.cwd, accepted);
    return accepted && (query.filter?.(row) ?? true);
  });
}

/** The newest of several directories, each with a walk of its own. */
function readDirectories(db: Db, query: SessionQuery, wanted: readonly (string | null)[]): SessionSummary[] {
  const found = wanted.flatMap((cwd) => readPages(db, listSql(query, { cwd }), query, query.filter));
  if (wanted.length > 1) found.sort(newestFirst);
  return found.slice(0, query.limit);
}

function newestFirst(a: SessionSummary, b: SessionSummary): number {
  if (a.lastActivityAt !== b.lastActivityAt) return b.lastActivityAt - a.lastActivityAt;
  return a.id < b.id ? 1 : -1;
}

/** Every directory that a listed session has, by jumps along the index. */
function directories(db: Db): (string | null)[] {
  const from = `FROM sessions s INDEXED BY sessions_recent_cwd WHERE ${WITH_MESSAGES}`;
  const rows = db.all(
    `WITH RECURSIVE found(cwd) AS (
       SELECT min(s.cwd) ${from} AND s.cwd IS NOT NULL
       UNION ALL SELECT (SELECT min(s.cwd) ${from} AND s.cwd > found.cwd) FROM found WHERE found.cwd IS NOT NULL
     ) SELECT cwd FROM found WHERE cwd IS NOT NULL`,
  );
  return [null, ...rows.map((row) => row["cwd"] as string)];
}

function readPages(
  db: Db,
  { sql, values }: ListSql,
  query: SessionQuery,
  filter: ((row: SessionSummary) => boolean) | undefined,
): SessionSummary[] {
  const found: SessionSummary[] = [];
  let after: Position | undefined = query.before;
  let chunk = filter ? Math.max(FIRST_CHUNK, query.limit) : query.limit;
  while (found.length < query.limit) {
    const rows = db.all(sql, ...values, after?.lastActivityAt ?? Number.MAX_VALUE, after?.id ?? "", chunk)
      .map(toSummary);
    for (const row of rows) {
      if (found.length === query.limit) break;
      if (filter?.(row) ?? true) found.push(row);
    }
    if (rows.length < chunk) break;
    after = rows.at(-1);
    chunk = Math.min(MAX_CHUNK, chunk * 2);
  }
  return found;
}

/** The statement of a page; exported for the test that looks at its plan. */
export function listSql(query: SessionQuery, directory?: { cwd: string | null }): ListSql {
  const { sources, withMessages = true } = query;
  const where = [withMessages ? WITH_MESSAGES : "s.listed = 1"];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue) => {
    where.push(condition);
    values.push(value);
  };
  let index = withMessages ? "sessions_recent" : "sessions_recent_all";
  if (directory !== undefined) {
    index = "sessions_recent_cwd";
    add("s.cwd IS ?", directory.cwd);
  }
  if (sources?.length === 1 && withMessages && directory === undefined) {
    index = "sessions_recent_source";
    add("s.source = ?", sources[0]!);
  } else if (sources !== undefined) {
    add("s.source IN (SELECT value FROM json_each(?))", JSON.stringify(sources));
  }
  const hidden = HIDDEN_SOURCES.filter((source) => !sources?.includes(source));
  add(
    "s.source NOT IN (SELECT value FROM json_each(?))",
    JSON.stringify([...hidden, ...query.excludeSources ?? []]),
  );
  const sql =
    `SELECT s.id, s.root_id, s.source, s.title, s.preview, s.cwd, s.last_activity_at, s.message_count, s.model,
      CASE WHEN s.root_id = s.id THEN s.started_at
        ELSE coalesce((SELECT r.started_at FROM sessions r WHERE r.id = s.root_id), s.started_at) END AS started_at,
      CASE WHEN s.root_id = s.id THEN s.pinned
        ELSE coalesce((SELECT r.pinned FROM sessions r WHERE r.id = s.root_id), 0) END AS pinned
    FROM sessions s INDEXED BY ${index}
    WHERE ${where.join(" AND ")} AND (s.last_activity_at, s.id) < (?, ?)
    ORDER BY s.last_activity_at DESC, s.id DESC LIMIT ?`;
  return { sql, values };
}

function toSummary(row: SqlRow): SessionSummary {
  return {
    id: row["id"] as string,
    rootId: row["root_id"] as string,
    source: row["source"] as string,
    title: row["title"] as string | null,
    preview: shortPreview(row["preview"] as string),
    firstText: row["preview"] as string,
    cwd: row["cwd"] as string | null,
    startedAt: row["started_at"] as number,
    lastActivityAt: row["last_activity_at"] as number,
    messageCount: row["message_count"] as number,
    model: row["model"] as string | null,
    pinned: row["pinned"] === 1,
  };
}
