/**
 * Changes of a session's mode, options and model (acp.md C7, C9). A value that is refused changes nothing: it is
 * checked against what is stored before the session is opened for it. A prompt on a later line comes after the change.
 */
import type { Session } from "@/core/contract.ts";
import type { Connection } from "./connection.ts";
import {
  checkConfigOption,
  checkMode,
  checkModel,
  type Chosen,
  configOptions,
  setConfigOption,
  setModel,
} from "./options.ts";
import type { RequestContext } from "./peer.ts";
import { openSession, viewOf } from "./sessions.ts";
import { chosenOf, storedRow } from "./stored.ts";
import type { SessionView } from "./view.ts";

/** Answers with what `work` gives; never throws. */
function inOrder(
  connection: Connection,
  id: string,
  context: RequestContext,
  work: () => Promise<unknown>,
): void {
  const view = viewOf(connection, id);
  const settled = work().then(context.respond, context.fail).then(() => {
    // Refused before anything was opened.
    if (!view.isActive) view.drop();
  });
  view.prompts.holdWhile(settled);
}

/** The live session of an id, once `check` has nothing against the change. Throws -32002 for an unknown id. */
async function openFor(
  connection: Connection,
  id: string,
  check: (chosen: Chosen) => void | Promise<void>,
): Promise<{ view: SessionView; session: Session }> {
  const row = connection.views.get(id)?.isActive ? null : storedRow(connection, id);
  if (row) await check(chosenOf(connection, row));
  return await openSession(connection, id);
}

export function changeMode(
  connection: Connection,
  params: { sessionId: string; modeId: string },
  context: RequestContext,
): void {
  const { sessionId, modeId } = params;
  inOrder(connection, sessionId, context, async () => {
    const { view, session } = await openFor(connection, sessionId, () => checkMode(modeId));
    checkMode(modeId);
    await session.setMode(modeId);
    context.afterResponse(() => view.sendConfigOptions());
  });
}

export function changeConfigOption(
  connection: Connection,
  params: { sessionId: string; configId: string; value: string | boolean },
  context: RequestContext,
): void {
  const { hermes } = connection;
  const { sessionId, configId, value } = params;
  inOrder(connection, sessionId, context, async () => {
    const check = (chosen: Chosen) => checkConfigOption(chosen, hermes, configId, value);
    const { view, session } = await openFor(connection, sessionId, check);
    const { mode } = await setConfigOption(session, hermes, configId, value);
    if (mode !== null) {
      context.afterResponse(() => view.send({ sessionUpdate: "current_mode_update", currentModeId: mode }));
    }
    return { configOptions: configOptions(session, hermes) };
  });
}

export function changeModel(
  connection: Connection,
  params: { sessionId: string; modelId: string },
  context: RequestContext,
): void {
  const { sessionId, modelId } = params;
  inOrder(connection, sessionId, context, async () => {
    const check = (chosen: Chosen) => checkModel(chosen, connection.hermes, modelId);
    const { session } = await openFor(connection, sessionId, check);
    await setModel(session, modelId);
  });
}
