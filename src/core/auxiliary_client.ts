/**
 * The client of a side task (core.md E.4): its own model, within its own time, and the next one of its chain when it
 * fails before it has said anything. Like any client it throws nothing.
 */
import { auxiliaryEntries, type AuxiliaryEntry, auxiliaryWishes } from "./auxiliary.ts";
import { withEffort } from "./fallbacks.ts";
import type { ModelChunk, ModelClient, Models } from "./ports.ts";
import type { Settings } from "./settings.ts";

/** `null` where the task has no model of its own, or none that can be used. */
export function auxiliaryClient(models: Models, settings: Settings, task: string): ModelClient | null {
  const { seconds } = auxiliaryWishes(settings, task);
  const clients = auxiliaryEntries(settings, task).flatMap((entry) => {
    const client = clientOf(models, entry);
    if (client === null) return [];
    return [seconds === null ? client : withLimit(client, seconds)];
  });
  const [first, ...others] = clients;
  if (!first) return null;
  return others.length === 0 ? first : new Chain([first, ...others]);
}

function clientOf(models: Models, { choice, reasoningEffort }: AuxiliaryEntry): ModelClient | null {
  try {
    return withEffort(models.client(models.resolve(choice)), reasoningEffort);
  } catch {
    return null; // A place without a key or a model is passed over.
  }
}

/** `info` is the model that was asked last. */
class Chain implements ModelClient {
  readonly #clients: readonly [ModelClient, ...ModelClient[]];
  #current: ModelClient;

  constructor(clients: readonly [ModelClient, ...ModelClient[]]) {
    this.#clients = clients;
    this.#current = clients[0];
  }

  get info(): ModelClient["info"] {
    return this.#current.info;
  }

  async *stream(...args: Parameters<ModelClient["stream"]>): AsyncIterable<readonly ModelChunk[]> {
    for (const client of this.#clients) {
      this.#current = client;
      const mayMove = client !== this.#clients.at(-1);
      let hasSpoken = false;
      let hasFailed = false;
      for await (const batch of client.stream(...args)) {
        hasSpoken ||= batch.some(({ type }) => type === "text");
        hasFailed = mayMove && !hasSpoken && batch.some(({ type }) => type === "error");
        if (hasFailed) break;
        yield batch;
      }
      if (!hasFailed) return;
    }
  }
}

function withLimit(client: ModelClient, seconds: number): ModelClient {
  return {
    info: client.info,
    async *stream(request, { signal }) {
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), seconds * 1000);
      try {
        yield* client.stream(request, { signal: AbortSignal.any([signal, limit.signal]) });
      } finally {
        clearTimeout(timer);
      }
      if (limit.signal.aborted && !signal.aborted) yield [tooLate(client, seconds)];
    },
  };
}

function tooLate({ info: { model, provider } }: ModelClient, seconds: number): ModelChunk {
  const message = `${model} did not answer in ${seconds} s`;
  const failure = { kind: "timeout" as const, message, model, provider, retryable: true };
  return { type: "error", toolInFlight: false, failure };
}
