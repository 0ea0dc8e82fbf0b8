/** Methods about the program rather than one conversation (tui-gateway.md B.16, B.17). */
import * as z from "zod/mini";
import { HermesError } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, NO_PARAMS, optional } from "./define.ts";
import { runShell } from "./shell.ts";

const optionsParams = z.object({
  session_id: anything,
  refresh: anything,
  include_unconfigured: anything,
  explicit_only: anything,
});

export function runtimeMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes } = gateway;
  return [
    method({ name: "ping", kind: "inline", params: NO_PARAMS, handle: () => ({ pong: true }) }),
    method({
      name: "setup.status",
      kind: "worker",
      params: NO_PARAMS,
      failCode: 5016,
      handle: () => ({ provider_configured: isConfigured(gateway) }),
    }),
    method({
      name: "model.options",
      kind: "worker",
      params: optionsParams,
      failCode: 5033,
      handle: (params) => modelOptions(gateway, params),
    }),
    method({
      name: "reload.env",
      kind: "inline",
      params: NO_PARAMS,
      failCode: 5015,
      handle: () => ({ updated: hermes.config.reloadEnv() }),
    }),
    method({
      name: "process.stop",
      kind: "worker",
      params: z.object({ session_id: anything }),
      failCode: 5010,
      handle: (params) => stopProcesses(gateway, params.session_id),
    }),
    method({
      name: "shell.exec",
      kind: "worker",
      params: z.object({ session_id: anything, command: optional(z.string()) }),
      failCode: 5003,
      handle: (params, { signal }) => {
        const command = params.command?.trim() ?? "";
        if (command === "") throw new RpcError(4004, "command is required");
        return runShell(gateway, command, gateway.live.maybe(params.session_id), signal);
      },
    }),
  ];
}

/** The background processes of one session; of all live ones when none is named. */
async function stopProcesses(gateway: Gateway, sid: unknown): Promise<{ killed: number }> {
  const all = sid === undefined || sid === null ? gateway.live.all() : [gateway.live.require(sid)];
  const counts = await Promise.all(all.map((live) => gateway.hermes.stopProcesses(live.session)));
  return { killed: counts.reduce((sum, count) => sum + count, 0) };
}

/** The demo is always there, so it says nothing about whether the user has set up a model. */
function isConfigured(gateway: Gateway): boolean {
  try {
    return !gateway.hermes.models.resolve().isDemo;
  } catch (error) {
    if (error instanceof HermesError) return false;
    throw error;
  }
}

async function modelOptions(
  gateway: Gateway,
  params: z.output<typeof optionsParams>,
): Promise<Record<string, unknown>> {
  const { session_id: sid } = params;
  const live = sid === undefined || sid === null ? undefined : gateway.live.require(sid);
  const model = live?.session.model;
  return await gateway.hermes.models.options({
    ...(model ? { current: { model: model.model, provider: model.provider, baseUrl: model.baseUrl } } : {}),
    refresh: isTruthy(params.refresh),
    includeUnconfigured: isTruthy(params.include_unconfigured),
    explicitOnly: isTruthy(params.explicit_only),
  });
}
