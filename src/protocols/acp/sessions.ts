/**
 * The life of sessions on this wire (acp.md C3): new, load, resume, fork, close, delete. Each checks all it
 * was given before anything changes; what comes after an answer is sent after it.
 */
import { choiceOf, type McpServerEntry, type Message, type Session } from "@/core/contract.ts";
import { requireModel } from "./auth.ts";
import type { Connection } from "./connection.ts";
import { pathError, requireDirectory, requirePath } from "./cwd.ts";
import { sessionNotFound } from "./errors.ts";
import { replayHistory } from "./history.ts";
import { configOptions, legacyModels, modesOf } from "./options.ts";
import type { RequestContext } from "./peer.ts";
import { provenanceMeta, sessionProvenance } from "./provenance.ts";
import { mcpEntries } from "./mcp_servers.ts";
import type { LoadParams, NewParams, ResumeParams } from "./schema.ts";
import { storedRow } from "./stored.ts";
import { SessionView } from "./view.ts";

interface Place {
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
}

/** The view of a session this client names; made when it is named for the first time. */
export function viewOf(connection: Connection, id: string): SessionView {
  let view = connection.views.get(id);
  if (!view) {
    view = new SessionView(id, connection);
    connection.views.set(id, view);
  }
  return view;
}

/** The live session of an id. Throws -32002, and then nothing of the id is kept. */
export async function openSession(
  connection: Connection,
  id: string,
  place?: Place,
): Promise<{ view: SessionView; session: Session }> {
  const view = viewOf(connection, id);
  try {
    return { view, session: await view.open(place) };
  } catch (error) {
    if (!view.prompts.busy) view.drop();
    throw error;
  }
}

// ── New and fork ────────────────────────────────────────────────────────────────────────────────────────────

async function existingPlace(connection: Connection, params: NewParams | ResumeParams): Promise<Place> {
  const { files } = connection.hermes.platform;
  const cwd = await requireDirectory("cwd", params.cwd, connection.host, files);
  const additionalDirectories: string[] = [];
  for (const raw of params.additionalDirectories ?? []) {
    additionalDirectories.push(await requireDirectory("additionalDirectories", raw, connection.host, files));
  }
  return { cwd, additionalDirectories };
}

function stateOf({ hermes }: Connection, session: Session) {
  const models = legacyModels(session, hermes);
  return {
    modes: modesOf(session),
    configOptions: configOptions(session, hermes),
    ...(models ? { models } : {}),
  };
}

/** Takes over the session that `make` makes and lets it speak once its id is known to the client. */
async function introduce(
  connection: Connection,
  context: RequestContext,
  make: (view: SessionView) => Promise<Session>,
): Promise<Session> {
  const view = viewOf(connection, connection.hermes.platform.ids.uuid());
  try {
    view.adopt(await make(view));
  } catch (error) {
    view.drop();
    throw error;
  }
  context.afterResponse(() => {
    view.listen();
    view.sendOpening();
  });
  return view.session!;
}

export async function newSession(connection: Connection, params: NewParams, context: RequestContext) {
  const { hermes, chosenModel } = connection;
  const place = await existingPlace(connection, params);
  await hermes.models.settling?.(chosenModel);
  requireModel(connection, chosenModel);
  const session = await introduce(connection, context, (view) =>
    hermes.sessions.create({
      id: view.id,
      source: "acp",
      surface: "acp",
      editPolicy: "ask",
      storeNow: true,
      files: view.files,
      mcpServers: mcpEntries(params.mcpServers),
      ...place,
      ...(chosenModel ? { model: chosenModel } : {}),
    }));
  return { sessionId: session.id, ...stateOf(connection, session), _meta: provenanceMeta(hermes, session) };
}

/** The provider gate for a copy: the model is that of its source. Throws -32002 when there is no such source. */
function requireForkable(connection: Connection, id: string): void {
  const row = storedRow(connection, id);
  if (!row) throw sessionNotFound(id);
  requireModel(connection, choiceOf((connection.hermes.store().tipOf(id) ?? row).config));
}

/** How many messages end with the last call that has its result; a call that runs is not copied (acp.md C3). */
function completeCount(messages: readonly Message[]): number {
  const open = new Set<string>();
  let complete = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") open.delete(message.toolCallId);
    // Whatever was open before another message is over: it was interrupted.
    else open.clear();
    if (message.role === "assistant") { for (const call of message.toolCalls ?? []) open.add(call.id); }
    if (open.size === 0) complete = index + 1;
  }
  return complete;
}

/** What of the source is copied, when it is not all: a turn is in the middle of its calls. */
function forkedPart({ hermes }: Connection, id: string): { count?: number } {
  const store = hermes.store();
  const messages = store.loadMessages(store.tipOf(id)?.id ?? id);
  const count = completeCount(messages);
  return count === messages.length ? {} : { count };
}

