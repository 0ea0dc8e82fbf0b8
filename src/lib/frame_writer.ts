/**
 * The one writer of a byte sink: frames go out whole and in order, and all frames of one tick in one write.
 * `write` never waits, so nothing on a cancel path can hang on a peer that stopped reading; who can wait asks
 * `room()`. A write that hangs longer than `stallMs` is reported once per stall.
 */

export interface ByteSink {
  write(bytes: Uint8Array): Promise<number | void>;
}

export interface FrameWriterOptions {
  /** Above this many queued bytes `room()` waits. Default 8 MiB. */
  readonly highWater?: number;
  readonly stallMs?: number;
  onStall?(): void;
  /** The sink is broken; later frames are dropped. Called once. */
  onError?(error: unknown): void;
}

const encoder = new TextEncoder();

export class FrameWriter {
  readonly #sink: ByteSink;
  readonly #options: FrameWriterOptions;
  #queue: string[] = [];
  #queued = 0;
  #flushing = false;
  #broken = false;
  #roomWaiters: (() => void)[] = [];
  #idleWaiters: (() => void)[] = [];

  constructor(sink: ByteSink, options: FrameWriterOptions = {}) {
    this.#sink = sink;
    this.#options = options;
  }

  /** Characters waiting, close enough to bytes for bounds. */
  get queued(): number {
    return this.#queued;
  }

  get broken(): boolean {
    return this.#broken;
  }

  write(frame: string): void {
    if (this.#broken) return;
    this.#queue.push(frame);
    this.#queued += frame.length;
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => void this.#flush());
  }

  /** `null` when there is room, else a promise for when there is (or when the sink broke). */
  room(): Promise<void> | null {
    if (this.#broken || this.#queued <= (this.#options.highWater ?? 8 << 20)) return null;
    return new Promise((resolve) => this.#roomWaiters.push(resolve));
  }

  /** Resolves when all that was written is handed over, or when the sink broke. */
  idle(): Promise<void> {
    if (!this.#flushing) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0 && !this.#broken) {
      const batch = this.#queue.length === 1 ? this.#queue[0]! : this.#queue.join("");
      this.#queue = [];
      await this.#writeAll(encoder.encode(batch));
      this.#queued = Math.max(0, this.#queued - batch.length);
      if (this.#queued <= (this.#options.highWater ?? 8 << 20)) this.#release(this.#roomWaiters);
    }
    this.#flushing = false;
    this.#release(this.#roomWaiters);
    this.#release(this.#idleWaiters);
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    const { stallMs, onStall } = this.#options;
    const timer = stallMs === undefined ? undefined : setTimeout(() => onStall?.(), stallMs);
    try {
      let rest = bytes;
      while (rest.length > 0) {
        const n = await this.#sink.write(rest);
        if (typeof n !== "number") break;
        rest = rest.subarray(n);
      }
    } catch (error) {
      this.#broken = true;
      this.#queue = [];
      this.#queued = 0;
      this.#options.onError?.(error);
    } finally {
      clearTimeout(timer);
    }
  }

  #release(waiters: (() => void)[]): void {
    for (const resolve of waiters.splice(0)) resolve();
  }
}
