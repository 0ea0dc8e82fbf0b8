/**
 * Writes a recording: one line per model call, appended when the call has ended and before the turn goes on, so that a
 * killed program leaves all calls but the last (the player closes such a file by itself). Texts are redacted as wholes,
 * because a secret may lie across two pieces. Calls of different sessions, and those beside the conversation, are
 * different tracks.
 */
import type { ModelChunk, ModelFailure, ModelRequest, RawToolCall, ResolvedModel } from "@/core/contract.ts";
import { RECORDING_END, RECORDING_HEAD, type ScriptStep, trackKey } from "./builtin/script_format.ts";
import type { RecorderOptions } from "./record.ts";

type Chunks = readonly ModelChunk[];
type Done = Extract<ModelChunk, { type: "done" }>;

export interface RecordedCall {
  add(batch: Chunks): void;
  /** Writes it down; never rejects. */
  end(): Promise<void>;
}

export interface Recording {
  begin(request: ModelRequest, model: ResolvedModel): RecordedCall;
  close(): Promise<void>;
}

/** Never rejects: what cannot be written is told once. */
export async function openRecording(options: RecorderOptions): Promise<Recording> {
  const recording = new FileRecording(options);
  await recording.write(RECORDING_HEAD, "begin");
  return recording;
}

class FileRecording implements Recording {
  readonly #options: RecorderOptions;
  readonly #tracks = new Map<string, number>();
  #line: Promise<void> = Promise.resolve();
  #ended = false;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  begin(request: ModelRequest, model: ResolvedModel): RecordedCall {
    const key = trackKey(request);
    const track = this.#tracks.get(key) ?? this.#tracks.size + 1;
    this.#tracks.set(key, track);
    const chunks: ModelChunk[] = [];
    const startedAt = new Date(this.#options.platform.clock.now()).toISOString();
    return {
      add: (batch) => void chunks.push(...batch),
      end: async () => {
        const steps = stepsOfCall(chunks, (text) => this.#options.redact(text));
        const turn = track === 1 ? { steps } : { track, steps };
        const { messages, tools } = request;
        const about = `${startedAt} ${model.provider}:${model.model}, ${messages.length} messages, ` +
          `${tools.length} tools`;
        const comment = this.#options.redact(about).replace(/[\p{C}\u2028\u2029]/gu, " ");
        await this.write(`  // ${comment}\n  ${JSON.stringify(turn)},\n`, "append");
      },
    };
  }

  async close(): Promise<void> {
    await this.write(RECORDING_END, "append");
    this.#ended = true;
  }

  /** One after the other; a failure ends the recording, for one with gaps would play something else. */
  write(text: string, how: "begin" | "append"): Promise<void> {
    const { platform, path, log } = this.#options;
    this.#line = this.#line.then(async () => {
      if (this.#ended) return;
      try {
        const bytes = new TextEncoder().encode(text);
        if (how === "begin") await platform.files.write(path, bytes, { mode: 0o600 });
        else await platform.files.append(path, bytes, { mode: 0o600 });
      } catch (error) {
        this.#ended = true;
        const why = error instanceof Error ? error.message : String(error);
        log.warn(`The recording ${path} ends here: ${why}`);
      }
    });
    return this.#line;
  }
}

/** What was said, as steps of a script: the same pieces in the same order, as far as no secret was in them. */
export function stepsOfCall(chunks: Chunks, redact: (text: string) => string): ScriptStep[] {
  const done = chunks.find((chunk): chunk is Done => chunk.type === "done");
  const calls = [...done?.toolCalls ?? []];
  const steps: ScriptStep[] = [...wordsOf(chunks, redact, (name) => toolStep(calls.shift(), name, redact))];
  steps.push(...calls.map((call) => toolStep(call, call.name, redact)));
  const failed = chunks.find((chunk) => chunk.type === "error");
  if (failed?.type === "error") steps.push(failureStep(failed.failure, redact));
  else if (done) steps.push(...endSteps(done));
  // The call was cancelled: played again, it waits for its cancel.
  else steps.push({ stall: true });
  return steps;
}

