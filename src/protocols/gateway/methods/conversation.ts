/** Methods on one live session besides prompting it (tui-gateway.md B.5–B.8, terminal.resize, E.3). */
import * as z from "zod/mini";
import { promptTokens } from "@/core/contract.ts";
import type { Dialect } from "../audience.ts";
import { RpcError } from "../errors.ts";
import type { WireUsage } from "../info.ts";
import type { LiveSession } from "../live.ts";
import { transcriptOf } from "../live_payload.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, NO_PARAMS, optional } from "./define.ts";

const onSession = z.object({ session_id: anything });

export function conversationMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes, live: sessions } = gateway;
  return [
    method({
      name: "session.interrupt",
      kind: "inline",
      params: onSession,
      handle: (params) => {
        sessions.require(params.session_id).interrupt();
        return { status: "interrupted" };
      },
    }),
    method({
      name: "session.steer",
      kind: "inline",
      params: z.object({ session_id: anything, text: optional(z.string()) }),
      failCode: 5000,
      handle: (params) => {
        const text = params.text?.trim() ?? "";
        if (text === "") throw new RpcError(4002, "text is required");
        const { session } = sessions.require(params.session_id);
        if (session.modelError) throw new RpcError(4010, `nothing to steer: ${session.modelError.message}`);
        const accepted = session.steer(text);
        return { status: accepted ? "queued" : "rejected", text };
      },
    }),
    method({
      name: "session.history",
      kind: "inline",
      params: onSession,
      failCode: 5000,
      handle: async (params) => ({ ...await transcriptOf(hermes, sessions.require(params.session_id)) }),
    }),
    method({
      name: "session.usage",
      kind: "worker",
      params: onSession,
      handle: (params) => {
        const live = sessions.require(params.session_id);
        return live.session.usage().calls === 0 ? NO_CALLS : live.usage();
      },
    }),
    method({
      name: "session.status",
      kind: "inline",
      params: onSession,
      handle: (params) => renderStatus(gateway, sessions.require(params.session_id)),
    }),
    method({
      name: "session.title",
      kind: "inline",
      params: z.object({ session_id: anything, title: z.optional(z.nullable(z.string())) }),
      failCode: 5007,
      handle: (params) => {
        const live = sessions.require(params.session_id);
        if (params.title !== undefined) return writeTitle(live, params.title ?? "");
        return { title: live.session.title ?? "", session_key: live.session.headId };
      },
    }),
    method({
      name: "terminal.resize",
      kind: "inline",
      params: z.object({ session_id: anything, cols: optional(z.number()) }),
      handle: (params) => {
        const live = sessions.require(params.session_id);
        live.cols = params.cols ?? 80;
        return { cols: live.cols };
      },
    }),
    method({
      name: "session.events.since",
      kind: "inline",
      params: z.object({ session_id: anything, last_seen: optional(z.int()) }),
      handle: (params, { client }) => {
        const live = sessions.require(params.session_id);
        const { events: kept, truncated } = live.ring.since(params.last_seen ?? 0);
        const foreign = FOREIGN_EVENTS[sessions.dialects.of(client)];
        const events = kept.filter((event) => !foreign.test(String(event["type"])));
        return {
          events,
          latest_seq: live.ring.latest,
          truncated,
          count: events.length,
          epoch: gateway.epoch,
          open_requests: live.questions.list(),
        };
      },
    }),
    method({
      name: "session.events.stats",
      kind: "inline",
      params: NO_PARAMS,
      handle: () => sessions.budget.stats(),
    }),
  ];
}

/** Events about questions that a connection of this dialect is never sent. */
const FOREIGN_EVENTS: Readonly<Record<Dialect, RegExp>> = {
  events: /^request\.cancel$/,
  requests: /^(approval|clarify|sudo|secret)\.(request|expire)$/,
};

/** Before the first call there is nothing to tell. */
const NO_CALLS: WireUsage = { calls: 0, input: 0, output: 0, total: 0 };

// ── title ───────────────────────────────────────────────────────────────────────────────────────────────────

/** What a title must hold more of than: control, zero-width and bidi characters and white space. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]/gu;

async function writeTitle(live: LiveSession, title: string): Promise<Record<string, unknown>> {
  if (title.replace(INVISIBLE, "") === "") throw new RpcError(4021, "title is empty");
  return { pending: false, title: await live.setTitle(title) ?? "" };
}

// ── status ──────────────────────────────────────────────────────────────────────────────────────────────────

function renderStatus(gateway: Gateway, live: LiveSession): Record<string, unknown> {
  const { session } = live;
  const { usage } = session.usage();
  const tokens = promptTokens(usage) + usage.output;
  const resolved = session.model;
  const model = resolved?.model ?? gateway.hermes.settings().model.default;
  const provider = resolved?.provider ?? gateway.hermes.settings().model.provider;
  const updatedAt = Math.max(session.lastActivityAt, live.createdAt);
  const lines = [
    "Hermes TUI Status",
    "",
    `Session ID: ${session.headId}`,
    `Path: ${gateway.hermes.home}`,
    ...(session.title === null ? [] : [`Title: ${session.title}`]),
    `Model: ${model} (${provider})`,
    `Created: ${localMinute(session.createdAt)}`,
    `Last Activity: ${localMinute(updatedAt)}`,
    `Tokens: ${grouped(tokens)}`,
    `Agent Running: ${live.running ? "Yes" : "No"}`,
  ];
  return {
    output: lines.join("\n"),
    session_key: session.headId,
    model,
    provider,
    running: live.running,
    status: live.status,
    tokens,
    created_at: session.createdAt,
    updated_at: updatedAt,
  };
}

/** `12,345`; a formatter of the language library costs a millisecond at each call. */
function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `YYYY-MM-DD HH:MM`, local time. */
function localMinute(unixSeconds: number): string {
  const d = new Date(unixSeconds * 1000);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ` +
    `${two(d.getHours())}:${two(d.getMinutes())}`;
}
