/**
 * `hermes chat`: a conversation in the terminal, or line by line in a pipe. On a terminal everything is on the
 * screen; in a pipe stdout carries what the agent says and stderr the rest. Ctrl-C stops the running turn, twice
 * leaves. The exit code is 0, or in a pipe that of the first turn that did not end well.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Session, TurnResult } from "@/core/contract.ts";
import { isQuiet } from "@/lib/quiet.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs } from "./args.ts";
import { blockReasonOf } from "./blocked_calls.ts";
import { answerAsks } from "./chat_asks.ts";
import { commandNames, isCommand, runCommand, skillNames } from "./chat_commands.ts";
import { type ChatView, createChatView } from "./chat_view.ts";
import { costLine } from "./cost_line.ts";
import { describeError } from "./errors.ts";
import { type BlockReason, EXIT, exitCodeOfTurn } from "./exit_codes.ts";
import {
  findSession,
  hermesOptions,
  refuseModelOptions,
  refuseUnusableHome,
  resolveCwd,
  tellWarnings,
  withHermes,
} from "./hermes_session.ts";
import { type LineInput, openLineInput } from "./line_input.ts";
import { recordOption } from "./record_option.ts";
import { withRedactedEdits } from "./redact_edits.ts";
import { CHAT } from "./specs.ts";
import { fitToStderr, type Terminal, withTerminal } from "./terminal.ts";

export interface Chat {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly input: LineInput;
  readonly view: ChatView;
  session: Session;
}

/** How one step of the conversation ended. */
type Step = { readonly leave: boolean; readonly exitCode: number; readonly prefill?: string };

const NEXT: Step = { leave: false, exitCode: EXIT.done };

export function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(CHAT, args);
  return withTerminal(platform, async (terminal) => {
    const input = openLineInput(terminal, platform);
    try {
      const options = { ...hermesOptions(parsed), ...await recordOption(parsed, platform) };
      return await withHermes(platform, options, async (hermes) => {
        tellWarnings(hermes, terminal);
        const session = await openSession(hermes, parsed, platform);
        refuseModelOptions(parsed, session);
        if (session.model) refuseUnusableHome(hermes);
        let skills: readonly string[] = [];
        if (input.isTty) void skillNames(hermes).then((names) => skills = names);
        input.offer(() => [...commandNames({ hermes }), ...skills].map((name) => `/${name} `));
        const view = createChatView(terminal, {
          showReasoning: hermes.settings().display.show_reasoning,
          quiet: isQuiet(platform.env()),
        });
        return await converse({ hermes, terminal, input, view, session }, parsed);
      });
    } finally {
      input.close();
    }
  });
}

async function openSession(hermes: Hermes, parsed: ParsedArgs, platform: Platform): Promise<Session> {
  const name = parsed.value("session");
  const given = parsed.value("cwd");
  const cwd = await resolveCwd(platform, given);
  if (name === undefined) {
    return await hermes.sessions.create({ source: "cli", surface: "cli", cwd, editPolicy: null });
  }
  const row = findSession(hermes.store(), name);
  const where = given === undefined ? {} : { cwd };
  return await hermes.sessions.open(row.id, { surface: "cli", editPolicy: null, ...where });
}

async function converse(chat: Chat, parsed: ParsedArgs): Promise<number> {
  const { view, input } = chat;
  if (!await hasModel(chat)) return EXIT.failed;
  greet(chat);
  let worst: number = EXIT.done;
  let prefill: string | undefined;
  let interrupts = 0;
  const first = parsed.positionals.join(" ").trim();
  for (let text: string | null = first === "" ? null : first;; text = null) {
    if (text === null) {
      const answer = await input.ask(view.prompt, prefill === undefined ? {} : { prefill });
      prefill = undefined;
      if (answer.type === "end") return input.isTty ? EXIT.done : worst;
      if (answer.type === "interrupt") {
        if (++interrupts > 1) return EXIT.interrupted;
        view.info("Ctrl-C again leaves; so does /quit");
        continue;
      }
      text = answer.text;
    } else view.said(text);
    interrupts = 0;
    if (text.trim() === "") continue;
    const step = await takeStep(chat, text.trim());
    worst = worst === EXIT.done ? step.exitCode : worst;
    prefill = step.prefill;
    if (step.leave) return input.isTty && step.exitCode !== EXIT.interrupted ? EXIT.done : worst;
  }
}

