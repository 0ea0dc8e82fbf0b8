/**
 * Control over subagents (tui-gateway.md B.16, B.17; core.md I.3). Steering belongs to whoever holds the session that
 * the child works for; an interrupt from elsewhere needs no session in the default dialect.
 */
import * as z from "zod/mini";
import type { SubagentState } from "@/core/contract.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import { renderTranscript } from "../projection.ts";
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
        if ((params.session_id ?? null) !== null || isStrict) {
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
    method({
      name: "subagent.list",
      kind: "inline",
      params: z.object({ session_id: anything }),
      handle: (params, { client }) => {
        const live = requireOwn(gateway, client, params.session_id);
        return { subagents: childrenOf(gateway, live).map(renderActive), delegations: [] };
      },
    }),
    method({
      name: "subagent.tail",
      kind: "inline",
      params: z.object({ session_id: anything, subagent_id: anything }),
      failCode: 5000,
      handle: (params, { client }) => {
        const id = subagentId(params.subagent_id);
        const live = requireOwn(gateway, client, params.session_id);
        const child = childrenOf(gateway, live).find((one) => one.id === id);
        return { subagent_id: id, ...tailOf(gateway, child?.childSessionId ?? null) };
      },
    }),
  ];
}

const TAIL_BYTES = 16 << 10;

/** The end of what is stored of a subagent's conversation, as a person would read it. */
function tailOf({ hermes }: Gateway, id: string | null): Record<string, unknown> {
  const row = id === null ? null : hermes.store().getSession(id);
  if (row === null) return { available: false, text: "", truncated: false };
  const rows = renderTranscript(hermes, hermes.store().loadMessages(row.id), row.cwd ?? "");
  const lines = rows.map(({ role, text, name, context }) =>
    role === "tool" ? `[${name}] ${context}` : `${role}: ${text}`
  );
  const bytes = new TextEncoder().encode(hermes.redact(lines.join("\n")));
  const kept = bytes.subarray(Math.max(0, bytes.length - TAIL_BYTES));
  // A character that was cut in two is left out.
  const text = new TextDecoder().decode(kept).replace(/^\ufffd+/, "");
  return { available: true, text, truncated: kept.length < bytes.length };
}

function childrenOf({ hermes }: Gateway, live: LiveSession): readonly SubagentState[] {
  return hermes.sessions.delegation.active().filter((child) => child.sessionId === live.session.id);
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
  return childrenOf(gateway, live).some((child) => child.id === id);
}
