/** `hermes audit`: what was asked, answered, run and changed, in all sessions. Reads only. */
import type { Hermes } from "@/app/mod.ts";
import { type AuditRow, HermesError } from "@/core/contract.ts";
import { encodeFrame } from "@/lib/jsonl.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { findSession, withHermes } from "./hermes_session.ts";
import { AUDIT } from "./specs.ts";
import { withTerminal } from "./terminal.ts";
import { cut, withoutControls } from "./text_layout.ts";

const DEFAULT_LIMIT = 100;
const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(AUDIT, args);
  if (parsed.positionals.length > 0) {
    throw new UsageError(`audit takes no "${parsed.positionals[0]}"; a session is named with --session`);
  }
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(platform, { surface: "cli" }, async (hermes) => {
        const rows = hermes.store().audit.list(queryOf(hermes, parsed));
        if (rows.length === 0 && !parsed.has("json")) terminal.note("nothing yet");
        for (const row of rows) {
          if (parsed.has("json")) terminal.write(encodeFrame(rowJson(row)));
          else terminal.line(lineOf(row, terminal.stdoutIsTty ? terminal.columns : Infinity));
          await terminal.room();
          if (terminal.broken) return 1;
        }
        return 0;
      }),
  );
}

function queryOf(hermes: Hermes, parsed: ParsedArgs) {
  const session = parsed.value("session");
  const since = parsed.value("since");
  return {
    limit: Math.floor(parsed.positive("limit") ?? DEFAULT_LIMIT),
    ...(session === undefined ? {} : { sessionId: sessionOf(hermes, session) }),
    ...(since === undefined ? {} : { since: momentOf(since, hermes.platform.clock.now() / 1000) }),
  };
}

/** A session that was deleted is still known by its id here. */
function sessionOf(hermes: Hermes, name: string): string {
  try {
    return findSession(hermes.store(), name).id;
  } catch (error) {
    const isGone = error instanceof HermesError && error.code === "session_not_found";
    if (!isGone || hermes.store().audit.list({ limit: 1, sessionId: name }).length === 0) throw error;
    return name;
  }
}

/** `90m`, `24h`, `7d`, or a date or time as ISO writes it; Unix seconds. */
export function momentOf(text: string, now: number): number {
  const span = /^(\d+)([smhd])$/.exec(text.trim());
  if (span) return now - Number(span[1]) * UNITS[span[2] as string]!;
  const moment = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (Number.isNaN(moment)) {
    throw new UsageError(
      `--since takes a span like 90m, 24h or 7d, or a time like 2026-01-31T08:00; got "${text}"`,
    );
  }
  return moment / 1000;
}

function rowJson(row: AuditRow): Record<string, unknown> {
  return {
    id: row.id,
    at: row.at,
    time: new Date(row.at * 1000).toISOString(),
    session_id: row.sessionId,
    turn_id: row.turnId,
    surface: row.surface,
    client: row.client,
    kind: row.kind,
    tool: row.tool,
    call_id: row.callId,
    ...row.detail,
  };
}

const text = (value: unknown) => typeof value === "string" ? withoutControls(value) : "";

function filesOf(detail: AuditRow["detail"]): string {
  const files = Array.isArray(detail["files"]) ? detail["files"] as { path: string }[] : [];
  return files.length === 0 ? "" : `  changed ${files.map(({ path }) => withoutControls(path)).join(", ")}`;
}

/** Empty where the turn ended before a model was known. */
function modelOf(detail: AuditRow["detail"]): string {
  return [text(detail["provider"]), text(detail["model"])].filter((part) => part !== "").join(":");
}

/** What the auxiliary model said first. */
function smartOf(detail: AuditRow["detail"]): string {
  const smart = detail["smart"] as Record<string, unknown> | undefined;
  if (!smart) return "";
  const why = text(smart["reason"]);
  return `  smart: ${text(smart["verdict"])}${why === "" ? "" : `, ${why}`}`;
}

/** What an entry says, for people. */
function saying({ kind, tool, detail, surface, client }: AuditRow): string {
  switch (kind) {
    case "turn.start":
      return client === surface ? text(detail["text"]) : `${text(detail["text"])}  from ${client}`;
    case "ask": {
      const paths = Array.isArray(detail["paths"]) ? detail["paths"].map(text).join(", ") : "";
      const about = text(detail["command"]) || paths || text(detail["question"]) || text(detail["env_var"]);
      return `${about}  (${text(detail["reason"]) || text(detail["about"])})${smartOf(detail)}`;
    }
    case "answer": {
      const given = detail["given"] === undefined ? "" : detail["given"] === true ? "given" : "declined";
      const said = text(detail["choice"]) || text(detail["text"]) || given || text(detail["outcome"]);
      const by = text(detail["answered_by"]);
      return by === "" ? said : `${said}  by ${by}`;
    }
    case "tool": {
      const refused = text(detail["refused"]);
      const how = refused ? `not done: ${refused}` : detail["is_error"] === true ? "failed" : "done";
      const why = text(detail["approval"]);
      return `${text(detail["title"]) || tool}  ${how}${why ? ` (${why})` : ""}${filesOf(detail)}`;
    }
    case "turn.end":
      return [text(detail["outcome"]), modelOf(detail)].filter((part) => part !== "").join("  ");
    case "restore":
      return `put back${filesOf(detail)}`;
    case "browser":
      return `controller ${text(detail["controller_id"])} ${text(detail["event"])}  from ${client}`;
  }
}

/** On a screen the last column is cut, so that one entry is one line; in a pipe nothing is. */
function lineOf(row: AuditRow, columns: number): string {
  const time = new Date(row.at * 1000).toISOString().slice(0, 19).replace("T", " ");
  const head = `${time}  ${row.sessionId}  ${row.surface.padEnd(10)}  ${row.kind.padEnd(10)}`;
  const said = withoutControls(saying(row));
  return `${head}  ${columns === Infinity ? said : cut(said, Math.max(columns - head.length - 2, 40))}`;
}
