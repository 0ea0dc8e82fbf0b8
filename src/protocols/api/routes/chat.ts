/**
 * `POST /v1/chat/completions` (api-server.md B1): one request is one agent turn, answered whole or as a stream. The
 * plain answer is made from the same turn result as the stream's end. Loaded with the first such request.
 *
 *   slot ─► body ─► fields ─► headers ─► model ─► session ─► submit ─┬─► stream: frames … [DONE]
 *                                                                    └─► plain: result ─► JSON (or a shared one)
 */
import {
  type CoreEvent,
  type Message,
  NOBODY_TO_ASK,
  refusedElsewhere,
  type TurnHandle,
  type TurnResult,
  type UserInput,
} from "@/core/contract.ts";
import type { Slot } from "../admission.ts";
import { readJsonObject } from "../body.ts";
import { doorTools } from "../browser/slot.ts";
import { badRequest } from "../errors.ts";
import type { StoredAnswer } from "../idempotency.ts";
import { untilFree } from "../other_programs.ts";
import { answerPlain, untilDone } from "../plain_answer.ts";
import { ChatRenderer } from "../render/chat.ts";
import { renderCompletion } from "../render/completion.ts";
import { type ChatRequest, readChatRequest } from "../schema/chat.ts";
import {
  ignoredHeader,
  runtimeOf,
  type Selection,
  selectModel,
  turnOptions,
  withSession,
} from "../selection.ts";
import type { ApiService } from "../service.ts";
import { readSessionHeaders, sessionHeader, type SessionHeaders } from "../session_headers.ts";
import { SSE_HEADERS, SseStream } from "../sse.ts";
import { submitAndRead } from "../submit_and_read.ts";

/** A checked request and what was given to it. */
interface Chat {
  readonly request: ChatRequest;
  readonly headers: SessionHeaders;
  readonly selection: Selection;
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly slot: Slot;
}

interface RunningChat {
  readonly handle: TurnHandle;
  readonly selection: Selection;
  /** For the answer's head. */
  readonly headers: Record<string, string>;
}

export async function postChat(api: ApiService, request: Request): Promise<Response> {
  const slot = api.admission.admit(api.limit());
  try {
    const body = await readJsonObject(request);
    const chatRequest = readChatRequest(body);
    const headers = readSessionHeaders(request.headers);
    const chat: Chat = {
      request: chatRequest,
      headers,
      selection: selectModel(api.hermes, chatRequest, api.options.modelName),
      id: `chatcmpl-${api.hermes.platform.ids.hex(29)}`,
      created: Math.floor(api.hermes.platform.clock.now() / 1000),
      slot,
    };
    if (chatRequest.stream) return await streamChat(api, chat);
    return await answerPlain(api, request, {
      route: "chat",
      body,
      fingerprint: FINGERPRINT,
      headers,
      answer: (signal) => answerChat(api, chat, signal),
      release: () => slot.release(),
    });
  } catch (error) {
    slot.release();
    throw error;
  }
}

/** Submits the turn; from here on its end, and nothing else, gives the slot back. */
async function startTurn(
  api: ApiService,
  chat: Chat,
  asks: boolean,
  reader?: (event: CoreEvent) => void | Promise<void>,
): Promise<RunningChat> {
  const { request, headers, id, slot } = chat;
  // No session is made for results that nobody has asked for.
  if (request.prompt === null) {
    inputOf(
      request,
      headers.sessionId === null ? request.history : api.pool.transcript(headers.sessionId) ?? [],
    );
  }
  // Nothing is stored for a turn that will not be.
  api.admission.refuseWhenDraining();
  const place = await api.chats.find(request, headers);
  const { session } = place;
  try {
    const selection = withSession(api.hermes, chat.selection, session, place.isNew);
    await untilFree(session, api.hermes.platform.clock);
    api.admission.refuseWhenDraining();
    const input = inputOf(request, place.history ?? session.history());
    const submit = () =>
      session.submit(input, {
        asks: asks ? { approval: true, edit: true, clarify: false } : NOBODY_TO_ASK,
        scope: id,
        ...(api.client === undefined ? {} : { client: api.client }),
        ...(request.system === "" ? {} : { systemExtra: request.system }),
        ...turnOptions(request, selection),
        ...(request.clientTools.length === 0 ? {} : { clientTools: request.clientTools }),
        ...(place.history === undefined ? {} : { history: place.history }),
        ...doorTools(api, session),
      });
    const handle = reader ? submitAndRead(session, submit, reader) : submit();
    api.turns.add(id, { session, handle, asks });
    void handle.done.then(() => {
      place.release();
      slot.release();
    });
    return { handle, selection, headers: answerHeaders(request, selection, headers, place.echoId) };
  } catch (error) {
    place.release();
    throw error;
  }
}

