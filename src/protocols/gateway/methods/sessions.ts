/** Methods that open, list and close sessions (tui-gateway.md B.1–B.4, and most_recent and delete of B.17). */
import * as z from "zod/mini";
import type { Content, Message, SessionSummary } from "@/core/contract.ts";
import { HermesError, isUserTurn, textOf } from "@/core/contract.ts";
import type { Dialects } from "../audience.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import { renderLive, transcriptOf } from "../live_payload.ts";
import type { Client } from "../peer.ts";
import { Reply } from "../peer.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, NO_PARAMS, optional } from "./define.ts";
import { announce, createMethod } from "./session_create.ts";

const text = optional(z.string());
const cols = optional(z.number());

const resumeParams = z.object({
  session_id: anything,
  cols,
  close_on_disconnect: anything,
  lazy: anything,
  eager_build: anything,
  omit_messages: anything,
  defer_history: anything,
});

export function sessionMethods(gateway: Gateway): DefinedMethod[] {
  return [
    createMethod(gateway),
    method({
      name: "session.list",
      kind: "worker",
      params: z.object({ limit: optional(z.number()), title: text }),
      failCode: 5006,
      handle: (params) => listSessions(gateway, params.limit ?? 200, params.title),
    }),
    method({
      name: "session.active_list",
      kind: "worker",
      params: z.object({ current_session_id: anything }),
      failCode: 5036,
      handle: (params) => ({
        sessions: gateway.live.all().map((live) =>
          renderActive(live, live.sid === params.current_session_id)
        ),
      }),
    }),
    method({
      name: "session.activate",
      kind: "inline",
      params: z.object({ session_id: anything, omit_messages: anything }),
      failCode: 5000,
      handle: (params, { client }) => activateSession(gateway, params, client),
    }),
    method({
      name: "session.close",
      kind: "inline",
      params: z.object({ session_id: anything }),
      handle: async (params) => ({ closed: await gateway.live.close(params.session_id, "tui_close") }),
    }),
    method({
      name: "session.resume",
      kind: "worker",
      params: resumeParams,
      failCode: 5000,
      handle: (params, { client }) => resumeSession(gateway, params, client),
    }),
    method({
      name: "session.most_recent",
      kind: "inline",
      params: NO_PARAMS,
      handle: () => mostRecent(gateway),
    }),
    method({
      name: "session.set_pinned",
      kind: "inline",
      params: z.object({ session_id: anything, pinned: anything }),
      failCode: 5000,
      handle: (params) => pinSession(gateway, params.session_id, isTruthy(params.pinned)),
    }),
    method({
      name: "session.delete",
      kind: "inline",
      params: z.object({ session_id: anything }),
      failCode: 5036,
      handle: (params) => deleteSession(gateway, params.session_id),
    }),
  ];
}

// ── lists ───────────────────────────────────────────────────────────────────────────────────────────────────

const NOT_LISTED = ["subagent", "tool"];

function listSessions(gateway: Gateway, limit: number, title: string | undefined): Record<string, unknown> {
  if (title !== undefined) return { sessions: listTitled(gateway, title) };
  const rows = gateway.hermes.store().listSessions({
    limit: Math.min(Math.max(Math.trunc(limit), 1), 10_000),
    excludeSources: NOT_LISTED,
    withMessages: false,
    filter: (row) => row.messageCount > 0 || row.title !== null,
  });
  return { sessions: rows.map(renderSummary) };
}

/** The one of that title, looked up where it stands in the list. */
function listTitled(gateway: Gateway, title: string): Record<string, unknown>[] {
  const store = gateway.hermes.store();
  const wanted = store.findByTitle(title);
  if (wanted === null) return [];
  const rows = store.listSessions({
    limit: 1,
    before: { lastActivityAt: wanted.lastActivityAt, id: `${wanted.id}\u{10ffff}` },
    excludeSources: NOT_LISTED,
    withMessages: false,
  });
  return rows.filter(({ id }) => id === wanted.id).map((row) => ({
    ...renderSummary(row),
    resolved_id: row.id,
  }));
}

function renderSummary(row: SessionSummary): Record<string, unknown> {
  return {
    id: row.id,
    title: row.title ?? "",
    preview: row.preview,
    started_at: row.startedAt,
    last_active: row.lastActivityAt,
    message_count: row.messageCount,
    source: row.source,
    pinned: row.pinned,
  };
}

function renderActive(live: LiveSession, current: boolean): Record<string, unknown> {
  const { session } = live;
  const history = session.history();
  return {
    current,
    id: live.sid,
    last_active: live.lastActive,
    message_count: history.length,
    model: session.model?.model ?? "",
    preview: firstUserText(history).replace(/\s+/g, " ").trim().slice(0, 160),
    session_key: session.headId,
    started_at: session.createdAt,
    status: live.status,
    title: session.title ?? "",
  };
}

function firstUserText(messages: readonly Message[]): string {
  const first = messages.find(isUserTurn);
  return first ? first.displayText ?? textOf(first.content as Content) : "";
}

function mostRecent(gateway: Gateway): Record<string, unknown> {
  try {
    const [row] = gateway.hermes.store().listSessions({ limit: 1, excludeSources: ["subagent", "tool"] });
    if (!row) return { session_id: null };
    return { session_id: row.id, title: row.title ?? "", started_at: row.startedAt, source: row.source };
  } catch (error) {
    gateway.hermes.log.warn(`session.most_recent: ${error instanceof Error ? error.message : String(error)}`);
    return { session_id: null }; // this method never fails
  }
}

