/**
 * The first rows of a turn (core.md D.4 `session_turn_leases`): they are stored when the conversation is nobody else's
 * and stands where this program believes it does. While another program runs a turn in it, this one waits a little;
 * what that program has added is read before anything follows it. What one has deleted is gone.
 */
import { repairForResume } from "./resume.ts";
import type { Message } from "./messages.ts";
import type { LiveSession } from "./session.ts";
import type { TurnInput } from "./turn_input.ts";
import type { TurnRows } from "./turn_rows.ts";

/** How long another program's turn is waited for. */
const WAIT_MS = 2_000;
const LOOK_MS = 50;
/** Times in a row that the conversation may have moved on; then it is taken as it is. */
const MAX_MOVES = 3;

/**
 * Throws `session_busy`, and has stored nothing, where the other program goes on, `session_not_found` where it has
 * deleted the conversation; `AbortError` on a cancel.
 */
export async function storeFirstRows(
  turn: TurnInput,
  rows: TurnRows,
  messages: readonly Message[],
): Promise<void> {
  const { transcript, scope: { platform: { clock }, signal } } = turn;
  const started = clock.monotonic();
  for (let moves = 0;;) {
    transcript.beginTurn(moves < MAX_MOVES);
    try {
      return await rows.append(messages);
    } catch (error) {
      const { refusal } = transcript;
      if (refusal === null) throw error;
      rows.takeBack(messages);
      if (refusal.data["moved"] === true) {
        moves++;
        turn.catchUp();
        continue;
      }
      const isOver = refusal.code !== "session_busy" || clock.monotonic() - started >= WAIT_MS;
      if (isOver) throw error;
    }
    await clock.delay(LOOK_MS, { signal });
  }
}

/** Reads the conversation again, where it goes on by now. */
export function catchUp(session: LiveSession): void {
  const { services, transcript } = session;
  const store = services.store();
  const row = store.tipOf(session.headId);
  if (row === null) return;
  const messages = repairForResume(store.loadMessages(row.id));
  transcript.reload(row.id, messages);
  session.systemPrompt = row.systemPrompt;
  session.callIds.learn(messages);
  session.noteRotation(row.title);
  services.forgotten(session.scope);
  services.restored(session.scope, session.history());
}
