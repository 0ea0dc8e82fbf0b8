/**
 * What `previous_response_id` continues (api-server.md B2.1, D1): the stored history, instructions and session of an
 * earlier response. Shared by responses and runs.
 */
import type { ResponseRow } from "@/core/contract.ts";
import { sees } from "./callers.ts";
import { ApiError } from "./errors.ts";
import type { ApiService } from "./service.ts";
import type { PlaceWish } from "./turn_places.ts";

/** Throws 404 for an id that is unknown or no longer kept. */
export async function requireChain(api: ApiService, id: string): Promise<ResponseRow> {
  const row = await api.kept.responses.get(id);
  if (row && sees(api.caller, row.keyId)) return row;
  throw new ApiError(
    404,
    "previous_response_not_found",
    `Previous response not found: ${id.slice(0, 100)}`,
    { param: "previous_response_id" },
  );
}

/** Where a continuation of it goes. */
export function chainOf(row: ResponseRow | null): PlaceWish["chain"] {
  if (!row) return null;
  const { sessionId, headId, lastRowId } = row;
  return { sessionId, at: headId === null || lastRowId === null ? null : { headId, lastRowId } };
}
