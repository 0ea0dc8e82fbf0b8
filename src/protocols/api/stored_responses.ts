/**
 * Responses as they are kept (api-server.md B2.3 "Store timing", B3): a snapshot when a turn begins, the whole when it
 * has ended, with the conversation up to there, so that a continuation never depends on an earlier row.
 */
import {
  isUserTurn,
  type Message,
  type ResponseRow,
  type Session,
  type TurnResult,
} from "@/core/contract.ts";
import { ownedBy } from "./callers.ts";
import type { ApiService } from "./service.ts";
import { endOf, type TranscriptEnd } from "./turn_places.ts";

/** How many are kept. */
export const RESPONSE_LIMIT = 100;

export interface ResponseFacts {
  readonly id: string;
  readonly conversation: string | null;
  readonly session: Session;
  readonly instructions: string | null;
  /** The context of the turn when the request brought it; `undefined` = the session's own transcript. */
  readonly context: readonly Message[] | undefined;
  /** What the turn was given. */
  readonly given: readonly Message[];
}

/** The conversation at one moment. */
export interface Snapshot {
  readonly history: readonly Message[];
  readonly end: TranscriptEnd | null;
}

export function beforeTurn({ session, context, given }: ResponseFacts): Snapshot {
  return { history: [...context ?? session.history(), ...given], end: null };
}

/** To be taken as soon as the turn has ended: a turn that waited goes on with the same transcript. */
export function afterTurn(facts: ResponseFacts, result: TurnResult): Snapshot {
  const end = facts.context === undefined ? endOf(facts.session) : null;
  return { history: [...historyAfter(facts, result)], end };
}

/** Failing to store is told in the log; the answer is given all the same. */
export async function storeResponse(
  api: ApiService,
  facts: ResponseFacts,
  response: Readonly<Record<string, unknown>>,
  { history, end }: Snapshot,
): Promise<void> {
  const row: ResponseRow = {
    id: facts.id,
    conversation: facts.conversation,
    sessionId: facts.session.id,
    headId: end?.headId ?? null,
    lastRowId: end?.lastRowId ?? null,
    owner: api.instance,
    status: String(response.status),
    response: JSON.stringify(response),
    history: history.map((message) => capped(message, outputLimit(api))),
    instructions: facts.instructions,
    ...ownedBy(api.caller),
  };
  try {
    await api.kept.responses.put(row, RESPONSE_LIMIT);
  } catch (error) {
    api.hermes.log.warn(`api: response ${facts.id} could not be stored: ${String(error)}`);
  }
}

function outputLimit(api: ApiService): number {
  return api.hermes.settings().gateway.api_server.history_tool_output_max_chars ?? 0;
}

/** With the session's own transcript that is it (compressed or not); else the context and this turn's messages. */
function historyAfter({ session, context, given }: ResponseFacts, result: TurnResult): readonly Message[] {
  const all = session.history();
  if (context === undefined) return all;
  const isStart = (message: Message) => message.rowId === result.userRowId && message.role === "user";
  const found = result.userRowId === null ? -1 : all.findLastIndex(isStart);
  const results = new Set(given.flatMap((message) => message.role === "tool" ? [message.toolCallId] : []));
  const from = found !== -1
    ? found
    : results.size > 0
    ? all.findLastIndex((message, i) =>
      message.role === "tool" && results.has(message.toolCallId) && all[i - 1]?.role !== "tool"
    )
    : all.findLastIndex(isUserTurn);
  if (from === -1) return [...context, ...given];
  const next = all.findIndex((message, i) => i > from && isUserTurn(message));
  return [...context, ...all.slice(from, next === -1 ? undefined : next)];
}

function capped(message: Message, limit: number): Message {
  if (limit === 0 || message.role !== "tool" || typeof message.content !== "string") return message;
  if (message.content.length <= limit) return message;
  return { ...message, content: `${message.content.slice(0, limit).toWellFormed()}… [cut]` };
}

/** As a reader gets it: what a dead server has left in progress is incomplete. */
export function shownResponse(api: ApiService, row: ResponseRow): Record<string, unknown> {
  const response = JSON.parse(row.response) as Record<string, unknown>;
  if (row.status !== "in_progress" || row.owner === api.instance) return response;
  return { ...response, status: "incomplete", incomplete_details: { reason: "server_restarted" } };
}
