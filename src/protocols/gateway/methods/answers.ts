/**
 * Answers to open questions (tui-gateway.md B.13). An answer settles the one question it names; nothing that is
 * unclear, late or not offered ever counts as consent.
 */
import * as z from "zod/mini";
import type { ApprovalChoice, Ask, AskAnswer } from "@/core/contract.ts";
import type { AskFamily } from "../asks.ts";
import { familyOf, requestIdOf } from "../asks.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Client } from "../peer.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, optional } from "./define.ts";

const CHOICES: readonly ApprovalChoice[] = ["once", "session", "always", "deny"];
const text = optional(z.string());

export function answerMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "clarify.respond",
      kind: "inline",
      params: z.object({ request_id: anything, answer: text }),
      handle: (params, { client }) => {
        if (answerText(gateway, "clarify", params.request_id, params.answer ?? "", client)) {
          return { status: "ok" };
        }
        throw new RpcError(4009, "no pending answer request");
      },
    }),
    method({
      name: "sudo.respond",
      kind: "inline",
      params: z.object({ request_id: anything, password: text }),
      handle: (params, { client }) =>
        answerOrExpired(gateway, "sudo", params.request_id, params.password ?? "", client),
    }),
    method({
      name: "secret.respond",
      kind: "inline",
      params: z.object({ request_id: anything, value: text }),
      handle: (params, { client }) =>
        answerOrExpired(gateway, "secret", params.request_id, params.value ?? "", client),
    }),
    method({
      name: "approval.respond",
      kind: "inline",
      params: z.object({ session_id: anything, choice: anything, all: anything, request_id: text }),
      failCode: 5004,
      handle: (params, { client }) => respondApproval(gateway, params, client),
    }),
  ];
}

/** False when no such question is open. */
function answerText(
  gateway: Gateway,
  family: AskFamily,
  requestId: unknown,
  answer: string,
  client: Client,
): boolean {
  const found = gateway.live.findAsk(requestId, family);
  if (!found) return false;
  return answerAsk(gateway, found.live, found.ask, { type: "text", text: answer }, client);
}

/** False when it comes too late. */
function answerAsk(
  gateway: Gateway,
  live: LiveSession,
  ask: Ask,
  answer: AskAnswer,
  client: Client,
): boolean {
  const inRequests = gateway.live.dialects.of(client) === "requests";
  if (inRequests) live.questions.answering(ask, client, { bySelf: false });
  const isAccepted = live.session.answer(ask.id, answer, client.name) === "accepted";
  if (inRequests && !isAccepted) live.questions.notAnswering(ask);
  return isAccepted;
}

function answerOrExpired(
  gateway: Gateway,
  family: AskFamily,
  requestId: unknown,
  answer: string,
  client: Client,
): { status: string } {
  if (typeof requestId !== "string" || requestId === "") {
    throw new RpcError(4009, `no pending ${family} request: request_id is required`);
  }
  return { status: answerText(gateway, family, requestId, answer, client) ? "ok" : "expired" };
}

interface ApprovalParams {
  readonly session_id?: unknown;
  readonly choice?: unknown;
  readonly all?: unknown;
  readonly request_id?: string | undefined;
}

function respondApproval(gateway: Gateway, params: ApprovalParams, client: Client): { resolved: number } {
  const live = approvalSession(gateway, params);
  const choice = parseChoice(params.choice ?? "deny");
  const asks = addressed(live, params);
  const refusing = asks.find((ask) => !offers(ask, choice));
  if (refusing) {
    throw new RpcError(4002, `choice "${choice}" was not offered by request ${requestIdOf(refusing)}`);
  }
  const accepted = asks.filter((ask) => answerAsk(gateway, live, ask, { type: "choice", choice }, client));
  return { resolved: accepted.length };
}

/** An id that no live session has may be an old one, or the stored one: the question itself tells more. Throws 4001. */
function approvalSession({ live }: Gateway, { session_id: id, request_id }: ApprovalParams): LiveSession {
  if (typeof id !== "string" || id === "" || live.maybe(id)) return live.require(id);
  return live.findAsk(request_id, "approval")?.live ?? live.findStored(id) ?? live.require(id);
}

function parseChoice(value: unknown): ApprovalChoice {
  const choice = CHOICES.find((candidate) => candidate === value);
  if (!choice) throw new RpcError(4002, `choice must be one of ${CHOICES.join(", ")}`);
  return choice;
}

/** The approvals this answer is for. Throws 4002 when it could be meant for any of several. */
function addressed(live: LiveSession, params: ApprovalParams): readonly Ask[] {
  const waiting = live.session.asks().filter((ask) => familyOf(ask.payload) === "approval");
  if (params.request_id !== undefined) {
    return waiting.filter((ask) => requestIdOf(ask) === params.request_id);
  }
  if (isTruthy(params.all) || waiting.length <= 1) return waiting;
  throw new RpcError(4002, `${waiting.length} approvals wait: name one by request_id, or say all`);
}

function offers(ask: Ask, choice: ApprovalChoice): boolean {
  const { payload } = ask;
  return (payload.kind === "approval" || payload.kind === "edit") && payload.choices.includes(choice);
}
