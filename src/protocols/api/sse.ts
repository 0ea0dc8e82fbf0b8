/**
 * The body of an SSE answer (api-server.md A12). Frames written in one tick leave as one chunk; `write` never
 * waits, a full peer is reported by a promise; a quiet stream gets a comment, so that proxies keep it open; the
 * reader's leaving is seen by `cancel`, since `request.signal` also fires after a good answer.
 *
 *   write ─► text of this tick ─► microtask ─► one encoded chunk ─► stream queue (64 KiB) ─► socket
 */
import type { Clock } from "@/platform/mod.ts";

export interface SseOptions {
  readonly clock: Clock;
  /** The reader has left, or has not taken anything for `stallMs`. Called at most once, never after `end`. */
  onGone(): void;
  readonly keepaliveMs?: number;
  readonly stallMs?: number;
}

const HIGH_WATER = 64 * 1024;
const KEEPALIVE_MS = 10_000;
const STALL_MS = 300_000;
const encoder = new TextEncoder();

export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-cache",
  "X-Accel-Buffering": "no",
};

export class SseStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #options: SseOptions;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #text = "";
  #flushing = false;
  #closed = false;
  #roomAt = 0;
  #room: PromiseWithResolvers<void> | null = null;
  #lastWrite: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #gone = Promise.withResolvers<void>();

  constructor(options: SseOptions) {
    this.#options = options;
    this.#lastWrite = options.clock.monotonic();
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      pull: () => this.#open(),
      cancel: () => this.#leave(),
    }, { highWaterMark: HIGH_WATER, size: (chunk) => chunk.byteLength });
    this.#arm(this.#keepalive);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when the stream has ended, from whichever side. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  /** Whole frames, blank line included. Returns a promise only when the peer is full. */
  write(frames: string): void | Promise<void> {
    if (this.#closed) return;
    this.#text += frames;
    if (!this.#flushing) {
      this.#flushing = true;
      queueMicrotask(() => this.#flush());
    }
    if ((this.#controller.desiredSize ?? 0) > this.#text.length) return;
    this.#room ??= this.#makeRoom();
    return this.#room.promise;
  }

  /** Last frames, then the clean end of the body. */
  end(frames = ""): void {
    if (this.#closed) return;
    this.#text += frames;
    this.#flush();
    this.#close();
    this.#controller.close();
  }

  get #keepalive(): number {
    return this.#options.keepaliveMs ?? KEEPALIVE_MS;
  }

  #makeRoom(): PromiseWithResolvers<void> {
    this.#roomAt = this.#options.clock.monotonic();
    return Promise.withResolvers<void>();
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#closed || this.#text === "") return;
    const chunk = encoder.encode(this.#text);
    this.#text = "";
    this.#lastWrite = this.#options.clock.monotonic();
    this.#controller.enqueue(chunk);
    if ((this.#controller.desiredSize ?? 0) > 0) this.#open();
  }

  #open(): void {
    this.#room?.resolve();
    this.#room = null;
  }

  #close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#open();
    this.#gone.resolve();
  }

  #leave(): void {
    if (this.#closed) return;
    this.#close();
    this.#options.onGone();
  }

  #arm(ms: number): void {
    this.#timer = setTimeout(() => this.#tick(), ms);
  }

  /** One lazy timer per stream: it looks at the clock when it fires, so frames cost no timer work. */
  #tick(): void {
    const now = this.#options.clock.monotonic();
    if (this.#room && now - this.#roomAt >= (this.#options.stallMs ?? STALL_MS)) {
      this.#leave();
      this.#controller.error(new Error("The reader has stopped reading"));
      return;
    }
    const quiet = now - this.#lastWrite;
    if (quiet >= this.#keepalive && !this.#room) void this.write(": keepalive\n\n");
    this.#arm(quiet >= this.#keepalive ? this.#keepalive : Math.max(1, this.#keepalive - quiet));
  }
}
