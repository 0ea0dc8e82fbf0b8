/** LivePayload of tui-gateway.md B.0: what a host needs to show a session it has just come to. */
import type { Hermes } from "@/app/mod.ts";
import type { Message } from "@/core/contract.ts";
import type { LiveSession } from "./live.ts";
import { renderTranscript } from "./projection.ts";

export interface PayloadOptions {
  /** The session was restored by this very request: `message_count` counts what is shown. */
  readonly cold: boolean;
  readonly omitMessages: boolean;
  /** The rows as `lineageOf` gives them, where they were read before. */
  readonly rows?: readonly Message[];
}

/**
 * Rows of the conversation over its compression chain, or its `ownRows` only; from memory as long as nothing is stored.
 */
export function lineageOf(hermes: Hermes, live: LiveSession, ownRows = false): readonly Message[] {
  const { session } = live;
  if (!session.stored) return session.history();
  return ownRows ? hermes.store().loadMessages(session.headId) : hermes.store().loadLineage(session.headId);
}

export function renderLive(
  hermes: Hermes,
  live: LiveSession,
  options: PayloadOptions,
): Record<string, unknown> {
  const { session } = live;
  const rows = options.rows ?? lineageOf(hermes, live);
  const messages = options.omitMessages ? [] : renderTranscript(hermes, rows, session.cwd);
  const inflight = session.inflight();
  return {
    session_id: live.sid,
    session_key: session.headId,
    message_count: options.cold ? messages.length : rows.length,
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
