/**
 * The open questions of one session on the wire, in both dialects (tui-gateway.md C.3, E.2): events for default
 * connections, requests for those that opted in, never both on one connection. One question may be open on several;
 * the first answer wins and the others are told. Nothing here decides what an answer means.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Ask, AskOutcome } from "@/core/contract.ts";
import { familyOf, renderAsk, renderAskRequest, requestIdOf, serverRequestIdOf } from "./asks.ts";
import type { Audience, Dialect } from "./audience.ts";
import { encodeRequest } from "./frame.ts";
import type { Client } from "./peer.ts";

export interface QuestionDesk {
  readonly sid: string;
  readonly audience: Audience;
  asks(): readonly Ask[];
  /** An event for the connections of one dialect. */
  emitTo(dialect: Dialect, type: string, payload: Record<string, unknown>): void;
  /** Why open questions are being dropped, when it is not an interrupt. */
  closing(): "session_closed" | "shutdown" | null;
}

export class Questions {
  readonly #hermes: Hermes;
  readonly #desk: QuestionDesk;
  /** Who has answered what, until the core says that it is settled; `bySelf`: by a response to our own request. */
  readonly #answeredBy = new Map<string, { readonly client: Client; readonly bySelf: boolean }>();
  /** Who has said that a question cannot be shown there. */
  readonly #declined = new Map<string, Set<Client>>();

  constructor(hermes: Hermes, desk: QuestionDesk) {
    this.#hermes = hermes;
    this.#desk = desk;
  }

  opened(ask: Ask): void {
    this.#asEvent(ask);
    const frame = this.#requestFrame(ask);
    for (const client of this.#desk.audience.speaking("requests")) client.send(frame);
  }

  closed(ask: Ask, outcome: AskOutcome): void {
    const answerer = this.#answeredBy.get(ask.id);
    this.#answeredBy.delete(ask.id);
    this.#declined.delete(ask.id);
    const family = familyOf(ask.payload);
    const answeredElsewhere = answerer !== undefined && outcome.type !== "timeout";
    if ((outcome.type === "timeout" || answeredElsewhere) && family !== "clarify") {
      this.#desk.emitTo("events", `${family}.expire`, { request_id: requestIdOf(ask) });
    }
    const knows = (client: Client) => answerer?.bySelf === true && client === answerer.client;
    if (this.#desk.audience.speaking("requests").every(knows)) return;
    this.#desk.emitTo("requests", "request.cancel", {
      id: serverRequestIdOf(ask),
      method: family,
      reason: this.#reason(outcome),
    });
  }

  /** Open questions once more, under their ids, to one connection. */
  repeatTo(client: Client, dialect: Dialect): void {
    for (const ask of this.#desk.asks()) {
      if (dialect === "requests") client.send(this.#requestFrame(ask));
      else this.#asEvent(ask);
    }
  }

  /** As `open_requests` of E.3, oldest first. */
  list(): Record<string, unknown>[] {
    return this.#desk.asks().map((ask) => ({
      id: serverRequestIdOf(ask),
      method: familyOf(ask.payload),
      params: this.#params(ask),
    }));
  }

  /**
   * Remembers who of the request dialect is about to answer: the event connection is told that the question has gone.
   * Who answers by a response is not told about its own answer.
   */
  answering(ask: Ask, client: Client, { bySelf }: { readonly bySelf: boolean }): void {
    this.#answeredBy.set(ask.id, { client, bySelf });
  }

  notAnswering(ask: Ask): void {
    this.#answeredBy.delete(ask.id);
  }

  /** False while somebody else can still answer. */
  declinedByAll(ask: Ask, client: Client): boolean {
    const declined = this.#declined.get(ask.id) ?? new Set();
    declined.add(client);
    this.#declined.set(ask.id, declined);
    return this.#desk.audience.clients.every((other) => declined.has(other));
  }

  #asEvent(ask: Ask): void {
    this.#desk.emitTo("events", `${familyOf(ask.payload)}.request`, renderAsk(this.#hermes, ask));
  }

  #requestFrame(ask: Ask): string {
    return encodeRequest(serverRequestIdOf(ask), familyOf(ask.payload), this.#params(ask));
  }

  #params(ask: Ask): Record<string, unknown> {
    return { session_id: this.#desk.sid, ...renderAskRequest(this.#hermes, ask) };
  }

  #reason(outcome: AskOutcome): string {
    if (outcome.type === "timeout") return "timeout";
    if (outcome.type !== "cancelled") return "resolved";
    return this.#desk.closing() ?? "interrupted";
  }
}
