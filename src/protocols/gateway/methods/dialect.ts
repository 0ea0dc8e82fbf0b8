/**
 * The request dialect (tui-gateway.md E): negotiation, what the answers of a host mean, and the methods beside them.
 * An answer that is unclear, late or not offered never counts as consent.
 */
import * as z from "zod/mini";
import type { ApprovalChoice, Ask } from "@/core/contract.ts";
import { CLARIFY_QID, familyOf, renderAsk, requestIdOf } from "../asks.ts";
import type { Dialect } from "../audience.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Client, Response } from "../peer.ts";
import { Reply } from "../peer.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, NO_PARAMS, optional } from "./define.ts";

const METHODS = ["approval", "clarify", "secret", "sudo"];

export function dialectMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "client.capabilities",
      kind: "inline",
      params: z.object({ server_requests: anything, client: anything }),
      handle: (params, { client }) => {
        const name = hostName(params.client);
        if (name !== "") client.name = name;
        const dialect = isTruthy(params.server_requests) ? "requests" : "events";
        return new Reply(
          { server_requests: METHODS, declines_not_shown: false },
          () => switchDialect(gateway, client, dialect),
        );
      },
    }),
    method({
      name: "gateway.capabilities",
      kind: "inline",
      params: NO_PARAMS,
      handle: () => ({ per_session_exclusive_submit: true, worker_snapshot_v1: false }),
    }),
    method({
      name: "request.answer",
      kind: "inline",
      params: z.object({ id: anything, result: anything }),
      handle: (params, { client }) => {
        if (typeof params.id !== "string" || params.id === "") throw new RpcError(4002, "id is required");
        const found = gateway.live.findServerRequest(params.id);
        if (!found) return { status: "expired" };
        settle(found.live, found.ask, client, params.result ?? {});
        return { status: "ok" };
      },
    }),
    method({
      name: "clarify.lock",
      kind: "inline",
      params: z.object({ request_id: anything, question_id: anything, answer: optional(z.string()) }),
      handle: (params, { client }) => lockAnswer(gateway, params, client),
    }),
    method({
      name: "approval.pending",
      kind: "inline",
      params: z.object({ session_id: anything }),
      handle: (params) => {
        const live = gateway.live.require(params.session_id);
        return { approvals: approvalsOf(live).map((ask) => renderAsk(gateway.hermes, ask)) };
      },
    }),
    method({
      name: "approval.received",
      kind: "inline",
      params: z.object({ session_id: anything, request_id: anything }),
      handle: (params) => {
        const id = params.request_id;
        if (typeof id !== "string" || id === "") throw new RpcError(4006, "request_id is required");
        const live = gateway.live.require(params.session_id);
        return { acknowledged: approvalsOf(live).some((ask) => requestIdOf(ask) === id) };
      },
    }),
  ];
}

function approvalsOf(live: LiveSession): readonly Ask[] {
  return live.session.asks().filter((ask) => familyOf(ask.payload) === "approval");
}

const MAX_NAME = 100;

/** `{name, version?}` as one line; empty when there is none. */
function hostName(value: unknown): string {
  const { name, version } = (value ?? {}) as Record<string, unknown>;
  if (typeof name !== "string") return "";
  const whole = typeof version === "string" ? `${name} ${version}` : name;
  return whole.replace(/[\p{C}\s]+/gu, " ").trim().slice(0, MAX_NAME).toWellFormed();
}

/** What is open is asked again in the new way. */
function switchDialect(gateway: Gateway, client: Client, dialect: Dialect): void {
  const { dialects } = gateway.live;
  if (dialects.of(client) === dialect) return;
  dialects.set(client, dialect);
  for (const live of gateway.live.all()) {
    live.audience.settle();
    if (live.audience.has(client)) live.questions.repeatTo(client, dialect);
  }
}

/** Responses are never answered, and late or unknown ones change nothing. */
export function takeResponse(gateway: Gateway, response: Response, client: Client): boolean {
  if (gateway.live.dialects.of(client) !== "requests") return false;
  const found = gateway.live.findServerRequest(response.of);
  if (!found) return true;
  if ("result" in response) settle(found.live, found.ask, client, response.result);
  else decline(found.live, found.ask, client);
  return true;
}

const BY_RESPONSE = { bySelf: true };

function settle(live: LiveSession, ask: Ask, client: Client, value: unknown): void {
  const result = typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
  if (familyOf(ask.payload) === "approval") return settleApproval(live, ask, client, result);
  const text = ask.payload.kind === "clarify" ? clarifyText(result) : result["value"];
  live.questions.answering(ask, client, BY_RESPONSE);
  live.session.answer(ask.id, { type: "text", text: typeof text === "string" ? text : "" }, client.name);
}

/** Without `answers` everything is cancelled. */
function clarifyText(result: Record<string, unknown>): unknown {
  const { answers } = result;
  return typeof answers === "object" && answers !== null
    ? (answers as Record<string, unknown>)[CLARIFY_QID]
    : "";
}

function settleApproval(
  live: LiveSession,
  ask: Ask,
  client: Client,
  result: Record<string, unknown>,
): void {
  const choice = result["choice"] as ApprovalChoice;
  const asks = isTruthy(result["all"]) ? approvalsOf(live) : [ask];
  for (const each of asks) {
    live.questions.answering(each, client, BY_RESPONSE);
    if (live.session.answer(each.id, { type: "choice", choice }, client.name) === "accepted") continue;
    live.questions.notAnswering(each);
    if (each.id === ask.id) decline(live, ask, client);
  }
}

/** Nobody can answer here: an approval is withdrawn, anything else is skipped, once nobody else can either. */
function decline(live: LiveSession, ask: Ask, client: Client): void {
  if (!live.questions.declinedByAll(ask, client)) return;
  live.questions.answering(ask, client, BY_RESPONSE);
  const isApproval = familyOf(ask.payload) === "approval";
  live.session.answer(ask.id, isApproval ? { type: "unshown" } : { type: "text", text: "" });
}

/** Our requests hold one question: locking its answer resolves the request. */
function lockAnswer(
  gateway: Gateway,
  params: { request_id?: unknown; question_id?: unknown; answer?: string | undefined },
  client: Client,
): Record<string, unknown> {
  const { request_id: requestId, question_id: question } = params;
  if (typeof requestId !== "string" || requestId === "") throw new RpcError(4002, "request_id is required");
  if (question !== CLARIFY_QID) {
    throw new RpcError(4002, `unknown question_id: ${typeof question === "string" ? question : "(none)"}`);
  }
  const found = gateway.live.findAsk(requestId, "clarify");
  if (!found) return { status: "expired" };
  found.live.session.answer(found.ask.id, { type: "text", text: params.answer ?? "" }, client.name);
  return { status: "ok", remaining: [] };
}
