/**
 * May this call run? The guard decides, and where it wants a person's word, asks for it (core.md C.4, C.5). What is no
 * edit is judged before any call of the answer runs; edits in their turn, because a diff shows the file as it is then.
 */
import type { AskAnswer, AskOutcome, AskPayload } from "./asks.ts";
import type { EditProposal, PlainCall, Verdict } from "./ports.ts";
import { toolContext } from "./tool_run.ts";
import { announce, type Consent, GO, type Refused, type Running, safely } from "./tool_running.ts";
import type { TurnScope } from "./turn_scope.ts";

const GUARD_FAILED = "The safety check itself failed, so this was not done";

/** What is no edit is judged before any call of the answer runs; questions open together (decision 16). */
export function openConsent(one: Running, scope: TurnScope): void {
  if (!one.tool || one.tool.propose) return;
  const command = one.tool.command && safely(() => one.tool!.command!(one.args), null);
  one.place = placeOf(one, scope);
  const context = { ...scope.guardContext(), toolName: one.call.name, cwd: one.place };
  const verdict = safely<Verdict>(
    () =>
      command
        ? scope.guard.reviewCommand(command, context)
        : scope.guard.reviewCall?.(plainCall(one), context) ?? { type: "allow" },
    { type: "block", content: JSON.stringify({ error: GUARD_FAILED }), reason: GUARD_FAILED },
  );
  one.isFree = verdict.type === "allow";
  if (verdict.type === "block") {
    one.blocked = true;
    one.consent = Promise.resolve({ type: "stop", refused: "policy", content: verdict.content });
  } else if (verdict.type === "ask") {
    one.consent = verdict.judgeable
      ? judgedConsent(one, verdict.payload, verdict.targets, scope)
      : askConsent(one, verdict.payload, verdict.targets, null, scope);
  } else if (verdict.note) {
    one.consent = Promise.resolve({ type: "go", approved: null, note: verdict.note });
  }
}

/** A shell goes from directory to directory, and a call may name one of its own. */
function placeOf({ tool, args }: Running, { cwd, sessionScope, platform }: TurnScope): string {
  return safely(() => tool?.place?.(args, { cwd, scope: sessionScope, platform }) ?? cwd, cwd);
}

/**
 * Consent for a command that is about to run. One that an earlier call of the same answer has taken to another
 * directory is judged again: there it is another command. So is one that nobody was asked about, once the person has
 * refused something.
 */
export async function consentNow(one: Running, consent: Consent, scope: TurnScope): Promise<Consent> {
  if (consent.type === "stop" || !one.tool?.command) return consent;
  const isRefusable = one.isFree === true && scope.guardContext().isRefused !== undefined;
  if (one.place === placeOf(one, scope) && !isRefusable) return consent;
  one.consent = null;
  openConsent(one, scope);
  return await one.consent ?? GO;
}

function plainCall(one: Running): PlainCall {
  const server = /^mcp-(.+)$/s.exec(one.tool?.toolset ?? "")?.[1] ?? null;
  return { tool: one.call.name, mcpServer: server, title: one.view.description.title, paths: one.paths };
}

/** Edits are asked about one after the other: the diff must show the file as it is then. */
export async function editConsent(one: Running, scope: TurnScope): Promise<Consent> {
  // An earlier question of this batch may have ended the turn.
  if (scope.signal.aborted) return GO;
  const tool = one.tool!;
  let proposal: EditProposal;
  try {
    proposal = await tool.propose!(one.args, toolContext(one, null, scope.signal, scope));
  } catch (error) {
    announce(one, false, scope);
    const reason = error instanceof Error ? error.message : String(error);
    const text = scope.editPolicy === null ? reason : `The change could not be prepared as a diff: ${reason}`;
    return { type: "stop", refused: null, content: JSON.stringify({ error: text }) };
  }
  one.reviewed = proposal;
  const context = { ...scope.guardContext(), toolName: one.call.name };
  const verdict = await scope.guard.reviewEdit(proposal, context).catch((): Verdict => ({
    type: "block",
    content: JSON.stringify({ error: GUARD_FAILED }),
    reason: GUARD_FAILED,
  }));
  if (verdict.type === "allow") {
    announce(one, false, scope, proposal.edits);
    return GO;
  }
  if (verdict.type === "block") {
    one.blocked = true;
    return { type: "stop", refused: "policy", content: verdict.content };
  }
  return await askConsent(one, verdict.payload, verdict.targets, proposal, scope);
}

/**
 * The auxiliary model first (core.md C.4): its yes lets the command run, its no may be overruled once by the person,
 * everything else is the person's to answer.
 */
async function judgedConsent(
  one: Running,
  payload: AskPayload,
  targets: readonly string[],
  scope: TurnScope,
): Promise<Consent> {
  if (payload.kind !== "approval" || !scope.judge || scope.knownRefusal(payload, targets)) {
    return await askConsent(one, payload, targets, null, scope);
  }
  announce(one, true, scope);
  const smart = await scope.judge(payload);
  if (scope.signal.aborted) return GO; // Nothing runs any more: the caller sees the cancel.
  if (smart.verdict === "approve") {
    one.startedAt = scope.platform.clock.monotonic();
    scope.publish({ type: "tool.run", callId: one.call.id });
    const why = smart.reason === "" ? "" : `: ${smart.reason}`;
    return { type: "go", approved: null, note: `Approved by smart mode (${smart.model})${why}` };
  }
  const asked: AskPayload = smart.verdict === "deny"
    ? { ...payload, smartDenied: true, smart, choices: ["once", "deny"] }
    : { ...payload, smart };
  return await askConsent(one, asked, targets, null, scope);
}

async function askConsent(
  one: Running,
  payload: AskPayload,
  targets: readonly string[],
  proposal: EditProposal | null,
  scope: TurnScope,
): Promise<Consent> {
  const known = scope.knownRefusal(payload, targets);
  if (known) {
    announce(one, false, scope);
    return stop(payload, known, scope);
  }
  announce(one, true, scope);
  const outcome = await scope.ask(payload, one.call.id, one.view.name);
  const answer = outcome.type === "answered" ? outcome.answer : null;
  if (answer?.type === "choice" && answer.choice !== "deny") {
    return await allowed(payload, answer, proposal, one, scope);
  }
  scope.rememberRefusal(payload, targets, outcome);
  return stop(payload, outcome, scope);
}

async function allowed(
  payload: AskPayload,
  answer: AskAnswer,
  proposal: EditProposal | null,
  one: Running,
  scope: TurnScope,
): Promise<Consent> {
  try {
    await scope.guard.grant(payload, answer, scope.guardContext());
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    scope.publish({ type: "status", kind: "warn", text: `The approval holds for this call only: ${why}` });
  }
  one.startedAt = scope.platform.clock.monotonic();
  scope.publish({ type: "tool.run", callId: one.call.id });
  const choice = answer.type === "choice" ? answer.choice : "once";
  const by = answer.type === "choice" ? answer.by : undefined;
  return { type: "go", approved: proposal, note: `Approved by ${by ?? "the user"} (${choice})` };
}

function stop(payload: AskPayload, outcome: AskOutcome, scope: TurnScope): Consent {
  const refused: Refused = outcome.type === "answered" ? "denied" : outcome.type;
  return { type: "stop", refused, content: scope.guard.refusal(payload, outcome) };
}
