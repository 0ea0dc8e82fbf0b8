/**
 * Compression of a live session (core.md A.16, acp.md D4): lock, plan, summary, the store in one transaction, then
 * memory. Whatever fails before the store has written leaves everything as it was.
 */
import { abortable, isAbort } from "@/lib/abort.ts";
import { auxiliaryClient } from "./auxiliary_client.ts";
import {
  assemble,
  type CompressionPlan,
  planCompression,
  summarise,
  type Summary,
  summaryLength,
} from "./compression.ts";
import { summaryOfLastResort } from "./compression_outline.ts";
import { compressionThreshold, isUnreachable, tailBudget } from "./compression_policy.ts";
import { HermesError } from "./errors.ts";
import { TokenEstimator } from "./estimate.ts";
import type { Message } from "./messages.ts";
import type { ModelClient } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import type { CompactionPreview, CompactionReport } from "./session_api.ts";
import { newSessionId } from "./session_ids.ts";

const LOCK_SECONDS = 300;
const RENEW_MS = 100_000;

/** On the user's word, because the provider found it too long, or because it has reached its threshold. */
export type CompactionCause = "manual" | "overflow" | "automatic";

export interface CompactionOptions {
  readonly cause: CompactionCause;
  readonly focus: string | null;
  /** So many last turns stay, and no more. */
  readonly keepTurns?: number;
  readonly signal: AbortSignal;
  readonly client?: ModelClient;
  readonly turnId?: string;
}

/**
 * `null` when there was too little to compress, or when it must not be done by itself now. Throws when there is no
 * model, or it gives no summary and the user has asked for one; `session_busy` when another program is at it.
 */
export async function compactSession(
  session: LiveSession,
  options: CompactionOptions,
): Promise<CompactionReport | null> {
  const { services, transcript, compressionGate: gate } = session;
  const client = options.client ?? ownClient(session);
  const byHand = options.cause === "manual";
  if (!byHand && (gate.blocked || (options.cause === "automatic" && gate.resting))) return null;
  const messages = transcript.messages;
  const threshold = thresholdOf(session, client);
  const plan = planCompression(messages, threshold, services.settings().compression, options.keepTurns);
  if (!plan || (options.cause === "automatic" && hasNothingToGain(messages, threshold, session))) return null;
  if (!await abortable(transcript.flush(), options.signal)) {
    throw new HermesError("store_failed", transcript.warning ?? "The conversation cannot be saved now");
  }
  return await holdingLock(session, options, async (renew) => {
    if (!byHand) tellStart(session, options);
    const summary = await summaryOf(session, plan, client, options, renew);
    const report = await replaceContent(
      session,
      messages,
      assemble(plan, summary.text),
      options.turnId ?? "",
    );
    if (byHand) gate.reset();
    else gate.done({ before: report.before.tokens, after: report.after.tokens }, summary.isFallback);
    await keepGate(session);
    if (plan.previous !== null) tellLoss(session, options.turnId ?? "");
    return report;
  });
}

/** What a compression by hand would do now; reads only. Throws when there is no model. */
export function previewCompaction(session: LiveSession, keepTurns?: number): CompactionPreview | null {
  const { services, transcript: { messages } } = session;
  const client = ownClient(session);
  const settings = services.settings();
  const plan = planCompression(messages, thresholdOf(session, client), settings.compression, keepTurns);
  if (!plan) return null;
  const estimator = new TokenEstimator();
  const before = estimator.messages(messages);
  const kept = estimator.messages([...plan.head, ...plan.tail]);
  const gone = before - kept;
  const writer = auxiliaryClient(services.models, settings, "compression") ?? client;
  // Hardly any summary is longer than what it is about.
  const summary = Math.min(summaryLength(plan, writer.info.contextWindow), gone);
  const stays = plan.head.length + plan.tail.length;
  return {
    before: { messages: messages.length, tokens: before },
    after: { messages: stays + 1, tokens: kept + summary },
    kept: { first: plan.head.length, last: plan.tail.length },
    summarised: { messages: messages.length - stays, tokens: gone },
  };
}

function ownClient(session: LiveSession): ModelClient {
  if (!session.model) throw session.modelError!;
  return session.services.models.client(session.model);
}

function thresholdOf(session: LiveSession, client: ModelClient): number {
  const { model, compression } = session.services.settings();
  return compressionThreshold(client.info, model.max_tokens, compression);
}

/** What is to be kept anyway is all there is, or prompt and tools alone are too much. */
function hasNothingToGain(messages: readonly Message[], threshold: number, session: LiveSession): boolean {
  const budget = tailBudget(threshold, session.services.settings().compression);
  return new TokenEstimator().messages(messages) <= budget || session.tally.fixedTokens() >= threshold;
}

function tellStart(session: LiveSession, { cause, turnId }: CompactionOptions): void {
  const why = cause === "overflow" ? "is too long" : "has become long";
  session.publish(turnId ?? "", {
    type: "status",
    kind: "compacting",
    text: `The conversation ${why}; compressing it`,
  });
}

function tellLoss(session: LiveSession, turnId: string): void {
  session.publish(turnId, {
    type: "status",
    kind: "warn",
    text: "The conversation was compressed again: details of its earlier part may be lost",
  });
}

