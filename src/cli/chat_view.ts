/**
 * The screen of `hermes chat`: a reader of the event stream that prints text as it comes and a tool call in one or
 * two lines. In a pipe only what the agent says goes to stdout. Knows nothing of input.
 */
import { type CoreEvent, turnLimit, type TurnResult } from "@/core/contract.ts";
import type { Terminal } from "./terminal.ts";
import { subagentLine } from "./subagent_lines.ts";
import { withoutControls, wrapIndented } from "./text_layout.ts";
import { editLines, toolEndLine, toolStartLine } from "./tool_lines.ts";
import { WordFlow } from "./word_flow.ts";

export interface ChatView {
  readonly prompt: string;
  event(event: CoreEvent): void;
  /** `cost`: a line about what it has cost, if that is to be shown. */
  turnEnd(result: TurnResult, cost: string | null): void;
  banner(title: string, text: string): void;
  /** A remark of the program itself. */
  info(text: string): void;
  error(text: string): void;
  /** Lines between the agent's text: cards, results of commands. */
  show(text: string): void;
  /** A line of a question; it belongs to the card above it. */
  question(text: string): void;
  /** The first prompt, which came as an argument and not from the keyboard. */
  said(text: string): void;
}

type Block = "none" | "text" | "reasoning";

export interface ChatViewOptions {
  readonly showReasoning: boolean;
  /** In a pipe nothing is told of what the agent does, nor what a turn has cost. */
  readonly quiet: boolean;
}

export function createChatView(terminal: Terminal, { showReasoning, quiet }: ChatViewOptions): ChatView {
  const hidesProgress = quiet && !terminal.stdoutIsTty;
  const paint = terminal.stdoutIsTty ? terminal.paint : terminal.notePaint;
  // What the cursor stands behind, and the call whose card is the last thing on the screen.
  let block: Block = "none";
  let midLine = false;
  let lastCard = "";

  const put = (text: string) => {
    if (text === "") return;
    terminal.write(text);
    midLine = !text.endsWith("\n");
  };
  const flow = terminal.stdoutIsTty ? new WordFlow(() => terminal.columns) : null;
  const endBlock = () => {
    if (midLine) put("\n");
    flow?.reset();
    block = "none";
  };
  const question = (text: string) => {
    endBlock();
    if (terminal.stdoutIsTty) terminal.line(text);
    else terminal.note(text);
  };
  /** Broken at words on a screen; before it is painted. */
  const fit = (text: string) => terminal.stdoutIsTty ? wrapIndented(text, terminal.columns) : text;
  const show = (text: string) => {
    lastCard = "";
    question(text);
  };
  const stream = (kind: Block, text: string) => {
    if (block !== kind) {
      endBlock();
      lastCard = "";
    }
    block = kind;
    const clean = withoutControls(text);
    const flowing = flow?.push(clean) ?? clean;
    put(kind === "reasoning" ? paint.dim(flowing) : flowing);
  };
  const cards = createCards(terminal, show, (id) => lastCard = id, () => lastCard);

  const onEvent = (event: CoreEvent): void => {
    switch (event.type) {
      case "text.delta":
        return stream("text", event.text);
      case "reasoning.delta":
        return showReasoning && terminal.stdoutIsTty ? stream("reasoning", event.text) : undefined;
      case "text.end":
        return endBlock();
      case "tool.start":
      case "tool.end":
        return hidesProgress ? undefined : cards(event);
      case "status":
        return hidesProgress ? undefined : show(paint.yellow(fit(`! ${withoutControls(event.text)}`)));
      case "subagent": {
        const line = subagentLine(event.agent, event.step, paint, Math.min(terminal.columns, 100));
        return line === null || hidesProgress ? undefined : show(line);
      }
      case "session.rotated":
        return hidesProgress
          ? undefined
          : show(paint.dim(`the conversation was compressed to ${event.after.messages} messages`));
    }
  };

  return {
    prompt: terminal.stdoutIsTty ? `${paint.bold(paint.cyan("›"))} ` : "",
    event: onEvent,
    turnEnd: (result, cost) => {
      endBlock();
      for (const line of endLines(result)) {
        show(line.isError ? paint.red(fit(line.text)) : paint.yellow(fit(line.text)));
      }
      if (cost !== null && !hidesProgress) show(paint.dim(fit(cost)));
      if (terminal.stdoutIsTty) terminal.line();
    },
    banner: (title, text) => show(`${paint.bold(title)}  ${text}`),
    info: (text) => show(paint.dim(fit(text))),
    error: (text) => show(paint.red(fit(text))),
    show,
    question,
    said: (text) => terminal.stdoutIsTty ? show(`${paint.bold(paint.cyan("›"))} ${text}`) : undefined,
  };
}

/** Changed lines shown of an edit that was made without a question. */
const SHOWN_CHANGES = 12;

type CardEvent = Extract<CoreEvent, { type: "tool.start" | "tool.end" }>;

function createCards(
  terminal: Terminal,
  show: (text: string) => void,
  setLast: (id: string) => void,
  last: () => string,
): (event: CardEvent) => void {
  const paint = terminal.stdoutIsTty ? terminal.paint : terminal.notePaint;
  const asked = new Set<string>();
  return (event) => {
    const width = Math.min(terminal.columns, 100);
    if (event.type === "tool.start") {
      if (event.waiting) asked.add(event.call.id);
      show(toolStartLine(event.call.description.title, paint, width));
      return setLast(event.call.id);
    }
    // Calls that ran side by side end in any order: say which one this is.
    if (last() !== event.call.id) show(paint.dim(toolStartLine(event.call.description.title, paint, width)));
    // What was asked about has been seen already.
    const lines = asked.has(event.call.id) ? 0 : SHOWN_CHANGES;
    for (const edit of event.edits) show(editLines(edit, paint, width, lines).join("\n"));
    show(toolEndLine(event, paint, width));
  };
}

function endLines(result: TurnResult): { text: string; isError: boolean }[] {
  const lines: { text: string; isError: boolean }[] = [];
  switch (result.outcome) {
    case "completed":
      break;
    case "cancelled":
      lines.push({ text: "stopped", isError: false });
      break;
    case "failed":
      lines.push({ text: `failed: ${result.failure?.message ?? result.exitReason}`, isError: true });
      break;
    case "refused":
      lines.push({ text: "the provider's filter refused this", isError: true });
      break;
    case "max_tokens":
      lines.push({ text: 'cut off by the output limit; say "go on" for the rest', isError: true });
      break;
    case "max_turns":
      lines.push({ text: turnLimit(result)!.text, isError: true });
      break;
  }
  if (result.warning) lines.push({ text: `warning: ${result.warning}`, isError: false });
  return lines;
}
