/**
 * Who hears a session (tui-gateway.md A.8, E): in the default dialect one connection, the one that came last; in the
 * request dialect any number of subscribers beside it. Which dialect a connection speaks is asked at every frame,
 * because it may change.
 */
import type { Client } from "./peer.ts";

/** `events`: questions are events. `requests`: questions are requests of ours (tui-gateway.md E). */
export type Dialect = "events" | "requests";

/** Connections that have opted in with `client.capabilities`. */
export class Dialects {
  readonly #requesting = new WeakSet<Client>();

  of(client: Client): Dialect {
    return this.#requesting.has(client) ? "requests" : "events";
  }

  set(client: Client, dialect: Dialect): void {
    if (dialect === "requests") this.#requesting.add(client);
    else this.#requesting.delete(client);
  }
}

export class Audience {
  readonly #dialects: Dialects;
  #clients: readonly Client[] = [];

  constructor(dialects: Dialects) {
    this.#dialects = dialects;
  }

  get clients(): readonly Client[] {
    return this.#clients;
  }

  has(client: Client): boolean {
    return this.#clients.includes(client);
  }

  speaking(dialect: Dialect): readonly Client[] {
    return this.#clients.filter((client) => this.#dialects.of(client) === dialect);
  }

  /** A subscriber joins; any other takes the place of the one before. It is the last to come. True when it is new here. */
  add(client: Client): boolean {
    if (client.gone) return false;
    const isNew = !this.has(client);
    const stays = this.#dialects.of(client) === "requests" ? this.#clients : this.speaking("requests");
    this.#clients = [...stays.filter((other) => other !== client), client];
    return isNew;
  }

  /** A subscriber has left the request dialect: of those in the default one the last to come stays, as ever. */
  settle(): void {
    const last = this.speaking("events").at(-1);
    this.#clients = this.#clients.filter((client) =>
      client === last || this.#dialects.of(client) === "requests"
    );
  }

  remove(client: Client): void {
    this.#clients = this.#clients.filter((other) => other !== client);
  }

  send(frame: string): void {
    for (const client of this.#clients) client.send(frame);
  }

  /** `null` when somebody has room: one slow listener of several does not hold up the others. */
  room(): Promise<void> | null {
    const waits: Promise<void>[] = [];
    for (const client of this.#clients) {
      const wait = client.room();
      if (!wait) return null;
      waits.push(wait);
    }
    return waits.length === 0 ? null : Promise.race(waits);
  }
}
