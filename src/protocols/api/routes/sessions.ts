/**
 * `/api/sessions` (api-server.md B10): the stored conversations as a resource. All of them are shown, whichever door
 * made them, to a scoped key its own; turns are in `session_chat.ts`.
 */
import { HermesError, isUserTurn, type SessionRow, type SessionSummary, textOf } from "@/core/contract.ts";
import { type JsonObject, readBool, readId, readJsonObject, readOptionalJson } from "../body.ts";
import { ApiError, badRequest } from "../errors.ts";
import { messageView, sessionView } from "../render/sessions.ts";
import { selectModel } from "../selection.ts";
import type { ApiService } from "../service.ts";
import { copyDefaults, keepModel, keepSystem, systemOf } from "../session_defaults.ts";
import { checkSessionId } from "../session_headers.ts";
import { readModelFields } from "../schema/model.ts";

const MAX_LIST = 200;
const MAX_MESSAGES = 500;
const MAX_OFFSET = 100_000;
const PREVIEW = 60;

export function listSessions(api: ApiService, query: URLSearchParams): Response {
  const limit = readNumber(query, "limit", { fallback: 50, min: 1, max: MAX_LIST });
  const offset = readNumber(query, "offset", { fallback: 0, min: 0, max: MAX_OFFSET });
  const source = query.get("source");
  const withChildren = readBool(query.get("include_children"), false);
  const store = api.hermes.store();
  const rows = store.listSessions({
    limit: offset + limit + 1,
    withMessages: false,
    ...(source === null ? {} : { sources: [source] }),
    ...(withChildren ? {} : { excludeSources: ["subagent"] }),
    ...(api.caller.keyId === null ? {} : { filter: (row: SessionSummary) => api.pool.isOwn(row.rootId) }),
  });
  const data = rows.slice(offset, offset + limit).flatMap((summary) => {
    const row = store.getSession(summary.id);
    return row ? [sessionView(summary.rootId, row, summary.preview)] : [];
  });
  return Response.json({ object: "list", data, limit, offset, has_more: rows.length > offset + limit });
}

function readNumber(
  query: URLSearchParams,
  name: string,
  { fallback, min, max }: { fallback: number; min: number; max: number },
): number {
  const text = query.get(name);
  if (text === null || text === "") return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw badRequest(`'${name}' must be a number from ${min} to ${max}`, "invalid_pagination", name);
}

export async function createSession(api: ApiService, request: Request): Promise<Response> {
  api.admission.refuseWhenDraining();
  const body = await readJsonObject(request);
  const now = Math.floor(api.hermes.platform.clock.now() / 1000);
  const id = readNewId(body) ?? `api_${now}_${api.hermes.platform.ids.hex(8)}`;
  const title = readTitle(body.title);
  const system = readSystem(body.system_prompt);
  const model = readModelFields(body);
  // Without one named, a session can be made before any model is set up.
  const isNamed = model.model !== "" || model.provider !== "";
  const choice = isNamed ? selectModel(api.hermes, model, api.options.modelName, true).choice : undefined;
  if (api.hermes.store().getSession(id)) throw sessionExists(id);
  const creating = api.pool.create(id, {
    sessionKey: null,
    storeNow: true,
    ...(title ? { title } : {}),
    ...(choice === undefined ? {} : { model: choice }),
  });
  const session = await quietly(api, creating);
  if (!session) throw sessionExists(id);
  const store = api.hermes.store();
  if (system !== null) await keepSystem(store, id, system);
  if (choice !== undefined) await keepModel(store, session);
  return Response.json({ object: "hermes.session", session: viewOf(api, id) }, { status: 201 });
}

function sessionExists(id: string): ApiError {
  return new ApiError(409, "session_exists", `Session "${id}" exists already`);
}

function readNewId(body: JsonObject): string | null {
  const value = body.id ?? body.session_id;
  if (value === undefined || value === null) return null;
  try {
    if (typeof value === "string") return checkSessionId(value);
  } catch {
    // Refused below, with the code of this route.
  }
  throw badRequest("The session id is not usable", "invalid_session_id", "id");
}

/** The core says which session has a title already; to a scoped key that may be one it must not know of. */
async function quietly<T>(api: ApiService, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (api.caller.keyId === null || !(error instanceof HermesError) || error.code !== "title_taken") {
      throw error;
    }
    throw badRequest("This title is already in use", "invalid_title", "title");
  }
}

/** `undefined` = not given. */
function readTitle(value: unknown): string | null | undefined {
  if (value === undefined || value === null) return value;
  if (typeof value !== "string") throw badRequest("'title' must be a string", "invalid_title", "title");
  return value;
}

function readSystem(value: unknown): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value === "string") return value;
  throw badRequest("'system_prompt' must be a string", "invalid_system_prompt", "system_prompt");
}

// ── One session ─────────────────────────────────────────────────────────────────────────────────────────────

