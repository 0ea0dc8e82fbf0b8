/**
 * May a server of the outside ask the model while one of its tools runs? The guard decides as for a call of that server
 * (`policy.rules`); where it wants a person's word, the person is asked, and silence is no consent.
 */
import { isAbort } from "@/lib/abort.ts";
import { isBeyond } from "@/lib/image_head.ts";
import type { AskOutcome } from "./asks.ts";
import { SENDABLE } from "./image_fitting.ts";
import type { SampleAnswer, SampleRequest } from "./sampler.ts";
import { type Running, safely } from "./tool_running.ts";
import type { TurnScope } from "./turn_scope.ts";

const LONGEST_TITLE = 300;

/** Rejects with an `Error` that says why not, or with what the model call rejects with. */
export async function sampleFor(
  one: Running,
  request: SampleRequest,
  scope: TurnScope,
): Promise<SampleAnswer> {
  if (!scope.sampler) throw new Error("no model can be asked here");
  await allowed(one, request, scope);
  try {
    return await scope.sampler(await withFittedImages(request, scope));
  } catch (error) {
    if (isAbort(error)) throw error;
    // A stranger reads it, and a provider may repeat the key in it.
    throw new Error(scope.guard.redact(error instanceof Error ? error.message : String(error), "full"));
  }
}

/** Images that are larger than models take are made smaller (core.md B.10). */
async function withFittedImages(request: SampleRequest, { fitImage }: TurnScope): Promise<SampleRequest> {
  const hasLarge = request.messages.some(({ content }) =>
    content !== null && typeof content !== "string" &&
    content.some((part) => part.type === "image_url" && isBeyond(part.image_url.url, SENDABLE))
  );
  if (!fitImage || !hasLarge) return request;
  const { fitMessages } = await import("./image_urls.ts");
  return { ...request, messages: await fitMessages(request.messages, SENDABLE, fitImage, request.signal) };
}

async function allowed(
  one: Running,
  { server, tool, title }: SampleRequest,
  scope: TurnScope,
): Promise<void> {
  const shown = scope.guard.redact(title, "terminal").slice(0, LONGEST_TITLE);
  const call = { tool, mcpServer: server, title: shown, paths: [] };
  const context = { ...scope.guardContext(), toolName: tool };
  const verdict = safely(() => scope.guard.reviewCall?.(call, context) ?? { type: "allow" as const }, null);
  if (verdict === null) throw new Error("the safety check itself failed");
  if (verdict.type === "block") throw new Error(verdict.reason);
  if (verdict.type === "allow") return;
  const { payload, targets } = verdict;
  const known = scope.knownRefusal(payload, targets);
  const outcome = known ?? await scope.ask(payload, one.call.id, one.view.name);
  const answer = outcome.type === "answered" ? outcome.answer : null;
  if (known || answer?.type !== "choice" || answer.choice === "deny") {
    if (!known) scope.rememberRefusal(payload, targets, outcome);
    throw new Error(refusal(outcome));
  }
  await scope.guard.grant(payload, answer, scope.guardContext()).catch((error) => {
    const why = error instanceof Error ? error.message : String(error);
    scope.publish({ type: "status", kind: "warn", text: `The approval holds for this once only: ${why}` });
  });
}

function refusal({ type }: AskOutcome): string {
  if (type === "timeout") return "nobody answered the question whether it may";
  return type === "unattended" ? "nobody can be asked whether it may" : "the user does not allow it";
}
