/**
 * The `sessions` table: rows to types and back, and the plain changes of one row. What a change means for the
 * chain of rows is `lineage.ts`. Every function runs inside the caller's transaction or is a single read.
 */
import type {
  Billing,
  CountedCall,
  ModelCost,
  NewSessionRow,
  SessionConfig,
  SessionPatch,
  SessionRow,
} from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { type Db, type SqlRow, type SqlValue, withoutNul } from "./db.ts";

const COLUMNS =
  `s.id, s.source, s.parent_session_id, s.started_at, s.ended_at, s.end_reason, s.last_activity_at,
  s.title, s.model_config, s.cwd, s.git_branch, s.git_repo_root, s.session_key, s.message_count, s.tool_call_count, s.api_call_count,
  s.input_tokens, s.output_tokens, s.cache_read_tokens, s.cache_write_tokens, s.reasoning_tokens,
  s.estimated_cost_usd, s.cost_status, s.cost_source, s.pricing_version, s.billing_provider, s.billing_base_url,
  s.billing_mode, p.system_prompt`;
const FROM = "FROM sessions s LEFT JOIN session_prompts p ON p.session_id = s.id";

/** Names inside `model_config`. */
const CONFIG_KEYS = {
  model: "model",
  provider: "provider",
  baseUrl: "base_url",
  apiMode: "api_mode",
  reasoningEffort: "reasoning_effort",
  serviceTier: "service_tier",
  mode: "mode",
  additionalDirectories: "additional_directories",
  branchedFrom: "_branched_from",
  delegateFrom: "_delegate_from",
  compressionRestsUntil: "compression_failure_cooldown_until",
  compressionError: "compression_failure_error",
  compressionFallbacks: "compression_fallback_streak",
  fingerprint: "fingerprint",
} as const satisfies Record<keyof SessionConfig, string>;

function encodeConfig(config: SessionConfig): string {
  const stored: Record<string, unknown> = {};
  for (const [key, name] of Object.entries(CONFIG_KEYS)) {
    const value = config[key as keyof SessionConfig];
    if (value !== undefined) stored[name] = value;
  }
  return JSON.stringify(stored);
}

function decodeConfig(text: string): SessionConfig {
  let stored: Record<string, unknown>;
  try {
    stored = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {}; // a damaged row must not hide the conversation
  }
  const config: Record<string, unknown> = {};
  for (const [key, name] of Object.entries(CONFIG_KEYS)) {
    if (stored[name] !== undefined && stored[name] !== null) config[key] = stored[name];
  }
  return config as SessionConfig;
}

export type Relation = "continuation" | "branch" | "delegate" | null;

/**
 * How a new row hangs on its parent. A marker that names another session came along with the settings and says
 * nothing about this row; a child without a marker continues a parent that was compressed.
 */
function relationOf(parent: SqlRow | undefined, config: SessionConfig): Relation {
  if (parent === undefined) return null;
  if (config.delegateFrom === parent["id"]) return "delegate";
  if (config.branchedFrom === parent["id"]) return "branch";
  return parent["end_reason"] === "compression" ? "continuation" : null;
}

function toSessionRow(row: SqlRow): SessionRow {
  return {
    id: row["id"] as string,
    source: row["source"] as string,
    parentId: row["parent_session_id"] as string | null,
    startedAt: row["started_at"] as number,
    endedAt: row["ended_at"] as number | null,
    endReason: row["end_reason"] as string | null,
    title: row["title"] as string | null,
    config: decodeConfig(row["model_config"] as string),
    systemPrompt: row["system_prompt"] as string | null,
    cwd: row["cwd"] as string | null,
    git: { branch: row["git_branch"] as string | null, root: row["git_repo_root"] as string | null },
    messageCount: row["message_count"] as number,
    toolCallCount: row["tool_call_count"] as number,
    apiCallCount: row["api_call_count"] as number,
    usage: {
      input: row["input_tokens"] as number,
      output: row["output_tokens"] as number,
      cacheRead: row["cache_read_tokens"] as number,
      cacheWrite: row["cache_write_tokens"] as number,
      reasoning: row["reasoning_tokens"] as number,
    },
    cost: toCost(row),
    billing: {
      provider: row["billing_provider"] as string | null,
      baseUrl: row["billing_base_url"] as string | null,
      mode: row["billing_mode"] as Billing["mode"],
    },
    lastActivityAt: row["last_activity_at"] as number,
    sessionKey: row["session_key"] as string | null,
  };
}

