/**
 * What a parent reads of its children (core.md I.1 "Limits"): each summary within a bound that leaves the parent
 * room to go on; the rest goes to a file under `cache/delegation` and the entry says where. Also the text of the
 * later turn with results of the background.
 */
import type { Platform } from "@/platform/mod.ts";
import type { BoundedResult, ChildResult } from "./delegation_api.ts";
import type { Desk } from "./delegation.ts";
import { resultLimit } from "./result_limits.ts";
import type { LiveSession } from "./session.ts";

/** Less would say nothing; a parent with less room than this compresses anyway. */
const LEAST = 1_000;
/** What an entry has beside its summary. */
const ENTRY_CHARS = 2_000;
const CHARS_PER_TOKEN = 4;

export interface Room {
  /** `delegation.max_summary_chars`. */
  readonly max: number;
  /** Tokens; `null` = unknown. */
  readonly window: number | null;
  readonly used: number;
  /** Results that share the room. */
  readonly count: number;
}

/** Characters that one summary may have. */
export function summaryLimit({ max, window, used, count }: Room): number {
  const result = resultLimit(window) / count - ENTRY_CHARS;
  const headroom = window === null ? Infinity : (window - used) * CHARS_PER_TOKEN / 2 / count;
  return Math.min(max, Math.max(LEAST, Math.floor(Math.min(result, headroom))));
}

export interface SpillPlace {
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly delegationId: string;
}

/** Summaries that fit into what the parent has room for. */
export async function boundAll(
  desk: Desk,
  session: LiveSession,
  delegationId: string,
  results: readonly ChildResult[],
): Promise<BoundedResult[]> {
  const { platform, home } = desk.services;
  const limit = summaryLimit({
    max: desk.services.settings().delegation.max_summary_chars,
    window: session.model?.contextWindow ?? null,
    used: session.tally.contextTokens(),
    count: results.length,
  });
  return await Promise.all(
    results.map((result) => boundResult(result, limit, { platform, home, delegationId })),
  );
}

export async function boundResult(
  result: ChildResult,
  limit: number,
  place: SpillPlace,
): Promise<BoundedResult> {
  const { summary } = result;
  if (summary.length <= limit) return { ...result, truncated: false };
  const fullPath = await spill(result, place);
  const where = fullPath === null ? "the rest could not be saved" : `all of it is in ${fullPath}`;
  const note = `\n[… cut, ${summary.length} characters in all; ${where}]`;
  return {
    ...result,
    summary: summary.slice(0, limit).toWellFormed() + note,
    truncated: true,
    ...(fullPath === null ? {} : { fullPath }),
  };
}

async function spill(
  result: ChildResult,
  { platform, home, delegationId }: SpillPlace,
): Promise<string | null> {
  const folder = `${home}/cache/delegation`;
  const path = `${folder}/${delegationId}-${result.subagentId}.md`;
  try {
    await platform.files.mkdir(folder, { mode: 0o700 });
    await platform.files.write(path, new TextEncoder().encode(result.summary), { mode: 0o600 });
    return path;
  } catch {
    return null;
  }
}

/** The message of the later turn. */
export function laterText(id: string, results: readonly BoundedResult[], seconds: number): string {
  const head = results.length === 1
    ? `[ASYNC DELEGATION COMPLETE — ${id}] The background task has ended after ${round(seconds)} s.`
    : `[ASYNC DELEGATION COMPLETE — ${id}] All ${results.length} background tasks have ended after ${
      round(seconds)
    } s.`;
  return [head, ...results.map((result) => entryText(result, results.length))].join("\n\n");
}

function entryText(result: BoundedResult, count: number): string {
  const { taskIndex, goal, status, model, durationSeconds, summary, error, missedSteer } = result;
  const which = count === 1 ? "Task" : `Task ${taskIndex + 1} of ${count}`;
  return [
    `${which}: ${goal}`,
    `Status: ${status} (${[model, `${round(durationSeconds)} s`].filter(Boolean).join(", ")})`,
    ...(error === null ? [] : [`Error: ${error}`]),
    ...(missedSteer === null ? [] : [`Guidance that came too late for it: ${missedSteer}`]),
    ...(summary === "" ? [] : [`Result:\n${summary}`]),
  ].join("\n");
}

function round(seconds: number): string {
  return seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds));
}
