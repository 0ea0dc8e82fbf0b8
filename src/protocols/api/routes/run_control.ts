/** `POST /v1/runs/{id}/steer` and `/stop` (api-server.md B4.6, B4.7): the checks and their order are the contract. */
import { readJsonObject } from "../body.ts";
import { ApiError } from "../errors.ts";
import { runNotFound } from "../runs.ts";
import { readSteer } from "../schema/runs.ts";
import type { ApiService } from "../service.ts";

export async function postSteer(api: ApiService, request: Request, id: string): Promise<Response> {
  await requireSteerable(api, id);
  const text = readSteer(await readJsonObject(request));
  // Looked up again: the run may have gone on while the body came in.
  await requireSteerable(api, id);
  if (!steer(api, id, text)) {
    throw new ApiError(409, "steer_not_accepted", "The run did not take the text");
  }
  return Response.json({ object: "hermes.run.steer", run_id: id, accepted: true });
}

/** False when the agent does not take it. */
function steer(api: ApiService, id: string, text: string): boolean {
  try {
    return api.turns.get(id)?.session.steer(text) ?? false;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ApiError(500, "steer_failed", `The text could not be handed to the run: ${reason}`);
  }
}

async function requireSteerable(api: ApiService, id: string): Promise<void> {
  const status = api.runs.getLive(id)?.status ?? (await api.runs.stored(id))?.status;
  if (status === undefined) throw runNotFound(id);
  if (status === "running" && api.runs.getLive(id)) return;
  throw new ApiError(409, "run_not_accepting_steer", `The run takes no steer text: it is ${status}`);
}

export async function postStop(api: ApiService, id: string): Promise<Response> {
  const live = api.runs.getLive(id);
  if (live && !live.isOver) {
    live.stop();
    return Response.json({ run_id: id, status: live.status });
  }
  if (!live && api.turns.get(id)) return stopCompletion(api, id);
  const view = await api.runs.view(id);
  if (!view) throw runNotFound(id);
  if (!live && (await api.runs.stored(id))?.terminal === false) {
    throw new ApiError(409, "run_not_active", "The run belongs to another server");
  }
  return Response.json(view);
}

/** A chat or session stream, under the id it has told (D7). */
function stopCompletion(api: ApiService, id: string): Response {
  api.turns.get(id)?.handle.cancel();
  return Response.json({ run_id: id, status: "stopping" });
}
