/**
 * `hermes run`: one prompt to its end, for scripts and CI. stdout carries the answer and nothing else (or JSON
 * lines), notes go to stderr, and the exit code tells how it ended. Nobody is asked: what would need an approval
 * is not done and ends the program with its own code.
 */
import type { Hermes } from "@/app/mod.ts";
import { NOBODY_TO_ASK, type Session, type TurnHandle, turnLimit, type TurnResult } from "@/core/contract.ts";
import { LONGEST_TIMER_MS } from "@/lib/abort.ts";
import { isQuiet } from "@/lib/quiet.ts";
import { isYes } from "@/lib/yes.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { costLine } from "./cost_line.ts";
import { describeError } from "./errors.ts";
import { EXIT, exitCodeOfTurn } from "./exit_codes.ts";
import { recordOption } from "./record_option.ts";
import {
  findSession,
  hermesOptions,
  refuseModelOptions,
  refuseUnusableHome,
  resolveCwd,
  tellWarnings,
  withHermes,
} from "./hermes_session.ts";
import { withRedactedEdits } from "./redact_edits.ts";
import { type BlockedCall, createJsonView, createTextView, type RunView } from "./run_views.ts";
import { RUN } from "./specs.ts";
import { fitToStderr, type Terminal, withTerminal } from "./terminal.ts";

export function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(RUN, args);
  return withTerminal(platform, async (terminal) => {
    const started = platform.clock.monotonic();
    const elapsed = () => Math.round(platform.clock.monotonic() - started);
    const view = parsed.has("json")
      ? createJsonView(terminal, elapsed)
      : createTextView(terminal, isSilent(parsed, platform));
    try {
      return await runPrompt(parsed, platform, terminal, view);
    } catch (error) {
      const told = describeError(error, "run");
      view.error(told);
      for (const line of told.lines) terminal.note(line);
      return told.exitCode;
    }
  });
}

function isSilent(parsed: ParsedArgs, platform: Platform): boolean {
  return parsed.has("quiet") || isQuiet(platform.env());
}

async function runPrompt(
  parsed: ParsedArgs,
  platform: Platform,
  terminal: Terminal,
  view: RunView,
): Promise<number> {
  const timeoutS = parsed.positive("timeout");
  const prompt = await readPrompt(parsed, terminal);
  const options = { ...hermesOptions(parsed), ...await recordOption(parsed, platform) };
  return await withHermes(platform, options, async (hermes) => {
    tellWarnings(hermes, terminal);
    const session = await openSession(hermes, parsed, platform);
    refuseModelOptions(parsed, session);
    if (session.model) refuseUnusableHome(hermes);
    const redact = (text: string) => hermes.redact(text, "file");
    const unsubscribe = session.subscribe((event) => view.event(withRedactedEdits(event, redact)));
    const handle = session.submit({ content: prompt }, { asks: NOBODY_TO_ASK, oneShot: true });
    const { result, stop } = await waitForEnd(handle, terminal, timeoutS);
    unsubscribe();
    const exitCode = codeOf(result, stop, view.blocked);
    view.end(session, handle.id, result, exitCode);
    const showsCost = hermes.config.get("display.show_cost") === true && !isSilent(parsed, platform);
    const cost = showsCost && result ? costLine(result) : null;
    if (cost !== null) terminal.note(`hermes: ${cost}`);
    tellEnd(terminal, hermes, result, stop, view.blocked, timeoutS);
    return exitCode;
  });
}

/** The words of the command line; a lone `-`, or no words at all, stands for stdin. */
async function readPrompt(parsed: ParsedArgs, terminal: Terminal): Promise<string> {
  const words = parsed.positionals;
  const usesStdin = words.length === 0 || words.includes("-");
  if (words.length === 0 && terminal.stdinIsTty) {
    throw new UsageError('no prompt: give one as an argument (hermes run "…") or on stdin');
  }
  const piped = usesStdin ? (await terminal.readAll()).trim() : "";
  const before = words.slice(0, words.includes("-") ? words.indexOf("-") : words.length).join(" ");
  const after = words.includes("-") ? words.slice(words.indexOf("-") + 1).join(" ") : "";
  const prompt = [before, piped, after].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") throw new UsageError("the prompt is empty");
  return prompt;
}

