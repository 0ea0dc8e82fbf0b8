/**
 * `processes.json` in the data home: the background processes that run now, so that after a crash of the program a
 * resumed session can be told which of its processes were lost (core.md B.4). Advisory: a file that cannot be read or
 * written costs this knowledge and nothing else.
 */
import { join } from "node:path";
import type { Platform } from "@/platform/mod.ts";

export interface CheckpointEntry {
  readonly id: string;
  /** The session it belongs to. */
  readonly owner: string;
  /** Redacted. */
  readonly command: string;
  readonly cwd: string;
  readonly pid: number;
  /** Process id of the program that started it. */
  readonly host_pid: number;
  /** Unix seconds. */
  readonly started_at: number;
}

const MAX_ENTRIES = 1_000;

function isEntry(value: unknown): value is CheckpointEntry {
  const entry = value as Partial<CheckpointEntry> | null;
  return typeof entry === "object" && entry !== null && typeof entry.id === "string" &&
    typeof entry.owner === "string" && typeof entry.command === "string" && typeof entry.pid === "number" &&
    typeof entry.host_pid === "number";
}

export class ProcessCheckpoint {
  readonly #platform: Platform;
  readonly #path: string;
  /** Changes of this object run one after the other. */
  #tail: Promise<void> = Promise.resolve();

  constructor(platform: Platform, home: string) {
    this.#platform = platform;
    this.#path = join(home, "processes.json");
  }

  add(entry: CheckpointEntry): Promise<void> {
    return this.#change((entries) => [...entries, entry].slice(-MAX_ENTRIES));
  }

  remove(id: string): Promise<void> {
    return this.#change((entries) => entries.filter((entry) => entry.id !== id));
  }

  /** Resolves when every change so far is on disk. */
  settled(): Promise<void> {
    return this.#tail;
  }

  /** Takes out the entries of a session whose program is gone. */
  async takeLost(owner: string): Promise<CheckpointEntry[]> {
    const lost: CheckpointEntry[] = [];
    for (const entry of this.#read()) {
      if (entry.owner === owner && !await this.#isAlive(entry.host_pid)) lost.push(entry);
    }
    if (lost.length > 0) {
      const ids = new Set(lost.map((entry) => entry.id));
      await this.#change((entries) => entries.filter((entry) => !ids.has(entry.id)));
    }
    return lost;
  }

  async #isAlive(pid: number): Promise<boolean> {
    if (pid === this.#platform.pid) return true;
    const { files } = this.#platform;
    if (await files.stat("/proc/self")) return await files.stat(`/proc/${pid}`) !== null;
    return false; // Without /proc a program other than this one cannot be seen.
  }

  #read(): CheckpointEntry[] {
    try {
      const value: unknown = JSON.parse(this.#platform.files.readTextSync(this.#path) ?? "null");
      const { processes } = (value ?? {}) as { processes?: unknown };
      return Array.isArray(processes) ? processes.filter(isEntry) : [];
    } catch {
      return []; // Broken: written anew with the next change.
    }
  }

  #change(edit: (entries: CheckpointEntry[]) => CheckpointEntry[]): Promise<void> {
    this.#tail = this.#tail.then(async () => {
      const { files, ids } = this.#platform;
      const temporary = `${this.#path}.${ids.hex(8)}`;
      try {
        const text = JSON.stringify({ version: 1, processes: edit(this.#read()) }, null, 1);
        await files.write(temporary, new TextEncoder().encode(text), { mode: 0o600 });
        await files.rename(temporary, this.#path);
      } catch {
        await files.remove(temporary).catch(() => {/* advisory, see above */});
      }
    });
    return this.#tail;
  }
}