/** Pieces of one kind that follow each other are redacted together. */
function* wordsOf(
  chunks: Chunks,
  redact: (text: string) => string,
  tool: (name: string) => ScriptStep,
): Generator<ScriptStep> {
  let kind: "text" | "reasoning" = "text";
  let pieces: string[] = [];
  function* flush(): Generator<ScriptStep> {
    const whole = pieces.join("");
    const clean = redact(whole);
    const said = clean === whole ? pieces : [clean];
    for (const piece of said) yield kind === "text" ? { text: piece } : { reasoning: piece };
    pieces = [];
  }
  for (const chunk of chunks) {
    if (chunk.type === "text" || chunk.type === "reasoning") {
      if (chunk.type !== kind && pieces.length > 0) yield* flush();
      kind = chunk.type;
      pieces.push(chunk.text);
    } else if (chunk.type === "tool_name") {
      if (pieces.length > 0) yield* flush();
      yield tool(chunk.name);
    }
  }
  if (pieces.length > 0) yield* flush();
}

/** Without a call the answer broke off inside it. */
function toolStep(
  call: RawToolCall | undefined,
  name: string,
  redact: (text: string) => string,
): ScriptStep {
  if (!call) return { tool: name, args: "" };
  return { tool: call.name, args: argumentsOf(call.arguments, redact), ...(call.id ? { id: call.id } : {}) };
}

/** As an object where that comes to the same bytes, else as the text it was. */
function argumentsOf(text: string, redact: (text: string) => string): Record<string, unknown> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return redact(text);
  }
  const clean = redactValues(value, redact);
  const isObject = clean !== null && typeof clean === "object" && !Array.isArray(clean);
  const isSame = JSON.stringify(value) === JSON.stringify(clean);
  if (isObject && (!isSame || JSON.stringify(value) === text)) return clean as Record<string, unknown>;
  return isSame ? text : JSON.stringify(clean);
}

function redactValues(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactValues(item, redact));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactField(key, redactValues(item, redact), redact)]),
  );
}

/** A secret that only its name gives away: `{"password": "…"}`. */
function redactField(key: string, value: unknown, redact: (text: string) => string): unknown {
  if (typeof value !== "string") return value;
  const json = JSON.stringify({ [key]: value });
  const clean = redact(json);
  if (clean === json) return value;
  try {
    return (JSON.parse(clean) as Record<string, unknown>)[key] ?? "***";
  } catch {
    return "***";
  }
}

function endSteps({ usage, finish, toolCalls }: Done): ScriptStep[] {
  const usual = toolCalls.length > 0 ? "tool_calls" : "stop";
  return [
    ...(usage
      ? [{
        usage: {
          prompt_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
          completion_tokens: usage.output,
          ...(usage.cacheRead > 0 ? { cached_tokens: usage.cacheRead } : {}),
          ...(usage.reasoning > 0 ? { reasoning_tokens: usage.reasoning } : {}),
        },
      }]
      : []),
    ...(finish === usual ? [] : [{ finish }]),
  ];
}

/** The HTTP status that stands for a failure without one. */
const STATUS: Partial<Readonly<Record<ModelFailure["kind"], number>>> = {
  auth: 401,
  billing: 402,
  rate_limit: 429,
  overloaded: 503,
  server_error: 500,
  timeout: 408,
  payload_too_large: 413,
  model_not_found: 404,
  format_error: 400,
};

function failureStep(failure: ModelFailure, redact: (text: string) => string): ScriptStep {
  const { kind, status = STATUS[kind], retryAfterMs } = failure;
  // The player says again who answered with which status.
  const message = redact(failure.message.replace(/^HTTP \d+ from [^\s:]+: /, ""));
  if (kind === "context_overflow") {
    return { error: { status: status ?? 400, message, code: "context_length_exceeded" } };
  }
  if (status === undefined) return { reset: true };
  const headers = retryAfterMs === undefined ? {} : { headers: { "Retry-After": `${retryAfterMs / 1000}` } };
  return { error: { status, message, ...headers } };
}
