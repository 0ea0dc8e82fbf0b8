/** A child process seen as lines, with what the benchmark needs to know of it: time, memory, the raw bytes. */

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export interface LineHit {
  readonly text: string;
  /** `performance.now()` when the bytes arrived. */
  readonly at: number;
}

interface Counting {
  readonly test: (chunk: string) => boolean;
  /** The end marker has come; its line may not be whole yet. */
  seen: boolean;
  lines: number;
  readonly resolve: (at: number) => void;
}

export class Child implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly started = performance.now();
  #rest = "";
  #lines: LineHit[] = [];
  #waiters: { test: (line: string) => boolean; resolve: (hit: LineHit) => void }[] = [];
  #reading: Promise<void>;
  /** Lines are counted instead of kept while this is set. */
  counting: Counting | null = null;

  constructor(command: readonly string[], options: { env: Record<string, string>; cwd: string }) {
    this.#process = new Deno.Command(command[0]!, {
      args: command.slice(1),
      clearEnv: true,
      env: options.env,
      cwd: options.cwd,
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#reading = this.#read();
  }

  get pid(): number {
    return this.#process.pid;
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#process.stdout) {
      const at = performance.now();
      const text = decoder.decode(chunk, { stream: true });
      if (this.counting) {
        this.#count(text, at);
        continue;
      }
      const parts = (this.#rest + text).split("\n");
      this.#rest = parts.pop()!;
      for (const line of parts) this.#take({ text: line, at });
    }
  }

  /** Joins the last bytes of a chunk to the next, so that a marker cut in two is seen. */
  #count(text: string, at: number): void {
    const counting = this.counting!;
    for (let i = text.indexOf("\n"); i !== -1; i = text.indexOf("\n", i + 1)) counting.lines++;
    const seen = this.#rest + text;
    this.#rest = seen.slice(-200);
    counting.seen ||= counting.test(seen);
    if (counting.seen && seen.endsWith("\n")) {
      this.#rest = "";
      counting.resolve(at);
    }
  }

  #take(hit: LineHit): void {
    const index = this.#waiters.findIndex((waiter) => waiter.test(hit.text));
    if (index === -1) this.#lines.push(hit);
    else this.#waiters.splice(index, 1)[0]!.resolve(hit);
  }

  send(value: unknown): Promise<void> {
    return this.#writer.write(encoder.encode(JSON.stringify(value) + "\n"));
  }

  /** The first line, past or future, that fits; earlier ones are dropped. */
  line(test: (line: string) => boolean, timeoutMs = 20_000): Promise<LineHit> {
    const index = this.#lines.findIndex((hit) => test(hit.text));
    if (index !== -1) return Promise.resolve(this.#lines.splice(0, index + 1).at(-1)!);
    this.#lines = [];
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("Timed out waiting for a line")), timeoutMs);
      this.#waiters.push({
        test,
        resolve: (hit) => {
          clearTimeout(timer);
          resolve(hit);
        },
      });
    });
  }

  /** Counts lines until `test` is true of what has come last; the time of that moment. */
  countUntil(test: (chunk: string) => boolean, timeoutMs = 60_000): Promise<{ at: number; lines: number }> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("Timed out counting lines")), timeoutMs);
      const counting = {
        test,
        seen: false,
        lines: 0,
        resolve: (at: number) => {
          clearTimeout(timer);
          this.counting = null;
          resolve({ at, lines: counting.lines });
        },
      };
      this.counting = counting;
    });
  }

  /** Closes stdin; milliseconds until the process has ended, and its exit code. */
  async end(): Promise<{ ms: number; code: number }> {
    const start = performance.now();
    await this.#writer.close().catch(() => {/* it has ended already */});
    const { code } = await this.#process.status;
    const ms = performance.now() - start;
    await this.#reading.catch(() => {});
    return { ms, code };
  }

  signal(name: Deno.Signal): void {
    try {
      this.#process.kill(name);
    } catch {
      // It has ended already.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.signal("SIGKILL");
    await this.#process.status;
    await this.#writer.close().catch(() => {});
    await this.#reading.catch(() => {});
  }
}

/** Resident, proportional and peak memory of a process in KiB (Linux). */
export async function memoryOf(pid: number): Promise<{ rss: number; pss: number; peak: number }> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const rollup = await Deno.readTextFile(`/proc/${pid}/smaps_rollup`);
  const number = (text: string, name: string) =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? NaN);
  return { rss: number(status, "VmRSS"), pss: number(rollup, "Pss"), peak: number(status, "VmHWM") };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
