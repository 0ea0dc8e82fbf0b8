/**
 * Notices when a model goes in circles within one turn (core.md A.14): the same failing call, one tool that keeps
 * failing, the same look at the same thing. It warns in the result; only where the config wants it are calls blocked
 * and the turn ended. Two kinds of calls are counted for themselves, because each costs money outside the turn: there
 * are so many web searches and subagents in a turn and no more.
 */
import { DELEGATE_TOOL } from "./delegation_tools.ts";
import type { ToolKind } from "./ports.ts";

interface Limits {
  readonly exact: number;
  readonly tool: number;
  readonly same: number;
}

const WARN: Limits = { exact: 2, tool: 3, same: 2 };
const STOP: Limits = { exact: 5, tool: 8, same: 5 };
/** In one turn, by tool; the keys of the configuration. */
const CAPS: Readonly<Record<string, { readonly key: string; readonly most: number; readonly what: string }>> =
  {
    web_search: { key: "max_web_searches", most: 50, what: "web searches" },
    [DELEGATE_TOOL]: { key: "max_subagents", most: 50, what: "subagents" },
  };
const LOOKING: ReadonlySet<ToolKind> = new Set(["read", "search"]);

export interface GuardedCall {
  readonly name: string;
  /** JSON text of the arguments. */
  readonly arguments: string;
  readonly kind: ToolKind;
  /** How many it is at once (subagents of one order); absent: 1. */
  readonly weight?: number;
}

/** One turn's. `settings` is `tool_loop_guardrails` as it stands in the file. */
export class Guardrails {
  readonly #warns: boolean;
  readonly #stops: boolean;
  readonly #warnAt: Limits;
  readonly #stopAt: Limits;
  readonly #failedCalls = new Map<string, number>();
  readonly #failedTools = new Map<string, number>();
  readonly #seen = new Map<string, { result: string; count: number }>();
  /** Tools that have failed in this answer: what the model called before it saw the first error is no loop. */
  readonly #failedNow = new Set<string>();
  readonly #counted = new Map<string, number>();
  readonly #settings: Readonly<Record<string, unknown>>;
  #halt: string | null = null;

  constructor(settings: Readonly<Record<string, unknown>> | undefined) {
    this.#settings = settings ?? {};
    this.#warns = settings?.["warnings_enabled"] !== false;
    this.#stops = settings?.["hard_stop_enabled"] === true;
    this.#warnAt = limitsIn(settings?.["warn_after"], WARN);
    this.#stopAt = limitsIn(settings?.["hard_stop_after"], STOP);
  }

  /** The calls of another answer follow. */
  begin(): void {
    this.#failedNow.clear();
  }

  /** Why the turn is to end, for people; `null` = go on. */
  get halt(): string | null {
    return this.#halt;
  }

  /** The result of a call that is not to run once more; `null` = run it. */
  block(call: GuardedCall): string | null {
    return this.#overCap(call) ?? (this.#stops ? this.#inCircles(call) : null);
  }

  /** Counts the call where it is one of those that are limited. */
  #overCap({ name, weight = 1 }: GuardedCall): string | null {
    const cap = Object.hasOwn(CAPS, name) ? CAPS[name] : undefined;
    if (!cap) return null;
    const most = countIn(this.#settings, cap.key, cap.most);
    const count = (this.#counted.get(name) ?? 0) + weight;
    if (count > most) {
      const error = `Blocked: at most ${most} ${cap.what} in one turn (tool_loop_guardrails.${cap.key}). ` +
        "Go on with what you have.";
      return JSON.stringify({ error, code: `${cap.key}_reached` });
    }
    this.#counted.set(name, count);
    return null;
  }

  #inCircles(call: GuardedCall): string | null {
    const key = keyOf(call);
    const failures = this.#failedCalls.get(key) ?? 0;
    if (failures >= this.#stopAt.exact) {
      return this.#refuse(
        "repeated_exact_failure_block",
        `${call.name} has failed ${failures} times like this`,
      );
    }
    const looks = this.#seen.get(key)?.count ?? 0;
    if (looks < this.#stopAt.same) return null;
    return this.#refuse(
      "idempotent_no_progress_block",
      `${call.name} has given the same result ${looks} times`,
    );
  }

  #refuse(code: string, why: string): string {
    this.#halt ??= `${why} (${code})`;
    return JSON.stringify({ error: `Blocked: ${why}. Do something else, or say what is missing.`, code });
  }

  /** What to add to the result of a call that has run; empty = nothing. */
  after(call: GuardedCall, result: string, isError: boolean): string {
    const warning = isError ? this.#failed(call) : this.#succeeded(call, result);
    if (!warning || !this.#warns) return "";
    const { code, count, advice } = warning;
    return `\n\n[Tool loop warning: ${code}; count=${count}; ${advice}]`;
  }

  #failed(call: GuardedCall) {
    const exact = increase(this.#failedCalls, keyOf(call));
    const isFirst = !this.#failedNow.has(call.name);
    this.#failedNow.add(call.name);
    const tool = isFirst ? increase(this.#failedTools, call.name) : 0;
    if (this.#stops && tool >= this.#stopAt.tool) {
      this.#halt ??= `${call.name} has failed ${tool} times in a row (same_tool_failure_halt)`;
    }
    if (exact >= this.#warnAt.exact) {
      const advice = "this exact call fails again and again; change it";
      return { code: "repeated_exact_failure_warning", count: exact, advice };
    }
    if (tool < this.#warnAt.tool) return null;
    const advice = "this tool keeps failing; look at the errors and try another way";
    return { code: "same_tool_failure_warning", count: tool, advice };
  }

  #succeeded(call: GuardedCall, result: string) {
    const key = keyOf(call);
    this.#failedCalls.delete(key);
    this.#failedTools.delete(call.name);
    if (!LOOKING.has(call.kind)) return null;
    const last = this.#seen.get(key);
    const count = last?.result === result ? last.count + 1 : 1;
    this.#seen.set(key, { result, count });
    if (count < this.#warnAt.same) return null;
    const advice = "nothing has changed since the last look; use what you have";
    return { code: "idempotent_no_progress_warning", count, advice };
  }
}

function keyOf(call: GuardedCall): string {
  return `${call.name}\n${call.arguments}`;
}

function increase(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

function limitsIn(value: unknown, fallback: Limits): Limits {
  const given = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  return {
    exact: countIn(given, "exact_failure", fallback.exact),
    tool: countIn(given, "same_tool_failure", fallback.tool),
    same: countIn(given, "idempotent_no_progress", fallback.same),
  };
}

function countIn(given: Readonly<Record<string, unknown>>, name: string, fallback: number): number {
  const number = given[name];
  return typeof number === "number" && Number.isInteger(number) && number > 0 ? number : fallback;
}
