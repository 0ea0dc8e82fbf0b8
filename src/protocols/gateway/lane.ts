/**
 * The order in which one connection's frames are looked at (tui-gateway.md A.5). Promises: one after the other, and the
 * next one waits for an inline method, but not for ever; a stop, or an answer to a question, passes a method that has
 * become slow, and nothing else passes anything. A flood on one connection leaves the thread to the others after every
 * slice of work. Knows no method and no transport.
 */
import { within } from "@/lib/abort.ts";
import type { Incoming } from "./frame.ts";
import { parseFrame } from "./frame.ts";

/** Stands for a line that the transport dropped because of its size. */
export const TOO_LARGE = Symbol("too large");

/** `null`: bytes that are not UTF-8. */
export type Received = string | null | typeof TOO_LARGE;

export interface LaneHost {
  /** A promise while what the frame needs is not loaded. Never rejects. */
  ready(frame: Incoming): Promise<void> | null;
  /** Starts on it; a promise when the frames behind it have to wait. Never throws or rejects. */
  handle(frame: Incoming): Promise<void> | null;
  /** Everything received was looked at. */
  onQuiet(): void;
}

/** After so many milliseconds a method counts as slow. */
const SLOW_MS = 25;
const URGENT_LENGTH = 16_384;
/** Characters from which on reading a frame is a slice of its own. */
const LONG_LENGTH = 1 << 18;
/** Milliseconds that one connection works before the others get the thread. */
const SLICE_MS = 2;
/** After so many milliseconds without a frame the thread was free. */
const PAUSE_MS = 1;
/** Frames that were looked at are dropped in lumps of this many. */
const DROP = 1024;

const OVERSIZED: Incoming = { type: "invalid", id: "null", code: -32600, message: "frame too large" };

export class Lane {
  readonly #host: LaneHost;
  readonly #waitMs: number;
  #queue: Received[] = [];
  /** Place of the next frame in the queue. */
  #at = 0;
  #backlog = 0;
  #isPumping = false;
  /** Since when it has worked without a pause, and when it last did. */
  #busySince = -Infinity;
  #busyUntil = -Infinity;
  /** While a slow method holds the lane: the first frame that may still pass it. */
  #passable: number | null = null;
  #waiters: (() => void)[] = [];

  /** `waitMs`: how long one method may hold up the frames behind it. */
  constructor(host: LaneHost, waitMs: number) {
    this.#host = host;
    this.#waitMs = waitMs;
  }

  /** Characters received and not yet looked at. */
  get backlog(): number {
    return this.#backlog;
  }

  get isQuiet(): boolean {
    return !this.#isPumping;
  }

  receive(received: Received): void {
    this.#queue.push(received);
    this.#backlog += sizeOf(received);
    if (this.#passable !== null) this.#passUrgent(this.#passable);
    if (this.#isPumping) return;
    this.#isPumping = true;
    void this.#pump();
  }

  /** Resolves when everything received was looked at. */
  quiet(): Promise<void> {
    if (this.isQuiet) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async #pump(): Promise<void> {
    while (this.#at < this.#queue.length) {
      if (this.#isSliceOver()) await threadFree();
      const isLong = sizeOf(this.#queue[this.#at]!) > LONG_LENGTH;
      const frame = this.#next();
      if (isLong) await threadFree();
      const loading = this.#host.ready(frame);
      if (loading) await loading;
      const working = this.#host.handle(frame);
      this.#busyUntil = performance.now();
      if (working) await this.#hold(working, frame);
    }
    this.#queue = [];
    this.#at = 0;
    this.#isPumping = false;
    for (const resolve of this.#waiters.splice(0)) resolve();
    this.#host.onQuiet();
  }

  /** Frames of one connection may come without the thread being free once in between. */
  #isSliceOver(): boolean {
    const now = performance.now();
    if (now - this.#busyUntil > PAUSE_MS) this.#busySince = now;
    if (now - this.#busySince <= SLICE_MS) return false;
    this.#busySince = now;
    return true;
  }

  #next(): Incoming {
    const received = this.#queue[this.#at++]!;
    this.#backlog -= sizeOf(received);
    if (this.#at >= DROP) {
      this.#queue.splice(0, this.#at);
      this.#at = 0;
    }
    return received === TOO_LARGE ? OVERSIZED : parseFrame(received);
  }

  async #hold(working: Promise<void>, frame: Incoming): Promise<void> {
    const isDone = working.then(() => true);
    if (isPrompt(frame)) return void await within(isDone, this.#waitMs);
    if (await within(isDone, Math.min(SLOW_MS, this.#waitMs))) return;
    this.#passUrgent(this.#at);
    await within(isDone, Math.max(0, this.#waitMs - SLOW_MS));
    this.#passable = null;
  }

  /** Each frame is looked at once. A stop never comes before the prompt that it is meant for. */
  #passUrgent(from: number): void {
    let at = from;
    while (at < this.#queue.length) {
      const received = this.#queue[at]!;
      const frame = isShort(received) ? parseFrame(received) : null;
      if (frame === null || isPrompt(frame) || this.#host.ready(frame)) {
        this.#passable = Infinity;
        return;
      }
      if (!isUrgent(frame)) {
        at++;
        continue;
      }
      this.#queue.splice(at, 1);
      this.#backlog -= sizeOf(received);
      void this.#host.handle(frame);
    }
    this.#passable = at;
  }
}

/** What is longer is no stop and no answer that somebody waits for; it may be a prompt. */
function isShort(received: Received): received is string {
  return typeof received === "string" && received.length <= URGENT_LENGTH;
}

function isPrompt(frame: Incoming): boolean {
  return frame.type === "request" && frame.method === "prompt.submit";
}

/** A stop, or an answer to a question in either dialect: what must not wait behind a slow method. */
function isUrgent(frame: Incoming): boolean {
  if (frame.type === "response") return true;
  return frame.type === "request" &&
    (frame.method === "session.interrupt" || frame.method.endsWith(".respond") ||
      frame.method === "request.answer");
}

/** Resolves when everybody else has had a turn. */
function threadFree(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function sizeOf(received: Received): number {
  return typeof received === "string" ? received.length : 0;
}