/** The row that an id stands for now. Throws 404. */
export function requireRow(api: ApiService, id: string): SessionRow {
  if (!api.pool.isOwn(id)) throw sessionNotFound(id);
  const live = api.hermes.sessions.get(id);
  const store = api.hermes.store();
  const row = live ? store.getSession(live.headId) : store.tipOf(id) ?? store.getSession(id);
  if (!row) throw sessionNotFound(id);
  return row;
}

function sessionNotFound(id: string): ApiError {
  return new ApiError(404, "session_not_found", `Session not found: ${id.slice(0, 100)}`);
}

function viewOf(api: ApiService, id: string): Record<string, unknown> {
  const row = requireRow(api, id);
  const first = api.hermes.store().loadMessages(row.id).find(isUserTurn);
  const text = textOf(first?.content ?? null).replace(/\s+/g, " ").trim();
  const view = sessionView(id, row, text.slice(0, PREVIEW).toWellFormed());
  return {
    ...view,
    has_system_prompt: view.has_system_prompt === true || systemOf(api.hermes.store(), id) !== "",
  };
}

export function getSession(api: ApiService, id: string): Response {
  return Response.json({ object: "hermes.session", session: viewOf(api, id) });
}

const PATCHABLE = ["title", "end_reason"];

export async function patchSession(api: ApiService, request: Request, id: string): Promise<Response> {
  const row = requireRow(api, id);
  const body = await readJsonObject(request);
  const unknown = Object.keys(body).find((name) => !PATCHABLE.includes(name));
  if (unknown !== undefined) {
    const name = unknown.slice(0, 40);
    throw badRequest(`'${name}' cannot be changed`, "unsupported_session_field", name);
  }
  const title = readTitle(body.title);
  const store = api.hermes.store();
  if (title !== undefined) {
    const live = api.hermes.sessions.get(id);
    await quietly(api, live ? live.setTitle(title) : store.setTitle(row.id, title));
  }
  const reason = readReason(body.end_reason);
  if (reason !== null) {
    refuseWhenActive(api, id);
    await endAs(api, id, row, reason);
  }
  return getSession(api, id);
}

const MAX_REASON = 100;

/** `null` when it is not to be changed. */
function readReason(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const reason = readId(value, MAX_REASON);
  if (reason !== "") return reason;
  throw badRequest(`'end_reason' must be a text of at most ${MAX_REASON} characters`, null, "end_reason");
}

export async function deleteSession(api: ApiService, id: string): Promise<Response> {
  requireRow(api, id);
  refuseWhenActive(api, id);
  if (!(await api.hermes.sessions.delete(id))) requireRow(api, id);
  return Response.json({ object: "hermes.session.deleted", id, deleted: true });
}

/** The first reason stands, so one that only says that a server stopped gives way. */
async function endAs(api: ApiService, id: string, row: SessionRow, reason: string): Promise<void> {
  await api.hermes.sessions.get(id)?.close(reason);
  const store = api.hermes.store();
  if (row.endReason !== null) await store.reopenSession(row.id);
  await store.endSession(row.id, reason);
}

function refuseWhenActive(api: ApiService, id: string): void {
  if (!api.hermes.sessions.get(id)?.running && !api.pool.isUsed(id)) return;
  throw new ApiError(409, "session_active_turn", "A turn of this session is running");
}

export function listMessages(api: ApiService, id: string, query: URLSearchParams): Response {
  const row = requireRow(api, id);
  const limit = readNumber(query, "limit", { fallback: MAX_MESSAGES, min: 1, max: MAX_MESSAGES });
  const offset = readNumber(query, "offset", { fallback: 0, min: 0, max: MAX_OFFSET });
  const all = api.hermes.store().loadLineage(row.id);
  const ordered = query.get("order") === "latest" ? all.toReversed() : all;
  const data = ordered.slice(offset, offset + limit).map((message) => messageView(id, message));
  return Response.json({
    object: "list",
    session_id: id,
    data,
    limit,
    offset,
    has_more: all.length > offset + limit,
  });
}

export async function forkSession(api: ApiService, request: Request, id: string): Promise<Response> {
  api.admission.refuseWhenDraining();
  const row = requireRow(api, id);
  const body = await readOptionalJson(request);
  refuseWhenActive(api, id);
  const title = readTitle(body.title);
  const now = Math.floor(api.hermes.platform.clock.now() / 1000);
  const childId = readNewId(body) ?? `api_${now}_${api.hermes.platform.ids.hex(8)}`;
  if (api.hermes.store().getSession(childId)) throw sessionExists(childId);
  const fork = () =>
    api.hermes.sessions.fork(id, {
      surface: "api_server",
      editPolicy: null,
      id: childId,
      allowEmpty: true,
      ...(title ? { title } : {}),
    });
  try {
    if (!(await quietly(api, api.pool.claimFor(childId, fork)))) throw sessionExists(childId);
  } catch (error) {
    if (error instanceof HermesError && error.code === "session_exists") throw sessionExists(childId);
    throw error;
  }
  await copyDefaults(api.hermes.store(), id, childId);
  await endAs(api, id, row, "branched");
  return Response.json({ object: "hermes.session", session: viewOf(api, childId) }, { status: 201 });
}
