/**
 * `/undo` and `/retry` (tui-gateway.md B.17, D.1): finds the user's own last turns and rewinds to before them. Rows
 * that are no turn of the user (markers, hand-off summaries) are not counted; turns that a compression has
 * summarised are out of reach.
 */
import type { Message, UserMessage } from "./messages.ts";
import { isUserTurn, textOf } from "./messages.ts";
import { HermesError } from "./errors.ts";
import type { Session } from "./session_api.ts";

export interface Undone {
  /** Turns of the user that are gone. */
  readonly turns: number;
  /** Messages that are gone. */
  readonly removed: number;
  /** What the user had said in the oldest of them. */
  readonly text: string;
}

/** Drops the last `count` turns, or as many as there are; `null` when there is none. Throws like `dropFrom`. */
export async function undoTurns(session: Session, count: number): Promise<Undone | null> {
  if (session.running) throw new HermesError("session_busy", "session busy: a turn is running");
  // A session that holds nothing yet is not stored for this.
  if (!session.history().some(isUserTurn)) return null;
  await session.store();
  const before = session.history();
  const turns = before.filter(isUserTurn).slice(-count);
  const oldest = turns[0];
  if (oldest === undefined) return null;
  await session.dropFrom(requireRowId(oldest));
  return { turns: turns.length, removed: countFrom(before, oldest), text: typedText(oldest) };
}

/** What was put behind the user's own words for the model (attached files) is not given back. */
function typedText({ content, displayText }: UserMessage): string {
  const whole = textOf(content);
  return displayText !== undefined && whole.startsWith(`${displayText}\n\n`) ? displayText : whole;
}

function requireRowId(message: Message): number {
  if (message.rowId !== undefined && message.rowId > 0) return message.rowId;
  throw new HermesError("store_failed", "The conversation is not saved yet; try again");
}

/** Stand-ins for lost tool results are no rows of the store. */
function countFrom(messages: readonly Message[], first: UserMessage): number {
  return messages.slice(messages.indexOf(first)).filter((message) => message.rowId !== 0).length;
}
