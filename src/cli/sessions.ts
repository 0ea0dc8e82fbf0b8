/** `hermes sessions list|show|search|export|import|delete|prune|restore`: the stored conversations of all doors. Calls no model. */
import { plural } from "@/lib/plural.ts";
import type { Hermes } from "@/app/mod.ts";
import type { Message, SessionRow } from "@/core/contract.ts";
import { encodeFrame } from "@/lib/jsonl.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { findSession, withHermes } from "./hermes_session.ts";
import { besideQuestion, refusal } from "./question.ts";
import { restore } from "./restore.ts";
import { messageJson, sessionJson, summaryJson, transcript } from "./session_text.ts";
import { SESSIONS } from "./specs.ts";
import { type Terminal, withTerminal } from "./terminal.ts";
import { cut, table, withoutControls } from "./text_layout.ts";
import { closest } from "./suggest.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  /** What follows the subcommand. */
  readonly words: readonly string[];
}

const DEFAULT_LIMIT = 20;

const SUBCOMMANDS: Readonly<Record<string, (context: Context) => Promise<number> | number>> = {
  list,
  show,
  search,
  export: exportSessions,
  import: async (context) => await (await import("./sessions_import.ts")).importSessions(context),
  delete: deleteSessions,
  prune: async (context) => await (await import("./sessions_prune.ts")).prune(context),
  restore: (context) => restore(context, oneSession(context, "restore")),
};

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(SESSIONS, args);
  const [name = "list", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) {
    const near = closest(name, Object.keys(SUBCOMMANDS));
    throw new UsageError(`unknown subcommand "${name}"` + (near ? `; did you mean "sessions ${near}"?` : ""));
  }
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(
        platform,
        { surface: "cli" },
        async (hermes) => await subcommand({ hermes, terminal, parsed, words }),
      ),
  );
}

function sourceFilter(parsed: ParsedArgs): { sources?: readonly string[] } {
  const source = parsed.value("source");
  return source === undefined ? {} : { sources: [source] };
}

function limitOf(parsed: ParsedArgs): number {
  return Math.max(1, Math.floor(parsed.positive("limit") ?? DEFAULT_LIMIT));
}

