/**
 * `POST /v1/runs/{id}/approval` (api-server.md B4.5): an answer settles the requests it names, of that one run or
 * completion, and only with a choice that was offered. The checks and their order are the contract.
 */
import type { ApprovalChoice, Ask, AskAnswer } from "@/core/contract.ts";
import { type JsonObject, readBool, readJsonObject } from "../body.ts";
import { requireScopes } from "../callers.ts";
import { ApiError, badRequest } from "../errors.ts";
import { runNotFound } from "../runs.ts";
import { readRequestId } from "../schema/runs.ts";
import type { ApiService } from "../service.ts";

const CHOICES: ReadonlyMap<string, ApprovalChoice> = new Map([
  ["once", "once"],
  ["approve", "once"],
  ["approved", "once"],
  ["allow", "once"],
  ["session", "session"],
  ["always", "always"],
  ["deny", "deny"],
]);

export async function postApproval(api: ApiService, request: Request, id: string): Promise<Response> {
  const turn = api.turns.get(id);
  if (!turn && !api.turns.hasEnded(id) && !(await api.runs.stored(id))) throw runNotFound(id);
  const body = await readJsonObject(request);
  // Looked up again: the turn may have gone on while the body came in.
  const waiting = turn ? api.turns.pending(turn, ["approval", "edit"]) : [];
  const requestId = readRequestId(body.request_id, "invalid_approval_request");
  const all = readBool(body.all, false) || readBool(body.resolve_all, false);
  if (requestId === null && !all && waiting.length > 1) {
    throw badRequest("Several requests wait: name one by request_id, or set all", "invalid_approval_request");
  }
  const named = requestId === null ? waiting : waiting.filter((ask) => ask.id === requestId);
  const choice = readChoice(body, named);
  // It changes what is allowed for everybody, from now on.
  if (choice === "always") requireScopes(api.caller, ["admin"]);
  if (!turn?.asks || !api.turns.get(id)) {
    throw new ApiError(409, "approval_not_active", "This run takes no approvals any more");
  }
  if (named.length === 0) {
    throw new ApiError(409, "approval_not_pending", "No matching approval request waits");
  }
  const answer = toAnswer(choice, body.reason);
  const resolved =
    named.filter((ask) => turn.session.answer(ask.id, answer, api.client) === "accepted").length;
  return Response.json({
    object: "hermes.run.approval_response",
    run_id: id,
    choice,
    ...(requestId === null ? {} : { request_id: requestId }),
    resolved,
  });
}

function readChoice(body: JsonObject, asks: readonly Ask[]): ApprovalChoice {
  const text = typeof body.choice === "string" ? body.choice.trim().toLowerCase() : "";
  const choice = CHOICES.get(text);
  if (choice === undefined || !asks.every((ask) => isOffered(ask, choice))) {
    throw badRequest("The choice is not among those offered", "invalid_approval_choice", "choice");
  }
  return choice;
}

function isOffered(ask: Ask, choice: ApprovalChoice): boolean {
  const { payload } = ask;
  return (payload.kind === "approval" || payload.kind === "edit") && payload.choices.includes(choice);
}

function toAnswer(choice: ApprovalChoice, reason: unknown): AskAnswer {
  const text = choice === "deny" && typeof reason === "string" ? reason.trim() : "";
  return text === "" ? { type: "choice", choice } : { type: "choice", choice, reason: text };
}
