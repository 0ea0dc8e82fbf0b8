/**
 * A prompt whose references have to be read before its turn can start: what the turn gets, or how it ends without one.
 * Never throws.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Session, UserInput } from "@/core/contract.ts";
import { textOf } from "@/core/contract.ts";
import { isAbort } from "@/lib/abort.ts";
import { NEVER_STARTED, type RenderTarget } from "./render.ts";
import { expandReferences, RefusedReference } from "./references.ts";

export type Prepared =
  | { readonly type: "input"; readonly input: UserInput; readonly warnings: readonly string[] }
  | { readonly type: "refused"; readonly reason: string }
  | { readonly type: "aborted" };

export async function prepareInput(
  hermes: Hermes,
  session: Session,
  input: UserInput,
  signal: AbortSignal,
): Promise<Prepared> {
  try {
    await hermes.ready();
    const { context, warnings } = await expandReferences(hermes, session, textOf(input.content), signal);
    if (signal.aborted) return { type: "aborted" };
    return { type: "input", input: context === "" ? input : withContext(input, context), warnings };
  } catch (error) {
    if (signal.aborted || isAbort(error)) return { type: "aborted" };
    if (error instanceof RefusedReference) return { type: "refused", reason: error.message };
    const reason = error instanceof Error ? error.message : String(error);
    return { type: "refused", reason: hermes.redact(`A reference cannot be read: ${reason}`) };
  }
}

/**
 * The end of a prompt whose turn never reached the model: a refused one has a start and has failed, one that was
 * stopped meanwhile (`null`) has neither.
 */
export function tellNotStarted(to: RenderTarget, refused: string | null): void {
  if (refused !== null) to.emit("message.start");
  to.emit("error", { message: refused ?? NEVER_STARTED });
  to.emit("message.complete", {
    text: refused === null ? "" : `Error: ${refused}`,
    usage: to.usage(),
    status: refused === null ? "interrupted" : "error",
    ...(refused === null ? {} : { error: refused, failure_reason: "reference_refused", recoverable: false }),
  });
  to.emitInfo();
}

/** People go on seeing what was typed. */
function withContext(input: UserInput, context: string): UserInput {
  const { content, displayText } = input;
  return {
    ...input,
    displayText: displayText ?? textOf(content),
    content: typeof content === "string"
      ? `${content}\n\n${context}`
      : [...content, { type: "text", text: context }],
  };
}