/** Results count when the context has asked for them. */
function inputOf(request: ChatRequest, context: readonly Message[]): UserInput {
  if (request.prompt !== null) return { content: request.prompt };
  const asked = context.findLast((message) => message.role === "assistant")?.toolCalls ?? [];
  const results = request.results.flatMap((result) => {
    const call = asked.find(({ id }) => id === result.toolCallId);
    return call ? [{ ...result, toolName: call.name }] : [];
  });
  if (results.length === 0) throw badRequest("No user message found in messages");
  return { content: "", results };
}

function answerHeaders(
  request: ChatRequest,
  selection: Selection,
  headers: SessionHeaders,
  echoId: string,
): Record<string, string> {
  return {
    "X-Hermes-Session-Id": sessionHeader(echoId, headers),
    ...(headers.sessionKey === null ? {} : { "X-Hermes-Session-Key": headers.sessionKey }),
    ...ignoredHeader(request, selection),
  };
}

// ── Stream ──────────────────────────────────────────────────────────────────────────────────────────────────

async function streamChat(api: ApiService, chat: Chat): Promise<Response> {
  const settings = api.hermes.settings().gateway.api_server;
  const renderer = new ChatRenderer({
    id: chat.id,
    created: chat.created,
    model: shownModel(api, chat.request),
    includeUsage: chat.request.includeUsage,
    showReasoning: settings.show_reasoning,
    showTools: settings.tool_progress_events,
    redact: api.redact,
  });
  let handle: TurnHandle | null = null;
  const stream = new SseStream({
    clock: api.hermes.platform.clock,
    onGone: () => handle?.cancel(),
    ...(api.options.keepaliveMs === undefined ? {} : { keepaliveMs: api.options.keepaliveMs }),
  });
  void stream.write(renderer.start());
  const reader = (event: CoreEvent) => {
    // A front end may know nothing of questions: whoever runs the server can find and answer them.
    if (event.type === "ask.open") {
      api.hermes.log.info(`api: a question waits; POST /v1/runs/${chat.id}/approval answers it`);
    }
    const frames = renderer.event(event);
    if (frames !== "") return stream.write(frames);
  };
  try {
    const running = await startTurn(api, chat, true, reader);
    handle = running.handle;
    const runtime = (result: TurnResult) =>
      runtimeOf(chat.request, running.selection, result, api.options.modelName);
    void handle.done.then((result) => stream.end(renderer.end(result, runtime(result))));
    return new Response(stream.body, { headers: { ...SSE_HEADERS, ...running.headers } });
  } catch (error) {
    stream.end();
    throw error;
  }
}

function shownModel(api: ApiService, request: ChatRequest): string {
  return request.model || api.options.modelName;
}

// ── Plain answer ────────────────────────────────────────────────────────────────────────────────────────────

/** Runs the turn to its end. */
async function answerChat(api: ApiService, chat: Chat, signal: AbortSignal | null): Promise<StoredAnswer> {
  const { handle, selection, headers } = await startTurn(api, chat, false);
  const result = await untilDone(handle.done, () => handle.cancel(), signal);
  const refused = refusedElsewhere(result);
  if (refused) throw refused;
  return renderCompletion(result, {
    id: chat.id,
    created: chat.created,
    model: shownModel(api, chat.request),
    showReasoning: api.hermes.settings().gateway.api_server.show_reasoning,
    headers,
    runtime: runtimeOf(chat.request, selection, result, api.options.modelName),
    redact: api.redact,
  });
}

const FINGERPRINT = [
  "model",
  "provider",
  "model_options",
  "messages",
  "tools",
  "tool_choice",
  "stream",
] as const;
