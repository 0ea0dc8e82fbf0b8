/** `hermes sessions prune`: conversations that ended long ago go (core.md D.10). Calls no model. */
import type { Hermes } from "@/app/mod.ts";
import type { EndedSession } from "@/core/contract.ts";
import { encodeFrame } from "@/lib/jsonl.ts";
import { plural } from "@/lib/plural.ts";
import { type ParsedArgs, UsageError } from "./args.ts";
import { besideQuestion, refusal } from "./question.ts";
import type { Terminal } from "./terminal.ts";
import { cut, withoutControls } from "./text_layout.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

const DAY = 86_400;
const AT_ONCE = 500;
/** What is asked about names so many. */
const SHOWN = 10;

/** `--older-than` days, or `sessions.retention_days`. With `--json` one line per session, then one of totals. */
export async function prune({ hermes, terminal, parsed, words }: Context): Promise<number> {
  if (words.length > 0) throw new UsageError("sessions prune takes no names; sessions delete does");
  const days = parsed.positive("older-than") ?? hermes.settings().sessions?.retention_days ?? 90;
  const before = hermes.platform.clock.now() / 1000 - days * DAY;
  const pruning = await hermes.store().pruning();
  const found = await pruning.find(before, Number.MAX_SAFE_INTEGER);
  const isJson = parsed.has("json");
  const tell = (session: EndedSession) =>
    isJson ? terminal.write(encodeFrame(sessionJson(session))) : undefined;
  if (parsed.has("dry-run")) {
    found.forEach(tell);
    if (isJson) {
      terminal.write(encodeFrame({ removed: 0, would_remove: found.length, kept: 0, freed_bytes: 0 }));
    } else describe(found, days, terminal, (text) => terminal.line(text));
    return 0;
  }
  if (found.length > 0 && !parsed.has("yes")) {
    if (!terminal.stdinIsTty) throw new UsageError("nobody to ask: add --yes, or --dry-run to only look");
    describe(found, days, terminal, besideQuestion(terminal));
    const code = await refusal("Delete them?", "nothing was deleted", terminal, hermes.platform);
    if (code !== null) return code;
  }
  let removed = 0;
  for (;;) {
    const result = await pruning.prune({
      before,
      snapshots: `${hermes.home}/snapshots`,
      rewriteUpTo: Infinity,
      limit: AT_ONCE,
      onRemoved: tell,
    });
    removed += result.removed;
    if (result.isMore && result.removed > 0) continue;
    const { kept, freed } = result;
    if (isJson) terminal.write(encodeFrame({ removed, kept, freed_bytes: freed }));
    else {
      const used = kept > 0 ? `, ${kept} kept that ${kept === 1 ? "is" : "are"} in use` : "";
      const smaller = freed > 0 ? `, the database is ${(freed / 2 ** 20).toFixed(1)} MiB smaller` : "";
      terminal.line(`deleted ${plural(removed, "session")}${used}${smaller}`);
    }
    return 0;
  }
}

function describe(
  found: readonly EndedSession[],
  days: number,
  { columns }: Terminal,
  tell: (text: string) => void,
): void {
  const age = plural(days, "day");
  if (found.length === 0) return tell(`no session ended more than ${age} ago`);
  tell(`${plural(found.length, "session")} ended more than ${age} ago:`);
  for (const { id, title, messageCount } of found.slice(0, SHOWN)) {
    const name = title === null ? "" : `, "${withoutControls(title)}"`;
    tell(`  ${cut(`${id}, ${plural(messageCount, "message")}${name}`, columns - 2)}`);
  }
  if (found.length > SHOWN) tell(`  and ${found.length - SHOWN} more`);
}

function sessionJson(session: EndedSession): Record<string, unknown> {
  return {
    id: session.id,
    source: session.source,
    title: session.title,
    last_activity_at: session.lastActivityAt,
    message_count: session.messageCount,
  };
}
