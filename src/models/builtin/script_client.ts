/**
 * `builtin:script:<path>`: plays scripted turns without any network (spec/README.md §4), for the tests of this
 * program and of programs that talk to it. One turn per model call; each session has its own place in the script.
 */
import { isAbort } from "@/lib/abort.ts";
import type {
  ModelChunk,
  ModelClient,
  ModelRequest,
  RawToolCall,
  ResolvedModel,
  Usage,
} from "@/core/contract.ts";
import type { FinishReason } from "@/core/contract.ts";
import { isNotFound, type Platform } from "@/platform/mod.ts";
import { type FailureContext, failureOf, failureOfEvent, failureOfResponse } from "../providers/failures.ts";
import { normaliseUsage } from "../providers/usage.ts";
import {
  argumentsText,
  type Script,
  SCRIPT_EXHAUSTED,
  type ScriptStep,
  type ScriptTurn,
  stepsOf,
  trackKey,
  tracksOf,
} from "./script_format.ts";

/** Places in the script by session; owned by the models room, so that a new client of a session goes on. */
export type ScriptPositions = Map<string, number>;

/** Deltas of a `repeat` that are handed over together when they have no delay. */
const REPEAT_BATCH = 64;
const MAX_SESSIONS = 10_000;

export interface ScriptClientOptions {
  readonly info: ResolvedModel;
  readonly platform: Platform;
  readonly positions: ScriptPositions;
  redact(text: string): string;
}

export class ScriptClient implements ModelClient {
  readonly info: ResolvedModel;
  readonly #options: ScriptClientOptions;
  readonly #failures: FailureContext;

  constructor(options: ScriptClientOptions) {
    this.#options = options;
    this.info = options.info;
    this.#failures = {
      provider: "builtin",
      model: options.info.model,
      redact: options.redact,
      now: () => options.platform.clock.now(),
    };
  }

  async *stream(
    request: ModelRequest,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<readonly ModelChunk[]> {
    let turn: ScriptTurn;
    try {
      turn = this.#next(await this.#load(), request);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      yield [{ type: "error", failure: failureOf("config", message, this.#failures), toolInFlight: false }];
      return;
    }
    try {
      yield* play(turn, request, this.#options.platform, this.#failures, signal);
    } catch (error) {
      if (!isAbort(error)) throw error;
    }
  }

  async #load(): Promise<Script> {
    const { platform } = this.#options;
    const path = absolutePath(this.info.model.replace(/^script:/i, ""), platform);
    let text: string;
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(await platform.files.read(path));
    } catch (error) {
      const reason = isNotFound(error)
        ? "there is no such file"
        : error instanceof Error
        ? error.message
        : error;
      throw new Error(`Cannot read the script ${path}: ${reason}`);
    }
    const { parseScript } = await import("./script_parse.ts");
    try {
      return parseScript(text);
    } catch (error) {
      throw new Error(`The script ${path} is not valid: ${error instanceof Error ? error.message : error}`);
    }
  }

  #next(script: Script, request: ModelRequest): ScriptTurn {
    const { positions } = this.#options;
    const tracks = tracksOf(script);
    const key = `${this.info.model}\n${tracks ? trackKey(request) : request.sessionId}`;
    const turns = tracks ? tracks.get(this.#trackOf(key)) ?? [] : script.turns;
    let at = positions.get(key) ?? 0;
    if (script.loop && at >= turns.length) at = 0;
    positions.delete(key);
    positions.set(key, at + 1);
    if (positions.size > MAX_SESSIONS) positions.delete(positions.keys().next().value!);
    return turns[at] ?? SCRIPT_EXHAUSTED;
  }

  /** Tracks go to conversations in the order in which these begin, as they did when they were recorded. */
  #trackOf(key: string): number {
    const { positions } = this.#options;
    const known = positions.get(`track of ${key}`);
    if (known !== undefined) return known;
    const count = `tracks of ${this.info.model}`;
    const track = (positions.get(count) ?? 0) + 1;
    positions.set(count, track);
    positions.set(`track of ${key}`, track);
    return track;
  }
}

function absolutePath(path: string, platform: Platform): string {
  if (path.startsWith("~/")) return `${platform.homeDir()}/${path.slice(2)}`;
  if (path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path)) return path;
  return `${platform.cwd()}/${path.replace(/^\.\//, "")}`;
}

