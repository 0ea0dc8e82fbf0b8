/**
 * `POST /api/sessions/{id}/chat` and `/chat/stream` (api-server.md B10): one turn on the server's own transcript. The
 * stream asks for approvals under its run id; the plain form has nobody to ask.
 */
import {
  type CoreEvent,
  isUserTurn,
  type Message,
  NOBODY_TO_ASK,
  refusedElsewhere,
  type Session,
  type TurnHandle,
  type TurnResult,
} from "@/core/contract.ts";
import type { Slot } from "../admission.ts";
import { type JsonObject, readJsonObject } from "../body.ts";
import { doorTools } from "../browser/slot.ts";
import { ApiError, badRequest } from "../errors.ts";
import { untilFree } from "../other_programs.ts";
import { untilDone } from "../plain_answer.ts";
import { finishOf } from "../render/finish.ts";
import { SessionStreamRenderer, sessionUsage } from "../render/session_stream.ts";
import { hasContent, readContent } from "../schema/content.ts";
import { type ModelFields, readModelFields } from "../schema/model.ts";
import { readText } from "../schema/runs.ts";
import { runtimeOf, type Selection, selectModel, turnOptions, withSession } from "../selection.ts";
import type { ApiService } from "../service.ts";
import { systemOf } from "../session_defaults.ts";
import { readSessionHeaders, sessionHeader } from "../session_headers.ts";
import { SSE_HEADERS, SseStream } from "../sse.ts";
import { submitAndRead } from "../submit_and_read.ts";
import { requireRow } from "./sessions.ts";

interface SessionTurn {
  readonly id: string;
  readonly runId: string;
  readonly fields: ModelFields;
  readonly prompt: ReturnType<typeof readContent>;
  readonly system: string;
  readonly headers: Record<string, string>;
  readonly slot: Slot;
}

/** A turn of its own for each: `isStream` says how it is answered. */
export async function postSessionChat(
  api: ApiService,
  request: Request,
  id: string,
  isStream: boolean,
): Promise<Response> {
  const slot = api.admission.admit(api.limit());
  try {
    const body = await readJsonObject(request);
    requireRow(api, id);
    const { sessionKey } = readSessionHeaders(request.headers);
    const turn: SessionTurn = {
      id,
      runId: `run_${api.hermes.platform.ids.hex(32)}`,
      fields: readModelFields(body),
      prompt: readPrompt(body),
      system: [systemOf(api.hermes.store(), id), readSystem(body)].filter((text) => text !== "").join("\n"),
      headers: {
        "X-Hermes-Session-Id": sessionHeader(id),
        ...(sessionKey === null ? {} : { "X-Hermes-Session-Key": sessionKey }),
      },
      slot,
    };
    return isStream ? await stream(api, turn) : await plain(api, turn, request.signal);
  } catch (error) {
    slot.release();
    throw error;
  }
}

function readPrompt(body: JsonObject): SessionTurn["prompt"] {
  const prompt = readContent(body.message ?? body.input, "message");
  if (!hasContent(prompt)) throw badRequest("Missing 'message' field", "missing_message", "message");
  return prompt;
}

function readSystem(body: JsonObject): string {
  return readText(body.system_message ?? body.instructions, "system_message") ?? "";
}

interface Started {
  readonly session: Session;
  readonly handle: TurnHandle;
  readonly selection: Selection;
}

async function start(
  api: ApiService,
  turn: SessionTurn,
  reader: ((event: CoreEvent) => void | Promise<void>) | null,
): Promise<Started> {
  const chosen = selectModel(api.hermes, turn.fields, api.options.modelName, true);
  const session = await api.pool.open(turn.id);
  if (!session) throw new ApiError(404, "session_not_found", `Session not found: ${turn.id}`);
  const release = api.pool.use(session);
  try {
    const selection = withSession(api.hermes, chosen, session);
    await untilFree(session, api.hermes.platform.clock);
    api.admission.refuseWhenDraining();
    const { fields, system } = turn;
    const submit = () =>
      session.submit({ content: turn.prompt }, {
        asks: reader ? { approval: true, edit: true, clarify: false } : NOBODY_TO_ASK,
        scope: turn.runId,
        ...(api.client === undefined ? {} : { client: api.client }),
        ...(system === "" ? {} : { systemExtra: system }),
        ...turnOptions(fields, selection),
        ...doorTools(api, session),
      });
    const handle = reader ? submitAndRead(session, submit, reader) : submit();
    api.turns.add(turn.runId, { session, handle, asks: reader !== null });
    void handle.done.then(() => {
      release();
      turn.slot.release();
    });
    return { session, handle, selection };
  } catch (error) {
    release();
    throw error;
  }
}

async function plain(api: ApiService, turn: SessionTurn, signal: AbortSignal): Promise<Response> {
  const { handle, selection } = await start(api, turn, null);
  const result = await untilDone(handle.done, () => handle.cancel(), signal);
  const refused = refusedElsewhere(result);
  if (refused) throw refused;
  const { text, reason, hermes } = finishOf(result, api.redact);
  if (reason === "error" && text === "") {
    throw new ApiError(502, "agent_incomplete", hermes?.error ?? "The turn did not complete");
  }
  const runtime = runtimeOf(turn.fields, selection, result, api.options.modelName);
  return Response.json({
    object: "hermes.session.chat.completion",
    session_id: turn.id,
    message: { role: "assistant", content: text },
    usage: sessionUsage(result),
    ...(hermes ? { hermes } : {}),
    ...(runtime ? { runtime } : {}),
  }, { headers: turn.headers });
}

async function stream(api: ApiService, turn: SessionTurn): Promise<Response> {
  const renderer = new SessionStreamRenderer({
    sessionId: turn.id,
    runId: turn.runId,
    showReasoning: api.hermes.settings().gateway.api_server.show_reasoning,
    now: () => api.hermes.platform.clock.now() / 1000,
    redact: api.redact,
  });
  let handle: TurnHandle | null = null;
  const stream = new SseStream({
    clock: api.hermes.platform.clock,
    onGone: () => handle?.cancel(),
    ...(api.options.keepaliveMs === undefined ? {} : { keepaliveMs: api.options.keepaliveMs }),
  });
  try {
    const started = await start(api, turn, (event) => {
      const frames = renderer.event(event);
      if (frames !== "") return stream.write(frames);
    });
    handle = started.handle;
    void handle.done.then((result) => stream.end(renderer.end(result, messagesOf(started.session, result))));
    return new Response(stream.body, { headers: { ...SSE_HEADERS, ...turn.headers } });
  } catch (error) {
    stream.end();
    throw error;
  }
}

/** The messages of a turn that has just ended. */
function messagesOf(session: Session, result: TurnResult): readonly Message[] {
  const all = session.history();
  const own = all.findLastIndex((message) => message.role === "user" && message.rowId === result.userRowId);
  return all.slice(own === -1 ? Math.max(0, all.findLastIndex(isUserTurn)) : own);
}
