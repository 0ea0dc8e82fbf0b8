/**
 * The schema of `hermes.db`, as an append-only list of steps: a step that has shipped is never edited, a new
 * column or table is the next function. The number of steps done is kept in `schema_version`.
 *
 * Beside the columns of core.md D.3 and D.4 some are derived, so that a list page is one walk over one index:
 *   sessions.root_id   first id of the compression chain       sessions.listed    1 = the tip of its chain
 *   sessions.relation  continuation | branch | delegate | null sessions.preview   first text of the user
 *   messages.search_text  what is indexed when it is not `content`; search_kind 0 nothing, 1 words, 2 CJK too
 */
import { createApiOwners } from "./api_owners.ts";
import { createAudit } from "./audit.ts";
import type { Db } from "./db.ts";
import { createDelegations } from "./delegations.ts";
import { createFileChanges } from "./snapshots.ts";
import { createTurnLeases } from "./turn_leases.ts";

export interface Migration {
  readonly name: string;
  readonly up: (db: Db) => void;
}

export const MIGRATIONS: readonly Migration[] = [
  { name: "sessions", up: createSessions },
  { name: "messages", up: createMessages },
  { name: "search", up: createSearch },
  { name: "api", up: createApi },
  { name: "compression_locks", up: createCompressionLocks },
  { name: "usage_totals", up: createUsageTotals },
  { name: "audit", up: createAudit },
  { name: "file_changes", up: createFileChanges },
  { name: "api_owners", up: createApiOwners },
  { name: "async_delegations", up: createDelegations },
  { name: "session_costs", up: addCosts },
  { name: "session_turn_leases", up: createTurnLeases },
  { name: "git_and_billing", up: addGitAndBilling },
  { name: "model_usage_by_route", up: splitModelUsage },
  { name: "session_pins", up: addPins },
  { name: "session_defaults_gone", up: forgetDefaults },
];

function createSessions(db: Db): void {
  db.exec(`
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY NOT NULL,
      source TEXT NOT NULL,
      parent_session_id TEXT REFERENCES sessions(id),
      root_id TEXT NOT NULL,
      relation TEXT,
      listed INTEGER NOT NULL DEFAULT 1,
      started_at REAL NOT NULL,
      ended_at REAL,
      end_reason TEXT,
      last_activity_at REAL NOT NULL,
      title TEXT,
      title_source TEXT,
      preview TEXT NOT NULL DEFAULT '',
      model TEXT,
      cwd TEXT,
      session_key TEXT,
      message_count INTEGER NOT NULL DEFAULT 0,
      tool_call_count INTEGER NOT NULL DEFAULT 0,
      api_call_count INTEGER NOT NULL DEFAULT 0,
      input_tokens INTEGER NOT NULL DEFAULT 0,
      output_tokens INTEGER NOT NULL DEFAULT 0,
      cache_read_tokens INTEGER NOT NULL DEFAULT 0,
      cache_write_tokens INTEGER NOT NULL DEFAULT 0,
      reasoning_tokens INTEGER NOT NULL DEFAULT 0,
      rewind_count INTEGER NOT NULL DEFAULT 0,
      model_config TEXT NOT NULL DEFAULT '{}'
    );
    CREATE INDEX sessions_parent ON sessions(parent_session_id) WHERE parent_session_id IS NOT NULL;
    CREATE UNIQUE INDEX sessions_title ON sessions(title) WHERE title IS NOT NULL;
    CREATE INDEX sessions_key ON sessions(session_key, started_at DESC) WHERE session_key IS NOT NULL;
    CREATE INDEX sessions_recent ON sessions(last_activity_at DESC, id DESC, source)
      WHERE listed = 1 AND message_count > 0;
    CREATE INDEX sessions_recent_source ON sessions(source, last_activity_at DESC, id DESC)
      WHERE listed = 1 AND message_count > 0;
    CREATE INDEX sessions_recent_cwd ON sessions(cwd, last_activity_at DESC, id DESC)
      WHERE listed = 1 AND message_count > 0;
    CREATE INDEX sessions_recent_all ON sessions(last_activity_at DESC, id DESC, source) WHERE listed = 1;

    CREATE TABLE session_prompts (
      session_id TEXT PRIMARY KEY NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
      system_prompt TEXT NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE session_model_usage (
      session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      api_call_count INTEGER NOT NULL DEFAULT 0,
      input_tokens INTEGER NOT NULL DEFAULT 0,
      output_tokens INTEGER NOT NULL DEFAULT 0,
      cache_read_tokens INTEGER NOT NULL DEFAULT 0,
      cache_write_tokens INTEGER NOT NULL DEFAULT 0,
      reasoning_tokens INTEGER NOT NULL DEFAULT 0,
      first_seen REAL NOT NULL,
      last_seen REAL NOT NULL,
      PRIMARY KEY (session_id, model, provider)
    ) WITHOUT ROWID;

    CREATE TABLE state_meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
  `);
}

