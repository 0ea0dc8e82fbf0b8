/** Subagents as hosts see them (tui-gateway.md B.16, B.17). None runs in this build, so nothing is found. */
import * as z from "zod/mini";
import { RpcError } from "../errors.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, NO_PARAMS, optional } from "./define.ts";

const MAX_SPAWN_DEPTH = 1;
const MAX_CHILDREN = 3;

export function delegationMethods(gateway: Gateway): DefinedMethod[] {
  let paused = false;
  return [
    method({
      name: "delegation.status",
      kind: "inline",
      params: NO_PARAMS,
      handle: () => ({
        active: [],
        paused,
        max_spawn_depth: MAX_SPAWN_DEPTH,
        max_concurrent_children: MAX_CHILDREN,
      }),
    }),
    method({
      name: "delegation.pause",
      kind: "inline",
      params: z.object({ paused: anything }),
      handle: (params) => {
        paused = params.paused === undefined || isTruthy(params.paused);
        return { paused };
      },
    }),
    method({
      name: "subagent.interrupt",
      kind: "inline",
      params: z.object({ subagent_id: anything }),
      handle: (params) => ({ found: false, subagent_id: subagentId(params.subagent_id) }),
    }),
    method({
      name: "subagent.steer",
      kind: "inline",
      params: z.object({ session_id: anything, subagent_id: anything, text: optional(z.string()) }),
      handle: (params) => {
        const subagent_id = subagentId(params.subagent_id);
        const text = params.text?.trim() ?? "";
        if (text === "") throw new RpcError(4002, "text is required");
        gateway.live.require(params.session_id);
        return { status: "rejected", subagent_id, text };
      },
    }),
  ];
}

function subagentId(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new RpcError(4000, "subagent_id is required");
}