async function openSession(hermes: Hermes, parsed: ParsedArgs, platform: Platform): Promise<Session> {
  const name = parsed.value("session");
  const cwd = parsed.value("cwd");
  if (name === undefined) {
    return await hermes.sessions.create({
      source: "cli",
      surface: "cli",
      cwd: await resolveCwd(platform, cwd),
      editPolicy: null,
    });
  }
  const row = findSession(hermes.store(), name);
  return await hermes.sessions.open(row.id, {
    surface: "cli",
    editPolicy: null,
    ...(cwd === undefined ? {} : { cwd: await resolveCwd(platform, cwd) }),
  });
}

/** Why the turn was stopped from outside, if it was. */
type Stop = "interrupt" | "timeout" | "broken" | null;

/** Waits for the turn; a signal, the timeout or a closed stdout cancels it, a second signal stops the waiting. */
async function waitForEnd(
  handle: TurnHandle,
  terminal: Terminal,
  timeoutS: number | undefined,
): Promise<{ result: TurnResult | null; stop: Stop }> {
  let stop: Stop = null;
  let giveUp: () => void = () => {};
  const gaveUp = new Promise<null>((resolve) => giveUp = () => resolve(null));
  const cancel = (why: Stop) => {
    if (stop === "interrupt" && why === "interrupt") giveUp();
    stop ??= why;
    handle.cancel();
  };
  const stopListening = terminal.onInterrupt(() => cancel("interrupt"));
  terminal.onBroken(() => cancel("broken"));
  const timer = timeoutS === undefined
    ? undefined
    : setTimeout(() => cancel("timeout"), Math.min(timeoutS * 1000, LONGEST_TIMER_MS));
  try {
    const result = await Promise.race([handle.done, gaveUp]);
    return { result, stop };
  } finally {
    clearTimeout(timer);
    stopListening();
  }
}

function codeOf(result: TurnResult | null, stop: Stop, blocked: readonly BlockedCall[]): number {
  if (stop === "timeout" && result?.outcome !== "completed") return EXIT.limit;
  if (result === null) return EXIT.interrupted;
  return exitCodeOfTurn(result, blocked.map((call) => call.reason));
}

function tellEnd(
  terminal: Terminal,
  hermes: Hermes,
  result: TurnResult | null,
  stop: Stop,
  blocked: readonly BlockedCall[],
  timeoutS: number | undefined,
): void {
  for (const line of endLines(result, stop, timeoutS)) terminal.note(fitToStderr(line));
  if (result?.warning) terminal.note(`hermes: warning: ${result.warning}`);
  for (const line of blockedLines(blocked, hermes.config)) terminal.note(line);
}

function blockedLines(blocked: readonly BlockedCall[], config: Hermes["config"]): string[] {
  const lines: string[] = [];
  const waiting = blocked.filter((call) => call.reason === "unattended" || call.reason === "timeout");
  if (waiting.length > 0) {
    lines.push("hermes: not done, because it needs an approval and nobody can be asked here:");
    lines.push(...waiting.map((call) => `  ${call.title}`));
  }
  if (waiting.some((call) => !call.isEdit)) {
    const all = isYes(config.env("HERMES_EXEC_ASK")) ? "" : "all with --yolo, or ";
    lines.push(`  commands: allow ${all}one kind for good by answering "always" in hermes chat`);
    lines.push(`  (kept as command_allowlist in ${config.path})`);
  }
  if (waiting.some((call) => call.isEdit)) {
    lines.push("  sensitive files are only written after a question: use hermes chat");
  }
  const refused = blocked.filter((call) => call.reason === "policy");
  if (refused.length > 0) {
    lines.push("hermes: refused by a safety rule:");
    lines.push(...refused.map((call) => `  ${call.title}: ${call.message}`));
  }
  return lines;
}

function endLines(result: TurnResult | null, stop: Stop, timeoutS: number | undefined): string[] {
  if (stop === "timeout" && result?.outcome !== "completed") {
    return [`hermes: stopped after ${timeoutS} s (--timeout)`];
  }
  if (result === null) return ["hermes: interrupted"];
  switch (result.outcome) {
    case "completed":
      return [];
    case "cancelled":
      return ["hermes: interrupted"];
    case "failed":
      return [`hermes: ${result.failure?.message ?? `the turn failed (${result.exitReason})`}`];
    case "refused":
      return ["hermes: the provider's filter refused this"];
    case "max_tokens":
      return ["hermes: the answer was cut off by the output limit (model.max_tokens)"];
    case "max_turns":
      return [`hermes: ${turnLimit(result)!.text}`];
  }
}
