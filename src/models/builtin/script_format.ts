/**
 * The script format (docs/scripted-model.md): what a scripted model says, call by call. Shared by `builtin:script`
 * and by the HTTP model server of the tests, so one file serves both. Types only; `script_parse.ts` reads files.
 */

export interface ScriptUsage {
  /** Cached tokens included, as providers report it. */
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cached_tokens?: number;
  readonly reasoning_tokens?: number;
}

export interface ScriptError {
  /** HTTP status; 500 when absent. */
  readonly status?: number;
  readonly message?: string;
  /** The provider's own error code, such as `context_length_exceeded`. */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every step may also wait `delay_ms` first; with `repeat` the wait comes before each repetition. */
export type ScriptStep =
  & { readonly delay_ms?: number }
  & (
    | { readonly text: string; readonly repeat?: number }
    | { readonly reasoning: string; readonly repeat?: number }
    /** `args`: an object, or the raw text of the arguments. */
    | {
      readonly tool: string;
      readonly args?: Readonly<Record<string, unknown>> | string;
      readonly id?: string;
      /** HTTP only: the slot index, when a server reuses one. */
      readonly index?: number;
    }
    /** Nothing more until the caller hangs up. */
    | { readonly stall: true }
    /** As the first step an HTTP status, later an error object inside the stream. */
    | { readonly error: ScriptError }
    /** The connection is torn. */
    | { readonly reset: true }
    | { readonly usage: ScriptUsage }
    /** `null`: the answer ends without a finish reason. */
    | { readonly finish: string | null }
    /** HTTP only: text written as it is, followed by an empty line. */
    | { readonly raw: string }
    /** HTTP only: a whole JSON object as the answer, although a stream was asked for. */
    | { readonly json: unknown }
    | { readonly delay_ms: number }
  );

export type ScriptTurn =
  /** Text, then `stop`. */
  | string
  | {
    readonly steps: readonly ScriptStep[];
    /** In a recording: which of the conversations it belongs to; 1 when absent. */
    readonly track?: number;
    /** HTTP only: the bytes go out in pieces of this size. */
    readonly split?: number;
    /** HTTP only: deltas per network write; 1 when absent. */
    readonly pack?: number;
  };

export interface Script {
  readonly turns: readonly ScriptTurn[];
  /** Start again from the first turn when all are played. */
  readonly loop?: boolean;
}

/** First and last lines of a recording; one that was cut off ends without the last. */
export const RECORDING_HEAD =
  "// A recording of hermes: builtin:script plays it (docs/scripted-model.md). Secrets are taken out.\n" +
  '{ "turns": [\n';
export const RECORDING_END = "]}\n";

/** What keeps the conversations of a recording apart: calls without tools run beside the one of their session. */
export function trackKey(
  request: { readonly sessionId: string; readonly tools: readonly unknown[] },
): string {
  return request.tools.length === 0 ? `${request.sessionId}\naside` : request.sessionId;
}

/** The turns of each track, by number from 1; `null` where the script has one for everybody. */
export function tracksOf(script: Script): ReadonlyMap<number, readonly ScriptTurn[]> | null {
  const number = (turn: ScriptTurn) => typeof turn === "string" ? 1 : turn.track ?? 1;
  if (script.turns.every((turn) => number(turn) === 1)) return null;
  return Map.groupBy(script.turns, number);
}

export const SCRIPT_EXHAUSTED = "(script exhausted)";

/** The steps of a turn, in the long form. */
export function stepsOf(turn: ScriptTurn): readonly ScriptStep[] {
  return typeof turn === "string" ? [{ text: turn }] : turn.steps;
}

/** Arguments of a tool step as the text a provider would send. */
export function argumentsText(args: Readonly<Record<string, unknown>> | string | undefined): string {
  return typeof args === "string" ? args : JSON.stringify(args ?? {});
}
