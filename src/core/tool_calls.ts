/**
 * Tool calls of one answer: prepare → execute → finalize (core.md A.7, A.9, A.10, C.5). Asking the human is a step
 * of "prepare", not code inside tools. A tool never throws into the loop; every call that was announced ends; each
 * result is stored as it lands.
 */
import type { ToolCall, ToolMessage } from "./messages.ts";
import { planRefusal } from "./plan_mode.ts";
import type { ToolOutcome } from "./ports.ts";
import { cutIntoSegments } from "./segments.ts";
import { consentNow, editConsent, openConsent } from "./tool_consent.ts";
import { finish } from "./tool_finish.ts";
import { prepare, withoutSpoiled } from "./tool_prepare.ts";
import { skipped } from "./tool_results.ts";
import { execute } from "./tool_run.ts";
import { announce, type Consent, GO, type Running, safely } from "./tool_running.ts";
import type { TurnScope } from "./turn_scope.ts";

/** Runs the calls of one answer and returns their results in call order. */
export async function runToolCalls(calls: readonly ToolCall[], scope: TurnScope): Promise<ToolMessage[]> {
  scope.guardrails.begin();
  const running = withoutSpoiled(calls.map((call) => prepare(call, scope)), scope);
  for (const one of running) openConsent(one, scope);
  const results = new Map<string, ToolMessage>();
  const inTurn = createLine();
  for (const segment of cutIntoSegments(running)) {
    for (const one of segment) if (one.tool && !one.tool.propose && !one.blocked) announce(one, false, scope);
    const landed = await Promise.all(segment.map((one) => runOne(one, segment.length > 1, inTurn, scope)));
    for (const message of landed) results.set(message.toolCallId, message);
  }
  return calls.map((call) => results.get(call.id)!);
}

/** Runs one job after the other, also when they are handed in at once. */
type Line = <T>(job: () => Promise<T>) => Promise<T>;

function createLine(): Line {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const next = last.then(job);
    last = next.catch(() => {/* reported to whoever awaits it */});
    return next;
  };
}

async function runOne(
  one: Running,
  parallel: boolean,
  inTurn: Line,
  scope: TurnScope,
): Promise<ToolMessage> {
  if (one.ready) {
    announce(one, false, scope);
    return await finish(one, one.ready, null, scope);
  }
  if (scope.signal.aborted) {
    await one.consent;
    return await finish(one, skipped(one.call.name), "cancelled", scope);
  }
  const given =
    await (one.consent ?? (one.tool!.propose ? inTurn(() => editNow(one, scope)) : startNow(one, scope)));
  const consent = await consentNow(one, given, scope);
  if (consent.type === "stop") {
    const outcome: ToolOutcome = { content: consent.content, isError: true, effect: "none" };
    return await finish(one, outcome, consent.refused, scope);
  }
  if (scope.signal.aborted) return await finish(one, skipped(one.call.name), "cancelled", scope);
  const outcome = await execute(one, consent.approved, parallel, scope);
  return await finish(one, withNote(outcome, consent.note), outcome.refused ?? null, scope);
}

/** Plan mode may have been chosen since the calls of this answer were prepared: it holds for the next edit (acp.md C7). */
function startNow(one: Running, scope: TurnScope): Consent {
  const refusal = scope.planning ? planRefusal(one.tool!, one.view.description) : null;
  if (refusal === null) return GO;
  announce(one, false, scope);
  return { type: "stop", refused: null, content: String(refusal.content) };
}

async function editNow(one: Running, scope: TurnScope): Promise<Consent> {
  const start = startNow(one, scope);
  return start.type === "stop" ? start : await editConsent(one, scope);
}

/** The result says that it was approved (core.md C.5), when it is a JSON object. */
function withNote(outcome: ToolOutcome, note: string | null): ToolOutcome {
  if (!note || typeof outcome.content !== "string" || !outcome.content.startsWith("{")) return outcome;
  return {
    ...outcome,
    content: safely(
      () => JSON.stringify({ ...JSON.parse(outcome.content as string), approval: note }),
      outcome.content,
    ),
  };
}