/** `null` when another program holds the lock, or `session_busy` where the user waits for it. */
async function holdingLock(
  session: LiveSession,
  { cause, signal }: CompactionOptions,
  work: (renew: () => void) => Promise<CompactionReport>,
): Promise<CompactionReport | null> {
  const { platform, log } = session.services;
  const store = session.services.store();
  const ignore = (error: unknown) => log.warn(`The compression lock: ${String(error)}`);
  const id = session.headId;
  const holder = `${platform.pid}:${session.id}:${platform.ids.hex(8)}`;
  const locking = store.lockCompression(id, holder, LOCK_SECONDS);
  const isMine = await abortable(locking, signal).catch((error) => {
    // The wait is over, the lock may still come.
    locking.then(() => store.unlockCompression(id, holder)).catch(ignore);
    throw error;
  });
  if (!isMine) {
    if (cause !== "manual") return null;
    throw new HermesError("session_busy", "Another program is compressing this session", { sessionId: id });
  }
  let renewedAt = platform.clock.monotonic();
  const renew = () => {
    const now = platform.clock.monotonic();
    if (now - renewedAt < RENEW_MS) return;
    renewedAt = now;
    store.lockCompression(id, holder, LOCK_SECONDS).catch(ignore);
  };
  try {
    return await work(renew);
  } finally {
    void store.unlockCompression(id, holder).catch(ignore);
  }
}

/** The model's, or the one of last resort; throws where there is to be none. */
async function summaryOf(
  session: LiveSession,
  plan: CompressionPlan,
  client: ModelClient,
  options: CompactionOptions,
  renew: () => void,
): Promise<{ text: string; isFallback: boolean }> {
  const { models, guard } = session.services;
  const settings = session.services.settings();
  const writer = auxiliaryClient(models, settings, "compression") ?? client;
  const asking = summarise(plan, writer, {
    signal: options.signal,
    focus: options.focus,
    sessionId: session.id,
    onProgress: () => {
      session.silence?.touch();
      renew();
    },
  }).catch((error): Summary => {
    if (isAbort(error)) throw error;
    return { type: "failed", failure: null };
  });
  const summary = await abortable(asking, options.signal);
  if (summary.type === "text") {
    if (summary.usage) {
      await abortable(session.tally.countSideCall(summary.usage, writer.info), options.signal);
    }
    return { text: guard.redact(summary.text, "terminal"), isFallback: false };
  }
  const { failure } = summary;
  const isGivenUp = options.cause === "manual" || isUnreachable(failure) ||
    settings.compression.abort_on_summary_failure;
  if (isGivenUp) {
    session.compressionGate.failed(
      failure && { ...failure, message: guard.redact(failure.message, "terminal") },
    );
    await keepGate(session);
    const why = failure ? `: ${failure.message}` : "";
    throw new HermesError("internal", `The model gave no summary; the conversation is unchanged${why}`);
  }
  const text = summaryOfLastResort(plan.middle, plan.previous);
  return { text: guard.redact(text, "terminal"), isFallback: true };
}

/** What holds compression back outlives the program. A row that cannot be written now makes no failure of it. */
async function keepGate(session: LiveSession): Promise<void> {
  const { compressionRestsUntil: rested, compressionError: _, compressionFallbacks: had, ...others } =
    session.config;
  const kept = session.compressionGate.kept(session.services.platform.clock.now() / 1000);
  if (rested === kept.compressionRestsUntil && had === kept.compressionFallbacks) return;
  session.config = { ...others, ...kept };
  await session.record.update({ config: session.config }).catch((error) =>
    session.services.log.warn(`Cannot store that compression rests: ${String(error)}`)
  );
}

async function replaceContent(
  session: LiveSession,
  before: readonly Message[],
  content: readonly Message[],
  turnId: string,
): Promise<CompactionReport> {
  const { services, transcript } = session;
  const oldId = session.headId;
  const count = before.length;
  const estimator = new TokenEstimator();
  const tokens = estimator.messages(before);
  const inPlace = services.settings().compression.in_place;
  const moved = inPlace ? await inSameRow(session, content) : await intoChild(session, content);
  session.systemPrompt = null;
  transcript.swap(moved.id, services.store().loadMessages(moved.id));
  session.noteRotation(moved.title);
  services.forgotten(session.scope);
  const report = {
    before: { messages: count, tokens },
    after: { messages: transcript.messages.length, tokens: estimator.messages(transcript.messages) },
  };
  session.publish(turnId, { type: "session.rotated", oldId, newId: moved.id, ...report });
  return report;
}

async function intoChild(session: LiveSession, content: readonly Message[]) {
  const { services, headId } = session;
  return await services.store().rotate(headId, {
    id: newSessionId(services.platform),
    source: session.source,
    parentId: headId,
    cwd: session.cwd,
    ...(session.git === null ? {} : { git: session.git }),
    config: session.config,
    sessionKey: session.sessionKey,
  }, content);
}

async function inSameRow(session: LiveSession, content: readonly Message[]) {
  const store = session.services.store();
  await store.compactInPlace(session.headId, content);
  await store.updateSession(session.headId, { systemPrompt: null });
  return { id: session.headId, title: session.title };
}
