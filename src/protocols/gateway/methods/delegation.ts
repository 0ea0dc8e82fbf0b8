/**
 * Control over subagents (tui-gateway.md B.16, B.17; core.md I.3). Steering belongs to whoever holds the session that
 * the child works for; an interrupt from elsewhere needs no session in the default dialect.
 */
import * as z from "zod/mini";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { renderActive } from "../subagents.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, NO_PARAMS, optional } from "./define.ts";

export function delegationMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes } = gateway;
  const control = () => hermes.sessions.delegation;
  return [
    method({
      name: "delegation.status",
      kind: "inline",
      params: NO_PARAMS,
      handle: () => {
        const { max_spawn_depth, max_concurrent_children } = hermes.settings().delegation;
        return {
          active: control().active().map(renderActive),
          paused: control().paused,
          max_spawn_depth,
          max_concurrent_children,
        };
      },
    }),
    method({
      name: "delegation.pause",
      kind: "inline",
      params: z.object({ paused: anything }),
      handle: (params) => {
        control().pause(params.paused === undefined || isTruthy(params.paused));
        return { paused: control().paused };
      },
    }),
    method({
      name: "subagent.interrupt",
      kind: "inline",
      params: z.object({ subagent_id: anything, session_id: anything }),
      handle: (params, { client }) => {
        const id = subagentId(params.subagent_id);
        const isStrict = gateway.live.dialects.of(client) === "requests";
        if (params.session_id !== undefined || isStrict) {
          const live = requireOwn(gateway, client, params.session_id);
          if (!worksFor(gateway, id, live)) return { found: false, subagent_id: id };
        }
        return { found: control().interrupt(id), subagent_id: id };
      },
    }),
    method({
      name: "subagent.steer",
      kind: "inline",
      params: z.object({ session_id: anything, subagent_id: anything, text: optional(z.string()) }),
      handle: (params, { client }) => {
        const id = subagentId(params.subagent_id);
        const text = params.text?.trim() ?? "";
        if (text === "") throw new RpcError(4002, "text is required");
        const live = requireOwn(gateway, client, params.session_id);
        const isQueued = control().steer(live.session.id, id, text);
        return { status: isQueued ? "queued" : "rejected", subagent_id: id, text };
      },
    }),
  ];
}

function subagentId(value: unknown): string {
  if (typeof value === "string" && value !== "") return value;
  throw new RpcError(4000, "subagent_id is required");
}

/** The live session when this connection holds it. Throws 4001. */
function requireOwn(gateway: Gateway, client: Client, sessionId: unknown): LiveSession {
  const live = gateway.live.require(sessionId);
  if (!live.audience.has(client)) throw new RpcError(4001, "session not found on this connection");
  return live;
}

function worksFor(gateway: Gateway, id: string, live: LiveSession): boolean {
  const child = gateway.hermes.sessions.delegation.active().find((one) => one.id === id);
  return child?.sessionId === live.session.id;
}
