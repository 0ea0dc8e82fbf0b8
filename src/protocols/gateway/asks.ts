/**
 * Questions to the human on this wire (tui-gateway.md C.3, B.13): one open question becomes one `*.request` event,
 * and its short id is the first eight digits of the core's. Pure: who may answer what is decided in
 * `methods/answers.ts`.
 */
import { createTwoFilesPatch } from "diff";
import type { Hermes } from "@/app/mod.ts";
import type { Ask, AskPayload, EditProposal } from "@/core/contract.ts";
import { assertNever } from "@/core/contract.ts";

export type AskFamily = "approval" | "clarify" | "sudo" | "secret";

export function requestIdOf(ask: Ask): string {
  return ask.id.slice(0, 8);
}

/** The same question as a request of ours (tui-gateway.md E.2): no id of a client begins like this. */
export function serverRequestIdOf(ask: Ask): string {
  return `srq-${ask.id.slice(8, 20)}`;
}

/** The only question of a `clarify` request. */
export const CLARIFY_QID = "q1";

/** Both kinds of approval share one family: they are answered by the same method. */
export function familyOf(payload: AskPayload): AskFamily {
  return payload.kind === "edit" ? "approval" : payload.kind;
}

/** Payload of the `<family>.request` event. */
export function renderAsk(hermes: Hermes, ask: Ask): Record<string, unknown> {
  const { payload } = ask;
  const request_id = requestIdOf(ask);
  switch (payload.kind) {
    case "approval":
      return {
        request_id,
        command: payload.command,
        description: payload.description,
        pattern_key: payload.patternKey,
        pattern_keys: payload.patternKeys,
        ...consentFields(payload.choices),
        ...(payload.smartDenied ? { smart_denied: true } : {}),
        ...callFields(ask),
      };
    case "edit":
      return {
        request_id,
        command: hermes.redact(proposalText(payload.proposal), "file"),
        description: `${payload.description}: ${payload.proposal.path}`,
        pattern_key: "edit",
        pattern_keys: ["edit"],
        ...consentFields(payload.choices),
        ...callFields(ask),
      };
    case "clarify":
      return { request_id, question: payload.question, choices: payload.choices, ...callFields(ask) };
    case "sudo":
      return { request_id, command: payload.command, ...callFields(ask) };
    case "secret":
      return {
        request_id,
        env_var: payload.envVar,
        prompt: payload.prompt,
        ...(payload.metadata ? { metadata: payload.metadata } : {}),
        ...callFields(ask),
      };
    default:
      return assertNever(payload);
  }
}

/** Parameters of the request that asks it; the session's id is the caller's to add. */
export function renderAskRequest(hermes: Hermes, ask: Ask): Record<string, unknown> {
  const { payload } = ask;
  if (payload.kind !== "clarify") return renderAsk(hermes, ask);
  const { question, choices } = payload;
  return {
    request_id: requestIdOf(ask),
    questions: [{ qid: CLARIFY_QID, question, choices, multi_select: false }],
    ...callFields(ask),
  };
}

function consentFields(choices: readonly string[]): Record<string, unknown> {
  return {
    allow_permanent: choices.includes("always"),
    allow_session: choices.includes("session"),
    choices,
  };
}

function callFields(ask: Ask): Record<string, unknown> {
  return { tool_name: ask.toolName, tool_id: ask.callId };
}

/** The whole change as a unified diff, file after file: what is asked about is shown in full. */
export function proposalText(proposal: EditProposal): string {
  return proposal.edits.map((edit) => unifiedDiff(edit.path, edit.oldText, edit.newText)).join("\n");
}

/** Above this many differing lines a diff is not searched for: everything old goes, everything new comes. */
const MAX_DIFFERENCES = 2000;

export function unifiedDiff(path: string, oldText: string | null, newText: string | null): string {
  const from = oldText === null ? "/dev/null" : path;
  const to = newText === null ? "/dev/null" : path;
  const patch = createTwoFilesPatch(from, to, oldText ?? "", newText ?? "", undefined, undefined, {
    context: 3,
    maxEditLength: MAX_DIFFERENCES,
  });
  if (patch !== undefined) {
    return patch.replace(/^(Index: .*\n)?=+\n/, "").replace(/^(--- .*|\+\+\+ .*)\t$/gm, "$1");
  }
  return [`--- ${from}`, `+++ ${to}`, ...prefixed("-", oldText), ...prefixed("+", newText), ""].join("\n");
}

function prefixed(sign: string, text: string | null): string[] {
  if (!text) return [];
  const lines = text.endsWith("\n") ? text.slice(0, -1) : text;
  return lines.split("\n").map((line) => sign + line);
}