// ── activate, resume, delete ────────────────────────────────────────────────────────────────────────────────

async function activateSession(
  gateway: Gateway,
  params: { session_id?: unknown; omit_messages?: unknown },
  client: Client,
): Promise<Reply> {
  const live = gateway.live.require(params.session_id);
  const omitMessages = isTruthy(params.omit_messages);
  const transcript = await transcriptOf(gateway.hermes, live, { omitMessages });
  const payload = renderLive(gateway.live.require(live.sid), { cold: false, transcript });
  return rebind(gateway.live.dialects, live, client, payload, false);
}

/**
 * From here on the events go to this client; what was asked of the former one is asked again. In the request dialect
 * the payload's `open_requests` does that.
 */
export function rebind(
  dialects: Dialects,
  live: LiveSession,
  client: Client,
  payload: Record<string, unknown>,
  cold: boolean,
): Reply {
  const moved = live.bind(client);
  return new Reply(payload, () => {
    if (cold) announce(live);
    else if (moved && dialects.of(client) === "events") live.questions.repeatTo(client, "events");
  });
}

async function resumeSession(
  gateway: Gateway,
  params: z.output<typeof resumeParams>,
  client: Client,
): Promise<Reply> {
  const { hermes } = gateway;
  const wanted = params.session_id;
  if (typeof wanted !== "string" || wanted === "") throw new RpcError(4006, "session_id is required");
  const close = params.close_on_disconnect;
  const { live, cold } = await openStored(gateway, client, wanted, {
    cols: params.cols ?? 80,
    ...(close === undefined ? {} : { closeOnDisconnect: isTruthy(close) }),
  });
  if (isTruthy(params.eager_build)) await live.build();
  const deferred = isTruthy(params.defer_history);
  const omitMessages = deferred || isTruthy(params.omit_messages);
  const transcript = await transcriptOf(hermes, live, {
    ownRows: isTruthy(params.lazy),
    omitMessages,
    deferred,
    isFresh: cold,
  });
  // Somebody has closed it while it was read: it is opened anew.
  if (gateway.live.maybe(live.sid) !== live) return await resumeSession(gateway, params, client);
  const payload = renderLive(live, { cold: cold && !omitMessages, transcript });
  return rebind(gateway.live.dialects, live, client, { ...payload, resumed: live.session.headId }, cold);
}

/** The live session of a stored one, opened when it is not (`cold`). Throws 4007, 4090. */
export async function openStored(
  gateway: Gateway,
  client: Client,
  wanted: string,
  options: { readonly cols: number; readonly closeOnDisconnect?: boolean },
): Promise<{ live: LiveSession; cold: boolean }> {
  const { hermes, live: sessions } = gateway;
  const id = storedIdOf(gateway, wanted);
  await sessions.whenClosed(id);
  const known = sessions.findStored(id);
  if (known) {
    known.closeOnDisconnect = options.closeOnDisconnect ?? known.closeOnDisconnect;
    return { live: known, cold: false };
  }
  return await sessions.openOnce(id, () =>
    sessions.withPlace(async () => {
      const session = await hermes.sessions.open(id, { surface: "tui", editPolicy: null });
      return sessions.attach(session, {
        client,
        cols: options.cols,
        closeOnDisconnect: options.closeOnDisconnect ?? false,
      });
    }));
}

/** By id, then by exact title; the live end of a compressed conversation. Throws 4007. */
function storedIdOf(gateway: Gateway, wanted: string): string {
  const live = gateway.live.all().find((entry) => entry.session.headId === wanted);
  if (live?.session.stored === false) return wanted;
  const store = gateway.hermes.store();
  const row = store.getSession(wanted) ?? store.findByTitle(wanted) ?? store.tipOf(wanted);
  if (!row) throw new RpcError(4007, `Session "${wanted}" does not exist`);
  return store.resumedFrom(row.id)?.id ?? row.id;
}

/** By live or stored id, or title. A live session that is not stored yet is stored for it. Throws 4006, 4007. */
async function pinSession(gateway: Gateway, id: unknown, pinned: boolean): Promise<Record<string, unknown>> {
  if (typeof id !== "string" || id === "") throw new RpcError(4006, "session_id is required");
  const live = gateway.live.maybe(id) ?? gateway.live.findStored(id);
  if (live && !live.session.stored) await live.session.store();
  const stored = live ? live.session.headId : storedIdOf(gateway, id);
  const changed = await gateway.hermes.store().setPinned(stored, pinned);
  return { session_id: stored, pinned, changed };
}

async function deleteSession(gateway: Gateway, id: unknown): Promise<Record<string, unknown>> {
  if (typeof id !== "string" || id === "") throw new RpcError(4006, "session_id is required");
  const store = gateway.hermes.store();
  const tip = store.tipOf(id)?.id ?? id;
  if (gateway.live.findStored(id) || gateway.live.findStored(tip)) {
    throw new RpcError(4023, `Session "${id}" is open here; close it first`);
  }
  if (!await gateway.hermes.sessions.delete(id)) {
    throw new HermesError("session_not_found", `Session "${id}" does not exist`);
  }
  return { deleted: id };
}
