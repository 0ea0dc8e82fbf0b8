/**
 * One WebSocket as a host (tui-gateway.md A.2 "Latency"). Deltas that follow each other closely go out together, at
 * most 33 ms late and in order; the first of a pause goes out at once and every other frame takes the held ones along.
 * A host that reads nothing for too long is given up, so that it holds up nobody else.
 */
import type { Clock } from "@/platform/mod.ts";
import { isDelta } from "./frame.ts";
import type { Client } from "./peer.ts";

/** What this needs of a `WebSocket`. */
export interface Socket {
  readonly readyState: number;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(code: number, reason: string): void;
}

export interface SocketClientOptions {
  readonly clock: Clock;
  /** Called once when the host was given up; its socket is being closed. */
  onDropped(): void;
}

const HOLD_MS = 33;
/** Waiting bytes above which a session goes no faster than its host reads. */
const HIGH_WATER = 8 << 20;
/** A host with more than this waiting is given up at once. */
const MAX_WAITING = 64 << 20;
/** Without taking a byte for so long, a host over the high water is given up. */
const PATIENCE_MS = 10_000;
const POLL_MS = 10;

export class SocketClient implements Client {
  readonly #socket: Socket;
  readonly #options: SocketClientOptions;
  #held: string[] = [];
  #timer: ReturnType<typeof setTimeout> | null = null;
  #lastDelta = -Infinity;
  #draining: Promise<void> | null = null;
  #dropped = false;

  constructor(socket: Socket, options: SocketClientOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  get gone(): boolean {
    const { readyState } = this.#socket;
    return this.#dropped || readyState === WebSocket.CLOSING || readyState === WebSocket.CLOSED;
  }

  send(frame: string): void {
    if (isDelta(frame)) return this.#sendDelta(frame);
    if (this.#held.length > 0) this.#flush();
    this.#write(frame);
  }

  room(): Promise<void> | null {
    if (!this.#isFull()) return null;
    return this.#draining ??= this.#drained().finally(() => this.#draining = null);
  }

  /** The connection has ended: nothing is held any more. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#held = [];
  }

  #sendDelta(frame: string): void {
    const now = this.#options.clock.monotonic();
    const early = this.#lastDelta + HOLD_MS - now;
    if (this.#held.length === 0 && early <= 0) {
      this.#lastDelta = now;
      return this.#write(frame);
    }
    this.#held.push(frame);
    this.#timer ??= setTimeout(() => this.#flush(), early);
  }

  #flush(): void {
    const frames = this.#held;
    this.close();
    this.#lastDelta = this.#options.clock.monotonic();
    for (const frame of frames) this.#write(frame);
  }

  #write(frame: string): void {
    if (this.#dropped || this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.send(frame.slice(0, -1));
    if (this.#socket.bufferedAmount > MAX_WAITING) this.#drop();
  }

  #isFull(): boolean {
    return !this.gone && this.#socket.readyState === WebSocket.OPEN &&
      this.#socket.bufferedAmount > HIGH_WATER;
  }

  /** The runtime tells how much waits, but not when it has gone. */
  async #drained(): Promise<void> {
    const { clock } = this.#options;
    let [least, since] = [this.#socket.bufferedAmount, clock.monotonic()];
    while (this.#isFull()) {
      await clock.delay(POLL_MS);
      const waiting = this.#socket.bufferedAmount;
      if (waiting < least) [least, since] = [waiting, clock.monotonic()];
      if (clock.monotonic() - since > PATIENCE_MS) this.#drop();
    }
  }

  #drop(): void {
    if (this.#dropped) return;
    this.#dropped = true;
    this.close();
    this.#socket.close(1013, "the reader is too slow");
    this.#options.onDropped();
  }
}
