/**
 * The one translator from core events to event frames of a session (tui-gateway.md C). Keeps what a turn needs to
 * be told well (which calls were announced, where a blank line belongs) and nothing longer. The texts of a stream
 * go out by concatenation, once per delta.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Ask, AskOutcome, CoreEvent, ToolCallView, TurnResult } from "@/core/contract.ts";
import { assertNever, turnLimit } from "@/core/contract.ts";
import { unifiedDiff } from "./asks.ts";
import type { WireUsage } from "./info.ts";
import { stepsSetting } from "./launch.ts";
import { renderSubagent } from "./subagents.ts";

/** Where frames of one session go; sequence numbers and routing are the target's business. */
export interface RenderTarget {
  emit(type: string, payload?: Record<string, unknown>): void;
  /** Payload `{text}`. */
  emitText(type: "message.delta" | "reasoning.delta", text: string): void;
  emitInfo(): void;
  askOpened(ask: Ask): void;
  askClosed(ask: Ask, outcome: AskOutcome): void;
  usage(): WireUsage;
  /** `off`, `new`, `all` or `verbose`. */
  toolProgress(): string;
  /** True while the title is being set by a request of a host. */
  titling(): boolean;
  storedId(): string;
  title(): string | null;
  /** Under which id this host knows a call. */
  toolId(callId: string): string;
}

/** Reason of a turn that was cancelled while it waited behind other work. */
export const NEVER_STARTED = "Turn cancelled before the agent was ready";

const WAITING = "waiting for the model";
const MAX_REASONING = 500;
const MAX_DIFF = 64 << 10;
/** Kinds of `status.update` for the core's kinds. */
const STATUS_KINDS = {
  retry: "lifecycle",
  lifecycle: "lifecycle",
  warn: "warn",
  error: "error",
  compacting: "compacting",
} as const;

export class TurnRenderer {
  readonly #hermes: Hermes;
  readonly #to: RenderTarget;
  readonly #announced = new Set<string>();
  readonly #generating = new Set<string>();
  #waiting = false;
  #hasText = false;
  #needsBreak = false;

  constructor(hermes: Hermes, target: RenderTarget) {
    this.#hermes = hermes;
    this.#to = target;
  }

  render(event: CoreEvent): void {
    const to = this.#to;
    switch (event.type) {
      case "text.delta":
        return this.#text(event.text);
      case "reasoning.delta":
        this.#stopWaiting();
        return to.emitText("reasoning.delta", event.text);
      case "reasoning.end":
        if (to.toolProgress() === "off") return;
        return to.emit("reasoning.available", { text: event.text.slice(0, MAX_REASONING) });
      case "turn.start":
        this.#reset();
        return to.emit("message.start");
      case "step.start":
        this.#generating.clear();
        this.#waiting = true;
        return to.emit("thinking.delta", { text: WAITING });
      case "tool.generating":
        return this.#toolGenerating(event.name);
      case "text.end":
        if (!event.final) this.#needsBreak = this.#hasText;
        return;
      case "tool.start":
        return this.#toolStart(event.call);
      case "tool.progress":
        if (to.toolProgress() === "off") return;
        return to.emit("tool.progress", {
          name: event.name,
          preview: event.text,
          tool_id: to.toolId(event.callId),
        });
      case "tool.end":
        return this.#toolEnd(event);
      case "ask.open":
        return to.askOpened(event.ask);
      case "ask.close":
        return to.askClosed(event.ask, event.outcome);
      case "status":
        return to.emit("status.update", { kind: STATUS_KINDS[event.kind], text: event.text });
      case "session.change":
        return this.#sessionChange(event.what);
      case "session.rotated":
        return to.emitInfo();
      case "turn.end":
        return this.#turnEnd(event.result);
      case "subagent": {
        if (to.toolProgress() === "off") return;
        const shown = renderSubagent(event.agent, event.step);
        return shown ? to.emit(shown.type, shown.payload) : undefined;
      }
      case "tool.run":
      case "usage":
      case "steer.queued":
      case "steer.delivered":
        return; // not shown on this wire
      default:
        return assertNever(event);
    }
  }

