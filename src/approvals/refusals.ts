/**
 * Tool results of what was not allowed (core.md C.5): a refusal, silence, nobody to ask and a cancelled turn are
 * told apart, and each says what the model should do now.
 */
import type { AskOutcome, AskPayload } from "@/core/contract.ts";

export type RefusalKind = "denied" | "timeout" | "unattended" | "cancelled";

/** Why something is asked about that was refused in this turn. Never shown: whoever asks knows the answer (FC-14). */
export const REFUSED_BEFORE = "refused before in this turn";

const COMMAND_TEXT: Readonly<Record<RefusalKind, string>> = {
  denied:
    "The user refused this command. It did not run. Do not retry it, do not rephrase it and do not reach the " +
    "same effect in another way; say what you wanted to do and ask.",
  timeout:
    "Nobody answered the approval in time, so the command did not run. Silence is neither consent nor a " +
    "refusal. Do not retry it now; go on without it or say that an approval is needed.",
  unattended:
    "This command needs an approval, and nobody can be asked here, so it did not run. Do not retry it; " +
    "find a way that needs no approval or say what the user should run.",
  cancelled: "The turn was cancelled while this command waited for an approval. It did not run.",
};

const EDIT_TEXT: Readonly<Record<RefusalKind, string>> = {
  denied:
    "The client refused this edit. The file is unchanged. Do not retry it or write the same in another way; ask.",
  timeout:
    "Nobody answered the question about this edit in time. The file is unchanged. This is neither consent " +
    "nor a refusal; do not retry it now.",
  unattended:
    "This file may only be changed after a question, and nobody can be asked here. The file is unchanged. " +
    "Do not retry it; say what should be changed.",
  cancelled: "The turn was cancelled while this edit waited for an answer. The file is unchanged.",
};

const ASK_TEXT: Readonly<Record<RefusalKind, string>> = {
  denied: "The user declined.",
  timeout: "Nobody answered in time.",
  unattended: "Nobody can be asked here.",
  cancelled: "The turn was cancelled while this question waited.",
};

function kindOf(outcome: AskOutcome): RefusalKind {
  return outcome.type === "answered" ? "denied" : outcome.type;
}

function reasonOf(outcome: AskOutcome): string | undefined {
  if (outcome.type !== "answered" || outcome.answer.type !== "choice") return undefined;
  return outcome.answer.reason || undefined;
}

/** A command that did not run. `why` is shown to the model as the error. */
export function blockedCommand(why: string, outcome: string, extra: Record<string, unknown> = {}): string {
  return JSON.stringify({
    output: "",
    exit_code: -1,
    error: why,
    status: "blocked",
    outcome,
    user_consent: false,
    message: why,
    ...extra,
  });
}

/** An edit that was not made. */
export function blockedEdit(why: string, outcome: string, extra: Record<string, unknown> = {}): string {
  return JSON.stringify({ error: why, status: "blocked", outcome, user_consent: false, ...extra });
}

/** A call of another kind that was not made. */
export function blockedCall(why: string, outcome: string): string {
  return JSON.stringify({ error: why, status: "blocked", outcome, user_consent: false });
}

export function callRefusal(kind: RefusalKind): string {
  return blockedCall(COMMAND_TEXT[kind].replaceAll("command", "call"), kind);
}

export function commandRefusal(kind: RefusalKind, extra: Record<string, unknown> = {}): string {
  return blockedCommand(COMMAND_TEXT[kind], kind, extra);
}

export function editRefusal(kind: RefusalKind, path: string, extra: Record<string, unknown> = {}): string {
  return blockedEdit(`${EDIT_TEXT[kind]} (${path})`, kind, extra);
}

/** The tool result of a question that did not end in consent. */
export function refusalOf(payload: AskPayload, outcome: AskOutcome): string {
  const kind = kindOf(outcome);
  const reason = kind === "denied" ? reasonOf(outcome) : undefined;
  const extra = reason === undefined ? {} : { deny_reason: reason };
  switch (payload.kind) {
    case "approval":
      return commandRefusal(kind, extra);
    case "edit":
      return editRefusal(kind, payload.proposal.path, extra);
    case "clarify":
    case "sudo":
    case "secret":
      return JSON.stringify({ error: ASK_TEXT[kind], outcome: kind, user_consent: false });
  }
}
