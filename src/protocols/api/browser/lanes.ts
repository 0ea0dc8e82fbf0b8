/**
 * Tickets and lanes (api-server.md B6.1, B6.3). A ticket lets one connection in, once and soon; a lane is one session
 * of one caller from one kind of place, and has one controller at most: another one replaces it, the same one goes on
 * where it was. A lane that ever had a controller stays taken, so that a call fails where its browser is away.
 */
import type { Clock, Ids } from "@/platform/mod.ts";
import { Controller, type Transport } from "./controller.ts";
import type { LaneName, Registration } from "./protocol.ts";

export const TICKET_MS = 30_000;
const COMMAND_MS = 30_000;
/** Unused ones; the oldest go first. */
const MAX_TICKETS = 1_000;
/** Lanes that are remembered; those without a connection go first, the oldest before the others. */
const MAX_LANES = 1_000;

export interface LanesOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Told what happens to controllers. */
  note(event: "connected" | "replaced" | "detached", registration: Registration): void;
  readonly commandMs?: number;
}

interface Ticket {
  readonly registration: Registration;
  /** Monotonic milliseconds. */
  readonly until: number;
}

export class Lanes {
  readonly #options: LanesOptions;
  readonly #tickets = new Map<string, Ticket>();
  readonly #lanes = new Map<string, Controller>();

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  /** A ticket of 43 characters that nobody can guess. */
  issue(registration: Registration): string {
    const now = this.#options.clock.monotonic();
    for (const [ticket, { until }] of this.#tickets) if (until <= now) this.#tickets.delete(ticket);
    for (const ticket of this.#tickets.keys()) {
      if (this.#tickets.size < MAX_TICKETS) break;
      this.#tickets.delete(ticket);
    }
    const bytes = (this.#options.ids.hex(64).match(/../g) ?? []).map((pair) => parseInt(pair, 16));
    const text = btoa(String.fromCharCode(...bytes));
    const ticket = text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
    this.#tickets.set(ticket, { registration, until: now + TICKET_MS });
    return ticket;
  }

  isGood(ticket: string): boolean {
    return (this.#tickets.get(ticket)?.until ?? -Infinity) > this.#options.clock.monotonic();
  }

  /** Uses the ticket up; `null` when it is not good. */
  redeem(ticket: string): Registration | null {
    const found = this.isGood(ticket) ? this.#tickets.get(ticket)! : null;
    this.#tickets.delete(ticket);
    return found?.registration ?? null;
  }

  /** A connection with a ticket: the controller that it speaks for from now on. */
  attach(registration: Registration, transport: Transport): Controller {
    const name = nameOf(registration.lane);
    const known = this.#lanes.get(name);
    const { ids, commandMs = COMMAND_MS, note } = this.#options;
    const isSame = known !== undefined && isSameController(known.registration, registration);
    if (known && !isSame) {
      known.retire("Another browser was connected to this session: cancelled");
      note("replaced", known.registration);
    }
    const controller = isSame ? known : new Controller(registration, { ids, timeoutMs: commandMs });
    this.#lanes.delete(name);
    this.#lanes.set(name, controller);
    controller.attach(registration, transport);
    note("connected", registration);
    this.#trim();
    return controller;
  }

  /** `null`: there never was one. */
  find(lane: LaneName): Controller | null {
    return this.#lanes.get(nameOf(lane)) ?? null;
  }

  /** The server goes away. */
  close(): void {
    for (const controller of this.#lanes.values()) controller.retire("The server is shutting down");
    this.#tickets.clear();
  }

  #trim(): void {
    for (const [name, controller] of this.#lanes) {
      if (this.#lanes.size <= MAX_LANES) return;
      if (!controller.isOnline && controller.pending === 0) this.#lanes.delete(name);
    }
  }
}

function nameOf({ sessionId, keyId, family }: LaneName): string {
  return JSON.stringify([sessionId, keyId, family]);
}

function isSameController(a: Registration, b: Registration): boolean {
  return a.controllerId === b.controllerId && a.browserProfileId === b.browserProfileId;
}
