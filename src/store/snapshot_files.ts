/**
 * Contents of files as they were before a turn changed them: one file per content, named by its SHA-256, readable
 * for the user alone, bounded in age and size. A content that is gone is `null`, never something else.
 */
import { isNotFound, type Platform } from "@/platform/mod.ts";

export interface SnapshotLimits {
  readonly maxBytes: number;
  readonly maxAgeMs: number;
}

interface KeptFile {
  readonly path: string;
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

const FRESH_MS = 24 * 3_600_000;
const HASH = /^[0-9a-f]{64}$/;

/** SHA-256 of the text in UTF-8, in hexadecimal. */
export async function hashText(text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class SnapshotFiles {
  readonly #platform: Platform;
  readonly #folder: string;

  constructor(platform: Platform, folder: string) {
    this.#platform = platform;
    this.#folder = folder;
  }

  #folderOf(hash: string): string {
    return `${this.#folder}/${hash.slice(0, 2)}`;
  }

  /** Keeps a text under its hash; one that is kept already counts as new again. */
  async put(hash: string, text: string): Promise<void> {
    const { files, ids, clock } = this.#platform;
    const folder = this.#folderOf(hash);
    const path = `${folder}/${hash}`;
    const kept = await files.stat(path);
    if (kept && clock.now() - kept.mtimeMs < FRESH_MS) return;
    await files.mkdir(folder, { mode: 0o700 });
    const temporary = `${folder}/.${ids.hex(12)}`;
    try {
      await files.write(temporary, new TextEncoder().encode(text), { mode: 0o600 });
      await files.rename(temporary, path);
    } catch (error) {
      await files.remove(temporary).catch(() => {/* it was never made */});
      throw error;
    }
  }

  /** `null` when it is not kept any more, or is no longer what its name says. */
  async get(hash: string): Promise<string | null> {
    try {
      const bytes = await this.#platform.files.read(`${this.#folderOf(hash)}/${hash}`);
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
      return await hashText(text) === hash ? text : null;
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  /** Removes what is too old, then the oldest until the rest fits. */
  async prune(limits: SnapshotLimits): Promise<void> {
    const now = this.#platform.clock.now();
    const kept = (await this.#all()).sort((a, b) => b.mtimeMs - a.mtimeMs);
    let total = 0;
    for (const { path, size, mtimeMs } of kept) {
      total += size;
      if (total <= limits.maxBytes && now - mtimeMs <= limits.maxAgeMs) continue;
      await this.#platform.files.remove(path).catch(() => {/* another process was faster */});
    }
  }

  /** Hashes of contents that were not kept anew for so long. */
  async olderThan(ageMs: number): Promise<Set<string>> {
    const now = this.#platform.clock.now();
    const old = (await this.#all()).filter(({ mtimeMs }) => now - mtimeMs > ageMs);
    return new Set(old.map(({ name }) => name).filter((name) => HASH.test(name)));
  }

  /** Removes a content unless it was kept anew meanwhile. Never throws. */
  async removeOlder(hash: string, ageMs: number): Promise<void> {
    const { files, clock } = this.#platform;
    const path = `${this.#folderOf(hash)}/${hash}`;
    try {
      const stat = await files.stat(path);
      if (stat && clock.now() - stat.mtimeMs > ageMs) await files.remove(path);
    } catch {
      // Another process was faster.
    }
  }

  async #all(): Promise<KeptFile[]> {
    const { files } = this.#platform;
    const found: KeptFile[] = [];
    if (await files.stat(this.#folder) === null) return found;
    for (const folder of await files.list(this.#folder)) {
      if (!folder.isDirectory) continue;
      for (const entry of await files.list(`${this.#folder}/${folder.name}`)) {
        const path = `${this.#folder}/${folder.name}/${entry.name}`;
        const stat = entry.isFile ? await files.stat(path) : null;
        if (stat) found.push({ path, name: entry.name, size: stat.size, mtimeMs: stat.mtimeMs });
      }
    }
    return found;
  }
}