function createMessages(db: Db): void {
  db.exec(`
    CREATE TABLE messages (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
      role TEXT NOT NULL,
      active INTEGER NOT NULL DEFAULT 1,
      compacted INTEGER NOT NULL DEFAULT 0,
      timestamp REAL NOT NULL,
      display_kind TEXT,
      display_identity INTEGER,
      search_kind INTEGER NOT NULL DEFAULT 0,
      tool_call_id TEXT,
      tool_name TEXT,
      effect_disposition TEXT,
      finish_reason TEXT,
      content TEXT,
      tool_calls TEXT,
      reasoning TEXT,
      reasoning_content TEXT,
      reasoning_details TEXT,
      display_metadata TEXT,
      search_text TEXT
    );
    CREATE INDEX messages_session ON messages(session_id, active);
    CREATE INDEX messages_identity ON messages(display_identity) WHERE display_identity IS NOT NULL;
    CREATE INDEX messages_cjk ON messages(search_kind) WHERE search_kind = 2;
  `);
}

/** A row is indexed while it is part of a conversation; a row carried on by a compression is indexed once. */
function createSearch(db: Db): void {
  db.exec(`CREATE VIEW message_text AS SELECT id, COALESCE(search_text, content) AS content FROM messages;`);
  try {
    createIndex(db, "messages_fts", "unicode61", 1);
    createIndex(db, "messages_fts_trigram", "trigram", 2);
  } catch (error) {
    // Without FTS5 everything but search works (core.md D.2).
    if (!/no such module/i.test(String(error))) throw error;
  }
}

function createIndex(db: Db, table: string, tokenizer: string, kind: number): void {
  const visible = (row: string) =>
    `${row}.search_kind >= ${kind} AND ${row}.display_identity IS NULL AND (${row}.active = 1 OR ${row}.compacted = 1)`;
  const text = (row: string) => `COALESCE(${row}.search_text, ${row}.content)`;
  const add = `INSERT INTO ${table}(rowid, content) VALUES (new.id, ${text("new")});`;
  const drop = `INSERT INTO ${table}(${table}, rowid, content) VALUES ('delete', old.id, ${text("old")});`;
  db.exec(`
    CREATE VIRTUAL TABLE ${table}
      USING fts5(content, content='message_text', content_rowid='id', tokenize='${tokenizer}');
    CREATE TRIGGER ${table}_insert AFTER INSERT ON messages WHEN ${visible("new")} BEGIN ${add} END;
    CREATE TRIGGER ${table}_delete AFTER DELETE ON messages WHEN ${visible("old")} BEGIN ${drop} END;
    CREATE TRIGGER ${table}_update AFTER UPDATE OF active, compacted, content, search_kind, search_text ON messages BEGIN
      INSERT INTO ${table}(${table}, rowid, content) SELECT 'delete', old.id, ${text("old")} WHERE ${
    visible("old")
  };
      INSERT INTO ${table}(rowid, content) SELECT new.id, ${text("new")} WHERE ${visible("new")};
    END;
  `);
}

/** What `hermes serve` keeps beside the conversations: runs with their events, and answers that can be continued. */
function createApi(db: Db): void {
  db.exec(`
    CREATE TABLE api_runs (
      id TEXT PRIMARY KEY NOT NULL,
      session_id TEXT NOT NULL,
      status TEXT NOT NULL,
      terminal INTEGER NOT NULL,
      created_at REAL NOT NULL,
      updated_at REAL NOT NULL,
      heard_at REAL NOT NULL,
      owner TEXT NOT NULL,
      pid INTEGER NOT NULL,
      detail TEXT NOT NULL,
      key_digest TEXT,
      key_fingerprint TEXT
    ) WITHOUT ROWID;
    CREATE UNIQUE INDEX api_runs_key ON api_runs(key_digest) WHERE key_digest IS NOT NULL;
    CREATE INDEX api_runs_recent ON api_runs(created_at DESC, id DESC);
    CREATE INDEX api_runs_session ON api_runs(session_id, created_at DESC, id DESC);
    CREATE INDEX api_runs_live ON api_runs(terminal, updated_at);

    CREATE TABLE api_run_events (
      run_id TEXT NOT NULL REFERENCES api_runs(id) ON DELETE CASCADE,
      seq INTEGER NOT NULL,
      data TEXT NOT NULL,
      PRIMARY KEY (run_id, seq)
    ) WITHOUT ROWID;

    CREATE TABLE api_responses (
      id TEXT PRIMARY KEY NOT NULL,
      accessed INTEGER NOT NULL,
      session_id TEXT NOT NULL,
      head_id TEXT,
      last_row_id INTEGER,
      owner TEXT NOT NULL,
      status TEXT NOT NULL,
      instructions TEXT,
      response TEXT NOT NULL,
      history TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX api_responses_accessed ON api_responses(accessed);

    CREATE TABLE api_conversations (
      name TEXT PRIMARY KEY NOT NULL,
      response_id TEXT NOT NULL REFERENCES api_responses(id) ON DELETE CASCADE
    ) WITHOUT ROWID;
    CREATE INDEX api_conversations_response ON api_conversations(response_id);
  `);
}

