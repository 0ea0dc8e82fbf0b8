/**
 * An answer with tool calls (core.md A.7, A.9, A.10): which of them run, under which names, and what their batch
 * leaves behind. Calls that are cut or broken are asked for again before the model is told; nothing half is executed.
 */
import { parseArguments, storableArguments } from "./arguments.ts";
import { DELEGATE_TOOL } from "./delegation_tools.ts";
import { promptTokens, textOf, type ToolMessage } from "./messages.ts";
import type { ModelAnswer } from "./model_call.ts";
import type { RawToolCall } from "./ports.ts";
import { batchLimit, LEAST_SPILLED, spillResult } from "./result_limits.ts";
import { runToolCalls } from "./tool_calls.ts";
import { repairToolName } from "./tool_names.ts";
import { type Ending, MAX_GROWTH, type TurnEnds, type TurnParts } from "./turn_ends.ts";

/** Tools that only keep house: text that came with them may have been the answer (core.md A.8 "Empty"). */
const HOUSEKEEPING: ReadonlySet<string> = new Set(["todo", "memory", "skill_manage", "session_search"]);
const CALLS_CUT = "The output limit cut off a tool call again and again; it was not executed.";
const MAX_BAD_JSON = 3;
const MAX_BAD_NAMES = 3;

export class TurnTools {
  readonly #parts: TurnParts;
  readonly #ends: TurnEnds;
  #badNames = 0;
  #badJson = 0;

  constructor(parts: TurnParts, ends: TurnEnds) {
    this.#parts = parts;
    this.#ends = ends;
  }

  /** `null` = the turn goes on with the results, or asks again. */
  async take(answer: ModelAnswer): Promise<Ending | null> {
    const { draft } = this.#parts;
    if (isCut(answer)) {
      if (draft.growth >= MAX_GROWTH) return await this.#ends.cutShort(answer, CALLS_CUT, "incomplete");
      draft.growAndRepeat(answer);
      return null;
    }
    const raw = this.#withRepairedNames(answer.toolCalls);
    if (this.#badJson < MAX_BAD_JSON && raw.some(hasBrokenJson)) {
      this.#badJson++;
      draft.repeat(answer);
      return null;
    }
    this.#badJson = 0;
    return await this.#run(raw, answer);
  }

  async #run(raw: readonly RawToolCall[], answer: ModelAnswer): Promise<Ending | null> {
    const { turn, draft, rows, calls: { spent } } = this.#parts;
    const { scope } = turn;
    const wrong = raw.find((call) => !scope.tools.has(call.name) && !this.#isClients(call));
    this.#badNames = wrong ? this.#badNames + 1 : 0;
    draft.aside = raw.every((call) => HOUSEKEEPING.has(call.name)) ? answer.text : "";
    const few = keepFew(raw, scope.settings.delegation.max_concurrent_children);
    const calls = dropDuplicates(few).map((call, i) => turn.callIds.assign(call, i));
    const stored = calls.map((call) => ({ ...call, arguments: storableArguments(call.arguments) }));
    await rows.appendCalls(draft.take(answer.text), answer, stored);
    const results = await runToolCalls(calls.filter((call) => !this.#isClients(call)), scope);
    for (const { usage, cost } of scope.takeChildCalls?.() ?? []) spent.byChild(usage, cost);
    rows.landed(results);
    await this.#bound(results);
    draft.batchDone();
    if (scope.signal.aborted) return await this.#ends.interrupted(null);
    if (wrong && this.#badNames >= MAX_BAD_NAMES) return await this.#ends.wrongTool(wrong.name);
    const { halt } = scope.guardrails;
    if (halt !== null) return await this.#ends.halted(halt);
    const clientCalls = stored.filter((call) => this.#isClients(call));
    if (clientCalls.length > 0) {
      return { outcome: "completed", text: answer.text, exitReason: "client_tool_calls", clientCalls };
    }
    await this.#keepSmall(answer);
    return null;
  }

  /** On the real number of tokens, where the provider has told it. */
  async #keepSmall({ usage }: ModelAnswer): Promise<void> {
    const { turn, room } = this.#parts;
    const used = usage ? promptTokens(usage) + usage.output : 0;
    await room.keepSmall(() => used || turn.contextTokens(), 1);
  }

  #isClients(call: { readonly name: string }): boolean {
    return this.#parts.turn.clientTools?.has(call.name) ?? false;
  }

  #withRepairedNames(calls: readonly RawToolCall[]): RawToolCall[] {
    const { scope, clientTools } = this.#parts.turn;
    const names = [...scope.tools.keys(), ...clientTools ?? []];
    return calls.map((call) => {
      const named = { ...call, name: repairToolName(call.name, names) ?? call.name };
      return scope.deferral?.unwrap(named) ?? named;
    });
  }

  /** The largest results of a batch go to files until the batch fits (core.md A.13). */
  async #bound(results: readonly ToolMessage[]): Promise<void> {
    const { turn: { scope }, rows, calls } = this.#parts;
    const limit = batchLimit(calls.model.contextWindow);
    const sizes = results.map((message) => textOf(message.content).length);
    let total = sizes.reduce((a, b) => a + b, 0);
    const order = results.map((_, i) => i).sort((a, b) => sizes[b]! - sizes[a]!);
    for (const i of order) {
      if (total <= limit || sizes[i]! < LEAST_SPILLED) return;
      const message = results[i]!;
      if (message.toolName === "read_file") continue;
      const text = textOf(message.content);
      const short = await spillResult(scope.platform, message.toolCallId, text);
      await rows.replace(message, short);
      total -= text.length - short.length;
    }
  }
}

/** Truncated arguments are never executed (core.md A.8). */
function isCut(answer: ModelAnswer): boolean {
  if (answer.finish === "length") return true;
  return answer.toolCalls.some((call) => parseArguments(call.arguments).type === "truncated");
}

function hasBrokenJson(call: RawToolCall): boolean {
  return parseArguments(call.arguments).type === "invalid";
}

/** At most `max` orders for children in one answer; the rest is left out (core.md A.7). */
function keepFew(calls: readonly RawToolCall[], max: number): readonly RawToolCall[] {
  let orders = 0;
  return calls.filter((call) => call.name !== DELEGATE_TOOL || ++orders <= max);
}

/** Exact repeats within one answer run once (core.md A.7). */
function dropDuplicates(calls: readonly RawToolCall[]): RawToolCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => {
    const key = `${call.name}\n${call.arguments}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
