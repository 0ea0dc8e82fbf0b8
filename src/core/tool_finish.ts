/**
 * The end of a call: its result bounded and without secrets, with what the touched directories and the guardrails say,
 * stored and then told (core.md A.13, A.14).
 */
import { type FileEdit, textOf, type ToolMessage } from "./messages.ts";
import type { ToolOutcome } from "./ports.ts";
import { collectHints, withHints } from "./prompt_hints.ts";
import { LEAST_SPILLED, resultLimit, spillResult } from "./result_limits.ts";
import { todosIn } from "./todo_results.ts";
import type { Refused, Running } from "./tool_running.ts";
import type { TurnScope } from "./turn_scope.ts";

/** `refused`: why it did not run, when somebody or something refused it; `null` = it is an ordinary result. */
export async function finish(
  one: Running,
  outcome: ToolOutcome,
  refused: Refused | null,
  scope: TurnScope,
): Promise<ToolMessage> {
  const durationMs = scope.platform.clock.monotonic() - one.startedAt;
  const clean = withoutSecrets(outcome.content, scope);
  const todos = one.call.name === "todo" ? todosIn(textOf(clean)) : null;
  const fitting = outcome.keepWhole ? clean : await bounded(one.call.id, clean, scope);
  const content = await withSurroundings(one, outcome, fitting, scope);
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
      ...(todos !== null && textOf(clean).length >= LEAST_SPILLED ? { todos } : {}),
    },
    timestamp: scope.platform.clock.now() / 1000,
  };
  scope.failedEdits?.note(one, outcome, content, refused);
  await scope.store([message]);
  if (one.announced || one.blocked) {
    scope.publish({
      type: "tool.end",
      call: one.view,
      result: textOf(message.content),
      isError: outcome.isError,
      durationMs,
      edits,
      todos,
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

function withoutSecrets(content: ToolOutcome["content"], { guard }: TurnScope): ToolOutcome["content"] {
  // A text cut between the halves of a character is refused by providers.
  return typeof content === "string" ? guard.redact(content, "terminal").toWellFormed() : content;
}

async function bounded(
  callId: string,
  content: ToolOutcome["content"],
  { contextWindow, platform }: TurnScope,
): Promise<ToolOutcome["content"]> {
  if (typeof content !== "string" || content.length <= resultLimit(contextWindow)) return content;
  return await spillResult(platform, callId, content);
}
