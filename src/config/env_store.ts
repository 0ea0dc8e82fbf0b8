/** The environment the program sees: the process's own, then `.env` of the home (core.md D2, E.3). */
import { HermesError } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { checkEnvName, cleanEnvValue, parseEnv, setEnvLine } from "./env_file.ts";
import { replaceFile, writeInHome } from "./file_lock.ts";

export class EnvStore {
  readonly #platform: Platform;
  readonly #path: string;
  readonly #process: ReadonlyMap<string, string>;
  #file: ReadonlyMap<string, string> = new Map();
  #problem: string | null = null;
  /** Grows whenever a value may have changed. */
  version = 0;

  constructor(platform: Platform, path: string, env: Record<string, string>) {
    this.#platform = platform;
    this.#path = path;
    this.#process = new Map(Object.entries(env));
    this.reload();
  }

  get problem(): string | null {
    return this.#problem;
  }

  /** An empty value counts as unset. */
  readonly get = (name: string): string | undefined =>
    this.#process.get(name) || this.#file.get(name) || undefined;

  names(): string[] {
    const set = new Set([...this.#process.keys(), ...this.#file.keys()]);
    return [...set].filter((name) => this.get(name) !== undefined);
  }

  sources(): Iterable<readonly [string, string]>[] {
    return [this.#process, this.#file];
  }

  /** Reads the file again; the number of names whose value there changed. */
  reload(): number {
    const before = this.#file;
    try {
      this.#file = parseEnv(this.#platform.files.readTextSync(this.#path) ?? "");
      this.#problem = null;
    } catch (error) {
      this.#problem = `${this.#path} cannot be read: ${
        error instanceof Error ? error.message : String(error)
      }`;
    }
    this.version++;
    const names = new Set([...before.keys(), ...this.#file.keys()]);
    return [...names].filter((name) => before.get(name) !== this.#file.get(name)).length;
  }

  /** Throws `invalid_argument` for a name that must not be stored, or a value with nothing left to store. */
  async set(home: string, name: string, value: string): Promise<void> {
    checkEnvName(name);
    const clean = cleanEnvValue(name, value);
    if (clean === "" && value !== "") {
      throw new HermesError("invalid_argument", `Cannot store ${name}: the value has no usable characters`);
    }
    await writeInHome(this.#platform, home, this.#path, async () => {
      const text = this.#platform.files.readTextSync(this.#path) ?? "";
      await replaceFile(this.#platform, this.#path, setEnvLine(text, name, clean));
    });
    this.reload();
  }
}
