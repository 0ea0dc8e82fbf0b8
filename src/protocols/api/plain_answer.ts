/**
 * What `/v1/chat/completions` and `/v1/responses` have in common when they answer whole: a client that leaves cancels
 * its turn, equal requests under one key share one, and the answer is what was kept of it (api-server.md A10).
 */
import type { ApiService } from "./service.ts";
import type { StoredAnswer } from "./idempotency.ts";
import type { SessionHeaders } from "./session_headers.ts";
import { privately } from "./callers.ts";
import { sha256 } from "./sha256.ts";

export interface PlainTurn {
  /** `chat` or `responses`: the same key on two routes never collides. */
  readonly route: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Members of the body that make a request another one. */
  readonly fingerprint: readonly string[];
  readonly headers: SessionHeaders;
  /** Runs the turn; the signal fires when its client has left. */
  answer(signal: AbortSignal | null): Promise<StoredAnswer>;
  /** Gives back what was taken for a turn that another request runs already. */
  release(): void;
}

export async function answerPlain(api: ApiService, request: Request, turn: PlainTurn): Promise<Response> {
  const key = idempotencyKey(request);
  if (key === "") return toResponse(await turn.answer(request.signal));
  const name = privately(api.caller, `${turn.route}\0${key}`);
  const fingerprint = await fingerprintOf(turn);
  if (api.idempotency.has(name, fingerprint)) turn.release();
  // A turn that several callers may share runs on when one of them leaves.
  return toResponse(await api.idempotency.run(name, fingerprint, () => turn.answer(null)));
}

/** Empty when there is none. */
export function idempotencyKey(request: Request): string {
  return request.headers.get("Idempotency-Key")?.trim() ?? "";
}

/** Awaits the end of a turn; a signal that fires before it cancels the turn. */
export async function untilDone<T>(
  done: Promise<T>,
  cancel: () => void,
  signal: AbortSignal | null,
): Promise<T> {
  if (signal?.aborted) cancel();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    return await done;
  } finally {
    signal?.removeEventListener("abort", cancel);
  }
}

function toResponse(answer: StoredAnswer): Response {
  return new Response(answer.body, {
    status: answer.status,
    headers: { "Content-Type": "application/json", ...answer.headers },
  });
}

async function fingerprintOf({ body, fingerprint, headers }: PlainTurn): Promise<string> {
  const fields = fingerprint.map((name) => body[name] ?? null);
  return await sha256(JSON.stringify([...fields, headers.sessionId, headers.sessionKey]));
}
