/**
 * The end of a call: its result bounded and without secrets, with what the touched directories and the guardrails say,
 * stored and then told (core.md A.13, A.14).
 */
import type { TodoItem } from "./events.ts";
import { type FileEdit, textOf, type ToolMessage } from "./messages.ts";
import type { ToolOutcome } from "./ports.ts";
import { collectHints, withHints } from "./prompt_hints.ts";
import { resultLimit, spillResult } from "./result_limits.ts";
import { type Refused, type Running, safely } from "./tool_running.ts";
import type { TurnScope } from "./turn_scope.ts";

/** `refused`: why it did not run, when somebody or something refused it; `null` = it is an ordinary result. */
export async function finish(
  one: Running,
  outcome: ToolOutcome,
  refused: Refused | null,
  scope: TurnScope,
): Promise<ToolMessage> {
  const durationMs = scope.platform.clock.monotonic() - one.startedAt;
  const content = await withSurroundings(one, outcome, await bounded(one.call.id, outcome, scope), scope);
  const edits: readonly FileEdit[] = outcome.edits ?? [];
  const warning = refused === null ? loopWarning(one, outcome, content, scope) : "";
  const message: ToolMessage = {
    role: "tool",
    toolCallId: one.call.id,
    toolName: one.call.name,
    content: warning === "" ? content : withSuffix(content, warning),
    ...(outcome.effect ? { effect: outcome.effect } : {}),
    meta: {
      isError: outcome.isError,
      durationMs: Math.round(durationMs),
      ...(edits.length ? { edits } : {}),
    },
    timestamp: scope.platform.clock.now() / 1000,
  };
  await scope.store([message]);
  if (one.announced || one.blocked) {
    scope.publish({
      type: "tool.end",
      call: one.view,
      result: textOf(message.content),
      isError: outcome.isError,
      durationMs,
      edits,
      todos: one.call.name === "todo" ? todosOf(content) : null,
      refused,
    });
  }
  return message;
}

function withSuffix(content: ToolOutcome["content"], text: string): ToolOutcome["content"] {
  return typeof content === "string" ? content + text : [...content, { type: "text", text }];
}

/** What the guardrails say to a call that has run. */
function loopWarning(
  one: Running,
  outcome: ToolOutcome,
  content: ToolOutcome["content"],
  scope: TurnScope,
): string {
  if (one.tool === null) return "";
  const { name, arguments: text } = one.call;
  const { kind } = one.view.description;
  return scope.guardrails.after({ name, arguments: text, kind }, textOf(content), outcome.isError);
}

/** What the touched directories ask for comes with the result, once. */
async function withSurroundings(
  one: Running,
  outcome: ToolOutcome,
  content: ToolOutcome["content"],
  scope: TurnScope,
): Promise<ToolOutcome["content"]> {
  if (outcome.isError || one.tool === null) return content;
  const { platform, settings, sessionScope, cwd, roots } = scope;
  const hints = await collectHints(one.args, { platform, settings, scope: sessionScope, cwd, roots });
  return hints === "" ? content : withHints(content, scope.guard.redact(hints, "file"));
}

async function bounded(
  callId: string,
  outcome: ToolOutcome,
  scope: TurnScope,
): Promise<ToolOutcome["content"]> {
  if (typeof outcome.content !== "string") return outcome.content;
  // A text cut between the halves of a character is refused by providers.
  const text = scope.guard.redact(outcome.content, "terminal").toWellFormed();
  if (outcome.keepWhole || text.length <= resultLimit(scope.contextWindow)) return text;
  return await spillResult(scope.platform, callId, text);
}

function todosOf(content: ToolOutcome["content"]): readonly TodoItem[] | null {
  return safely(() => {
    const todos = (JSON.parse(textOf(content)) as { todos?: TodoItem[] }).todos;
    return Array.isArray(todos) ? todos : null;
  }, null);
}
