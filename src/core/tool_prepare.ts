/**
 * A call before anything runs: its tool, its arguments, how it is shown, and the result that is known already when
 * it cannot run (core.md A.9, A.10). Asks nobody and changes nothing.
 */
import { coerceArguments, parseArguments } from "./arguments.ts";
import { ordersIn } from "./delegation_tools.ts";
import type { ToolCall } from "./messages.ts";
import { planRefusal } from "./plan_mode.ts";
import type { Tool, ToolDescription, ToolOutcome } from "./ports.ts";
import { errorOutcome } from "./tool_results.ts";
import { type Running, safely } from "./tool_running.ts";
import type { TurnScope } from "./turn_scope.ts";

const NO_DESCRIPTION: ToolDescription = { title: "", label: "", kind: "other", locations: [], startText: "" };

/** Never throws: what a tool gets wrong in describing itself costs the description only. */
export function prepare(call: ToolCall, scope: TurnScope): Running {
  const tool = scope.tools.get(call.name) ?? null;
  const parsed = parseArguments(call.arguments);
  let ready: ToolOutcome | null = null;
  let args: Record<string, unknown> = {};
  if (!tool) {
    ready = errorOutcome(unknownTool(call.name, scope));
    if (parsed.type === "ok") args = parsed.args;
  } else if (parsed.type === "ok") args = coerceArguments(parsed.args, tool.parameters);
  else if (parsed.type === "not_object") {
    ready = errorOutcome({ error: "Invalid tool arguments", message: "The arguments must be a JSON object" });
  } else {
    const why = parsed.type === "invalid" ? parsed.message : "The arguments were cut off";
    ready = errorOutcome({ error: "Invalid tool arguments", message: `Invalid JSON arguments: ${why}` });
  }
  const description = tool ? describe(tool, args, scope) : { ...NO_DESCRIPTION, title: call.name };
  if (tool && scope.planning) ready ??= planRefusal(tool, description);
  if (tool) ready ??= placeMissing(tool, scope);
  if (tool) ready ??= loopBlock(call, args, description, scope);
  const shown = scope.redactArgs(args);
  return {
    call,
    view: { id: call.id, name: call.name, args: shown, description },
    tool: ready ? null : tool,
    args,
    paths: ready ? [] : safely(() => tool!.paths?.(args, { cwd: scope.cwd }) ?? [], []),
    ready,
    announced: false,
    blocked: false,
    startedAt: scope.platform.clock.monotonic(),
    consent: null,
  };
}

/**
 * One call with broken arguments, or of a tool that does not exist, and none of its answer runs: the model corrects
 * itself with nothing half done (core.md A.9, A.10).
 */
export function withoutSpoiled(batch: readonly Running[], scope: TurnScope): readonly Running[] {
  const broken = batch.some((one) => scope.tools.has(one.call.name) && isBroken(one.call.arguments));
  const unknown = batch.some((one) => !scope.tools.has(one.call.name));
  if (!broken && !unknown) return batch;
  const why = broken
    ? "Invalid JSON arguments in another call of this answer; this one was skipped. Send the calls again"
    : "Skipped: another call of this answer named a tool that does not exist. Send this call again";
  return batch.map((one) => one.ready ? one : { ...one, tool: null, ready: errorOutcome({ error: why }) });
}

function isBroken(text: string): boolean {
  const { type } = parseArguments(text);
  return type === "invalid" || type === "truncated";
}

function unknownTool(name: string, scope: TurnScope): { error: string } {
  if (!name.trim()) return { error: "The tool name was empty. Call a tool by its name." };
  const shown = [...scope.tools.keys()].filter((known) => !scope.deferral?.hidden.has(known));
  return { error: `Tool '${name}' does not exist. Available tools: ${shown.join(", ")}` };
}

function describe(tool: Tool, args: Record<string, unknown>, scope: TurnScope): ToolDescription {
  const plain = safely(() => tool.describe(args, { cwd: scope.cwd }), {
    ...NO_DESCRIPTION,
    title: tool.name,
  });
  const clean = (text: string) => scope.guard.redact(text, "terminal");
  return {
    ...plain,
    title: clean(plain.title),
    label: clean(plain.label),
    startText: clean(plain.startText),
    ...(plain.done === undefined ? {} : { done: plain.done }),
  };
}

const IN_PLACE = new Set(["file", "terminal"]);

/** Without its directory a command would run elsewhere, and an edit would make the directory. */
function placeMissing(tool: Tool, scope: TurnScope): ToolOutcome | null {
  const missing = IN_PLACE.has(tool.toolset) ? scope.files.missing?.() ?? null : null;
  if (missing === null) return null;
  return errorOutcome({
    error:
      `The session's directory ${missing} does not exist, so '${tool.name}' was not run. Tell the user, who ` +
      "can make it again or open the conversation in another one",
  });
}

/** A call that the guardrails do not let run once more. */
function loopBlock(
  { name, arguments: text }: ToolCall,
  args: Record<string, unknown>,
  { kind }: ToolDescription,
  scope: TurnScope,
): ToolOutcome | null {
  const weight = ordersIn(name, args);
  const content = scope.guardrails.block({ name, arguments: text, kind, weight });
  return content === null ? null : { content, isError: true, effect: "none" };
}
