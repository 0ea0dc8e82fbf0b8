/**
 * Tool calls as ACP cards, live and on replay alike (acp.md C11). The tool has described itself; this file only
 * translates. Pure.
 */
import type { FileEdit, TodoItem, ToolCallView } from "@/core/contract.ts";
import { isObject } from "../envelope.ts";
import type { Plan, SessionUpdate, ToolCallContent } from "../sdk.ts";
import { diffContents } from "./diffs.ts";
import { givenBy, hasFailed, readResult, resultText } from "./results.ts";
import { titleLine } from "./text.ts";

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

function locationsOf(call: ToolCallView): { path: string; line?: number }[] {
  return call.description.locations.map(({ path, line }) => line === undefined ? { path } : { path, line });
}

/** What every card says about its call, whatever its status. */
function facts(call: ToolCallView, builtin: boolean) {
  const { title, kind } = call.description;
  const locations = locationsOf(call);
  return {
    toolCallId: call.id,
    title: titleLine(title) || call.name,
    name: call.name,
    kind,
    ...(locations.length ? { locations } : {}),
    ...(builtin ? {} : { rawInput: call.args }),
  };
}

function startContent(
  call: ToolCallView,
  waiting: boolean,
  edits: readonly FileEdit[],
): ToolCallContent[] {
  if (edits.length > 0) return diffContents(edits);
  const { startText, kind } = call.description;
  if (waiting && kind === "edit") return [textContent("Waiting for approval: see the diff in the question.")];
  return startText ? [textContent(startText)] : [];
}

/** The announcement. `waiting`: a permission request for this call follows; `edits`: what was allowed unasked. */
export function startUpdate(
  call: ToolCallView,
  options: { waiting: boolean; builtin: boolean; edits?: readonly FileEdit[] },
): SessionUpdate {
  const content = startContent(call, options.waiting, options.edits ?? []);
  return {
    sessionUpdate: "tool_call",
    ...facts(call, options.builtin),
    status: options.waiting ? "pending" : "in_progress",
    ...(content.length ? { content } : {}),
  };
}

export interface FinishedCall {
  readonly call: ToolCallView;
  readonly result: string;
  readonly isError: boolean;
  readonly edits: readonly FileEdit[];
}

function endFields(done: FinishedCall, builtin: boolean) {
  const { call, edits } = done;
  const { said, structured } = givenBy(done.result, builtin);
  const failed = [said, structured ?? ""].some((text) => hasFailed(text, done.isError, builtin));
  const text = resultText(call.name, said, call.args);
  return {
    status: failed ? "failed" as const : "completed" as const,
    content: [...(text ? [textContent(text)] : []), ...diffContents(edits)],
    ...(builtin || readResult(said) !== null ? {} : { rawOutput: said }),
  };
}

/**
 * The end of an announced call. One that is shown in a terminal of the client keeps it: its output is there, and is
 * told again only when the call has failed.
 */
export function endUpdate(done: FinishedCall, builtin: boolean, terminalId?: string): SessionUpdate {
  const fields = endFields(done, builtin);
  const update = { sessionUpdate: "tool_call_update" as const, toolCallId: done.call.id, ...fields };
  if (terminalId === undefined) return update;
  const terminal: ToolCallContent = { type: "terminal", terminalId };
  return { ...update, content: [terminal, ...(fields.status === "failed" ? fields.content : [])] };
}

/** A call that ended before it was announced (refused by policy): one card with its final status. */
export function wholeUpdate(done: FinishedCall, builtin: boolean): SessionUpdate {
  return { sessionUpdate: "tool_call", ...facts(done.call, builtin), ...endFields(done, builtin) };
}

export function failedUpdate(toolCallId: string, reason: string): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId, status: "failed", content: [textContent(reason)] };
}

const PLAN_STATUS = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  cancelled: "completed",
} as const;

/** The whole list, always (acp.md A5). */
export function planUpdate(todos: readonly TodoItem[]): SessionUpdate {
  const entries: Plan["entries"] = todos.map((item) => ({
    content: item.status === "cancelled" ? `[cancelled] ${item.content}` : item.content,
    priority: "medium",
    status: PLAN_STATUS[item.status] ?? "pending",
  }));
  return { sessionUpdate: "plan", entries };
}

/** The list in a stored `todo` result; `null` when there is none. */
export function todosOfResult(result: string): TodoItem[] | null {
  const todos = readResult(result)?.todos;
  if (!Array.isArray(todos)) return null;
  return todos.filter((item): item is TodoItem => isObject(item) && typeof item.content === "string");
}
