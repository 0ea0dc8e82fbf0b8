/**
 * One turn of `/v1/responses` (api-server.md B2): the context it gets, the fold over its events, and what is kept of
 * it. Knows nothing of HTTP; whoever starts it shows the frames and awaits the whole.
 *
 *   place ─► submit ─► snapshot ─► events ─► frames … ─► end ─► whole stored ─► last frames
 */
import {
  type Message,
  NOBODY_TO_ASK,
  type ResponseRow,
  type SubmitOptions,
  type ToolMessage,
  type TurnResult,
} from "@/core/contract.ts";
import type { Slot } from "./admission.ts";
import { doorTools } from "./browser/slot.ts";
import { chainOf } from "./chains.ts";
import { DeltaMerger } from "./delta_merger.ts";
import { badRequest } from "./errors.ts";
import { untilFree } from "./other_programs.ts";
import { responseEnd, ResponseRenderer } from "./render/responses.ts";
import type { ResponseRequest } from "./schema/responses.ts";
import { ignoredHeader, runtimeOf, type Selection, turnOptions, withSession } from "./selection.ts";
import type { ApiService } from "./service.ts";
import { sessionHeader, type SessionHeaders } from "./session_headers.ts";
import { afterTurn, beforeTurn, type ResponseFacts, storeResponse } from "./stored_responses.ts";
import { submitAndRead } from "./submit_and_read.ts";
import type { PlaceWish, TurnPlace } from "./turn_places.ts";

/** A checked request and what was given to it. */
export interface ResponseDraft {
  readonly request: ResponseRequest;
  readonly headers: SessionHeaders;
  readonly chain: ResponseRow | null;
  readonly selection: Selection;
  readonly id: string;
  readonly omitTools: boolean;
  readonly slot: Slot;
  /** Lets the next turn of the same conversation begin. Idempotent. */
  leave(): void;
}

export interface RunningResponse {
  readonly headers: Record<string, string>;
  cancel(): void;
  /** The whole response; stored by then. */
  readonly done: Promise<Record<string, unknown>>;
}

/** Submits the turn; from here on its end, and nothing else, gives the slot back. `show` gets frames in order. */
export async function startResponse(
  api: ApiService,
  draft: ResponseDraft,
  show: (frames: string) => void | Promise<void>,
): Promise<RunningResponse> {
  const results = resultsOf(draft);
  const wish = wishOf(api, draft);
  const id = await api.places.idOf(wish);
  // Nothing is stored for a turn that will not be.
  api.admission.refuseWhenDraining();
  const place = await api.places.take(id, wish);
  try {
    await untilFree(place.session, api.hermes.platform.clock);
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

function begin(api: ApiService, draft: ResponseDraft, { place, results, show }: Beginning): RunningResponse {
  const { request, id } = draft;
  const { session } = place;
  const selection = withSession(api.hermes, draft.selection, session, place.isNew);
  api.admission.refuseWhenDraining();
  const instructions = request.instructions ?? draft.chain?.instructions ?? null;
  const renderer = rendererOf(api, draft, instructions);
  void show(renderer.start());
  const merger = new DeltaMerger(MERGE_MS, (text) => show(renderer.event(deltaOf(text))));
  const context = place.context();
  const handle = submitAndRead(
    session,
    () =>
      session.submit(
        { content: request.prompt ?? "", ...(results.length === 0 ? {} : { results }) },
        {
          ...submitOptions(draft, { selection, instructions, context }),
          ...(api.client === undefined ? {} : { client: api.client }),
          ...doorTools(api, session),
        },
      ),
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
  const keep = keeper(api, draft, {
    id,
    conversation: request.conversation,
    session,
    instructions,
    context,
    given,
  });
  keep.begin(renderer.object());
  let gone = false;
  const finish = async (result: TurnResult) => {
    merger.close();
    const end = responseEnd(result, gone, api.redact);
    const last = renderer.end(result, end, extraOf(api, draft, selection, result));
    const kept = keep.end(renderer.object(), result);
    place.release();
    draft.slot.release();
    // A reader that has seen the end finds it stored.
    await kept;
    draft.leave();
    await show(last);
    return renderer.object();
  };
  return {
    headers: answerHeaders(draft, selection, session.id),
    cancel: () => {
      gone = true;
      handle.cancel();
    },
    done: handle.done.then(finish),
  };
}

function submitOptions(
  { request, id }: ResponseDraft,
  { selection, instructions, context }: {
    readonly selection: Selection;
    readonly instructions: string | null;
    readonly context: readonly Message[] | undefined;
  },
): SubmitOptions {
  const system = [instructions ?? "", ...request.system].filter((text) => text !== "").join("\n");
  return {
    asks: NOBODY_TO_ASK,
    scope: id,
    ...(system === "" ? {} : { systemExtra: system }),
    ...turnOptions(request, selection),
    ...(request.clientTools.length === 0 ? {} : { clientTools: request.clientTools }),
    ...(context === undefined ? {} : { history: context }),
  };
}

/**
 * The snapshot and then the whole, in this order. The name of a conversation moves only with the whole: what runs
 * meanwhile continues what is whole.
 */
function keeper(api: ApiService, { request }: ResponseDraft, facts: ResponseFacts) {
  let begun = Promise.resolve();
  return {
    begin: (response: Record<string, unknown>) => {
      if (!request.store) return;
      begun = storeResponse(api, { ...facts, conversation: null }, response, beforeTurn(facts));
    },
    end: async (response: Record<string, unknown>, result: TurnResult) => {
      if (!request.store) return;
      const snapshot = afterTurn(facts, result);
      await begun;
      await storeResponse(api, facts, response, snapshot);
    },
  };
}

const MERGE_MS = 50;

function deltaOf(text: string) {
  return { type: "text.delta" as const, text, sessionId: "", turnId: "", seq: 0 };
}

function rendererOf(api: ApiService, draft: ResponseDraft, instructions: string | null): ResponseRenderer {
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
  draft: ResponseDraft,
  selection: Selection,
  result: TurnResult,
): Record<string, unknown> {
  const runtime = runtimeOf(draft.request, selection, result, api.options.modelName);
  return {
    ...(result.outcome === "completed"
      ? { completed_at: Math.floor(api.hermes.platform.clock.now() / 1000) }
      : {}),
    ...(runtime ? { runtime } : {}),
  };
}

function answerHeaders(
  { request, headers }: ResponseDraft,
  selection: Selection,
  sessionId: string,
): Record<string, string> {
  return {
    "X-Hermes-Session-Id": sessionHeader(sessionId, headers),
    ...(headers.sessionKey === null ? {} : { "X-Hermes-Session-Key": headers.sessionKey }),
    ...ignoredHeader(request, selection),
  };
}

const NEWEST = 100;

function wishOf(api: ApiService, { request, headers, chain }: ResponseDraft): PlaceWish {
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
function resultsOf({ request, chain }: ResponseDraft): readonly ToolMessage[] {
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
