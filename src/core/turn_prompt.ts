/** The system prompt of a turn: the session's own, byte for byte, for as long as it holds (core.md A.4). */
import { abortable, isAbort } from "@/lib/abort.ts";
import { settingsOf } from "./delegation.ts";
import { gitPlaceOf } from "./git_place.ts";
import type { ResolvedModel, Tool } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import { buildSystemPrompt, memoriesOf } from "./system_prompt.ts";

/** The stored prompt, byte for byte; built and stored when there is none. */
export async function systemPromptOf(
  session: LiveSession,
  model: ResolvedModel,
  tools: readonly Tool[],
  signal: AbortSignal,
): Promise<string> {
  if (session.systemPrompt !== null) return session.systemPrompt;
  const { services } = session;
  const { platform, log, home, looks } = services;
  const settings = settingsOf(session);
  const building = memoriesOf(session.scope, { platform, log, home, settings }).then((memories) =>
    buildSystemPrompt({
      platform,
      settings,
      log,
      home,
      looks,
      cwd: session.cwd,
      roots: session.roots,
      surface: session.child ? "subagent" : session.surface,
      tools,
      model,
      skills: services.skills ?? null,
      get childEnv() {
        return services.childEnv();
      },
      memories,
    })
  );
  const looking = gitPlaceOf(platform.files, session.cwd, looks);
  const prompt = await abortable(building, signal).catch((error) => {
    if (isAbort(error)) return null;
    throw error;
  });
  if (prompt === null) return ""; // Nothing is sent: the first step sees the cancel.
  session.systemPrompt = prompt;
  const git = session.git = await looking;
  session.hasMoved = false;
  if (!session.stored) return prompt; // The row is written with it.
  try {
    await abortable(services.store().updateSession(session.headId, { systemPrompt: prompt, git }), signal);
  } catch (error) {
    services.log.warn(
      `Cannot store the system prompt: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  return prompt;
}
