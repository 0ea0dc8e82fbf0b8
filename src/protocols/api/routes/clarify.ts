/**
 * `POST /v1/runs/{id}/clarify`: the answer to a question that a run asks, when it was started with `clarify`. The
 * checks and their order are those of approvals (api-server.md B4.5); an empty answer skips the question.
 */
import { readJsonObject } from "../body.ts";
import { ApiError, badRequest } from "../errors.ts";
import { runNotFound } from "../runs.ts";
import { readRequestId } from "../schema/runs.ts";
import type { ApiService } from "../service.ts";

export async function postClarify(api: ApiService, request: Request, id: string): Promise<Response> {
  const turn = api.turns.get(id);
  if (!turn && !api.turns.hasEnded(id) && !(await api.runs.stored(id))) throw runNotFound(id);
  const body = await readJsonObject(request);
  // Looked up again: the turn may have gone on while the body came in.
  const waiting = turn ? api.turns.pending(turn, ["clarify"]) : [];
  const requestId = readRequestId(body.request_id, "invalid_clarify_request");
  if (requestId === null && waiting.length > 1) {
    throw badRequest("Several questions wait: name one by request_id", "invalid_clarify_request");
  }
  const { answer } = body;
  if (typeof answer !== "string") {
    throw badRequest(
      "'answer' must be a string; an empty one skips the question",
      "invalid_clarify_answer",
      "answer",
    );
  }
  if (!turn?.clarifies || !api.turns.get(id)) {
    throw new ApiError(409, "clarify_not_active", "This run takes no answers to questions");
  }
  const asked = waiting.find((ask) => requestId === null || ask.id === requestId);
  if (
    !asked || turn.session.answer(asked.id, { type: "text", text: answer.trim() }, api.client) !== "accepted"
  ) {
    throw new ApiError(409, "clarify_not_pending", "No matching question waits");
  }
  return Response.json({
    object: "hermes.run.clarify_response",
    run_id: id,
    request_id: asked.id,
    resolved: 1,
  });
}
