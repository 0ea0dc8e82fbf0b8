/** One turn of a session from its place in the queue to its result: rooms ready, row stored, set up, run, watched. */
import { abortable, isAbort } from "@/lib/abort.ts";
import { HermesError } from "./errors.ts";
import type { TurnResult } from "./events.ts";
import { gitPlaceOf } from "./git_place.ts";
import { promptTokens } from "./messages.ts";
import type { LiveSession } from "./session.ts";
import { runTurn } from "./turn.ts";
import type { TurnInput } from "./turn_input.ts";
import type { QueuedTurn } from "./turn_queue.ts";
import { failedResult, prepareTurn } from "./turn_setup.ts";
import { silentResult, TurnSilence } from "./turn_silence.ts";

/** Never throws: a turn that cannot begin ends as failed, after the user's message was stored. */
export async function runQueuedTurn(session: LiveSession, turn: QueuedTurn): Promise<TurnResult> {
  const { clock } = session.services.platform;
  const seconds = session.services.settings().agent.gateway_timeout ?? 0;
  const silence = session.silence = new TurnSilence({
    limitMs: seconds * 1000,
    clock,
    isAsking: () => session.broker.pending().length > 0,
    stop: () => turn.controller.abort(),
  });
  const begun = clock.monotonic();
  try {
    const watched = await runWatchedTurn(session, turn);
    const result = silence.stopped ? silentResult(watched, seconds) : watched;
    session.services.log.debug(lineOf(session, turn, result, clock.monotonic() - begun));
    return result;
  } finally {
    silence.end();
    session.silence = null;
  }
}

/** For the log: how a turn ended, without a word of what was said in it. */
function lineOf(session: LiveSession, turn: QueuedTurn, result: TurnResult, ms: number): string {
  const { outcome, exitReason, failure, usage, apiCalls, provider, model } = result;
  const why = failure === null
    ? exitReason
    : [failure.kind, failure.status, failure.message].filter(Boolean).join(" ");
  return `Turn ${turn.id} of session ${session.id} (${session.surface}, ${provider}:${model}): ${outcome}, ${why}; ` +
    `${apiCalls} calls, ${promptTokens(usage)} tokens in, ${usage.output} out, ${Math.round(ms)} ms`;
}

async function runWatchedTurn(session: LiveSession, turn: QueuedTurn): Promise<TurnResult> {
  try {
    await session.services.ready?.();
    // The prompt comes first: a new session is stored with it in one go.
    const prepared = await preparedTurn(session, turn);
    await storeForTurn(session, turn.controller.signal);
    if (session.hasMoved) void noteGit(session);
    return prepared instanceof HermesError
      ? await failedResult(session, turn, prepared)
      : await runTurn(prepared);
  } catch (error) {
    return await failedResult(session, turn, toldError(session, error));
  }
}

async function preparedTurn(session: LiveSession, turn: QueuedTurn): Promise<TurnInput | HermesError> {
  try {
    return await prepareTurn(session, turn);
  } catch (error) {
    return toldError(session, error);
  }
}

/** While the store is locked a cancel does not wait, and a turn goes on in memory (core.md D.2). */
async function storeForTurn(session: LiveSession, signal: AbortSignal): Promise<void> {
  try {
    await abortable(session.store(), signal);
  } catch (error) {
    const isLocked = error instanceof HermesError && error.code === "store_locked";
    if (!isLocked && !isAbort(error)) throw error;
  }
}

/** Of no consequence for the turn: a row that cannot be written now goes without it. */
async function noteGit(session: LiveSession): Promise<void> {
  session.hasMoved = false;
  const { cwd, services } = session;
  const git = await gitPlaceOf(services.platform.files, cwd, services.looks);
  if (session.cwd !== cwd) return;
  session.git = git;
  await session.record.update({ git }).catch((error) =>
    services.log.debug(`The repository of session ${session.id} was not noted: ${String(error)}`)
  );
}

/** What the turn ends with; a fault of ours is told in full in the log only. */
function toldError(session: LiveSession, error: unknown): HermesError {
  if (error instanceof HermesError) return error;
  const text = error instanceof Error ? error.message : String(error);
  session.services.log.error(`A turn failed to start: ${text}`);
  return new HermesError("internal", "The turn failed to start");
}
