/**
 * Questions of a running turn, answered at the prompt of `hermes chat`, one after the other. Only a choice that
 * was offered counts and only an explicit one: an empty line asks again, the end of input ends the turn. On a
 * terminal nothing that was typed before a question appeared can answer it.
 */
import type { ApprovalChoice, Ask, AskAnswer, CoreEvent } from "@/core/contract.ts";
import type { Chat } from "./chat.ts";
import type { Answer } from "./line_input.ts";
import { showInvisible } from "@/lib/visible.ts";
import { redactEdit } from "./redact_edits.ts";
import { withoutControls, wrap } from "./text_layout.ts";
import { wholeEditLines } from "./tool_lines.ts";

export interface AskAnswerer {
  event(event: CoreEvent): void;
  /** What Ctrl-C at a question does. */
  onInterrupt(run: () => void): void;
  /** Resolves when no question is on the screen. */
  idle(): Promise<void>;
  /** True once a question met the end of the input: nobody is there to answer. */
  readonly unattended: boolean;
}

const CHOICE_WORDS: Readonly<Record<ApprovalChoice, string>> = {
  once: "[o]nce",
  session: "[s]ession",
  always: "[a]lways",
  deny: "[d]eny",
};

export function answerAsks(chat: Chat): AskAnswerer {
  let queue: Promise<void> = Promise.resolve();
  let interrupt: () => void = () => {};
  let unattended = false;
  const open = new Map<string, AbortController>();
  const onLeave = (why: "interrupt" | "end") => {
    if (why === "interrupt") interrupt();
    else unattended = true;
  };
  return {
    event: (event) => {
      if (event.type === "ask.close") open.get(event.ask.id)?.abort();
      if (event.type !== "ask.open") return;
      const controller = new AbortController();
      open.set(event.ask.id, controller);
      queue = queue.then(() => answerOne(chat, event.ask, controller.signal, onLeave))
        .finally(() => void open.delete(event.ask.id));
    },
    onInterrupt: (run) => interrupt = run,
    idle: () => queue,
    get unattended() {
      return unattended;
    },
  };
}

async function answerOne(
  chat: Chat,
  ask: Ask,
  signal: AbortSignal,
  onLeave: (why: "interrupt" | "end") => void,
): Promise<void> {
  if (signal.aborted) return;
  for (const line of questionLines(chat, ask)) chat.view.question(line);
  for (let fresh = true;; fresh = false) {
    const said = await chat.input.ask(askPrompt(chat, ask), {
      fresh,
      signal,
      hidden: ask.payload.kind === "sudo" || ask.payload.kind === "secret",
    });
    if (signal.aborted) return;
    if (said.type !== "line") onLeave(said.type);
    if (said.type === "interrupt") return;
    const answer = toAnswer(ask, said);
    if (answer && chat.session.answer(ask.id, answer, "hermes chat") !== "not_offered") return;
    chat.view.question("  please pick one of these");
  }
}

/** `null` when the line is no answer to this question. */
export function toAnswer(ask: Ask, said: Answer): AskAnswer | null {
  if (said.type !== "line") return { type: "cancel" };
  const { payload } = ask;
  const text = said.text.trim();
  switch (payload.kind) {
    case "approval":
    case "edit":
      return choiceOf(payload.choices, text);
    case "clarify":
      return { type: "text", text: pickedChoice(payload.choices, text) };
    case "sudo":
    case "secret":
      return { type: "text", text: said.text };
  }
}

function choiceOf(offered: readonly ApprovalChoice[], text: string): AskAnswer | null {
  const word = text.toLowerCase();
  const aliases: Readonly<Record<string, ApprovalChoice>> = { y: "once", yes: "once", n: "deny", no: "deny" };
  const choice = Object.hasOwn(aliases, word)
    ? aliases[word]
    : word === ""
    ? undefined
    : offered.find((candidate) => candidate.startsWith(word));
  return choice && offered.includes(choice) ? { type: "choice", choice } : null;
}

function pickedChoice(choices: readonly string[] | null, text: string): string {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return choices?.[number - 1] ?? text;
}

function questionLines({ terminal, hermes }: Chat, ask: Ask): string[] {
  const paint = terminal.stdoutIsTty ? terminal.paint : terminal.notePaint;
  const width = Math.min(terminal.columns, 100);
  const { payload } = ask;
  const heading = (text: string) => paint.yellow(`? ${withoutControls(text)}`);
  switch (payload.kind) {
    case "approval":
      return [
        heading(`May this run? ${payload.description}`),
        ...wrap(showInvisible(payload.command), width - 4).map((line, i) =>
          `  ${i === 0 ? "$ " : "  "}${line}`
        ),
      ];
    case "edit":
      return [
        heading(`May this be written? ${payload.description}`),
        ...payload.proposal.edits.flatMap((edit) =>
          wholeEditLines(redactEdit(edit, (text) => hermes.redact(text, "file")), paint, width)
        ),
      ];
    case "clarify":
      return [
        heading(payload.question),
        ...(payload.choices ?? []).map((choice, i) => `  ${i + 1}. ${withoutControls(choice)}`),
      ];
    case "sudo":
      return [heading("sudo wants your password for"), `  $ ${withoutControls(payload.command)}`];
    case "secret":
      return [heading(`${payload.prompt} (stored as ${payload.envVar} in .env)`)];
  }
}

function choicesText(ask: Ask): string {
  const { payload } = ask;
  if (payload.kind !== "approval" && payload.kind !== "edit") return "a line of text";
  return payload.choices.map((choice) => CHOICE_WORDS[choice]).join(", ");
}

function askPrompt({ terminal, input }: Chat, ask: Ask): string {
  if (!input.isTty) return "";
  const { payload } = ask;
  switch (payload.kind) {
    case "approval":
    case "edit":
      return `  ${choicesText(ask)}: `;
    case "clarify":
      return payload.choices ? "  number or text (empty = skip): " : "  answer (empty = skip): ";
    case "sudo":
    case "secret":
      return `  ${terminal.paint.dim("not shown, empty = decline")}: `;
  }
}
