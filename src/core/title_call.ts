/** The model call that names a conversation, and what is made of its answer (core.md A.18). */
import { auxiliaryEntries, auxiliaryWishes, isForOwnModel } from "./auxiliary.ts";
import { auxiliaryClient } from "./auxiliary_client.ts";
import { localDay, reachedBudget } from "./budgets.ts";
import { withEffort } from "./fallbacks.ts";
import type { ModelClient, UsageTotals } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import type { Settings } from "./settings.ts";
import { TITLE_TASK } from "./titles.ts";

const EXCERPT = 500;
const LONGEST = 80;
const TEMPERATURE = 0.3;
const MAX_TOKENS = 500;
const NOTHING: UsageTotals = { modelCalls: 0, tokens: 0, usd: 0, seconds: 0 };
/** Thought would take the few tokens that there are. */
const NO_THOUGHT = "none";

/** Empty when the model gave none, or there is no model. */
export async function askForTitle(
  session: LiveSession,
  { asked, answer }: { asked: string; answer: string },
  signal: AbortSignal,
): Promise<string> {
  const client = clientFor(session);
  if (client === null || isOverBudget(session)) return "";
  const settings = session.services.settings();
  const language = settings.auxiliary[TITLE_TASK]?.language;
  const request = {
    system: `You name conversations: three to seven words, in ${language || "the language of the user"}. ` +
      "Answer with the title alone.",
    messages: [{
      role: "user" as const,
      content: `User: ${excerpt(asked)}\n\nAssistant: ${excerpt(answer)}`,
    }],
    tools: [],
    maxTokens: MAX_TOKENS,
    temperature: TEMPERATURE,
    // A recording is played by a built-in model, which is asked for titles only where the config says so.
    unrecorded: isByDefault(settings),
    sessionId: session.id,
  };
  let text = "";
  for await (const batch of client.stream(request, { signal })) {
    for (const chunk of batch) {
      if (chunk.type === "text") text += chunk.text;
      else if (chunk.type === "error") return "";
      else if (chunk.type === "done" && chunk.usage) {
        await session.tally.countSideCall(chunk.usage, client.info);
      }
    }
  }
  return cleanTitle(session.services.guard.redact(text, "terminal"));
}

/** What may not be spent on turns is not spent on names either. */
function isOverBudget({ services, headId }: LiveSession): boolean {
  const { platform, settings, store } = services;
  const day = localDay(platform.clock.now());
  return reachedBudget(settings().budgets, {
    prompt: NOTHING,
    kept: () => store().usageTotals(headId, day),
  }) !== null;
}

function isByDefault(settings: Settings): boolean {
  return auxiliaryEntries(settings, TITLE_TASK).length === 0 && !isForOwnModel(settings, TITLE_TASK);
}

/** The model that is named for it, else the session's own. */
function clientFor(session: LiveSession): ModelClient | null {
  const { models } = session.services;
  const settings = session.services.settings();
  if (auxiliaryEntries(settings, TITLE_TASK).length > 0) return auxiliaryClient(models, settings, TITLE_TASK);
  const { model } = session;
  if (model === null) return null;
  const effort = auxiliaryWishes(settings, TITLE_TASK).reasoningEffort ?? NO_THOUGHT;
  return withEffort(models.client(model), effort);
}

function excerpt(text: string): string {
  return text.slice(0, EXCERPT).toWellFormed();
}

/** One line without quotes or a leading "Title:", at most 80 characters; may be empty. */
export function cleanTitle(text: string): string {
  const line = text.split("\n").map((part) => part.trim()).find((part) => part !== "") ?? "";
  const bare = line.replace(/^[#*\s]*title\s*:\s*/i, "").replace(/^["'“”‘’`*]+|["'“”‘’`*.]+$/g, "").trim();
  const characters = [...bare];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST - 3).join("")}...` : bare;
}
