/**
 * What a server writes to stderr, in `logs/mcp-<server>.log` (0600): redacted, bounded, never on our own streams.
 * Writing is in the background and never fails anybody.
 */
import type { Platform } from "@/platform/mod.ts";
import { fileLabel } from "./names.ts";

const MAX_BYTES = 1 << 20;
/** What may wait for the disk; more is dropped. */
const MAX_WAITING = 1 << 18;

export class ServerLog {
  readonly path: string;
  readonly #platform: Platform;
  readonly #redact: (text: string) => string;
  readonly #folder: string;
  readonly #decoder = new TextDecoder();
  #waiting = "";
  #writing: Promise<void> | null = null;
  #last = "";

  constructor(home: string, server: string, platform: Platform, redact: (text: string) => string) {
    this.#folder = `${home}/logs`;
    this.path = `${this.#folder}/mcp-${fileLabel(server)}.log`;
    this.#platform = platform;
    this.#redact = redact;
  }

  /** The last line with text in it, redacted, at most 200 characters. */
  get lastLine(): string {
    const line = this.#last.split("\n").findLast((part) => part.trim() !== "") ?? "";
    return this.#redact(line.trim()).slice(0, 200);
  }

  started(what: string): void {
    this.#last = "";
    this.#add(`--- ${new Date(this.#platform.clock.now()).toISOString()} ${what}\n`);
  }

  push(chunk: Uint8Array): void {
    const text = this.#decoder.decode(chunk, { stream: true });
    this.#last = (this.#last + text).slice(-2_000);
    this.#add(text);
  }

  /** Resolves when all that was pushed is written. */
  async idle(): Promise<void> {
    await this.#writing;
  }

  #add(text: string): void {
    if (this.#waiting.length + text.length > MAX_WAITING) return;
    this.#waiting += text;
    this.#writing ??= this.#flush().finally(() => this.#writing = null);
  }

  async #flush(): Promise<void> {
    const { files } = this.#platform;
    try {
      await files.mkdir(this.#folder, { mode: 0o700 });
      while (this.#waiting !== "") {
        const text = this.#waiting;
        this.#waiting = "";
        const size = (await files.stat(this.path))?.size ?? 0;
        if (size > MAX_BYTES) await files.rename(this.path, `${this.path}.1`);
        await files.append(this.path, new TextEncoder().encode(this.#redact(text)), { mode: 0o600 });
      }
    } catch {
      this.#waiting = ""; // A full disk or a read-only home must not stop a server.
    }
  }
}
