/**
 * Long conversations read in slices: as `readMessages` and `readLineage`, and the thread is free in between. What comes
 * out is the conversation as it stood at the first slice; one that is rewritten meanwhile is read again at once.
 */
import type { Message } from "@/core/contract.ts";
import { Slices } from "@/lib/slices.ts";
import type { Db } from "./db.ts";
import { chainUpTo, joinChain } from "./lineage.ts";
import { orderResults, readIds, readMessages, readRange, type StoredMessage } from "./message_rows.ts";

/** Says whether rows are being rewritten in steps: a `Writer`. */
interface Rewriter {
  readonly rewriting: Promise<void> | null;
  finishRewrite(): void;
}

/** Rewrites may follow each other without end: only so many are waited for. */
const MOST_WAITS = 2;
/** Rows of one query: a fraction of a millisecond, if they are not huge. */
const CHUNK = 32;

export async function readMessagesSlowly(db: Db, sessionId: string, writer: Rewriter): Promise<Message[]> {
  return (await readSlowly(db, sessionId, { writer, slices: new Slices() })).map((entry) => entry.message);
}

export async function readLineageSlowly(db: Db, id: string, writer: Rewriter): Promise<Message[]> {
  const pace = { writer, slices: new Slices() };
  const parts: StoredMessage[][] = [];
  for (const member of chainUpTo(db, id)) parts.push(await readSlowly(db, member, pace));
  return joinChain(parts);
}

/** No row is half rewritten when this resolves. */
async function unwritten(writer: Rewriter): Promise<void> {
  for (let n = 0; n < MOST_WAITS && writer.rewriting; n++) await writer.rewriting;
  writer.finishRewrite();
}

interface Pace {
  readonly slices: Slices;
  readonly writer: Rewriter;
}

async function readSlowly(db: Db, sessionId: string, { slices, writer }: Pace): Promise<StoredMessage[]> {
  if (writer.rewriting) await unwritten(writer);
  const ids = readIds(db, sessionId);
  if (ids.length <= CHUNK) return readMessages(db, sessionId);
  const parts: StoredMessage[][] = [];
  for (let at = 0; at < ids.length; at += CHUNK) {
    if (slices.isOver) {
      await slices.next();
      if (writer.rewriting) await unwritten(writer);
    }
    parts.push(readRange(db, sessionId, ids[at]!, ids[Math.min(at + CHUNK, ids.length) - 1]!));
  }
  const found = parts.flat();
  // Rows that were added behind the last one belong to a later reading.
  const now = readIds(db, sessionId);
  const isWhole = found.length === ids.length && ids.every((row, at) => row === now[at]);
  return isWhole ? orderResults(found) : readMessages(db, sessionId);
}
