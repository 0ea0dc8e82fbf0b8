/** What every door of the demo reports: how fast it was, what was asked, and the session it left behind. */
import type { Said } from "./scene.ts";
import { diffLines } from "../line_diff.ts";
import { DemoFailure } from "./server_process.ts";

export interface DoorReport {
  readonly command: string;
  /** Milliseconds from the start of the process to its first answer. */
  readonly firstAnswerMs: number;
  /** From the prompt to the end of the turn, the human's answer included. */
  readonly turnMs: number;
  readonly frames: number;
  /** Stored id, to go on with elsewhere. */
  readonly sessionId: string;
  readonly exit: string;
}

/** The changed lines of a file, as the left column shows them. */
export function diffSaid(oldText: string | null, newText: string | null): Said[] {
  return diffLines(oldText ?? "", newText ?? "").flatMap((line): Said[] => {
    if (line.kind === "+") return [{ who: "added", text: line.text }];
    return line.kind === "-" ? [{ who: "removed", text: line.text }] : [];
  });
}

/** The same from a unified diff in a question's text. */
export function unifiedDiffSaid(text: string): Said[] {
  return text.split("\n").flatMap((line): Said[] => {
    if (/^(\+\+\+|---|@@)/.test(line)) return [];
    if (line.startsWith("+")) return [{ who: "added", text: line.slice(1) }];
    return line.startsWith("-") ? [{ who: "removed", text: line.slice(1) }] : [];
  });
}

/** Throws `DemoFailure` unless it is so. */
export function demand(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new DemoFailure(otherwise);
}
