/** `GET` and `DELETE /v1/responses/{id}` (api-server.md B3). */
import type { ResponseRow } from "@/core/contract.ts";
import { readBool } from "../body.ts";
import { sees } from "../callers.ts";
import { ApiError, badRequest } from "../errors.ts";
import type { ApiService } from "../service.ts";
import { shownResponse } from "../stored_responses.ts";

export async function getResponse(api: ApiService, id: string, query: URLSearchParams): Promise<Response> {
  if (readBool(query.get("stream"), false)) {
    throw badRequest("A stored response cannot be streamed", "unsupported_parameter", "stream");
  }
  return Response.json(shownResponse(api, await requireOwn(api, id)));
}

export async function deleteResponse(api: ApiService, id: string): Promise<Response> {
  await requireOwn(api, id);
  if (!(await api.kept.responses.delete(id))) throw responseNotFound(id);
  return Response.json({ id, object: "response", deleted: true });
}

/** One of another key is unknown. */
async function requireOwn(api: ApiService, id: string): Promise<ResponseRow> {
  const row = await api.kept.responses.get(id);
  if (!row || !sees(api.caller, row.keyId)) throw responseNotFound(id);
  return row;
}

function responseNotFound(id: string): ApiError {
  return new ApiError(404, "response_not_found", `Response not found: ${id.slice(0, 100)}`);
}