/** What the turn has said so far and how it will end. */
interface Told {
  readonly calls: RawToolCall[];
  characters: number;
  usage: Usage | null;
  finish: FinishReason | null;
  /** The script wants no finish reason. */
  cut: boolean;
  first: boolean;
}

async function* play(
  turn: ScriptTurn,
  request: ModelRequest,
  platform: Platform,
  failures: FailureContext,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelChunk[]> {
  const told: Told = { calls: [], characters: 0, usage: null, finish: null, cut: false, first: true };
  for (const step of stepsOf(turn)) {
    if (signal.aborted) return;
    if ("text" in step || "reasoning" in step) yield* playWords(step, told, platform, signal);
    else {
      if (step.delay_ms) await platform.clock.delay(step.delay_ms, { signal });
      if ("stall" in step) return await untilAborted(signal);
      const failure = failureOfStep(step, told, failures);
      if (failure) {
        yield [{ type: "error", failure, toolInFlight: told.calls.length > 0 }];
        return;
      }
      if ("tool" in step) {
        told.calls.push({
          id: step.id ?? `call_${told.calls.length + 1}`,
          name: step.tool,
          arguments: argumentsText(step.args),
        });
        yield [{ type: "tool_name", name: step.tool }];
      } else if ("usage" in step) told.usage = usageOf(step.usage);
      else if ("finish" in step) {
        told.cut = step.finish === null;
        told.finish = step.finish as FinishReason | null;
      }
    }
    if (!("delay_ms" in step && Object.keys(step).length === 1)) told.first = false;
  }
  if (!signal.aborted) yield [lastChunk(told, request, failures)];
}

async function* playWords(
  step: Extract<ScriptStep, { text: string } | { reasoning: string }>,
  told: Told,
  platform: Platform,
  signal: AbortSignal,
): AsyncGenerator<readonly ModelChunk[]> {
  const times = step.repeat ?? 1;
  const chunk: ModelChunk = "text" in step
    ? { type: "text", text: step.text }
    : { type: "reasoning", text: step.reasoning };
  told.characters += chunk.text.length * times;
  const perBatch = step.delay_ms || times === 1 ? 1 : REPEAT_BATCH;
  for (let sent = 0; sent < times; sent += perBatch) {
    // Even without a delay the event loop gets its turn, so that an abort is seen.
    if (step.delay_ms || sent > 0) await platform.clock.delay(step.delay_ms ?? 0, { signal });
    if (signal.aborted) return;
    yield Array<ModelChunk>(Math.min(perBatch, times - sent)).fill(chunk);
  }
}

function failureOfStep(step: ScriptStep, told: Told, failures: FailureContext) {
  if ("error" in step) {
    const { status = 500, message = `Scripted error ${status}`, code, headers = {} } = step.error;
    const body = { error: { message, code: code ?? null } };
    if (!told.first) return failureOfEvent({ message, code: code ?? status }, failures);
    const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    return failureOfResponse(status, body, (name) => byName.get(name), failures);
  }
  if ("reset" in step) return failureOf("connection", "The scripted connection was reset", failures);
  if ("raw" in step || "json" in step) {
    const message = 'The steps "raw" and "json" need HTTP: builtin:script cannot play them';
    return failureOf("config", message, failures);
  }
  return null;
}

function usageOf(usage: Extract<ScriptStep, { usage: unknown }>["usage"]): Usage | null {
  return normaliseUsage({
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_tokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens },
  });
}

function lastChunk(told: Told, request: ModelRequest, failures: FailureContext): ModelChunk {
  if (told.cut && told.calls.length === 0) {
    const failure = failureOf("connection", "The scripted answer broke off before its end", failures);
    return { type: "error", failure, toolInFlight: false };
  }
  return {
    type: "done",
    finish: told.finish ?? (told.cut ? "length" : told.calls.length > 0 ? "tool_calls" : "stop"),
    toolCalls: told.calls,
    usage: told.usage ?? estimatedUsage(request, told.characters),
  };
}

/** Four characters per token, so that usage is never empty in what clients see. */
export function estimatedUsage(request: ModelRequest, characters: number): Usage {
  const prompt = request.system.length + JSON.stringify(request.messages).length;
  return {
    input: Math.ceil(prompt / 4),
    output: Math.ceil(characters / 4),
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
  };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
