/**
 * Plays a script turn in any wire. A `Voice` says the parts of an answer as its wire does; delays, splits, stalls,
 * errors and torn connections are the same for all and live here.
 */
import {
  type ScriptError,
  type ScriptStep,
  type ScriptTurn,
  type ScriptUsage,
  stepsOf,
} from "../../src/models/builtin/script_format.ts";
import type { Answer } from "./model_connection.ts";
import type { ModelServerRequest } from "./model_server.ts";

export type ToolStep = Extract<ScriptStep, { tool: string }>;

export interface ScriptEnd {
  readonly text: string;
  readonly reasoning: string;
  readonly tools: readonly ToolStep[];
  readonly usage: ScriptUsage | null;
  /** `undefined`: the script says nothing; `null`: it wants no end. */
  readonly finish: string | null | undefined;
}

/** One answer in one wire. */
export interface Voice {
  /** Events of one delta, ready to be written. */
  text(delta: string): string;
  reasoning(delta: string): string;
  /** Pieces in the order they go out. */
  tool(step: ToolStep, position: number): readonly string[];
  end(end: ScriptEnd): readonly string[];
  /** An error inside the stream. */
  error(body: Record<string, unknown>): string;
  whole(end: ScriptEnd): Record<string, unknown>;
}

export type VoiceOf = (request: ModelServerRequest, out: Answer) => Voice;

export function errorBody(status: number, error: ScriptError): Record<string, unknown> {
  return {
    error: {
      message: error.message ?? `Scripted error ${status}`,
      type: status >= 500 ? "server_error" : "invalid_request_error",
      code: error.code ?? null,
    },
  };
}

/** One event; with a name where the wire names its events. */
export function sse(value: unknown, name?: string): string {
  return `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;
}

/** Pieces of a call's arguments, none longer than a twentieth of a long text. */
export function pieces(text: string): string[] {
  const size = Math.max(12, Math.ceil(text.length / 20));
  return Array.from(
    { length: Math.ceil(text.length / size) },
    (_, n) => text.slice(n * size, (n + 1) * size),
  );
}

/** Token counts of a script, or rough ones. */
export function countsOf(usage: ScriptUsage | null, request: ModelServerRequest, text: string) {
  const asked = request.body?.messages ?? request.body?.input ?? "";
  return {
    prompt: usage?.prompt_tokens ?? Math.ceil(JSON.stringify(asked).length / 4),
    completion: usage?.completion_tokens ?? Math.ceil(text.length / 4),
    cached: usage?.cached_tokens ?? 0,
    reasoning: usage?.reasoning_tokens ?? 0,
  };
}

class Told {
  text = "";
  reasoning = "";
  readonly tools: ToolStep[] = [];
  usage: ScriptUsage | null = null;
  finish: string | null | undefined;
}

export async function playStream(turn: ScriptTurn, voice: Voice, out: Answer): Promise<void> {
  if (typeof turn !== "string") {
    out.pack = turn.pack ?? 1;
    out.split = turn.split ?? 0;
  }
  const told = new Told();
  for (const step of stepsOf(turn)) {
    const times = "repeat" in step ? step.repeat ?? 1 : 1;
    for (let n = 0; n < times; n++) {
      if (step.delay_ms) {
        await out.flush();
        await out.connection.wait(step.delay_ms);
      }
      if (out.connection.closed) return;
      if ("text" in step) await out.event(voice.text(step.text));
      else if ("reasoning" in step) await out.event(voice.reasoning(step.reasoning));
    }
    if ("text" in step) told.text += step.text.repeat(times);
    else if ("reasoning" in step) told.reasoning += step.reasoning.repeat(times);
    else if ("tool" in step) {
      for (const piece of voice.tool(step, told.tools.length)) await out.event(piece);
      told.tools.push(step);
    } else if ("usage" in step) told.usage = step.usage;
    else if ("finish" in step) told.finish = step.finish;
    else if ("raw" in step) await out.event(step.raw + "\n\n");
    else if (await interrupt(step, voice, out)) return;
  }
  if (told.finish !== null) { for (const event of voice.end(told)) await out.event(event); }
  await out.end();
}

/** The same script folded into one JSON answer, for requests without `stream`. */
export async function playWhole(turn: ScriptTurn, voice: Voice, out: Answer): Promise<void> {
  const told = new Told();
  for (const step of stepsOf(turn)) {
    const times = "repeat" in step ? step.repeat ?? 1 : 1;
    if (step.delay_ms) await out.connection.wait(step.delay_ms * times);
    if (out.connection.closed) return;
    if ("text" in step) told.text += step.text.repeat(times);
    else if ("reasoning" in step) told.reasoning += step.reasoning.repeat(times);
    else if ("tool" in step) told.tools.push(step);
    else if ("usage" in step) told.usage = step.usage;
    else if ("finish" in step) told.finish = step.finish;
    else if (await interrupt(step, voice, out)) return;
  }
  await out.json(200, voice.whole(told));
}

/** Steps that end the answer by themselves; true when one did. */
async function interrupt(step: ScriptStep, voice: Voice, out: Answer): Promise<boolean> {
  if ("json" in step) await out.json(200, step.json);
  else if ("error" in step) await playError(step.error, voice, out);
  else if ("stall" in step) await stall(out);
  else if ("reset" in step) await tear(out);
  else return false;
  return true;
}

async function playError(error: ScriptError, voice: Voice, out: Answer): Promise<void> {
  const status = error.status ?? 500;
  if (!out.started) return await out.json(status, errorBody(status, error), error.headers);
  await out.event(voice.error(errorBody(status, error)));
  await out.end();
}

async function stall(out: Answer): Promise<void> {
  await out.flush();
  await out.connection.gone;
}

/** The head goes out in any case: Deno's `fetch` quietly repeats a request that got no byte at all. */
async function tear(out: Answer): Promise<void> {
  await out.flush();
  await out.head();
  out.connection.onClosed = () => {};
  out.connection.close();
}
