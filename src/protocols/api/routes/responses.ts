/**
 * `POST /v1/responses` and `GET`, `DELETE /v1/responses/{id}` (api-server.md B2, B3). One request is one turn; plain
 * answer, stream and stored copy come from one fold over its events.
 *
 *   slot ─► headers ─► body ─► fields ─► chain ─► model ─► session ─► submit ─► snapshot ─► … ─► whole ─► answer
 */
import {
  type Message,
  NOBODY_TO_ASK,
  type ResponseRow,
  type ToolMessage,
  type TurnResult,
} from "@/core/mod.ts";
import type { Slot } from "../admission.ts";
import { readBool, readJsonObject } from "../body.ts";
import { chainOf, requireChain } from "../chains.ts";
import { DeltaMerger } from "../delta_merger.ts";
import { ApiError, badRequest } from "../errors.ts";
import type { StoredAnswer } from "../idempotency.ts";
import { responseEnd, ResponseRenderer } from "../render/responses.ts";
import { readResponseRequest, type ResponseRequest } from "../schema/responses.ts";
import { checkRunnable, runtimeOf, type Selection, selectModel, withSession } from "../selection.ts";
import type { ApiService } from "../service.ts";
import { readSessionHeaders, type SessionHeaders } from "../session_headers.ts";
import { sha256 } from "../sha256.ts";
import { SSE_HEADERS, SseStream } from "../sse.ts";
import {
  afterTurn,
  beforeTurn,
  type ResponseFacts,
  shownResponse,
  storeResponse,
} from "../stored_responses.ts";
import { submitAndRead } from "../submit_and_read.ts";
import type { PlaceWish, TurnPlace } from "../turn_places.ts";

/** A checked request and what was given to it. */
interface Draft {
  readonly request: ResponseRequest;
  readonly headers: SessionHeaders;
  readonly chain: ResponseRow | null;
  readonly selection: Selection;
  readonly id: string;
  readonly omitTools: boolean;
  readonly slot: Slot;
}