/** Held while a session is compressed, so that two programs do not do it at once. */
function createCompressionLocks(db: Db): void {
  db.exec(`
    CREATE TABLE compression_locks (
      session_id TEXT PRIMARY KEY NOT NULL,
      holder TEXT NOT NULL,
      expires_at REAL NOT NULL
    ) WITHOUT ROWID;
  `);
}

/** What a conversation (`session:` and its root) and a local day (`day:2026-01-31`) have used. */
function createUsageTotals(db: Db): void {
  db.exec(`
    CREATE TABLE usage_totals (
      scope TEXT PRIMARY KEY NOT NULL,
      model_calls INTEGER NOT NULL,
      tokens INTEGER NOT NULL,
      usd REAL NOT NULL,
      seconds REAL NOT NULL
    ) WITHOUT ROWID;
  `);
}

/** What calls have cost by known prices, and to whom they went (core.md D.3, F.9). */
function addCosts(db: Db): void {
  db.exec(`
    ALTER TABLE sessions ADD COLUMN estimated_cost_usd REAL;
    ALTER TABLE sessions ADD COLUMN cost_status TEXT;
    ALTER TABLE sessions ADD COLUMN cost_source TEXT;
    ALTER TABLE sessions ADD COLUMN billing_provider TEXT;
    ALTER TABLE sessions ADD COLUMN billing_base_url TEXT;
    ALTER TABLE session_model_usage ADD COLUMN estimated_cost_usd REAL;
    ALTER TABLE session_model_usage ADD COLUMN cost_status TEXT;
  `);
}

/** Where a session is in a repository, how its calls are paid and by which prices, what an answer has cost in tokens. */
function addGitAndBilling(db: Db): void {
  db.exec(`
    ALTER TABLE sessions ADD COLUMN git_branch TEXT;
    ALTER TABLE sessions ADD COLUMN git_repo_root TEXT;
    ALTER TABLE sessions ADD COLUMN billing_mode TEXT;
    ALTER TABLE sessions ADD COLUMN pricing_version TEXT;
    ALTER TABLE messages ADD COLUMN token_count INTEGER;
    ALTER TABLE compression_locks ADD COLUMN acquired_at REAL;
  `);
}

/** What a model has used is kept by where it was called and how it is paid (core.md D.4); both were not known before. */
function splitModelUsage(db: Db): void {
  db.exec(`
    ALTER TABLE session_model_usage RENAME TO model_usage_before;
    CREATE TABLE session_model_usage (
      session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
      model TEXT NOT NULL,
      provider TEXT NOT NULL,
      base_url TEXT NOT NULL,
      billing_mode TEXT NOT NULL,
      api_call_count INTEGER NOT NULL DEFAULT 0,
      input_tokens INTEGER NOT NULL DEFAULT 0,
      output_tokens INTEGER NOT NULL DEFAULT 0,
      cache_read_tokens INTEGER NOT NULL DEFAULT 0,
      cache_write_tokens INTEGER NOT NULL DEFAULT 0,
      reasoning_tokens INTEGER NOT NULL DEFAULT 0,
      estimated_cost_usd REAL,
      cost_status TEXT,
      cost_source TEXT,
      pricing_version TEXT,
      first_seen REAL NOT NULL,
      last_seen REAL NOT NULL,
      PRIMARY KEY (session_id, model, provider, base_url, billing_mode)
    ) WITHOUT ROWID;
    INSERT INTO session_model_usage (session_id, model, provider, base_url, billing_mode, api_call_count, input_tokens,
      output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, estimated_cost_usd, cost_status,
      first_seen, last_seen)
    SELECT session_id, model, provider, '',
      CASE cost_status WHEN 'included' THEN 'included' WHEN 'estimated' THEN 'metered' ELSE 'unknown' END,
      api_call_count, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
      estimated_cost_usd, cost_status, first_seen, last_seen FROM model_usage_before;
    DROP TABLE model_usage_before;
  `);
}

/** Conversations that a person has pinned, by their first row (core.md D.3). */
function addPins(db: Db): void {
  db.exec("ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0");
}

/** What a session was created with over the API goes with it, by whatever it is deleted. */
function forgetDefaults(db: Db): void {
  db.exec(`
    CREATE TRIGGER session_defaults_gone AFTER DELETE ON sessions BEGIN
      DELETE FROM state_meta WHERE key IN ('api.system.' || old.id, 'api.model.' || old.id);
    END;
    DELETE FROM state_meta WHERE (key > 'api.system.' AND key < 'api.system/')
      AND substr(key, 12) NOT IN (SELECT id FROM sessions);
    DELETE FROM state_meta WHERE (key > 'api.model.' AND key < 'api.model/')
      AND substr(key, 11) NOT IN (SELECT id FROM sessions);
  `);
}
