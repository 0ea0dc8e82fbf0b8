/** Changes of a session that touch its conversation; done while no turn runs. */
import type { SwitchResult } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import { forgetMemories } from "./system_prompt.ts";

/** The row first; when it is refused, nothing has changed (core.md F.4 "Applying"). */
export async function applyModel(session: LiveSession, result: SwitchResult): Promise<void> {
  const { model, provider, baseUrl, apiMode } = result.model;
  // First, because a file that cannot be written must leave the session as it is.
  if (result.global) await session.services.persistModel(result.model);
  const config = { ...session.config, model, provider, baseUrl, apiMode };
  await session.record.update({ config, systemPrompt: null });
  session.config = config;
  session.systemPrompt = null;
  session.tally.forgetPrompt();
  if (session.transcript.messages.length > 0) {
    await session.transcript.append([{
      role: "user",
      content: `[System: The active model for this chat has changed to ${model} via provider ${provider}.]`,
      displayKind: "model_switch",
    }]);
  }
  session.changed("model");
}

/** Empties the conversation; id and title stay. */
export async function resetSession(session: LiveSession): Promise<void> {
  const { services, transcript, scope } = session;
  if (session.stored) await services.store().clearMessages(session.headId);
  transcript.swap(session.headId, []);
  services.forgotten(scope);
  forgetMemories(scope);
  session.systemPrompt = null;
  session.tally.forgetPrompt();
}
