/**
 * Model lists and learned windows that outlive the program: `provider_models_cache.json` in the data home (core.md
 * F.5). Read at the first question, written whole and atomically; a broken or missing file is an empty one, and a
 * file that cannot be written costs nothing but the next question.
 */
import type { Logger } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { ListedModel } from "./model_lists.ts";

export interface KeptList {
  readonly models: readonly ListedModel[];
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The base URL that it was found at, when that is not the one it is kept under. */
  readonly otherUrl?: string;
}

interface Stored {
  readonly version: 1;
  readonly lists: Readonly<Record<string, KeptList>>;
  /** `model@base_url` → tokens. */
  readonly windows: Readonly<Record<string, number>>;
}

const MAX_WINDOWS = 500;

export class ListCache {
  readonly #platform: Platform;
  /** `null`: nothing is kept on disk. */
  readonly #path: string | null;
  readonly #log: Logger;
  readonly #lists = new Map<string, KeptList>();
  readonly #windows = new Map<string, number>();
  #isLoaded = false;
  /** Grows with everything that is learned. */
  version = 0;
  #saving: Promise<void> = Promise.resolve();

  constructor(platform: Platform, home: string | null, log: Logger) {
    this.#platform = platform;
    this.#path = home === null ? null : `${home}/provider_models_cache.json`;
    this.#log = log;
  }

  list(baseUrl: string): KeptList | null {
    this.#load();
    return this.#lists.get(baseUrl) ?? null;
  }

  window(baseUrl: string, model: string): number | null {
    this.#load();
    return this.#windows.get(`${model}@${baseUrl}`) ?? null;
  }

  /** The same without a look at the disk, for the way to the first answer. */
  learnedWindow(baseUrl: string, model: string): number | null {
    return this.#windows.get(`${model}@${baseUrl}`) ?? null;
  }

  async setList(baseUrl: string, list: KeptList): Promise<void> {
    this.#load();
    this.#lists.set(baseUrl, list);
    this.version++;
    await this.#save();
  }

  async setWindow(baseUrl: string, model: string, tokens: number): Promise<void> {
    this.#load();
    const key = `${model}@${baseUrl}`;
    if (this.#windows.get(key) === tokens) return;
    this.#windows.delete(key);
    this.#windows.set(key, tokens);
    this.version++;
    if (this.#windows.size > MAX_WINDOWS) this.#windows.delete(this.#windows.keys().next().value!);
    await this.#save();
  }

  #load(): void {
    if (this.#isLoaded) return;
    this.#isLoaded = true;
    this.version++;
    const text = this.#path === null ? null : readOrNull(this.#platform, this.#path);
    const stored = text === null ? null : parse(text);
    if (!stored) return;
    // What was learned since the start is newer.
    for (const [key, list] of Object.entries(stored.lists)) {
      if (!this.#lists.has(key)) this.#lists.set(key, list);
    }
    for (const [key, n] of Object.entries(stored.windows)) {
      if (!this.#windows.has(key)) this.#windows.set(key, n);
    }
  }

  /** One write after the other; never rejects. */
  #save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write()).catch((error: unknown) => {
      this.#log.debug(`Cannot keep the lists of models: ${error}`);
    });
    return this.#saving;
  }

  async #write(): Promise<void> {
    if (this.#path === null) return;
    const stored: Stored = {
      version: 1,
      lists: Object.fromEntries(this.#lists),
      windows: Object.fromEntries(this.#windows),
    };
    await writeAtomically(this.#platform, this.#path, JSON.stringify(stored));
  }
}

/** Through a file beside it, so that a reader never sees half of it. */
export async function writeAtomically(platform: Platform, path: string, text: string): Promise<void> {
  const slash = path.lastIndexOf("/");
  await platform.files.mkdir(path.slice(0, slash), { mode: 0o700 });
  const beside = `${path}.${platform.ids.hex(8)}.tmp`;
  await platform.files.write(beside, new TextEncoder().encode(text), { mode: 0o600 });
  await platform.files.rename(beside, path);
}

/** `null` when it cannot be read, whatever the reason: what is kept here can always be asked for again. */
export function readOrNull(platform: Platform, path: string): string | null {
  try {
    return platform.files.readTextSync(path);
  } catch {
    // No access, or no such place.
    return null;
  }
}

function parse(text: string): Stored | null {
  try {
    const value = JSON.parse(text) as Partial<Stored> | null;
    if (value?.version !== 1 || !isRecord(value.lists) || !isRecord(value.windows)) return null;
    const lists = Object.entries(value.lists as Record<string, KeptList>).filter(([, list]) =>
      Array.isArray(list?.models) && typeof list.at === "number"
    );
    return { version: 1, lists: Object.fromEntries(lists), windows: value.windows };
  } catch {
    // Cut off or written by something else.
    return null;
  }
}

function isRecord(value: unknown): value is Record<string, never> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