/** A sum that lacks the price of a call is no sum. */
function toCost(row: SqlRow): ModelCost | null {
  const status = row["cost_status"] as ModelCost["status"] | null;
  if (status === null) return null;
  return {
    usd: status === "unknown" ? null : row["estimated_cost_usd"] as number | null,
    status,
    source: (row["cost_source"] ?? "none") as ModelCost["source"],
    ...(row["pricing_version"] === null ? {} : { version: row["pricing_version"] as string }),
  };
}

export function readSession(db: Db, id: string): SessionRow | null {
  const row = db.get(`SELECT ${COLUMNS} ${FROM} WHERE s.id = ?`, id);
  return row === undefined ? null : toSessionRow(row);
}

/** Throws `session_not_found`. */
export function requireSession(db: Db, id: string): SessionRow {
  const row = readSession(db, id);
  if (row === null) throw sessionNotFound(id);
  return row;
}

export function sessionNotFound(id: string): HermesError {
  return new HermesError("session_not_found", `No session "${id}" is stored`, { sessionId: id });
}

/** At most 20 rows whose id begins with `prefix`, in the order of their ids. */
export function readByPrefix(db: Db, prefix: string): SessionRow[] {
  if (prefix === "") return [];
  const start = prefix;
  const sql = `SELECT ${COLUMNS} ${FROM} WHERE s.id >= ? AND s.id < ? ORDER BY s.id LIMIT 20`;
  return db.all(sql, start, start + "\u{10FFFF}").map(toSessionRow);
}

export interface InsertFacts {
  /** Unix seconds. */
  readonly now: number;
  /** Already cleaned and free. */
  readonly title: string | null;
  readonly titleSource: string | null;
  readonly preview?: string;
}

