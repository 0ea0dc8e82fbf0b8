/**
 * Detached agents (tui-gateway.md B.12): a session of its own without the parent's history, whose answer comes back
 * as one event of the parent. It cannot ask anybody, so what would need consent is refused in it.
 */
import * as z from "zod/mini";
import type { TurnResult } from "@/core/contract.ts";
import { NOBODY_TO_ASK } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

/** Model calls of one task, unless the configuration allows fewer. */
const MAX_STEPS = 25;

export function backgroundMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "prompt.background",
      kind: "worker",
      params: z.object({ session_id: anything, text: optional(z.string()) }),
      failCode: 5000,
      handle: async (params) => {
        const live = gateway.live.require(params.session_id);
        const text = params.text?.trim() ?? "";
        if (text === "") throw new RpcError(4012, "text is required");
        return { task_id: await startBackground(gateway, live, text) };
      },
    }),
  ];
}

/** Starts the task; its id. Throws 5032 without a model. */
export async function startBackground(gateway: Gateway, live: LiveSession, text: string): Promise<string> {
  const { hermes } = gateway;
  const { session } = live;
  if (!session.model) throw new RpcError(5032, session.modelError?.message ?? "No model can be used");
  const { model, provider, baseUrl, apiMode } = session.model;
  const taskId = `bg_${hermes.platform.ids.hex(6)}`;
  const task = await hermes.sessions.create({
    id: taskId,
    source: "subagent",
    surface: "tui",
    cwd: session.cwd,
    editPolicy: null,
    model: { model, provider, baseUrl, apiMode },
    ...(session.reasoningEffort === null ? {} : { reasoningEffort: session.reasoningEffort }),
  });
  const maxSteps = Math.min(MAX_STEPS, hermes.settings().agent.max_turns ?? MAX_STEPS);
  const turn = task.submit({ content: text }, {
    asks: NOBODY_TO_ASK,
    maxSteps,
    personality: live.personality,
  });
  live.tasks.add(task);
  turn.done.then(async (result) => {
    live.tasks.delete(task);
    if (!live.session.closed) live.emit("background.complete", { task_id: taskId, text: answerOf(result) });
    await task.close("background_done");
  }).catch((error) => hermes.log.error(`Background task ${taskId}: ${String(error)}`));
  return taskId;
}

function answerOf(result: TurnResult): string {
  if (result.outcome === "failed" || result.outcome === "refused") {
    return `error: ${result.failure?.message ?? "the task failed"}`;
  }
  return result.outcome === "cancelled" ? "error: the task was stopped" : result.text;
}
