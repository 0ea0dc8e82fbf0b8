/** A client whose code is loaded with its first call: choosing a model must not cost what calling it costs. */
import type { ModelChunk, ModelClient, ModelRequest, ResolvedModel } from "@/core/contract.ts";

export class LazyClient implements ModelClient {
  readonly info: ResolvedModel;
  readonly #load: () => Promise<ModelClient>;
  #client: ModelClient | null = null;

  constructor(info: ResolvedModel, load: () => Promise<ModelClient>) {
    this.info = info;
    this.#load = load;
  }

  async *stream(
    request: ModelRequest,
    options: { signal: AbortSignal },
  ): AsyncGenerator<readonly ModelChunk[]> {
    this.#client ??= await this.#load();
    yield* this.#client.stream(request, options);
  }
}