  #reset(): void {
    this.#announced.clear();
    this.#generating.clear();
    this.#waiting = false;
    this.#hasText = false;
    this.#needsBreak = false;
  }

  /** Ends the status line; the deltas of an answer run together, so a blank line parts them after a tool batch. */
  #text(text: string): void {
    this.#stopWaiting();
    this.#hasText = true;
    if (!this.#needsBreak) return this.#to.emitText("message.delta", text);
    this.#needsBreak = false;
    this.#to.emitText("message.delta", "\n\n" + text);
  }

  #stopWaiting(): void {
    if (!this.#waiting) return;
    this.#waiting = false;
    this.#to.emit("thinking.delta", { text: "" });
  }

  #toolGenerating(name: string): void {
    this.#stopWaiting();
    if (this.#generating.has(name) || this.#to.toolProgress() === "off") return;
    this.#generating.add(name);
    this.#to.emit("tool.generating", { name });
  }

  #toolStart(call: ToolCallView): void {
    this.#stopWaiting();
    this.#announced.add(call.id);
    const mode = this.#to.toolProgress();
    if (mode === "off") return;
    this.#to.emit("tool.start", {
      tool_id: this.#to.toolId(call.id),
      name: call.name,
      context: call.description.label,
      args: call.args,
      ...(mode === "verbose" ? { args_text: tail(JSON.stringify(call.args, null, 2), 1000, 16) } : {}),
    });
  }

  #toolEnd(event: CoreEvent & { type: "tool.end" }): void {
    const { call } = event;
    if (!this.#announced.delete(call.id)) return;
    const mode = this.#to.toolProgress();
    const diff = event.edits.map((edit) => unifiedDiff(edit.path, edit.oldText, edit.newText)).join("\n");
    const shownDiff = diff.length <= MAX_DIFF ? this.#hermes.redact(diff, "file") : "";
    if (mode === "off" && shownDiff === "") return;
    const result = parseResult(event.result);
    this.#to.emit("tool.complete", {
      tool_id: this.#to.toolId(call.id),
      name: call.name,
      args: call.args,
      duration_s: Math.round(event.durationMs) / 1000,
      result,
      ...(event.isError || !call.description.done
        ? {}
        : { summary: `${call.description.done} in ${shortTime(event.durationMs)}` }),
      ...(event.todos ? { todos: event.todos } : {}),
      ...(shownDiff === "" ? {} : { inline_diff: shownDiff }),
      ...(event.isError ? { error: errorText(result, event.result) } : {}),
      ...(mode === "verbose" ? { result_text: tail(event.result, 1000, 16) } : {}),
    });
  }

  #sessionChange(what: (CoreEvent & { type: "session.change" })["what"]): void {
    if (what === "closed" || what === "delegation" || what === "notices") return;
    const title = this.#to.title();
    if (what === "title" && title !== null && !this.#to.titling()) {
      this.#to.emit("session.title", { session_id: this.#to.storedId(), title });
    }
    this.#to.emitInfo();
  }

  #turnEnd(result: TurnResult): void {
    this.#stopWaiting();
    const failed = result.outcome === "failed" || result.outcome === "refused";
    const reason = failed ? result.failure?.message ?? "The turn failed" : null;
    if (reason !== null) this.#to.emit("error", { message: reason });
    this.#to.emit("message.complete", renderCompletion(result, this.#to.usage(), stepsSetting(this.#hermes)));
    this.#reset();
  }
}

/** Payload of `message.complete` (C.1). `stepsSetting`: see `turnLimit()`. */
export function renderCompletion(
  result: TurnResult,
  usage: WireUsage,
  stepsSetting?: string,
): Record<string, unknown> {
  const { outcome, failure } = result;
  const failed = outcome === "failed" || outcome === "refused";
  const reason = failed ? failure?.message ?? "The turn failed" : "";
  const limit = turnLimit(result, stepsSetting);
  const cut = outcome === "max_tokens" ? OUTPUT_CUT : limit?.text ?? null;
  const warning = [result.warning, cut].filter(Boolean).join("; ");
  return {
    text: failed && result.text === "" ? `Error: ${reason}` : result.text,
    usage: result.model === "" ? usage : { ...usage, model: result.model },
    status: failed ? "error" : outcome === "cancelled" ? "interrupted" : "complete",
    ...(result.reasoning === "" ? {} : { reasoning: result.reasoning }),
    ...(warning === "" ? {} : { warning }),
    ...(limit ? { "hermes.limit": limit } : {}),
    ...(cut || (result.partial && failed) ? { partial: true } : {}),
    ...(failed ? { error: reason, failure_reason: failureReason(result) } : {}),
    ...(failed && failure ? { recoverable: failure.retryable } : {}),
    ...(result.pendingSteer === null ? {} : { steer_requeued: result.pendingSteer }),
  };
}

const OUTPUT_CUT = "The output limit ended the answer early";

function failureReason(result: TurnResult): string {
  return result.outcome === "refused" ? "content_filter" : result.failure?.kind ?? "unknown";
}

/** What the model reads is JSON by convention; anything else stays text. */
function parseResult(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function errorText(result: unknown, text: string): string {
  if (typeof result === "object" && result !== null) {
    const { error, message } = result as Record<string, unknown>;
    if (typeof error === "string") return error;
    if (typeof message === "string") return message;
  }
  return text.slice(0, MAX_REASONING);
}

/** `1.4s`, `12s`, `2m 5s`. */
function shortTime(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole}s` : `${Math.floor(whole / 60)}m ${whole % 60}s`;
}

function tail(text: string, chars: number, lines: number): string {
  return text.slice(-chars).split("\n").slice(-lines).join("\n");
}
