/**
 * `POST /v1/responses` (api-server.md B2): one request is one turn, answered whole or as a stream. Loaded with the
 * first such request.
 *
 *   slot ─► headers ─► body ─► fields ─► chain ─► model ─► turn ─┬─► stream: frames … [DONE]
 *                                                                └─► plain: the whole (or a shared one)
 */
import type { ResponseRow } from "@/core/contract.ts";
import { readJsonObject } from "../body.ts";
import { privately, sees } from "../callers.ts";
import { requireChain } from "../chains.ts";
import { ApiError } from "../errors.ts";
import type { StoredAnswer } from "../idempotency.ts";
import { answerPlain, idempotencyKey, untilDone } from "../plain_answer.ts";
import { type ResponseDraft, type RunningResponse, startResponse } from "../response_turn.ts";
import { readResponseRequest, type ResponseRequest } from "../schema/responses.ts";
import { selectModel } from "../selection.ts";
import type { ApiService } from "../service.ts";
import { readSessionHeaders } from "../session_headers.ts";
import { SSE_HEADERS, SseStream } from "../sse.ts";

export async function postResponse(api: ApiService, request: Request): Promise<Response> {
  const slot = api.admission.admit(api.limit());
  let leave = () => {};
  try {
    const headers = readSessionHeaders(request.headers);
    const body = await readJsonObject(request);
    const fields = withOwnNames(api, readResponseRequest(body));
    // A turn that others may share does not go with the one who asked first.
    const isShared = idempotencyKey(request) !== "" && !fields.stream;
    if (fields.conversation !== null) {
      leave = await lineUp(api, fields.conversation, isShared ? undefined : request.signal);
    }
    const draft: ResponseDraft = {
      request: fields,
      headers,
      chain: await findChain(api, fields),
      selection: selectModel(api.hermes, fields, api.options.modelName),
      id: `resp_${api.hermes.platform.ids.hex(28)}`,
      omitTools: omitsTools(api, request),
      slot,
      leave,
    };
    if (fields.stream) return await streamResponse(api, draft);
    return await answerPlain(api, request, {
      route: "responses",
      body,
      fingerprint: FINGERPRINT,
      headers,
      answer: (signal) => answer(api, draft, signal),
      release: () => {
        leave();
        slot.release();
      },
    });
  } catch (error) {
    leave();
    slot.release();
    throw error;
  }
}

/** Whoever leaves while they wait gives their place and their slot back at once. */
async function lineUp(api: ApiService, name: string, signal: AbortSignal | undefined): Promise<() => void> {
  try {
    return await api.conversations.enter(name, signal);
  } catch (error) {
    throw signal?.aborted ? new ApiError(408, null, "The client has left") : error;
  }
}

function omitsTools(api: ApiService, request: Request): boolean {
  const wanted = request.headers.get("X-Hermes-Tool-Items")?.trim().toLowerCase();
  return wanted === "omit" || api.hermes.settings().gateway.api_server.responses_tool_items === "omit";
}

async function findChain(api: ApiService, request: ResponseRequest): Promise<ResponseRow | null> {
  const { previousResponseId, conversation } = request;
  if (request.history) return null;
  if (previousResponseId !== null) return await requireChain(api, previousResponseId);
  if (conversation === null) return null;
  const { responses } = api.kept;
  const id = responses.findByConversation(conversation);
  const row = id === null ? null : await responses.get(id);
  return row && sees(api.caller, row.keyId) ? row : null;
}

/** Two keys may use one name for two conversations. */
function withOwnNames(api: ApiService, request: ResponseRequest): ResponseRequest {
  const { conversation } = request;
  return conversation === null ? request : { ...request, conversation: privately(api.caller, conversation) };
}

// ── Stream and plain answer ─────────────────────────────────────────────────────────────────────────────────

async function streamResponse(api: ApiService, draft: ResponseDraft): Promise<Response> {
  let running: RunningResponse | null = null;
  const stream = new SseStream({
    clock: api.hermes.platform.clock,
    onGone: () => running?.cancel(),
    ...(api.options.keepaliveMs === undefined ? {} : { keepaliveMs: api.options.keepaliveMs }),
  });
  try {
    running = await startResponse(api, draft, (frames) => stream.write(frames));
    void running.done.then(() => stream.end(), (error) => {
      api.hermes.log.error(`api: response ${draft.id} broke off: ${String(error)}`);
      stream.end();
    });
    return new Response(stream.body, { headers: { ...SSE_HEADERS, ...running.headers } });
  } catch (error) {
    stream.end();
    throw error;
  }
}

/** Runs the turn to its end. */
async function answer(
  api: ApiService,
  draft: ResponseDraft,
  signal: AbortSignal | null,
): Promise<StoredAnswer> {
  const running = await startResponse(api, draft, () => {});
  const response = await untilDone(running.done, () => running.cancel(), signal);
  return {
    status: 200,
    headers: running.headers,
    body: JSON.stringify(response),
    keep: response.status === "completed",
  };
}

const FINGERPRINT = [
  "input",
  "instructions",
  "previous_response_id",
  "conversation",
  "model",
  "provider",
  "model_options",
  "tools",
] as const;
