/** The `ModelClient` of any wire: sets up the sender once, then one `WireCall` per request. */
import type { ModelChunk, ModelClient, ModelRequest, ResolvedModel } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { NO_KEY } from "../keys.ts";
import type { Runtime } from "../runtime.ts";
import { type FailureContext, failureOf } from "./failures.ts";
import type { LocalServerFacts } from "./local_server.ts";
import { estimateTokens } from "./request_size.ts";
import type { RightOfWay } from "./right_of_way.ts";
import type { Senders } from "./senders.ts";
import type { ServerMemory } from "./server_memory.ts";
import { timeLimits } from "./time_limits.ts";
import type { Send, Wire } from "./wire.ts";
import { WireCall } from "./wire_call.ts";

export interface WireClientOptions {
  readonly runtime: Runtime;
  readonly platform: Platform;
  readonly senders: Senders;
  readonly rightOfWay: RightOfWay;
  env(name: string): string | undefined;
  redact(text: string): string;
  /** What is known about the server in a session. */
  memory(sessionId: string): ServerMemory;
  /** What a server of the user's own must be told or asked first; `null` for all others. */
  localFacts(signal: AbortSignal): Promise<LocalServerFacts | null>;
  /** Waits until a call may start; rejects with `AbortError`. */
  pace(signal: AbortSignal): Promise<void>;
  /** What to change about the address, asked after a 404. */
  addressAdvice(signal: AbortSignal): Promise<string | null>;
  /** An overflow has stated the window of this model. */
  onWindow(tokens: number): Promise<void>;
  /** Instead of the usual limit for connecting. Milliseconds. */
  readonly connectMs: number | undefined;
}

export class WireClient implements ModelClient {
  readonly info: ResolvedModel;
  readonly #wire: Wire;
  readonly #options: WireClientOptions;
  readonly #failures: FailureContext;
  #send: Send | null = null;

  constructor(wire: Wire, options: WireClientOptions) {
    this.#wire = wire;
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
    const { runtime, platform, senders, env, memory, onWindow, connectMs } = this.#options;
    try {
      this.#send ??= await senders.of(this.#wire, runtime, platform);
    } catch (error) {
      yield this.#refuse(`The client cannot be set up: ${error}`);
      return;
    }
    await this.#options.pace(signal).catch(() => {/* cancelled while it waited */});
    if (signal.aborted) return;
    const facts = await this.#options.localFacts(signal);
    if (signal.aborted) return;
    if (facts?.refusal) {
      yield this.#refuse(facts.refusal);
      return;
    }
    const call = new WireCall(
      {
        runtime,
        platform,
        failures: this.#failures,
        limits: timeLimits(runtime, estimateTokens(request), env, connectMs),
        memory: memory(request.sessionId),
        rightOfWay: this.#options.rightOfWay,
        wire: this.#wire,
        send: this.#send,
        extraBody: facts?.extraBody ?? {},
        onWindow,
        addressAdvice: this.#options.addressAdvice,
      },
      request,
      signal,
    );
    yield* call.run();
  }

  #refuse(message: string): readonly ModelChunk[] {
    return [{ type: "error", failure: failureOf("config", message, this.#failures), toolInFlight: false }];
  }
}
