/**
 * A waiting question as the API shows it (api-server.md B4.5). An edit of a sensitive file is shown as an approval
 * with its diff as the text. Knows nothing of streams or routes.
 */
import type { Ask, EditProposal } from "@/core/contract.ts";

/** `null` for kinds of questions that this door never asks. */
export function approvalPayload(
  ask: Ask,
  runId: string,
  redact: (text: string) => string,
): Record<string, unknown> | null {
  const { payload } = ask;
  if (payload.kind !== "approval" && payload.kind !== "edit") return null;
  const isEdit = payload.kind === "edit";
  return {
    event: "approval.request",
    run_id: runId,
    timestamp: ask.openedAt / 1000,
    request_id: ask.id,
    tool_call_id: ask.callId,
    command: redact(isEdit ? editText(payload.proposal) : payload.command),
    description: redact(payload.description),
    pattern_key: isEdit ? "edit" : payload.patternKey,
    pattern_keys: isEdit ? ["edit"] : payload.patternKeys,
    allow_permanent: payload.choices.includes("always"),
    allow_session: payload.choices.includes("session"),
    ...(!isEdit && payload.smartDenied ? { smart_denied: true } : {}),
    choices: payload.choices,
  };
}

function editText(proposal: EditProposal): string {
  return proposal.edits.map((edit) => fileDiff(edit.path, edit.oldText, edit.newText)).join("\n");
}

const CONTEXT = 3;

/** One hunk from the first to the last line that differs, in unified form. */
export function fileDiff(path: string, oldText: string | null, newText: string | null): string {
  const before = linesOf(oldText);
  const after = linesOf(newText);
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const from = Math.max(0, head - CONTEXT);
  const until = Math.max(0, tail - CONTEXT);
  const mark = (sign: string, lines: readonly string[]) => lines.map((line) => sign + line);
  return [
    `--- ${oldText === null ? "/dev/null" : path}`,
    `+++ ${newText === null ? "/dev/null" : path}`,
    `@@ -${range(from, before.length - until)} +${range(from, after.length - until)} @@`,
    ...mark(" ", before.slice(from, head)),
    ...mark("-", before.slice(head, before.length - tail)),
    ...mark("+", after.slice(head, after.length - tail)),
    ...mark(" ", after.slice(after.length - tail, after.length - until)),
  ].join("\n");
}

function range(from: number, until: number): string {
  return `${until === from ? from : from + 1},${until - from}`;
}

function linesOf(text: string | null): string[] {
  if (text === null || text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
