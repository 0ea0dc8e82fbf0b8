/**
 * Edits of a turn that failed and were not made up for by a later one of the same file (core.md A.8,
 * `display.file_mutation_verifier`): what a person is told below the answer, whatever the model says of them.
 */
import { relative } from "node:path";
import { showInvisibleLine } from "@/lib/visible.ts";
import { textOf } from "./messages.ts";
import type { ToolOutcome } from "./ports.ts";
import type { Refused, Running } from "./tool_running.ts";

const MAX_SHOWN = 5;
const MAX_REASON = 200;

export class FailedEdits {
  readonly #cwd: string;
  /** Path → why, in the order of the first failure. */
  readonly #why = new Map<string, string>();

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** The end of a call; `content` is what the model reads of it. What the user has denied is known to the user. */
  note(
    { tool, paths }: Running,
    outcome: ToolOutcome,
    content: ToolOutcome["content"],
    refused: Refused | null,
  ): void {
    for (const { path } of outcome.edits ?? []) this.#why.delete(path);
    if (tool?.propose && !outcome.isError) { for (const path of paths) this.#why.delete(path); }
    if (!tool?.propose || !outcome.isError || refused === "denied" || refused === "cancelled") return;
    for (const path of paths) this.#why.set(path, reasonIn(textOf(content)));
  }

  /** A few lines; empty where nothing has failed. */
  footer(): string {
    if (this.#why.size === 0) return "";
    const all = [...this.#why].map(([path, why]) => `- ${this.#shown(path)}: ${why}`);
    const more = all.length - MAX_SHOWN;
    const lines = more > 0 ? [...all.slice(0, MAX_SHOWN), `- and ${more} more`] : all;
    return ["Edits that failed and were not made up for in this turn:", ...lines].join("\n");
  }

  #shown(path: string): string {
    const inside = relative(this.#cwd, path);
    return showInvisibleLine(inside === "" || inside.startsWith("..") ? path : inside);
  }
}

/** The first line of what the tool says went wrong; with the next one where it only announces that. */
function reasonIn(text: string): string {
  const [first = "", second = ""] = saidIn(text).trim().split("\n", 2).map((line) => line.trim());
  const line = first.endsWith(":") ? `${first} ${second}`.trim() : first || "no reason was given";
  return line.length <= MAX_REASON ? line : `${line.slice(0, MAX_REASON - 1).toWellFormed()}…`;
}

/** Results are JSON objects by convention. */
function saidIn(text: string): string {
  try {
    const { error, message } = JSON.parse(text);
    if (typeof error === "string") return error;
    return typeof message === "string" ? message : text;
  } catch {
    return text;
  }
}