async function takeStep(chat: Chat, text: string): Promise<Step> {
  if (!isCommand(text)) return await runTurn(chat, text);
  const outcome = await runCommand(chat, text);
  switch (outcome.type) {
    case "done":
      return { ...NEXT, exitCode: outcome.isError ? EXIT.failed : EXIT.done };
    case "leave":
      return { ...NEXT, leave: true };
    case "send":
      return await runTurn(chat, outcome.message);
    case "prefill":
      return { ...NEXT, prefill: outcome.message };
  }
}

/** Runs one turn to its end; Ctrl-C cancels it, a second one leaves without waiting. */
async function runTurn(chat: Chat, text: string): Promise<Step> {
  const { hermes, session, view, terminal } = chat;
  const blocked: BlockReason[] = [];
  const asks = answerAsks(chat);
  const unsubscribe = session.subscribe((event) => {
    const reason = event.type === "tool.end" ? blockReasonOf(event) : null;
    if (reason) blocked.push(reason);
    view.event(withRedactedEdits(event, (text) => hermes.redact(text, "file")));
    asks.event(event);
    return terminal.room() ?? undefined;
  });
  const handle = session.submit({ content: text }, {
    asks: { approval: true, edit: true, clarify: true, secret: chat.input.isTty },
    oneShot: !chat.input.isTty,
  });
  let leave: () => void = () => {};
  const left = new Promise<null>((resolve) => leave = () => resolve(null));
  let interrupts = 0;
  let mustLeave = false;
  const interrupt = (isFinal: boolean) => {
    mustLeave ||= isFinal;
    if (++interrupts > 1) return leave();
    view.info(isFinal ? "ending…" : "stopping… (Ctrl-C again leaves)");
    session.interrupt();
  };
  asks.onInterrupt(() => interrupt(false));
  const stopListening = terminal.onInterrupt(interrupt);
  chat.input.keepSilent(true);
  try {
    const result = await Promise.race([handle.done, left]);
    if (result === null) return { leave: true, exitCode: EXIT.interrupted };
    view.turnEnd(result, hermes.config.get("display.show_cost") === true ? costLine(result) : null);
    if (mustLeave) return { leave: true, exitCode: EXIT.interrupted };
    await asks.idle();
    if (asks.unattended) return { ...NEXT, exitCode: EXIT.needsApproval };
    return await afterTurn(chat, result, blocked);
  } finally {
    chat.input.keepSilent(false);
    stopListening();
    unsubscribe();
  }
}

async function afterTurn(chat: Chat, result: TurnResult, blocked: readonly BlockReason[]): Promise<Step> {
  if (result.pendingSteer !== null) return await runTurn(chat, result.pendingSteer);
  return { ...NEXT, exitCode: exitCodeOfTurn(result, blocked.filter((reason) => reason !== "denied")) };
}

/** Without a usable model there is nothing to talk to; on a terminal the demo is offered, never taken silently. */
async function hasModel(chat: Chat): Promise<boolean> {
  const { session, terminal, input, view } = chat;
  if (session.model) return true;
  const error = session.modelError;
  if (error) { for (const line of describeError(error, "chat").lines) terminal.note(fitToStderr(line)); }
  if (!input.isTty) return false;
  const answer = await input.ask("Talk to the built-in demo model for now? [y/N] ");
  if (answer.type !== "line" || !/^y(es)?$/i.test(answer.text.trim())) {
    view.info("hermes setup chooses a real model");
    return false;
  }
  await session.setModel("builtin:demo");
  return chat.session.model !== null;
}

function greet({ hermes, session, view, input }: Chat): void {
  if (!input.isTty || isQuiet(hermes.platform.env())) return;
  const model = session.model!;
  const title = session.title ? `, session "${session.title}"` : "";
  const label = model.isDemo
    ? `${model.label}, a set of rules and not an AI`
    : `${model.model} (${model.provider})`;
  view.banner(`hermes ${hermes.version}`, `${label}${title}`);
  view.info(`in ${session.cwd}`);
  view.info("/help lists commands, Ctrl-C stops an answer, Ctrl-D leaves");
}
