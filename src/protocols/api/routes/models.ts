/** `GET /v1/models`, `/v1/models/{id}` and `/api/model/options` (api-server.md B7, B8). */
import { readBool } from "../body.ts";
import { ApiError } from "../errors.ts";
import type { ApiService } from "../service.ts";

interface ModelRow {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: "hermes";
  readonly permission: readonly never[];
  readonly root: string;
  readonly parent: string | null;
}

export function listModels(api: ApiService): Response {
  return Response.json({ object: "list", data: modelRows(api) });
}

export function getModel(api: ApiService, id: string): Response {
  const row = modelRows(api).find((candidate) => candidate.id === id);
  if (!row) throw new ApiError(404, "model_not_found", `Model not found: ${id.slice(0, 200)}`);
  return Response.json(row);
}

/** The virtual model, then the aliases; no catalogue, no secrets. */
function modelRows(api: ApiService): ModelRow[] {
  const { modelName } = api.options;
  const created = Math.floor(api.hermes.platform.clock.now() / 1000);
  const row = (id: string, root: string, parent: string | null): ModelRow => ({
    id,
    object: "model",
    created,
    owned_by: "hermes",
    permission: [],
    root,
    parent,
  });
  const routes = Object.entries(api.hermes.settings().gateway.api_server.model_routes);
  return [
    row(modelName, modelName, null),
    ...routes.filter(([alias]) => alias !== modelName).map(([alias, route]) =>
      row(alias, route.model, modelName)
    ),
  ];
}

export async function getModelOptions(api: ApiService, query: URLSearchParams): Promise<Response> {
  try {
    const refresh = readBool(query.get("refresh"), false);
    return Response.json(await api.hermes.models.options({ refresh, includeUnconfigured: true }));
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new ApiError(500, "model_options_failed", `Cannot list the model options: ${detail}`);
  }
}
