/**
 * Who goes first while the thread is fully used: calls that begin, before answers that run. Hundreds that begin at once
 * would share it with every token of those before them, and the last ones would wait for their first word a fifth longer.
 * An answer waits for so long in all, then no more, and what has come meanwhile is read at once.
 */
import type { Platform } from "@/platform/mod.ts";

/** Milliseconds that one answer waits in all. */
export const PATIENCE_MS = 200;
/** Milliseconds of one wait. */
const WAIT_MS = 20;
/** With fewer that begin nobody waits. */
const MANY = 4;
/** Milliseconds after which the use of the thread is looked at anew. */
const LOOK_MS = 20;
/** Share of one processor from which on the thread is fully used. */
const FULL = 0.8;

type Machine = Pick<Platform, "cpuMs"> & { readonly clock: Pick<Platform["clock"], "monotonic" | "delay"> };

export class RightOfWay {
  readonly #machine: Machine;
  #beginning = 0;
  #waiting: PromiseWithResolvers<void>[] = [];
  #look = { at: -Infinity, cpuMs: 0, isFull: false };

  constructor(machine: Machine) {
    this.#machine = machine;
  }

  /** A call begins; what it gives is called, also more than once, when it is answered or has ended. */
  begin(): () => void {
    this.#beginning++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#beginning--;
    };
  }

  /** Whether an answer that runs should wait. */
  get isWanted(): boolean {
    return this.#beginning >= MANY && this.#isFull();
  }

  /** One wait; who must not wait any longer resolves it. */
  wait(): PromiseWithResolvers<void> {
    const waiting = Promise.withResolvers<void>();
    if (this.#waiting.push(waiting) === 1) {
      void this.#machine.clock.delay(WAIT_MS).then(() => this.#letAllGo());
    }
    return waiting;
  }

  #letAllGo(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve();
  }

  #isFull(): boolean {
    const at = this.#machine.clock.monotonic();
    const passed = at - this.#look.at;
    if (passed >= LOOK_MS) {
      const cpuMs = this.#machine.cpuMs();
      this.#look = { at, cpuMs, isFull: cpuMs - this.#look.cpuMs >= FULL * passed };
    }
    return this.#look.isFull;
  }
}
