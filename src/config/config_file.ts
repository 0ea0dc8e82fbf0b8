/**
 * `config.jsonc` on disk: read when it has changed, kept as the last good state when it is broken, or empty or gone as
 * it is while another program writes it; written whole. Owns the cached state of the file. Knows nothing of settings.
 */
import { HermesError } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { editJsonc, type Path } from "./edit.ts";
import { replaceFile, writeInHome } from "./file_lock.ts";
import { type JsoncResult, parseJsonc } from "./jsonc_read.ts";
import type { ConfigPaths } from "./paths.ts";
import { configSchema } from "./schema.ts";
import { bareText } from "./starter.ts";
import { isTree, type Tree } from "./tree.ts";

export interface Edit {
  readonly path: Path;
  /** `undefined` removes. */
  readonly value: unknown;
}

type FileState = { readonly ok: true; readonly tree: Tree } | { readonly ok: false; readonly reason: string };

function readState(text: string): FileState {
  const parsed: JsoncResult = parseJsonc(text);
  if (!parsed.ok) {
    return { ok: false, reason: `line ${parsed.line}, column ${parsed.column}: ${parsed.message}` };
  }
  if (!isTree(parsed.value)) return { ok: false, reason: "it must hold an object" };
  return { ok: true, tree: parsed.value };
}

export class ConfigFile {
  readonly #platform: Platform;
  readonly #paths: ConfigPaths;
  #stamp = "never read";
  #good: Tree = {};
  #problem: string | null = null;
  /** Grows whenever `tree` may have changed. */
  version = 0;

  constructor(platform: Platform, paths: ConfigPaths) {
    this.#platform = platform;
    this.#paths = paths;
  }

  get path(): string {
    return this.#paths.config;
  }

  get tree(): Tree {
    return this.#good;
  }

  /** What is wrong with the file, or `null`. */
  get problem(): string | null {
    return this.#problem;
  }

  exists(): boolean {
    return this.#platform.files.statSync(this.#paths.config) !== null;
  }

  /** Re-reads the file when its time or size differs from what was read last. */
  refresh(): void {
    try {
      const stat = this.#platform.files.lookSync(this.#paths.config);
      const stamp = stat ? `${stat.mtimeMs}:${stat.size}` : "absent";
      if (stamp === this.#stamp) return;
      this.#stamp = stamp;
      this.#adopt(stat ? this.#platform.files.readTextSync(this.#paths.config) : null);
    } catch (error) {
      this.#reject(error instanceof Error ? error.message : String(error));
    }
  }

  #adopt(text: string | null): void {
    const missing = this.#whyMissing(text);
    if (missing !== null) return this.#reject(missing);
    const state = readState(text ?? "");
    if (!state.ok) return this.#reject(state.reason);
    this.#good = state.tree;
    this.#problem = null;
    this.version++;
  }

  /** Why a file without a word is not to be believed: there were settings in it a moment ago. */
  #whyMissing(text: string | null): string | null {
    const isBlank = (text ?? "").replace(/^\uFEFF/, "").trim() === "";
    if (!isBlank || Object.keys(this.#good).length === 0) return null;
    return text === null ? "it is gone" : "it is empty";
  }

  #reject(reason: string): void {
    const problem = `${this.#paths.config} cannot be read (${reason}); using ${
      this.version > 0 ? "the last good settings" : "the defaults"
    } until it is mended`;
    if (problem === this.#problem) return;
    this.#problem = problem;
    this.version++;
  }

  /** Makes the planned edits, or none, under the lock. Whatever throws leaves the file as it was. */
  async edit(plan: (tree: Tree) => readonly Edit[]): Promise<void> {
    await this.#write(async () => {
      const before = this.#platform.files.readTextSync(this.#paths.config);
      const missing = this.#whyMissing(before);
      if (missing !== null) throw this.#refuseMissing(missing);
      const state = readState(before ?? "");
      if (!state.ok) throw await this.#refuse(before ?? "", state.reason);
      let text = before === null || before.trim() === "" ? bareText() : before.replace(/^\uFEFF/, "");
      const edits = plan(state.tree);
      for (const { path, value } of edits) text = await editJsonc(text, path, value);
      if (edits.length === 0 || text === before) return;
      if (before === null) await this.writeSchema();
      await replaceFile(this.#platform, this.#paths.config, text);
    });
    this.#stamp = "written";
    this.refresh();
  }

  /** Writes a whole new file unless there is one by now; true if it did. */
  async create(text: string): Promise<boolean> {
    if (this.exists()) return false;
    const made = await this.#write(async () => {
      if (this.exists()) return false;
      await this.writeSchema();
      await replaceFile(this.#platform, this.#paths.config, text);
      return true;
    });
    this.#stamp = "written";
    this.refresh();
    return made;
  }

  async writeSchema(): Promise<void> {
    await replaceFile(this.#platform, this.#paths.schema, JSON.stringify(configSchema(), null, 2) + "\n");
  }

  #write<T>(work: () => Promise<T>): Promise<T> {
    return writeInHome(this.#platform, this.#paths.home, this.#paths.config, work);
  }

  #refuseMissing(reason: string): HermesError {
    return new HermesError(
      "config_invalid",
      `Cannot change ${this.#paths.config}: ${reason}, although there were settings in it. Put it back first, ` +
        "or start hermes again to begin with the defaults",
      { path: this.#paths.config, reason },
    );
  }

  async #refuse(text: string, reason: string): Promise<HermesError> {
    const backup = `${this.#paths.config}.broken`;
    await replaceFile(this.#platform, backup, text);
    return new HermesError(
      "config_invalid",
      `Cannot change ${this.#paths.config}: it cannot be read (${reason}). Mend it first; a copy is in ${backup}`,
      { path: this.#paths.config, reason },
    );
  }
}
