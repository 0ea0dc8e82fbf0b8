/** `hermes sessions restore`: files as they were before a turn of a conversation changed them. */
import type { FileRestore, Hermes } from "@/app/mod.ts";
import { HermesError, isUserTurn, type Message, type SessionRow } from "@/core/contract.ts";
import { type ParsedArgs, UsageError } from "./args.ts";
import type { Terminal } from "./terminal.ts";
import { withoutControls } from "./text_layout.ts";

export interface RestoreContext {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
}

/** From when on changes are taken back (Unix seconds); `null` when no turn has changed a file. */
function since({ hermes, parsed }: RestoreContext, row: SessionRow): number | null {
  const turn = parsed.positive("turn");
  const before = parsed.positive("before");
  if (turn !== undefined && before !== undefined) {
    throw new UsageError("sessions restore takes --turn or --before, not both");
  }
  if (turn === undefined && before === undefined) return hermes.fileHistory.turns(row.id).at(-1)?.at ?? null;
  const messages = hermes.store().loadLineage(row.id).filter(isUserTurn);
  const message = turn === undefined
    ? messages.find(({ rowId }) => rowId === before)
    : messages[Math.floor(turn) - 1];
  if (!message) throw noSuchTurn(messages, { turn, before });
  return message.timestamp ?? 0;
}

function noSuchTurn(
  messages: readonly Message[],
  { turn, before }: { turn: number | undefined; before: number | undefined },
): HermesError {
  const what = turn === undefined ? `message of yours with row id ${before}` : `turn ${turn}`;
  return new HermesError("message_not_found", `this session has no ${what}; it has ${messages.length} turns`);
}

const DONE: Readonly<Record<FileRestore["action"], string>> = {
  write: "put back",
  remove: "removed",
  none: "unchanged",
  conflict: "CONFLICT",
  lost: "LOST",
};
const PLANNED = { ...DONE, write: "would put back", remove: "would remove" };

function tell({ terminal }: RestoreContext, files: readonly FileRestore[], dry: boolean): void {
  const words = dry ? PLANNED : DONE;
  for (const { path, action, why } of files) {
    const reason = action === "lost" ? "its old content is not kept any more" : why;
    terminal.line(`${words[action]}  ${withoutControls(path)}${reason ? `  (${reason})` : ""}`);
  }
}

export async function restore(context: RestoreContext, row: SessionRow): Promise<number> {
  const { hermes, terminal, parsed } = context;
  const from = since(context, row);
  const dry = parsed.has("dry-run");
  const force = parsed.has("force");
  const planned = from === null ? [] : await hermes.fileHistory.plan(row.id, from);
  const result = dry || from === null
    ? { done: !planned.some(({ action }) => action === "conflict" || action === "lost"), files: planned }
    : await hermes.fileHistory.restore(row.id, from, { force });
  if (parsed.has("json")) {
    terminal.line(JSON.stringify({ session_id: row.id, dry_run: dry, ...result }, null, 2));
    return result.done ? 0 : 1;
  }
  if (result.files.length === 0) terminal.note("no files to put back");
  tell(context, result.files, dry || !result.done);
  if (result.done) return 0;
  const canForce = !force && !result.files.some(({ action }) => action === "lost");
  terminal.note(
    "hermes: nothing was changed" + (canForce ? "; --force overwrites what was changed since" : ""),
  );
  return 1;
}
