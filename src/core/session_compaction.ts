/** Compression of a live session: plan, summary, rotation in the store, then memory (core.md A.16, acp.md D4). */
import { abortable } from "@/lib/abort.ts";
import { planCompression, summarise } from "./compression.ts";
import { HermesError } from "./errors.ts";
import { newSessionId } from "./session_ids.ts";
import type { LiveSession } from "./session.ts";
import { TokenEstimator } from "./estimate.ts";
import type { ModelClient } from "./ports.ts";
import type { CompactionReport } from "./session_api.ts";

/** `null` when there was too little to compress. Throws when there is no model or it gives no summary. */
export async function compactSession(
  session: LiveSession,
  options: { focus: string | null; signal: AbortSignal; client?: ModelClient; turnId?: string },
): Promise<CompactionReport | null> {
  const { services, transcript } = session;
  const model = session.model;
  if (!options.client && !model) throw session.modelError!;
  const client = options.client ?? services.models.client(model!);
  const messages = transcript.messages;
  const plan = planCompression(messages, client.info.contextWindow, services.settings().compression);
  if (!plan) return null;
  const summary = summarise(plan, client, {
    signal: options.signal,
    focus: options.focus,
    sessionId: session.id,
    redact: (text) => services.guard.redact(text, "terminal"),
  });
  const content = await abortable(summary, options.signal);
  if (!content) throw new HermesError("internal", "The model gave no summary; the conversation is unchanged");
  const oldId = session.headId;
  const newId = newSessionId(services.platform);
  const child = await services.store().rotate(oldId, {
    id: newId,
    source: session.source,
    parentId: oldId,
    cwd: session.cwd,
    config: session.config,
    sessionKey: session.sessionKey,
  }, content);
  session.systemPrompt = null;
  transcript.swap(newId, services.store().loadMessages(newId));
  session.noteRotation(child.title);
  services.forgotten(session.scope);
  const estimator = new TokenEstimator();
  const report = {
    before: { messages: messages.length, tokens: estimator.messages(messages) },
    after: { messages: transcript.messages.length, tokens: estimator.messages(transcript.messages) },
  };
  session.publish(options.turnId ?? "", { type: "session.rotated", oldId, newId, ...report });
  return report;
}
