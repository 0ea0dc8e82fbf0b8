/** LivePayload of tui-gateway.md B.0: what a host needs to show a session it has just come to. */
import type { Hermes } from "@/app/mod.ts";
import type { Message, Session } from "@/core/contract.ts";
import type { LiveSession } from "./live.ts";
import { renderSlowly, renderTranscript, type TranscriptMessage } from "./projection.ts";

export interface PayloadOptions {
  /** The session was restored by this very request and all is shown: `message_count` counts that. */
  readonly cold: boolean;
  readonly transcript: Transcript;
}

/** A conversation as it stands at one moment. */
export interface Transcript {
  /** Raw rows; those that are not shown count, too. */
  readonly count: number;
  readonly messages: readonly TranscriptMessage[];
}

export interface TranscriptOptions {
  /** Without what was compressed away: the rows of the session itself. */
  readonly ownRows?: boolean;
  /** Only their number is asked for. */
  readonly omitMessages?: boolean;
  /** Nor is anything read to know it: what the model still sees is counted. */
  readonly deferred?: boolean;
  /** What is in memory has just been read: it is the stored conversation, unless that goes on from another. */
  readonly isFresh?: boolean;
}

const TRIES = 2;

/**
 * The conversation over its compression chain; from memory as long as nothing is stored. Others are served while a long
 * one is read, and no row is missing at the moment this resolves: one that a turn has grown meanwhile is read again,
 * the last time in one go.
 */
export async function transcriptOf(
  hermes: Hermes,
  { session }: LiveSession,
  options: TranscriptOptions = {},
): Promise<Transcript> {
  if (options.deferred) return { count: session.history().filter(isStored).length, messages: [] };
  for (let n = 0; n < TRIES; n++) {
    const { headId } = session;
    const history = session.history();
    const count = history.length;
    const isEnough = options.isFresh === true || options.omitMessages === true;
    const isAtHand = !session.stored || (n === 0 && isEnough && isRoot(hermes, headId));
    const rows = isAtHand ? history.filter(isStored) : await fetchRows(hermes, headId, options);
    const messages = options.omitMessages ? [] : await renderSlowly(hermes, rows, session.cwd);
    const isSame = session.headId === headId && session.history() === history && history.length === count;
    if (isSame) return { count: rows.length, messages };
  }
  const rows = lineageOf(hermes, session, options);
  const messages = options.omitMessages ? [] : renderTranscript(hermes, rows, session.cwd);
  return { count: rows.length, messages };
}

/** What a resume has made up for a call without a result is no row. */
function isStored({ rowId }: Message): boolean {
  return rowId !== 0;
}

function isRoot(hermes: Hermes, id: string): boolean {
  return hermes.store().getSession(id)?.parentId === null;
}

function fetchRows(hermes: Hermes, id: string, options: TranscriptOptions): Promise<readonly Message[]> {
  return options.ownRows ? hermes.store().fetchMessages(id) : hermes.store().fetchLineage(id);
}

function lineageOf(hermes: Hermes, session: Session, options: TranscriptOptions): readonly Message[] {
  if (!session.stored) return session.history();
  const { headId } = session;
  return options.ownRows ? hermes.store().loadMessages(headId) : hermes.store().loadLineage(headId);
}

export function renderLive(live: LiveSession, options: PayloadOptions): Record<string, unknown> {
  const { session } = live;
  const { count, messages } = options.transcript;
  const inflight = session.inflight();
  return {
    session_id: live.sid,
    session_key: session.headId,
    message_count: options.cold ? messages.length : count,
    messages,
    info: live.info(),
    running: live.running,
    started_at: session.createdAt,
    status: live.status,
    inflight: inflight && { user: inflight.user, assistant: inflight.assistant, streaming: true },
    ...(live.queuedText === null ? {} : { queued: { user: live.queuedText } }),
    open_requests: live.questions.list(),
  };
}
