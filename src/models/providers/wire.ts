/**
 * What a wire is made of: how its request is built and sent, and how its answer is read. The call itself (reading,
 * time limits, cancelling, what a refusal teaches) is the same for all, see wire_call.ts.
 */
import type { ModelRequest, ResolvedModel } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { CacheTtl, Runtime } from "../runtime.ts";
import type { Assembler } from "./assembler.ts";
import type { FailureContext } from "./failures.ts";

export interface RawRequest {
  readonly body: Record<string, unknown>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** A beta for longer conversations was refused: it is not named again. */
  readonly ordinaryContext?: true;
  /** No cache of the provider may answer it. */
  readonly anew?: true;
}

/**
 * Sends one request and resolves with the raw response of a success. Rejects otherwise, with an error that has
 * `status`, `headers` and `error` (the parsed body) when there was an answer.
 */
export type Send = (request: RawRequest) => Promise<Response>;

export interface BodyOptions {
  readonly stream: boolean;
  /** False: our own output cap was refused before, so none is sent. */
  readonly ownCap: boolean;
  /** False: summaries of the thought were refused before. */
  readonly summaries: boolean;
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly cacheTtl: CacheTtl;
  /** Most output tokens of the model; `null` when unknown. */
  readonly maxOutput: number | null;
}

export interface Wire {
  /** Loads what sending needs. Throws when the settings make no request (a malformed URL or header). */
  createSender(runtime: Runtime, platform: Platform): Promise<Send>;
  buildBody(request: ModelRequest, model: ResolvedModel, options: BodyOptions): Record<string, unknown>;
  /** True when the body will hold an output cap that nobody asked for and that may be left out. */
  hasOwnCap(request: ModelRequest, model: ResolvedModel): boolean;
  createAssembler(context: FailureContext): Assembler;
}
