/**
 * The two outputs of `hermes run`, each a reader of the event stream: text for people and pipes, JSON lines for
 * programs. Both keep count of the calls that were blocked, from which the exit code follows.
 *
 * On a terminal text streams as it comes; in a pipe a block is printed when it has turned out to be the answer,
 * because text before a tool call is not part of it.
 */
import type { CoreEvent, Session, TurnResult } from "@/core/contract.ts";
import { encodeFrame } from "@/lib/jsonl.ts";
import { blockReasonOf } from "./blocked_calls.ts";
import type { Told } from "./errors.ts";
import { eventJson, resultJson } from "./event_json.ts";
import type { BlockReason } from "./exit_codes.ts";
import { subagentLine } from "./subagent_lines.ts";
import type { Terminal } from "./terminal.ts";
import { withoutControls } from "./text_layout.ts";
import { editLines, summarize, toolEndLine, toolStartLine } from "./tool_lines.ts";
import { WordFlow } from "./word_flow.ts";

export interface BlockedCall {
  readonly title: string;
  readonly tool: string;
  readonly isEdit: boolean;
  readonly reason: BlockReason;
  readonly message: string;
}

export interface RunView {
  readonly blocked: readonly BlockedCall[];
  event(event: CoreEvent): void | Promise<void>;
  /** `result` is null when the turn did not end in time after an interrupt. */
  end(session: Session, turnId: string, result: TurnResult | null, exitCode: number): void;
  /** Something failed before or beside the turn; the caller tells it on stderr. */
  error(told: Told): void;
}

function createBlockedList(): { list: BlockedCall[]; note(event: CoreEvent): void } {
  const list: BlockedCall[] = [];
  return {
    list,
    note: (event) => {
      const reason = event.type === "tool.end" ? blockReasonOf(event) : null;
      if (event.type !== "tool.end" || reason === null) return;
      const { title, kind } = event.call.description;
      list.push({
        title,
        tool: event.call.name,
        isEdit: kind !== "execute",
        reason,
        message: summarize(event.result, true),
      });
    },
  };
}

export function createJsonView(terminal: Terminal, elapsedMs: () => number): RunView {
  const blocked = createBlockedList();
  const put = (value: unknown) => terminal.write(encodeFrame(value));
  return {
    blocked: blocked.list,
    event: (event) => {
      blocked.note(event);
      const json = eventJson(event);
      if (json) put(json);
      return terminal.room() ?? undefined;
    },
    end: (session, turnId, result, exitCode) =>
      put({
        type: "result",
        session_id: session.id,
        turn_id: turnId,
        ...(result ? resultJson(result) : { outcome: "cancelled", text: "", error: null }),
        blocked: blocked.list.map(({ title, tool, reason, message }) => ({ title, tool, reason, message })),
        is_demo: session.model?.isDemo ?? false,
        duration_ms: elapsedMs(),
        exit_code: exitCode,
      }),
    error: (told) =>
      put({
        type: "result",
        outcome: "failed",
        text: "",
        error: { code: told.code, message: told.message },
        blocked: [],
        duration_ms: elapsedMs(),
        exit_code: told.exitCode,
      }),
  };
}

export function createTextView(terminal: Terminal, quiet: boolean): RunView {
  const blocked = createBlockedList();
  const printer = createPrinter(terminal);
  const progress = terminal.stderrIsTty && !quiet ? createProgress(terminal, printer) : null;
  return {
    blocked: blocked.list,
    event: (event) => {
      blocked.note(event);
      printer.event(event);
      progress?.(event);
      return terminal.room() ?? undefined;
    },
    end: (_session, _turnId, result) => printer.end(result),
    error: () => printer.end(null),
  };
}

interface Printer {
  event(event: CoreEvent): void;
  /** Ends a line that text left open, where notes and text meet on one screen. */
  breakLine(): void;
  end(result: TurnResult | null): void;
}

function createPrinter(terminal: Terminal): Printer {
  // Live mode: whether the cursor stands behind text, and whether anything of the current block was shown.
  let midLine = false;
  let shownInBlock = false;
  let shownAnswer = false;
  const put = (text: string) => {
    if (text === "") return;
    terminal.write(text);
    midLine = !text.endsWith("\n");
  };
  const flow = new WordFlow(() => terminal.columns);
  const show = (text: string) => put(flow.push(withoutControls(text)));
  const breakLine = () => {
    if (midLine) put("\n");
    flow.reset();
  };
  return {
    breakLine,
    event: (event) => {
      if (!terminal.stdoutIsTty) return;
      if (event.type === "text.delta") {
        show(event.text);
        shownInBlock = true;
      } else if (event.type === "text.end") {
        if (!shownInBlock) show(event.text);
        if (event.final && event.text !== "") shownAnswer = true;
        shownInBlock = false;
        breakLine();
      }
    },
    end: (result) => {
      if (!shownAnswer && !shownInBlock && result) {
        put(terminal.stdoutIsTty ? withoutControls(result.text) : result.text);
      }
      breakLine();
    },
  };
}

/** Notes on stderr, in the order of the events. */
function createProgress(terminal: Terminal, printer: Printer): (event: CoreEvent) => void {
  const paint = terminal.notePaint;
  const note = (line: string) => {
    if (terminal.stdoutIsTty) printer.breakLine();
    terminal.note(line);
  };
  return (event) => {
    const width = terminal.columns;
    switch (event.type) {
      case "tool.start":
        return note(toolStartLine(event.call.description.title, paint, width));
      case "tool.end":
        for (const edit of event.edits) for (const line of editLines(edit, paint, width, 6)) note(line);
        return note(toolEndLine(event, paint, width));
      case "subagent": {
        const line = subagentLine(event.agent, event.step, paint, width);
        return line === null ? undefined : note(line);
      }
      case "status":
        return note(paint.yellow(`! ${event.text}`));
    }
  };
}
