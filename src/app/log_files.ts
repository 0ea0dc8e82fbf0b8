/**
 * `logs/agent.log` and, from WARNING on, `logs/errors.log` of the data home (core.md D.1): 0600, turned over at a
 * size, a few old ones kept as `.1`, `.2`, …. Lines come in redacted. Writing is in the background, in order, and
 * fails nobody; a data home that is not there yet is not made for a log.
 */
import type { LogLevel } from "@/lib/log.ts";
import type { Platform } from "@/platform/mod.ts";

/** Characters that may wait for the disk per file; what comes on top is dropped and counted. */
const MAX_WAITING = 1 << 18;
const MODE = 0o600;

export interface LogLimits {
  /** Size in bytes from which a file is turned over; 0 = never. */
  readonly maxBytes: number;
  /** Old files kept. */
  readonly keep: number;
}

export class LogFiles {
  readonly #all: LogFile;
  readonly #errors: LogFile;

  /** `limits` is asked at each write, so a changed setting counts at once. */
  constructor(home: string, platform: Platform, limits: () => LogLimits) {
    this.#all = new LogFile(home, "agent.log", platform, limits);
    this.#errors = new LogFile(home, "errors.log", platform, limits);
  }

  /** One line without its end. */
  add(level: LogLevel, line: string): void {
    this.#all.add(line);
    if (level === "WARNING" || level === "ERROR") this.#errors.add(line);
  }

  /** Resolves when all that was added is written, or given up. */
  async idle(): Promise<void> {
    await Promise.all([this.#all.idle(), this.#errors.idle()]);
  }
}

class LogFile {
  readonly #home: string;
  readonly #path: string;
  readonly #platform: Platform;
  readonly #limits: () => LogLimits;
  #waiting = "";
  #dropped = 0;
  #writing: Promise<void> | null = null;
  #isTight = false;

  constructor(home: string, name: string, platform: Platform, limits: () => LogLimits) {
    this.#home = home;
    this.#path = `${home}/logs/${name}`;
    this.#platform = platform;
    this.#limits = limits;
  }

  add(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING) this.#dropped++;
    else this.#waiting += `${line}\n`;
    this.#writing ??= this.#flush().finally(() => this.#writing = null);
  }

  async idle(): Promise<void> {
    await this.#writing;
  }

  async #flush(): Promise<void> {
    const { files } = this.#platform;
    try {
      if (await files.stat(this.#home) === null) return this.#forget();
      await files.mkdir(`${this.#home}/logs`, { mode: 0o700 });
      while (this.#waiting !== "") {
        const bytes = new TextEncoder().encode(this.#take());
        const stat = await files.stat(this.#path);
        const { maxBytes } = this.#limits();
        if (stat && maxBytes > 0 && stat.size + bytes.length > maxBytes) await this.#turnOver();
        else if (stat && !this.#isTight) await files.chmod(this.#path, MODE);
        this.#isTight = true;
        await files.append(this.#path, bytes, { mode: MODE });
      }
    } catch {
      this.#forget(); // A full disk or a read-only home must not stop the program.
    }
  }

  #take(): string {
    const text = this.#waiting + (this.#dropped > 0 ? `[${this.#dropped} lines were dropped]\n` : "");
    this.#forget();
    return text;
  }

  #forget(): void {
    this.#waiting = "";
    this.#dropped = 0;
  }

  /** Another program may do the same at this moment: then one old file is lost, never a new line. */
  async #turnOver(): Promise<void> {
    const { files } = this.#platform;
    const { keep } = this.#limits();
    if (keep < 1) return await files.remove(this.#path);
    for (let n = keep - 1; n >= 0; n--) {
      const from = n === 0 ? this.#path : `${this.#path}.${n}`;
      if (await files.stat(from)) await files.rename(from, `${this.#path}.${n + 1}`);
    }
  }
}
