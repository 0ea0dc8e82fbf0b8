/**
 * Stands in for rooms that are still being loaded: what must wait waits, what is empty is empty, and what is asked
 * for too early is a fault of ours that says so.
 */
import type { Guard, Verdict } from "@/core/contract.ts";
import type { Redact } from "@/lib/redact.ts";
import type { Rooms } from "./rooms.ts";

export class LateRooms {
  #rooms: Rooms | null = null;
  #loading: Promise<void> | null = null;
  #waiting: ((rooms: Rooms) => void)[] = [];
  readonly #load: () => Promise<Rooms>;

  constructor(load: () => Promise<Rooms>) {
    this.#load = load;
  }

  get isReady(): boolean {
    return this.#rooms !== null;
  }

  /** The rooms, or null while they are not there. */
  get maybe(): Rooms | null {
    return this.#rooms;
  }

  /** Throws while they are not there: `ready()` has to come first. */
  get now(): Rooms {
    if (!this.#rooms) throw new Error("The rooms are not loaded yet: ready() comes first");
    return this.#rooms;
  }

  bind(rooms: Rooms): void {
    this.#rooms = rooms;
    for (const run of this.#waiting.splice(0)) run(rooms);
  }

  ready(): Promise<void> {
    if (this.#rooms) return Promise.resolve();
    this.#loading ??= this.#load().then((rooms) => this.bind(rooms));
    return this.#loading;
  }

  /** Runs now, or as soon as the rooms are there. */
  when(run: (rooms: Rooms) => void): void {
    if (this.#rooms) run(this.#rooms);
    else this.#waiting.push(run);
  }
}

/** A guard that is there from the start; nothing is judged before the real one has come. */
export function lateGuard(rooms: LateRooms, redact: Redact): Guard {
  return {
    reviewCommand: (command, context) => rooms.now.guard.reviewCommand(command, context),
    reviewEdit: (proposal, context) => rooms.now.guard.reviewEdit(proposal, context),
    reviewCall: (call, context): Verdict => rooms.now.guard.reviewCall?.(call, context) ?? { type: "allow" },
    judge: async (payload, context, options) =>
      await rooms.now.guard.judge?.(payload, context, options) ??
        { verdict: "escalate", reason: "", model: "" },
    grant: (payload, answer, context) => rooms.now.guard.grant(payload, answer, context),
    refusal: (payload, outcome) => rooms.now.guard.refusal(payload, outcome),
    dropScope: (scope) => rooms.maybe?.guard.dropScope(scope),
    redact: (text, mode) => redact(text, mode),
  };
}
