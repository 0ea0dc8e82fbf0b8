/**
 * `POST /v1/runs`, `GET /v1/runs` and `GET /v1/runs/{id}` (api-server.md B4.1, B4.3). A run is reserved in the store
 * before anything happens, answered at once, and lives on without its request.
 *
 *   headers ─► body ─► key ─► fields ─► replay? ─► chain ─► slot ─► model ─► reserve ─► session ─► submit ─► 202
 */
import type { ResponseRow, RunKey } from "@/core/contract.ts";
import type { Slot } from "../admission.ts";
import { type JsonObject, readJsonObject } from "../body.ts";
import { doorTools } from "../browser/slot.ts";
import { privately } from "../callers.ts";
import { canonicalJson } from "../canonical_json.ts";
import { chainOf, requireChain } from "../chains.ts";
import { ApiError, badRequest } from "../errors.ts";
import { untilFree } from "../other_programs.ts";
import { isRunStatus, RUN_STATUSES } from "../run_status.ts";
import { RunProcesses } from "../run_processes.ts";
import { runNotFound } from "../runs.ts";
import { readRunRequest, type RunRequest } from "../schema/runs.ts";
import { runtimeOf, type Selection, selectModel, turnOptions, withSession } from "../selection.ts";
import type { ApiService } from "../service.ts";
import { readSessionHeaders, type SessionHeaders } from "../session_headers.ts";
import { sha256 } from "../sha256.ts";
import { submitAndRead } from "../submit_and_read.ts";
import type { PlaceWish } from "../turn_places.ts";

export async function postRun(api: ApiService, request: Request): Promise<Response> {
  api.admission.refuseWhenDraining();
  const headers = readSessionHeaders(request.headers);
  const body = await readJsonObject(request);
  const key = await readKey(api, request, body, headers);
  const run = readRunRequest(body);
  const earlier = key && api.runs.findByKey(key.digest);
  if (earlier) return replay(api, earlier, key, headers);
  // Not before: what a repeated request once named may no longer be kept, or allowed.
  const callbackUrl = isNothing(body.callback_url) ? null : api.callbacks.check(body.callback_url);
  const chain = run.previousResponseId === null ? null : await requireChain(api, run.previousResponseId);
  const slot = api.admission.admit(api.limit());
  try {
    return await startRun(api, { request: run, headers, chain, key, slot, callbackUrl });
  } catch (error) {
    slot.release();
    throw error;
  }
}

