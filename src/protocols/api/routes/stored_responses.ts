/** `GET` and `DELETE /v1/responses/{id}` (api-server.md B3). */
import { readBool } from "../body.ts";
import { ApiError, badRequest } from "../errors.ts";
import type { ApiService } from "../service.ts";
import { shownResponse } from "../stored_responses.ts";

export async function getResponse(api: ApiService, id: string, query: URLSearchParams): Promise<Response> {
  if (readBool(query.get("stream"), false)) {
    throw badRequest("A stored response cannot be streamed", "unsupported_parameter", "stream");
  }
  const row = await api.hermes.store().responses.get(id);
  if (!row) throw responseNotFound(id);
  return Response.json(shownResponse(api, row));
}

export async function deleteResponse(api: ApiService, id: string): Promise<Response> {
  if (!(await api.hermes.store().responses.delete(id))) throw responseNotFound(id);
  return Response.json({ id, object: "response", deleted: true });
}

function responseNotFound(id: string): ApiError {
  return new ApiError(404, "response_not_found", `Response not found: ${id.slice(0, 100)}`);
}
