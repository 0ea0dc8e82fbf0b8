/** The way a request goes out, and the lazy door to the library that sends it. */

export interface RawRequest {
  readonly body: Record<string, unknown>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sends one chat request and resolves with the raw response. Rejects with the package's errors for other statuses. */
export type SendChat = (request: RawRequest) => Promise<Response>;

/** Loads the library; later calls get the same module. */
export function loadLibrary(): Promise<typeof import("./openai_library.ts")> {
  return import("./openai_library.ts");
}
