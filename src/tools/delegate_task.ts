/**
 * `delegate_task`: hands tasks to subagents and brings their reports back (core.md I.1). This file reads the call and
 * writes the result; who runs, where and with what is the core's.
 */
import type {
  BoundedResult,
  ChildRole,
  ChildTask,
  DelegationReply,
  Delegator,
  Tool,
  ToolContext,
  ToolOutcome,
} from "@/core/contract.ts";
import { type Args, maybeString, readText, ToolError } from "./args.ts";
import { delegateTask } from "./cards/work.ts";
import { fail, settle, succeed } from "./result.ts";

const DISPATCHED =
  "The tasks run in the background. Their results come by themselves as a later message; do not wait or ask for " +
  "them. Go on with other work, or tell the user and end your turn.";

const text = { type: "string" } as const;
const role = { type: "string", enum: ["leaf", "orchestrator"] } as const;

export function createDelegateTask(): Tool {
  return {
    name: "delegate_task",
    toolset: "delegation",
    description:
      "Hands work that is large, independent or would fill this conversation to subagents in the same " +
      "directory; they report back. Give goal, or tasks to run side by side. They see nothing of this " +
      "conversation: goal and context must say all (paths, errors, decisions). A report is their word: " +
      "check what matters. An orchestrator may start subagents itself, where allowed. background=false: " +
      "wait for the reports. Those in the background: action list, steer (message), stop, by subagent_id.",
    parameters: {
      type: "object",
      properties: {
        goal: text,
        context: text,
        tasks: {
          type: "array",
          items: { type: "object", properties: { goal: text, context: text, role }, required: ["goal"] },
        },
        role,
        background: { type: "boolean" },
        action: { type: "string", enum: ["spawn", "list", "steer", "stop"] },
        subagent_id: text,
        message: text,
      },
    },
    parallel: "never",
    // Each of its subagents is watched by itself.
    limitSeconds: () => Infinity,
    available: ({ settings }) => settings.delegation.max_spawn_depth > 0,
    describe: delegateTask,
    execute: (args, context) => settle(() => run(args, context)),
  };
}

async function run(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const { delegator, callId, signal } = context;
  if (!delegator) return fail("Subagents cannot be used here. Do the work yourself");
  const action = maybeString(args, "action") ?? "spawn";
  if (action === "list") return succeed({ active: listOf(delegator) });
  if (action === "stop") return stop(args, delegator);
  if (action === "steer") return steer(args, delegator);
  if (action !== "spawn") return fail(`There is no action '${action}': spawn, list, steer or stop`);
  const tasks = tasksOf(args);
  const background = typeof args.background === "boolean" ? args.background : null;
  let reply: DelegationReply;
  try {
    reply = await delegator.order({ callId, tasks, background, signal });
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  return reply.type === "dispatched" ? dispatched(reply) : reported(reply);
}

function tasksOf(args: Args): ChildTask[] {
  const shared = roleOf(args.role) ?? "leaf";
  if (args.tasks === undefined || args.tasks === null) {
    return [{ goal: readText(args, "goal"), context: maybeString(args, "context") ?? "", role: shared }];
  }
  if (maybeString(args, "goal") !== null) throw new ToolError("Give either 'goal' or 'tasks', not both");
  if (!Array.isArray(args.tasks) || args.tasks.length === 0) {
    throw new ToolError("'tasks' must be a list of at least one task");
  }
  return args.tasks.map((task, index) => {
    if (!isObject(task) || !(maybeString(task, "goal") ?? "").trim()) {
      throw new ToolError(`Task ${index + 1} has no 'goal'`);
    }
    return {
      goal: maybeString(task, "goal")!,
      context: maybeString(task, "context") ?? maybeString(args, "context") ?? "",
      role: roleOf(task.role) ?? shared,
    };
  });
}

function roleOf(value: unknown): ChildRole | null {
  if (value === undefined || value === null || value === "") return null;
  if (value === "leaf" || value === "orchestrator") return value;
  throw new ToolError(`'role' must be "leaf" or "orchestrator", got ${JSON.stringify(value)}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// ── Results ─────────────────────────────────────────────────────────────────────────────────────────────────

function dispatched(reply: Extract<DelegationReply, { type: "dispatched" }>): ToolOutcome {
  const { id, goals } = reply;
  return succeed({
    status: "dispatched",
    mode: "background",
    count: goals.length,
    delegation_id: id,
    goals,
    note: DISPATCHED,
  });
}

function reported(reply: Extract<DelegationReply, { type: "results" }>): ToolOutcome {
  const { results, seconds, notes } = reply;
  const body = {
    results: results.map(entryOf),
    total_duration_seconds: seconds,
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  };
  const allFailed = results.every((result) => result.status !== "completed");
  return allFailed ? { content: JSON.stringify(body), isError: true, effect: "unknown" } : succeed(body);
}

function entryOf(result: BoundedResult): Record<string, unknown> {
  return {
    task_index: result.taskIndex,
    status: result.status,
    summary: result.summary,
    api_calls: result.apiCalls,
    duration_seconds: result.durationSeconds,
    model: result.model,
    exit_reason: result.exitReason,
    tokens: {
      input: result.usage.input + result.usage.cacheRead + result.usage.cacheWrite,
      output: result.usage.output,
    },
    tool_trace: result.trace.map(({ tool, argsBytes, resultBytes, status }) => ({
      tool,
      args_bytes: argsBytes,
      result_bytes: resultBytes,
      status,
    })),
    ...(result.error === null ? {} : { error: result.error }),
    ...(result.truncated ? { summary_truncated: true } : {}),
    ...(result.fullPath === undefined ? {} : { summary_full_path: result.fullPath }),
    ...(result.missedSteer === null ? {} : { missed_steer: result.missedSteer }),
  };
}

// ── Control ─────────────────────────────────────────────────────────────────────────────────────────────────

function listOf(delegator: Delegator): Record<string, unknown>[] {
  return delegator.active().map((child) => ({
    subagent_id: child.id,
    goal: child.goal,
    status: child.status,
    model: child.model,
    tool_count: child.toolCount,
    last_tool: child.lastTool,
    started_at: child.startedAt,
  }));
}

function stop(args: Args, delegator: Delegator): ToolOutcome {
  const id = readText(args, "subagent_id");
  return delegator.stop(id) ? succeed({ status: "stopping", subagent_id: id }) : notRunning(id);
}

function steer(args: Args, delegator: Delegator): ToolOutcome {
  const id = readText(args, "subagent_id");
  const text = readText(args, "message");
  return delegator.steer(id, text) ? succeed({ status: "queued", subagent_id: id, text }) : notRunning(id);
}

function notRunning(id: string): ToolOutcome {
  return fail(`No subagent '${id}' runs here, or it takes nothing any more`);
}
