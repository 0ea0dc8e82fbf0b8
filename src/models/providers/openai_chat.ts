/** The Chat Completions adapter: one `ModelClient` over any compatible endpoint. */
import type { ModelChunk, ModelClient, ModelRequest, ResolvedModel } from "@/core/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { NO_KEY } from "../keys.ts";
import type { Runtime } from "../runtime.ts";
import { ChatCall, type ServerMemory } from "./chat_call.ts";
import { type FailureContext, failureOf } from "./failures.ts";
import { loadLibrary, type SendChat } from "./send_chat.ts";
import { timeLimits } from "./time_limits.ts";
import { estimateTokens } from "./wire_request.ts";

export interface ChatClientOptions {
  readonly runtime: Runtime;
  readonly platform: Platform;
  env(name: string): string | undefined;
  redact(text: string): string;
  /** What is known about the server in a session. */
  memory(sessionId: string): ServerMemory;
}

export class ChatClient implements ModelClient {
  readonly info: ResolvedModel;
  readonly #options: ChatClientOptions;
  readonly #failures: FailureContext;
  #send: SendChat | null = null;

  constructor(options: ChatClientOptions) {
    this.#options = options;
    const { runtime, platform, redact } = options;
    this.info = runtime.model;
    const { apiKey } = runtime;
    this.#failures = {
      provider: runtime.model.provider,
      model: runtime.model.model,
      redact: (text) => redact(apiKey === NO_KEY || apiKey === "" ? text : text.replaceAll(apiKey, "***")),
      now: () => platform.clock.now(),
    };
  }

  async *stream(
    request: ModelRequest,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<readonly ModelChunk[]> {
    const { runtime, platform, env, memory } = this.#options;
    try {
      this.#send ??= (await loadLibrary()).createSender(runtime, platform);
    } catch (error) {
      const failure = failureOf("config", `The client cannot be set up: ${error}`, this.#failures);
      yield [{ type: "error", failure, toolInFlight: false }];
      return;
    }
    const call = new ChatCall(
      {
        runtime,
        platform,
        failures: this.#failures,
        limits: timeLimits(runtime, estimateTokens(request), env),
        memory: memory(request.sessionId),
        send: this.#send,
      },
      request,
      signal,
    );
    yield* call.run();
  }
}
