/**
 * What one child does, seen through its event stream: steps for its parent's stream, and the facts of its result.
 * Everything kept is bounded; texts come redacted.
 */
import type { ChildCall, OutputTail, SubagentStep, ToolTrace } from "./delegation_api.ts";
import type { CoreEvent } from "./events.ts";

const MAX_TRACE = 500;
const MAX_FILES = 40;
const MAX_TAIL = 8;
const TAIL_CHARS = 600;
const STEP_CHARS = 500;
/** Tools per `progress` step. */
const PROGRESS_EVERY = 5;

export interface WatchHost {
  /** Milliseconds that only grow. */
  now(): number;
  tell(step: SubagentStep): void;
  /** A step of a child of this child. */
  pass(event: Extract<CoreEvent, { type: "subagent" }>): void;
  called(usage: ChildCall["usage"]): void;
}

export class ChildWatch {
  readonly trace: ToolTrace[] = [];
  readonly outputTail: OutputTail[] = [];
  readonly #host: WatchHost;
  readonly #read = new Set<string>();
  readonly #written = new Set<string>();
  #unreported: string[] = [];
  #running = 0;
  #lastAt: number;
  toolCount = 0;
  lastTool: string | null = null;

  constructor(host: WatchHost) {
    this.#host = host;
    this.#lastAt = host.now();
  }

  get filesRead(): string[] {
    return [...this.#read];
  }

  get filesWritten(): string[] {
    return [...this.#written];
  }

  /** For how long nothing has happened, and whether a tool is at work meanwhile. */
  idle(): { readonly ms: number; readonly inTool: boolean } {
    return { ms: this.#host.now() - this.#lastAt, inTool: this.#running > 0 };
  }

  /** Tells what was not told yet. */
  flush(): void {
    if (this.#unreported.length === 0) return;
    this.#host.tell({ kind: "progress", tools: this.#unreported });
    this.#unreported = [];
  }

  onEvent(event: CoreEvent): void {
    this.#lastAt = this.#host.now();
    switch (event.type) {
      case "reasoning.end":
        return this.#host.tell({ kind: "thinking", text: cut(event.text, STEP_CHARS) });
      case "text.end":
        if (event.text.trim() !== "") this.#host.tell({ kind: "text", text: cut(event.text, STEP_CHARS) });
        return;
      case "tool.start":
        return this.#toolStart(event);
      case "tool.end":
        return this.#toolEnd(event);
      case "usage":
        return this.#host.called(event.usage);
      case "subagent":
        return this.#host.pass(event);
    }
  }

  #toolStart({ call }: Extract<CoreEvent, { type: "tool.start" }>): void {
    this.#running++;
    this.toolCount++;
    this.lastTool = call.name;
    this.#host.tell({ kind: "tool", toolName: call.name, preview: cut(call.description.label, STEP_CHARS) });
    this.#unreported.push(call.name);
    if (this.#unreported.length >= PROGRESS_EVERY) this.flush();
  }

  #toolEnd(event: Extract<CoreEvent, { type: "tool.end" }>): void {
    const { call, result, isError, edits } = event;
    // What policy refuses has an end without a start.
    if (event.refused !== "policy") this.#running = Math.max(0, this.#running - 1);
    if (this.trace.length < MAX_TRACE) {
      const argsBytes = bytes(JSON.stringify(call.args));
      this.trace.push({
        tool: call.name,
        argsBytes,
        resultBytes: bytes(result),
        status: isError ? "error" : "ok",
      });
    }
    this.outputTail.push({ tool: call.name, preview: cut(result, TAIL_CHARS), isError });
    if (this.outputTail.length > MAX_TAIL) this.outputTail.shift();
    for (const edit of edits) keep(this.#written, edit.path);
    if (isError || call.description.kind !== "read") return;
    for (const { path } of call.description.locations) keep(this.#read, path);
  }
}

function keep(paths: Set<string>, path: string): void {
  if (paths.size < MAX_FILES) paths.add(path);
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}
