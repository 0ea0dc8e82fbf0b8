/**
 * `_session/steering`: a message for the turn that is running, as other agents take it. It is answered at once and
 * never waits for the turn. What cannot be given to a running turn is handed back (`promptRequired`) to a client that
 * asked for that, else it becomes a turn of its own that no open prompt stands for.
 */
import { gateError } from "./auth.ts";
import type { Connection } from "./connection.ts";
import { buildContent } from "./content.ts";
import { isObject } from "./envelope.ts";
import { invalidParams, toRpcError } from "./errors.ts";
import type { RequestContext } from "./peer.ts";
import type { ContentBlock } from "./schema.ts";
import { openSession } from "./sessions.ts";
import { storedRow } from "./stored.ts";
import type { SessionView } from "./view.ts";

export interface SteeringParams {
  readonly sessionId: string;
  readonly prompt: readonly ContentBlock[];
  readonly _meta?: unknown;
}

export type SteeringResult =
  | { readonly outcome: "injected" }
  | { readonly outcome: "promptRequired" | "startedNewTurn"; readonly reason: SteeringReason };

/** `unsupportedContent`: a running turn takes text only. */
type SteeringReason = "noRunningTurn" | "unsupportedContent";

function wantsPrompt(meta: unknown): boolean {
  const steering = isObject(meta) ? meta.steering : undefined;
  return isObject(steering) && steering.idleBehavior === "promptRequired";
}

/** Stands for a prompt that nobody waits for: what went wrong is told in the conversation. */
function detachedContext(view: SessionView, method: string): RequestContext {
  let answered = false;
  return {
    id: null,
    method,
    signal: new AbortController().signal,
    get answered() {
      return answered;
    },
    respond: () => {
      answered = true;
    },
    fail: (error) => {
      if (answered) return;
      view.say(toRpcError(error, (text) => view.connection.hermes.redact(text)).message);
      answered = true;
    },
    afterResponse: () => {},
  };
}

/** The text, or `null` when it is more than text. Throws -32602 when there is nothing at all. */
async function readPrompt(
  connection: Connection,
  prompt: readonly ContentBlock[],
  buffer?: (path: string) => Promise<string | null>,
): Promise<string | null> {
  const reader = {
    host: connection.host,
    files: connection.hermes.platform.files,
    ...(buffer ? { buffer } : {}),
  };
  const { content } = await buildContent(prompt, reader);
  if (content === null) throw invalidParams("Invalid params: the prompt is empty", { field: "prompt" });
  return typeof content === "string" ? content : null;
}

function reasonFor(text: string | null): SteeringReason {
  return text === null ? "unsupportedContent" : "noRunningTurn";
}

export async function steerSession(
  connection: Connection,
  params: SteeringParams,
  context: RequestContext,
): Promise<SteeringResult | void> {
  const { sessionId, prompt } = params;
  const isOpen = connection.views.get(sessionId)?.isActive === true;
  // What is handed back opens no session for it.
  if (!isOpen && wantsPrompt(params._meta) && storedRow(connection, sessionId)) {
    return { outcome: "promptRequired", reason: reasonFor(await readPrompt(connection, prompt)) };
  }
  const { view, session } = await openSession(connection, sessionId);
  // What the editor holds is asked for on behalf of a running turn only; a turn of its own asks again.
  const buffer = view.prompts.inTurn ? (path: string) => view.files.buffer(path, context.signal) : undefined;
  const text = await readPrompt(connection, prompt, buffer);
  if (text !== null && await view.prompts.steer(text)) return { outcome: "injected" };
  view.requireOpen();
  const reason = reasonFor(text);
  if (wantsPrompt(params._meta)) return { outcome: "promptRequired", reason };
  if (!session.model) throw gateError(connection, session.modelError);
  context.respond({ outcome: "startedNewTurn", reason });
  view.prompts.accept(prompt, detachedContext(view, context.method));
}