interface NewRun {
  readonly request: RunRequest;
  readonly headers: SessionHeaders;
  readonly chain: ResponseRow | null;
  readonly key: RunKey | null;
  readonly slot: Slot;
  /** Where its end is to be told. */
  readonly callbackUrl: string | null;
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

async function startRun(api: ApiService, run: NewRun): Promise<Response> {
  const { request, headers, key, slot } = run;
  const selection = selectModel(api.hermes, request, api.options.modelName, true);
  const id = `run_${api.hermes.platform.ids.hex(32)}`;
  const wish = wishOf(run, id);
  const sessionId = await api.places.idOf(wish);
  const row = api.runs.newRow(id, sessionId, request.model || api.options.modelName);
  const { earlier } = await api.runs.reserve(row, key, run.callbackUrl);
  if (earlier) {
    slot.release();
    return replay(api, earlier, key!, headers);
  }
  try {
    await submitRun(api, run, { row, wish, selection });
  } catch (error) {
    await api.runs.abandon(id);
    throw error;
  }
  return accepted({ run_id: id, status: "started", replayed: false }, headers);
}

interface Prepared {
  readonly row: ReturnType<ApiService["runs"]["newRow"]>;
  readonly wish: PlaceWish;
  readonly selection: Selection;
}

async function submitRun(
  api: ApiService,
  run: NewRun,
  { row, wish, selection: chosen }: Prepared,
): Promise<void> {
  const { request, slot } = run;
  api.admission.refuseWhenDraining();
  const place = await api.places.take(row.sessionId, wish);
  try {
    const { session } = place;
    const selection = withSession(api.hermes, chosen, session, place.isNew);
    await untilFree(session, api.hermes.platform.clock);
    api.admission.refuseWhenDraining();
    const settings = api.hermes.settings().gateway.api_server;
    const live = api.runs.begin({
      row,
      runId: row.id,
      model: request.model || api.options.modelName,
      showReasoning: settings.show_reasoning,
      showInterim: settings.interim_assistant_messages ?? true,
      redact: api.redact,
      runtime: (result) => runtimeOf(request, selection, result, api.options.modelName),
    });
    const system = systemOf(run);
    const history = place.context();
    const submit = () =>
      session.submit({ content: request.prompt }, {
        asks: { approval: true, edit: true, clarify: request.clarify },
        scope: row.id,
        ...(api.client === undefined ? {} : { client: api.client }),
        ...(system === "" ? {} : { systemExtra: system }),
        ...turnOptions(request, selection),
        ...(history === undefined ? {} : { history }),
        ...doorTools(api, session),
      });
    const processes = new RunProcesses(api, session);
    const handle = submitAndRead(session, submit, (event) => {
      if (event.type === "turn.start") processes.note();
      live.take(event);
    });
    api.turns.add(row.id, { session, handle, asks: true, clarifies: request.clarify });
    live.attach(handle);
    void handle.done.then(async (result) => {
      if (live.isStopped) await processes.end();
      place.release();
      slot.release();
      await live.finish(result);
    }).catch((error) => api.hermes.log.error(`api: the end of run ${row.id} went wrong: ${String(error)}`));
  } catch (error) {
    place.release();
    throw error;
  }
}

function wishOf({ request, headers, chain }: NewRun, freshId: string): PlaceWish {
  const { earlier } = request;
  const history = request.history
    ? [...request.history, ...earlier]
    : chain
    ? [...chain.history, ...earlier]
    : earlier.length > 0
    ? earlier
    : null;
  return {
    sessionId: request.sessionId ?? headers.sessionId,
    // A history of the request's own is not where the chain's session stands.
    chain: request.history || earlier.length > 0 ? withoutEnd(chainOf(chain)) : chainOf(chain),
    sessionKey: headers.sessionKey,
    history,
    freshId,
  };
}

function withoutEnd(chain: PlaceWish["chain"]): PlaceWish["chain"] {
  return chain && { ...chain, at: null };
}

function systemOf({ request, chain }: NewRun): string {
  const instructions = request.instructions ?? chain?.instructions ?? "";
  return [instructions, ...request.system].filter((text) => text !== "").join("\n");
}

// ── Idempotency (A10) ───────────────────────────────────────────────────────────────────────────────────────

async function readKey(
  api: ApiService,
  request: Request,
  body: JsonObject,
  headers: SessionHeaders,
): Promise<RunKey | null> {
  const key = request.headers.get("Idempotency-Key");
  if (key === null) return null;
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw badRequest("Idempotency-Key must be 1 to 255 visible ASCII characters", "invalid_idempotency_key");
  }
  return {
    digest: await sha256(privately(api.caller, `runs\0default\0${key}`)),
    fingerprint: await sha256(canonicalJson({ body, session_key: headers.sessionKey })),
  };
}

async function replay(
  api: ApiService,
  earlier: NonNullable<ReturnType<ApiService["runs"]["findByKey"]>>,
  key: RunKey,
  headers: SessionHeaders,
): Promise<Response> {
  if (earlier.fingerprint !== key.fingerprint) {
    throw new ApiError(409, "idempotency_key_conflict", "This Idempotency-Key was used for another request");
  }
  const view = await api.runs.view(earlier.run.id);
  const status = view?.status ?? earlier.run.status;
  const response = accepted({ run_id: earlier.run.id, status, replayed: true }, headers);
  response.headers.set("Idempotency-Replayed", "true");
  return response;
}

function accepted(body: Record<string, unknown>, { sessionKey }: SessionHeaders): Response {
  return Response.json(body, {
    status: 202,
    ...(sessionKey === null ? {} : { headers: { "X-Hermes-Session-Key": sessionKey } }),
  });
}

// ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────────

export async function getRun(api: ApiService, id: string): Promise<Response> {
  const view = await api.runs.view(id);
  if (!view) throw runNotFound(id);
  return Response.json(view);
}

const MAX_PAGE = 200;

/** Newest first; `after` is the last id of the page before. */
export async function listRuns(api: ApiService, query: URLSearchParams): Promise<Response> {
  const limit = Number(query.get("limit") || 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw badRequest(`'limit' must be a number from 1 to ${MAX_PAGE}`, "invalid_pagination", "limit");
  }
  const [status, sessionId, after] = [query.get("status"), query.get("session_id"), query.get("after")];
  // An empty page would say that there are none.
  if (status !== null && !isRunStatus(status)) {
    throw badRequest(`'status' must be one of ${RUN_STATUSES.join(", ")}`, null, "status");
  }
  if (after !== null && !(await api.runs.stored(after))) {
    throw badRequest(
      "'after' names no run that is kept; begin at the first page",
      "invalid_pagination",
      "after",
    );
  }
  const rows = await api.runs.list({
    limit: limit + 1,
    ...(status === null ? {} : { status }),
    ...(sessionId === null ? {} : { sessionId }),
    ...(after === null ? {} : { after }),
  });
  const data = rows.slice(0, limit);
  return Response.json({
    object: "list",
    data,
    first_id: data[0]?.run_id ?? null,
    last_id: data.at(-1)?.run_id ?? null,
    has_more: rows.length > limit,
  });
}
