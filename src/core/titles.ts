/**
 * A title of its own for a conversation that has none (core.md A.18): after the first exchange, in the background,
 * and only where the config names a model for it. It delays nothing, fails silently, never replaces a title, and ends
 * with its session.
 */
import { auxiliaryClient } from "./auxiliary.ts";
import type { TurnResult } from "./events.ts";
import { isUserTurn, textOf } from "./messages.ts";
import type { ModelClient } from "./ports.ts";
import type { LiveSession } from "./session.ts";

const TASK = "title_generation";
/** Turns of the user after which it is too late. */
const LAST_TURN = 2;
const EXCERPT = 500;
const LONGEST = 80;

export class TitleWriter {
  readonly #session: LiveSession;
  #controller: AbortController | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(session: LiveSession) {
    this.#session = session;
  }

  /** Called when a turn has ended; returns at once. */
  after(result: TurnResult): void {
    const session = this.#session;
    if (result.outcome !== "completed" || result.text === "" || this.#controller) return;
    if (session.title !== null || session.closed || session.source === "subagent") return;
    const { models, log } = session.services;
    const client = auxiliaryClient(models, session.services.settings(), TASK);
    if (client === null) return;
    const turns = session.history().filter(isUserTurn);
    if (turns.length === 0 || turns.length > LAST_TURN) return;
    const controller = this.#controller = new AbortController();
    const asked = turns[0]!.displayText ?? textOf(turns[0]!.content);
    this.#writing = this.#write(client, asked, result.text, controller.signal)
      .catch((error) => log.debug(`No title: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => this.#controller = null);
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#controller?.abort();
    await this.#writing;
  }

  async #write(client: ModelClient, asked: string, answer: string, signal: AbortSignal): Promise<void> {
    const session = this.#session;
    const { auxiliary } = session.services.settings();
    const language = auxiliary[TASK]?.language;
    let text = "";
    const request = {
      system: `You name conversations: three to seven words, in ${language || "the language of the user"}. ` +
        "Answer with the title alone.",
      messages: [{
        role: "user" as const,
        content: `User: ${excerpt(asked)}\n\nAssistant: ${excerpt(answer)}`,
      }],
      tools: [],
      maxTokens: 500,
      sessionId: session.id,
    };
    for await (const batch of client.stream(request, { signal })) {
      for (const chunk of batch) {
        if (chunk.type === "text") text += chunk.text;
        else if (chunk.type === "error") return;
        else if (chunk.type === "done" && chunk.usage) await session.countSideCall(chunk.usage, client.info);
      }
    }
    const title = cleanTitle(session.services.guard.redact(text, "terminal"));
    if (title !== "" && !signal.aborted) await session.adoptTitle(title);
  }
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