function localTime(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
    `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** As long as the ids that most sessions have. */
const SHORT_ID = 22;

function list({ hermes, terminal, parsed }: Context): number {
  const rows = hermes.store().listSessions({ limit: limitOf(parsed), ...sourceFilter(parsed) });
  if (parsed.has("json")) {
    for (const row of rows) terminal.write(encodeFrame(summaryJson(row)));
    return 0;
  }
  if (rows.length === 0) {
    const source = parsed.value("source");
    terminal.note(
      source === undefined
        ? "no sessions yet; hermes chat starts one"
        : `no sessions of "${withoutControls(source)}"; hermes sessions list shows those of every door`,
    );
    return 0;
  }
  // On a narrow screen the beginning of an id stands for it, as it does on the command line.
  const width = terminal.stdoutIsTty ? terminal.columns : 100;
  const idLength = width < 100 ? SHORT_ID : undefined;
  const lines = table(
    [
      ["LAST USED", "ID", "FROM", "MSGS", "TITLE OR FIRST WORDS"],
      ...rows.map((row) => [
        localTime(row.lastActivityAt),
        row.id.slice(0, idLength),
        row.source,
        String(row.messageCount),
        withoutControls(row.title ?? row.preview),
      ]),
    ],
    width,
  );
  lines.forEach((line, i) => terminal.line(i === 0 ? terminal.paint.bold(line) : line));
  return 0;
}

function oneSession({ hermes, words }: Context, subcommand: string): SessionRow {
  if (words.length === 0) {
    throw new UsageError(`sessions ${subcommand} needs a session: an id, a title or a prefix`);
  }
  const store = hermes.store();
  const row = findSession(store, words.join(" "));
  return store.tipOf(row.id) ?? row;
}

async function show(context: Context): Promise<number> {
  const { hermes, terminal, parsed } = context;
  const row = oneSession(context, "show");
  const messages = hermes.store().loadLineage(row.id);
  if (parsed.has("json")) {
    terminal.line(JSON.stringify({ ...sessionJson(row), messages: messages.map(messageJson) }, null, 2));
    return 0;
  }
  for (const line of transcript(row, messages, terminal.paint, terminal.columns)) {
    terminal.line(line);
    await terminal.room();
  }
  return 0;
}

function search({ hermes, terminal, parsed, words }: Context): number {
  const query = words.join(" ").trim();
  if (query === "") throw new UsageError("sessions search needs words to look for");
  const hits = hermes.store().search(query, {
    limit: limitOf(parsed),
    ...sourceFilter(parsed),
    around: parsed.has("json"),
  });
  if (parsed.has("json")) {
    for (const hit of hits) {
      terminal.write(encodeFrame({
        session_id: hit.sessionId,
        message_id: hit.messageId,
        role: hit.role,
        title: hit.title,
        started_at: hit.startedAt,
        snippet: hit.snippet,
        before: hit.before,
        after: hit.after,
      }));
    }
    return 0;
  }
  if (hits.length === 0) terminal.note(`nothing found for "${query}"`);
  for (const hit of hits) {
    const { paint } = terminal;
    const title = hit.title ? `  ${withoutControls(hit.title)}` : "";
    terminal.line(
      `${paint.cyan(hit.sessionId)}  ${localTime(hit.startedAt)}  ${hit.role}${paint.bold(title)}`,
    );
    terminal.line(`  ${markMatches(cut(withoutControls(hit.snippet), terminal.columns - 2), terminal)}`);
  }
  return 0;
}

function markMatches(snippet: string, terminal: Terminal): string {
  if (!terminal.paint.enabled) return snippet;
  return snippet.replace(/>>>(.*?)<<</g, (_, match: string) => terminal.paint.yellow(match));
}

async function exportSessions({ hermes, terminal, parsed, words }: Context): Promise<number> {
  const store = hermes.store();
  const ids = words.length > 0 ? words.map((word) => findSession(store, word).id) : store.listSessions({
    limit: Math.floor(parsed.positive("limit") ?? Number.MAX_SAFE_INTEGER),
    withMessages: false,
    ...sourceFilter(parsed),
  }).map((row) => row.id);
  const redact = (text: string) => parsed.has("redact") ? hermes.redact(text) : text;
  for (const id of ids) {
    const row = store.getSession(id);
    if (!row) continue;
    const messages: readonly Message[] = store.loadLineage(id);
    terminal.write(redact(encodeFrame({ ...sessionJson(row), messages: messages.map(messageJson) })));
    await terminal.room();
    if (terminal.broken) return 1;
  }
  return 0;
}

async function deleteSessions(context: Context): Promise<number> {
  const { hermes, terminal, parsed, words } = context;
  if (words.length === 0) throw new UsageError("sessions delete needs at least one session");
  const store = hermes.store();
  const rows = words.map((word) => findSession(store, word));
  if (!parsed.has("yes")) {
    if (!terminal.stdinIsTty) throw new UsageError("nobody to ask: add --yes to delete without a question");
    const code = await confirmDelete(rows, context);
    if (code !== null) return code;
  }
  for (const row of rows) {
    await hermes.sessions.delete(row.id);
    terminal.line(`deleted ${row.id}`);
  }
  return 0;
}

/** `null`: they may go; else the exit code. */
async function confirmDelete(
  rows: readonly SessionRow[],
  { terminal, hermes }: Context,
): Promise<number | null> {
  const tell = besideQuestion(terminal);
  for (const { id, messageCount, title } of rows) {
    tell(
      `  ${id}  ${plural(messageCount, "message")}${title === null ? "" : `, "${withoutControls(title)}"`}`,
    );
  }
  const what = rows.length === 1 ? "this session" : "these sessions";
  return await refusal(`Delete ${what}?`, "nothing was deleted", terminal, hermes.platform);
}
