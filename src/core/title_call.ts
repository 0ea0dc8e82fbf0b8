/** The model call that names a conversation, and what is made of its answer (core.md A.18). */
import { isForOwnModel } from "./auxiliary.ts";
import { auxiliaryClient } from "./auxiliary_client.ts";
import type { ModelClient } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import { TITLE_TASK } from "./titles.ts";

const EXCERPT = 500;
const LONGEST = 80;
const TEMPERATURE = 0.3;
const MAX_TOKENS = 500;

/** Empty when the model gave none, or there is no model. */
export async function askForTitle(
  session: LiveSession,
  { asked, answer }: { asked: string; answer: string },
  signal: AbortSignal,
): Promise<string> {
  const client = clientFor(session);
  if (client === null) return "";
  const language = session.services.settings().auxiliary[TITLE_TASK]?.language;
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

function clientFor(session: LiveSession): ModelClient | null {
  const { models, settings } = session.services;
  if (!isForOwnModel(settings(), TITLE_TASK)) return auxiliaryClient(models, settings(), TITLE_TASK);
  const { model } = session;
  return model === null ? null : models.client(model);
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