/** The bare row; `relinkChildren` of its parent makes it part of a chain. Throws `session_exists`, `session_not_found`. */
export function insertSession(db: Db, row: NewSessionRow, facts: InsertFacts): void {
  const id = row.id;
  if (db.get("SELECT 1 FROM sessions WHERE id = ?", id) !== undefined) {
    throw new HermesError("session_exists", `A session "${id}" exists already`, { sessionId: id });
  }
  const parent = row.parentId ?? null;
  const parentRow = parent === null
    ? undefined
    : db.get("SELECT id, end_reason FROM sessions WHERE id = ?", parent);
  if (parent !== null && parentRow === undefined) throw sessionNotFound(parent);
  const startedAt = row.startedAt ?? facts.now;
  db.run(
    `INSERT INTO sessions (id, source, parent_session_id, root_id, relation, started_at, last_activity_at, title,
       title_source, preview, model, cwd, git_branch, git_repo_root, session_key, model_config)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    row.source,
    parent,
    id,
    relationOf(parentRow, row.config),
    startedAt,
    Math.max(startedAt, facts.now),
    facts.title,
    facts.title === null ? null : facts.titleSource,
    facts.preview ?? "",
    row.config.model ?? null,
    row.cwd ?? null,
    row.git?.branch ?? null,
    row.git?.root ?? null,
    row.sessionKey ?? null,
    encodeConfig(row.config),
  );
  if (row.systemPrompt !== undefined && row.systemPrompt !== null) writePrompt(db, id, row.systemPrompt);
}

function writePrompt(db: Db, id: string, prompt: string | null): void {
  if (prompt === null) {
    db.run("DELETE FROM session_prompts WHERE session_id = ?", id);
    return;
  }
  db.run(
    `INSERT INTO session_prompts (session_id, system_prompt) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET system_prompt = excluded.system_prompt`,
    id,
    withoutNul(prompt),
  );
}

/** Throws `session_not_found`. */
export function patchSession(db: Db, id: string, patch: SessionPatch): void {
  const sets: string[] = [];
  const values: SqlValue[] = [];
  const set = (sql: string, value: SqlValue) => {
    sets.push(sql);
    values.push(value);
  };
  if (patch.cwd !== undefined) set("cwd = ?", patch.cwd);
  if (patch.cwd !== undefined || patch.git !== undefined) {
    set("git_branch = ?", patch.git?.branch ?? null);
    set("git_repo_root = ?", patch.git?.root ?? null);
  }
  if (patch.lastActivityAt !== undefined) {
    set("last_activity_at = max(last_activity_at, ?)", patch.lastActivityAt);
  }
  if (patch.config !== undefined) {
    set("model_config = ?", encodeConfig(patch.config));
    set("model = coalesce(?, model)", patch.config.model ?? null);
  }
  if (sets.length === 0) set("id = ?", id);
  const { changes } = db.run(`UPDATE sessions SET ${sets.join(", ")} WHERE id = ?`, ...values, id);
  if (changes === 0) throw sessionNotFound(id);
  if (patch.systemPrompt !== undefined) writePrompt(db, id, patch.systemPrompt);
}

/** The worse of what is known of a sum so far and of one more call: `unknown`, `estimated`, `included`. */
const WORSE_STATUS = `CASE WHEN ?2 IS NULL THEN cost_status
    WHEN 'unknown' IN (?2, coalesce(cost_status, '')) THEN 'unknown'
    WHEN 'estimated' IN (?2, coalesce(cost_status, '')) THEN 'estimated' ELSE ?2 END`;

/** How a call of that status is paid (core.md D.3 `billing_mode`). */
const MODES: Readonly<Record<ModelCost["status"], Billing["mode"] & string>> = {
  included: "included",
  estimated: "metered",
  unknown: "unknown",
};

/** Adds one model call to the totals; the first one names the model of the session and who is paid. */
export function countUsage(db: Db, id: string, { usage, model, cost }: CountedCall, now: number): void {
  const tokens = [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.reasoning];
  const status = cost ? cost.status ?? (cost.usd === null ? "unknown" : "estimated") : null;
  const mode = MODES[status ?? "unknown"];
  const source = cost?.source ?? "none";
  const version = cost?.version ?? null;
  const { changes } = db.run(
    `UPDATE sessions SET api_call_count = api_call_count + 1, input_tokens = input_tokens + ?5,
       output_tokens = output_tokens + ?6, cache_read_tokens = cache_read_tokens + ?7,
       cache_write_tokens = cache_write_tokens + ?8, reasoning_tokens = reasoning_tokens + ?9,
       model = coalesce(model, nullif(?4, '')),
       estimated_cost_usd = CASE WHEN ?3 IS NULL THEN estimated_cost_usd ELSE coalesce(estimated_cost_usd, 0) + ?3 END,
       cost_status = ${WORSE_STATUS}, cost_source = coalesce(nullif(?10, 'none'), cost_source),
       pricing_version = coalesce(?14, pricing_version),
       billing_provider = coalesce(billing_provider, nullif(?11, '')),
       billing_base_url = coalesce(billing_base_url, nullif(?12, '')),
       billing_mode = coalesce(billing_mode, ?13)
     WHERE id = ?1`,
    id,
    status,
    cost?.usd ?? null,
    model.model,
    ...tokens,
    source,
    model.provider,
    model.baseUrl ?? "",
    mode,
    version,
  );
  if (changes === 0) throw sessionNotFound(id);
  db.run(
    `INSERT INTO session_model_usage (session_id, model, provider, base_url, billing_mode, api_call_count, input_tokens,
       output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, first_seen, last_seen,
       estimated_cost_usd, cost_status, cost_source, pricing_version)
     VALUES (?1, ?4, ?5, ?12, ?13, 1, ?6, ?7, ?8, ?9, ?10, ?11, ?11, ?3, ?2, nullif(?14, 'none'), ?15)
     ON CONFLICT (session_id, model, provider, base_url, billing_mode) DO UPDATE SET
       api_call_count = api_call_count + 1, input_tokens = input_tokens + excluded.input_tokens,
       output_tokens = output_tokens + excluded.output_tokens,
       cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens,
       cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens,
       reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens, last_seen = excluded.last_seen,
       estimated_cost_usd = CASE WHEN ?3 IS NULL THEN estimated_cost_usd ELSE coalesce(estimated_cost_usd, 0) + ?3 END,
       cost_status = ${WORSE_STATUS}, cost_source = coalesce(excluded.cost_source, cost_source),
       pricing_version = coalesce(excluded.pricing_version, pricing_version)`,
    id,
    status,
    cost?.usd ?? null,
    model.model,
    model.provider,
    ...tokens,
    now,
    model.baseUrl ?? "",
    mode,
    source,
    version,
  );
}
