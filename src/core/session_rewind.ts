/**
 * Cuts a live session back to before one of its rows (tui-gateway.md B.11, core.md D.8): the store first, then memory,
 * so a write that fails leaves both as they were. Who may ask for it, and with which consent, is decided above.
 */
import { HermesError } from "./errors.ts";
import type { Message } from "./messages.ts";
import type { SessionStore } from "./ports.ts";
import { repairForResume } from "./resume.ts";
import type { LiveSession } from "./session.ts";

/**
 * What stays gets new row ids: new by old. Only a stored session has row ids. Throws `message_not_found` for a row that
 * is not in the conversation now, `store_failed` when it cannot be written.
 */
export function rewindSession(session: LiveSession, rowId: number): Promise<ReadonlyMap<number, number>> {
  return cut(session, (store) => store.truncateBefore(session.headId, rowId));
}

/** The same, and what stays keeps its row ids. */
export async function dropFrom(session: LiveSession, rowId: number): Promise<void> {
  await cut(session, (store) => store.deactivateFrom(session.headId, rowId));
}

async function cut<T>(session: LiveSession, write: (store: SessionStore) => Promise<T>): Promise<T> {
  const { services, transcript } = session;
  if (!await transcript.flush()) {
    throw new HermesError("store_failed", transcript.warning ?? "The conversation cannot be saved now");
  }
  const store = services.store();
  const done = await write(store);
  transcript.swap(session.headId, repairForResume(await readAgain(session, store)));
  services.forgotten(session.scope);
  services.restored(session.scope, session.history());
  return done;
}

/** In slices; in one go when the conversation has moved on meanwhile. */
async function readAgain({ headId, transcript }: LiveSession, store: SessionStore): Promise<Message[]> {
  const { messages } = transcript;
  const { length } = messages;
  const stored = await store.fetchMessages(headId);
  const isSame = transcript.messages === messages && messages.length === length;
  return isSame ? stored : store.loadMessages(headId);
}