export async function postResponse(api: ApiService, request: Request): Promise<Response> {
  const slot = api.admission.admit(api.limit());
  try {
    const headers = readSessionHeaders(request.headers);
    const body = await readJsonObject(request);
    const fields = readResponseRequest(body);
    const draft: Draft = {
      request: fields,
      headers,
      chain: await findChain(api, fields),
      selection: selectModel(api.hermes, fields, api.options.modelName),
      id: `resp_${api.hermes.platform.ids.hex(28)}`,
      omitTools: omitsTools(api, request),
      slot,
    };
    if (fields.stream) return await streamResponse(api, draft);
    const key = request.headers.get("Idempotency-Key")?.trim() ?? "";
    if (key === "") return toResponse(await answer(api, draft, request.signal));
    return await answerOnce(api, draft, `responses\0${key}`, await fingerprintOf(body, headers));
  } catch (error) {
    slot.release();
    throw error;
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
  const { responses } = api.hermes.store();
  const id = responses.findByConversation(conversation);
  return id === null ? null : await responses.get(id);
}

// ── The turn ────────────────────────────────────────────────────────────────────────────────────────────────

interface Running {
  readonly headers: Record<string, string>;
  cancel(): void;
  /** The whole response; stored by then. */
  readonly done: Promise<Record<string, unknown>>;
}

/** Submits the turn; from here on its end, and nothing else, gives the slot back. `show` gets frames in order. */
async function startResponse(
  api: ApiService,
  draft: Draft,
  show: (frames: string) => void | Promise<void>,
): Promise<Running> {
  const results = resultsOf(draft);
  const wish = wishOf(api, draft);
  const place = await api.places.take(await api.places.idOf(wish), wish);
  try {
    return begin(api, draft, { place, results, show });
  } catch (error) {
    place.release();
    throw error;
  }
}

interface Beginning {
  readonly place: TurnPlace;
  readonly results: readonly ToolMessage[];
  show(frames: string): void | Promise<void>;
}

function begin(api: ApiService, draft: Draft, { place, results, show }: Beginning): Running {
  const { request, headers, slot, id } = draft;
  const { session } = place;
  const selection = withSession(draft.selection, session);
  checkRunnable(session, selection);
  api.admission.refuseWhenDraining();
  const instructions = request.instructions ?? draft.chain?.instructions ?? null;
  const renderer = rendererOf(api, draft, instructions);
  void show(renderer.start());
  const merger = new DeltaMerger(MERGE_MS, (text) => show(renderer.event(deltaOf(text))));
  const history = place.context();
  const system = [instructions ?? "", ...request.system].filter((text) => text !== "").join("\n");
  const handle = submitAndRead(
    session,
    () =>
      session.submit({ content: request.prompt ?? "", ...(results.length === 0 ? {} : { results }) }, {
        asks: NOBODY_TO_ASK,
        scope: id,
        ...(system === "" ? {} : { systemExtra: system }),
        ...(selection.choice === undefined ? {} : { model: selection.choice }),
        ...(request.reasoningEffort === undefined ? {} : { reasoningEffort: request.reasoningEffort }),
        ...(request.clientTools.length === 0 ? {} : { clientTools: request.clientTools }),
        ...(history === undefined ? {} : { history }),
      }),
    (event) => {
      if (event.type === "text.delta") return merger.add(event.text);
      merger.flush();
      const frames = renderer.event(event);
      if (frames !== "") return show(frames);
    },
  );
  api.turns.add(id, { session, handle, asks: false });
  const given: Message[] = request.prompt === null
    ? [...results]
    : [{ role: "user", content: request.prompt }];
  const { conversation } = request;
  const facts: ResponseFacts = { id, conversation, session, instructions, context: history, given };
  // The row of a conversation moves only when the turn has ended: what runs meanwhile continues what is whole.
  const stored = request.store
    ? storeResponse(api, { ...facts, conversation: null }, renderer.object(), beforeTurn(facts))
    : Promise.resolve();
  let gone = false;
  const finish = async (result: TurnResult) => {
    merger.close();
    const end = responseEnd(result, gone, api.redact);
    const extra = extraOf(api, draft, selection, result);
    const last = renderer.end(result, end, extra);
    const kept = request.store ? afterTurn(facts, result) : null;
    place.release();
    slot.release();
    // A reader that has seen the end finds it stored.
    if (kept) await stored.then(() => storeResponse(api, facts, renderer.object(), kept));
    await show(last);
    return renderer.object();
  };
  return {
    headers: answerHeaders(draft, session.id),
    cancel: () => {
      gone = true;
      handle.cancel();
    },
    done: handle.done.then(finish),
  };
}

const MERGE_MS = 50;

function deltaOf(text: string) {
  return { type: "text.delta" as const, text, sessionId: "", turnId: "", seq: 0 };
}

function rendererOf(api: ApiService, draft: Draft, instructions: string | null): ResponseRenderer {
  const { request } = draft;
  const { ids, clock } = api.hermes.platform;
  return new ResponseRenderer({
    id: draft.id,
    createdAt: Math.floor(clock.now() / 1000),
    model: request.model || api.options.modelName,
    instructions,
    previousResponseId: request.previousResponseId,
    store: request.store,
    echo: request.echo,
    showReasoning: api.hermes.settings().gateway.api_server.show_reasoning,
    showTools: !draft.omitTools,
    stream: request.stream,
    itemId: (prefix) => `${prefix}_${ids.hex(24)}`,
    redact: api.redact,
  });
}

function extraOf(
  api: ApiService,
  draft: Draft,
  selection: Selection,
  result: TurnResult,
): Record<string, unknown> {
  const runtime = runtimeOf(draft.request, selection, result, api.options.modelName);
  return {
    completed_at: Math.floor(api.hermes.platform.clock.now() / 1000),
    ...(runtime ? { runtime } : {}),
  };
}

function answerHeaders({ request, headers }: Draft, sessionId: string): Record<string, string> {
  return {
    "X-Hermes-Session-Id": headers.sessionId ?? sessionId,
    ...(headers.sessionKey === null ? {} : { "X-Hermes-Session-Key": headers.sessionKey }),
    ...(request.ignored.length === 0 ? {} : { "X-Hermes-Ignored": request.ignored.join(", ") }),
  };
}

const NEWEST = 100;

function wishOf(api: ApiService, { request, headers, chain }: Draft): PlaceWish {
  const { earlier } = request;
  const base = request.history ?? chain?.history ?? [];
  const joined = [...base, ...earlier];
  const isOwn = request.history !== null || chain !== null || earlier.length > 0;
  const isCut = request.truncation === "auto" && joined.length > NEWEST;
  const link = chainOf(chain);
  return {
    sessionId: headers.sessionId,
    chain: link && (earlier.length > 0 || isCut) ? { ...link, at: null } : link,
    sessionKey: headers.sessionKey,
    history: !isOwn ? null : isCut ? newest(joined) : joined,
    freshId: api.hermes.platform.ids.uuid(),
  };
}

/** The newest messages, not beginning inside a tool exchange; summaries of what came before them stay. */
function newest(messages: readonly Message[]): Message[] {
  let from = messages.length - NEWEST;
  while (messages[from]?.role === "tool") from++;
  const summaries = messages.slice(0, from).filter((message) => message.displayKind === "compaction_summary");
  return [...summaries, ...messages.slice(from)];
}

/** Results of the caller's tools with the names of their calls; 400 when nothing has asked for them. */
function resultsOf({ request, chain }: Draft): readonly ToolMessage[] {
  if (request.prompt !== null) return [];
  const asked = new Map<string, string>();
  for (const message of [...chain?.history ?? [], ...request.history ?? [], ...request.earlier]) {
    if (message.role === "assistant") {
      for (const call of message.toolCalls ?? []) asked.set(call.id, call.name);
    }
  }
  const results = request.results.filter((result) => asked.has(result.toolCallId));
  if (results.length === 0) throw badRequest("No user message found in input", null, "input");
  return results.map((result) => ({ ...result, toolName: asked.get(result.toolCallId)! }));
}

// ── Stream and plain answer ─────────────────────────────────────────────────────────────────────────────────

async function streamResponse(api: ApiService, draft: Draft): Promise<Response> {
  let running: Running | null = null;
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

/** Runs the turn to its end. A signal that fires before then is a client that has left: the turn is cancelled. */
async function answer(api: ApiService, draft: Draft, signal: AbortSignal | null): Promise<StoredAnswer> {
  const running = await startResponse(api, draft, () => {});
  const onGone = () => running.cancel();
  if (signal?.aborted) onGone();
  signal?.addEventListener("abort", onGone, { once: true });
  const response = await running.done;
  signal?.removeEventListener("abort", onGone);
  return {
    status: 200,
    headers: running.headers,
    body: JSON.stringify(response),
    keep: response.status === "completed",
  };
}

function toResponse(answer: StoredAnswer): Response {
  return new Response(answer.body, {
    status: answer.status,
    headers: { "Content-Type": "application/json", ...answer.headers },
  });
}

/** A turn that several callers may share runs on when one of them leaves. */
async function answerOnce(
  api: ApiService,
  draft: Draft,
  key: string,
  fingerprint: string,
): Promise<Response> {
  if (api.idempotency.has(key, fingerprint)) draft.slot.release();
  return toResponse(await api.idempotency.run(key, fingerprint, () => answer(api, draft, null)));
}

const FINGERPRINT_FIELDS = [
  "input",
  "instructions",
  "previous_response_id",
  "conversation",
  "model",
  "provider",
  "model_options",
  "tools",
] as const;

async function fingerprintOf(
  body: Readonly<Record<string, unknown>>,
  headers: SessionHeaders,
): Promise<string> {
  const fields = FINGERPRINT_FIELDS.map((name) => body[name] ?? null);
  return await sha256(JSON.stringify([...fields, headers.sessionId, headers.sessionKey]));
}

// ── Stored responses (B3) ───────────────────────────────────────────────────────────────────────────────────

export async function getResponse(api: ApiService, id: string, query: URLSearchParams): Promise<Response> {
  if (readBool(query.get("stream"), false)) {
    throw badRequest("A stored response cannot be streamed", "unsupported_parameter", "stream");
  }
  const row = await api.hermes.store().responses.get(id);
  if (!row) throw responseNotFound(id);
  return Response.json(shownResponse(api, row));
}

export async function deleteResponse(api: ApiService, id: string): Promise<Response> {
  if (!(await api.hermes.store().responses.delete(id))) throw responseNotFound(id);
  return Response.json({ id, object: "response", deleted: true });
}

function responseNotFound(id: string): ApiError {
  return new ApiError(404, "response_not_found", `Response not found: ${id.slice(0, 100)}`);
}
