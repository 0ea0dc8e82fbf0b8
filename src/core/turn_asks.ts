/**
 * Questions of a turn to the human (core.md C.5): who can be asked, for how long, and what it means when nobody can.
 * What cannot be asked is refused, never allowed.
 */
import { type AskOutcome, type AskPayload, sealed } from "./asks.ts";
import type { CoreEventBody } from "./events.ts";
import type { LiveSession } from "./session.ts";
import type { SubmitOptions } from "./session_api.ts";

interface AskingTurn {
  readonly id: string;
  readonly options: SubmitOptions;
  readonly controller: AbortController;
}

interface Question {
  readonly payload: AskPayload;
  readonly callId: string;
  readonly toolName: string;
}

/** Announces the question and waits for its end; `unattended` at once where nobody can be asked. */
export async function askHuman(
  session: LiveSession,
  turn: AskingTurn,
  { payload, callId, toolName }: Question,
  publish: (body: CoreEventBody) => void,
): Promise<AskOutcome> {
  if (turn.options.approveOnce) return approvedOnce(payload);
  if (!canAsk(payload, turn.options)) return { type: "unattended" };
  const { platform } = session.services;
  const ask = {
    id: platform.ids.hex(32),
    sessionId: session.id,
    turnId: turn.id,
    callId,
    toolName,
    payload,
    timeoutMs: timeoutMs(session, payload),
    openedAt: platform.clock.now(),
  };
  const outcome = await session.broker.open(ask, {
    signal: turn.controller.signal,
    announce: () => publish({ type: "ask.open", ask }),
  });
  publish({ type: "ask.close", ask, outcome: sealed(payload, outcome) });
  return outcome;
}

function timeoutMs(session: LiveSession, payload: AskPayload): number {
  const { approvals, agent } = session.services.settings();
  if (payload.kind === "clarify" && session.surface !== "acp") return agent.clarify_timeout * 1000;
  const longest = payload.kind === "sudo" ? 120 : payload.kind === "secret" ? 300 : Infinity;
  return Math.min(approvals.timeout, longest) * 1000;
}

function canAsk(payload: AskPayload, options: SubmitOptions): boolean {
  if (payload.kind === "approval") return options.asks.approval;
  if (payload.kind === "edit") return options.asks.edit;
  return payload.kind === "clarify" ? options.asks.clarify : options.asks.secret ?? false;
}

/** What the user's setting answers in place of a question; never what was judged dangerous by a model. */
function approvedOnce(payload: AskPayload): AskOutcome {
  const isApproval = payload.kind === "approval" || payload.kind === "edit";
  if (!isApproval || !payload.choices.includes("once")) return { type: "unattended" };
  if (payload.kind === "approval" && payload.smartDenied) return { type: "unattended" };
  const by = "delegation.subagent_auto_approve";
  return { type: "answered", answer: { type: "choice", choice: "once", by } };
}