export async function forkSession(connection: Connection, params: ResumeParams, context: RequestContext) {
  const { hermes, sources } = connection;
  requireForkable(connection, params.sessionId);
  const place = await existingPlace(connection, params);
  const session = await introduce(connection, context, (view) =>
    hermes.sessions.fork(params.sessionId, {
      id: view.id,
      surface: "acp",
      editPolicy: "ask",
      allowEmpty: true,
      files: view.files,
      mcpServers: mcpEntries(params.mcpServers ?? []),
      ...forkedPart(connection, params.sessionId),
      ...(sources ? { sources } : {}),
      ...place,
    }));
  return {
    sessionId: session.id,
    ...stateOf(connection, session),
    _meta: provenanceMeta(hermes, session),
  };
}

// ── Load and resume ─────────────────────────────────────────────────────────────────────────────────────────

/** Opens a stored session where the client now has it; a missing directory is accepted and told. */
async function reopen(connection: Connection, params: LoadParams | ResumeParams, context: RequestContext) {
  const { host } = connection;
  const place: Place = {
    cwd: requirePath("cwd", params.cwd, host),
    additionalDirectories: (params.additionalDirectories ?? [])
      .map((raw) => requirePath("additionalDirectories", raw, host)),
  };
  if (connection.hermes.platform.files.statSync(place.cwd)?.isDirectory === false) {
    throw pathError("cwd", params.cwd, place.cwd, "not_a_directory");
  }
  const { view, session } = await openSession(connection, params.sessionId, place);
  view.requireOpen();
  const servers = params.mcpServers ? mcpEntries(params.mcpServers) : null;
  if (session.running && !isAt(session, place)) {
    view.prompts.betweenTurns(() => moveLater(view, session, place, servers));
  } else {
    if (!isAt(session, place)) await session.setCwd(place.cwd, place.additionalDirectories);
    view.lookAtCwd(session);
    view.requireOpen();
    // Servers start in the session's directory: it must be the new one by now.
    if (servers) session.setMcpServers(servers);
  }
  context.afterResponse(() => view.sendOpening());
  return { view, session };
}

/** The turn that ran has kept its directory; the next one has the new one, in force before it is stored. */
function moveLater(
  view: SessionView,
  session: Session,
  place: Place,
  servers: McpServerEntry[] | null,
): void {
  session.setCwd(place.cwd, place.additionalDirectories).catch((error) => {
    view.report(`The session stays in ${session.cwd}: ${error instanceof Error ? error.message : error}`);
  });
  if (servers) session.setMcpServers(servers);
  view.lookAtCwd(session);
}

function isAt(session: Session, place: Place): boolean {
  const wanted = [place.cwd, ...place.additionalDirectories];
  return wanted.length === session.roots.length && wanted.every((path, i) => path === session.roots[i]);
}

/** What the user is told when earlier parts cannot be found (acp.md D4); `null` when all are there. */
function chainWarning(connection: Connection, session: Session): string | null {
  const { hermes } = connection;
  const { chainStatus, brokenAt } = sessionProvenance(hermes, session);
  if (chainStatus === "ok") return null;
  hermes.log.warn(
    `acp: session ${session.id}: the chain of its earlier parts is ${chainStatus} at ${brokenAt}`,
  );
  return "Earlier history of this session could not be found; it is shown from the first part that is there.";
}

function reopened(connection: Connection, session: Session) {
  return { ...stateOf(connection, session), _meta: provenanceMeta(connection.hermes, session) };
}

export async function resumeSession(connection: Connection, params: ResumeParams, context: RequestContext) {
  const { view, session } = await reopen(connection, params, context);
  const warning = chainWarning(connection, session);
  if (warning) view.report(warning);
  return reopened(connection, session);
}

export async function loadSession(connection: Connection, params: LoadParams, context: RequestContext) {
  const { view, session } = await reopen(connection, params, context);
  await replayHistory(view, session);
  const warning = chainWarning(connection, session);
  if (warning) view.say(warning);
  return reopened(connection, session);
}

// ── Close and delete ────────────────────────────────────────────────────────────────────────────────────────

/**
 * Cancels what runs, waits or is still being opened (each prompt is answered first), frees all, keeps the stored
 * conversation. A close wins in every phase; what comes on later lines opens the session anew, after it.
 */
export async function closeSession(connection: Connection, id: string): Promise<void> {
  const view = connection.views.get(id);
  if (!view?.isActive || !view.session && !storedRow(connection, id)) throw sessionNotFound(id);
  await endSession(connection, view, async (session) => await session?.close("agent_close"));
}

/** Removes the conversation from all lists; an unknown id is a success without effect. */
export async function deleteSession(connection: Connection, id: string): Promise<void> {
  const view = connection.views.get(id);
  // A live one may have been deleted by another process meanwhile.
  if (!view?.session && !storedRow(connection, id)) return;
  const remove = () => connection.hermes.sessions.delete(id);
  if (view) return await endSession(connection, view, remove);
  await connection.ending.get(id);
  await remove();
}

async function endSession(
  connection: Connection,
  view: SessionView,
  finish: (session: Session | null) => Promise<unknown>,
): Promise<void> {
  const { ending } = connection;
  // At once: a prompt on the next line must not find the view that ends here.
  const work = view.end().then(async (session) => {
    view.drop();
    await finish(session);
  });
  const settled = work.catch(() => {/* told by the answer */}).then(() => {
    if (ending.get(view.id) === settled) ending.delete(view.id);
  });
  ending.set(view.id, settled);
  await work;
}
