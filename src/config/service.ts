/**
 * The configuration as the rest of the program sees it: effective settings, environment, secrets, writes.
 * Start-up costs two small reads; parser packages are loaded by the first write. Reading never fails: what is wrong
 * is a warning. Writing either changes exactly what was asked or throws and changes nothing.
 */
import type { ConfigService, Settings } from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { isYes } from "@/lib/yes.ts";
import type { Platform } from "@/platform/mod.ts";
import { ConfigFile, type Edit } from "./config_file.ts";
import { EnvStore } from "./env_store.ts";
import { canonicalKey, TABLE } from "./keys.ts";
import { parseLegacy } from "./legacy.ts";
import { applyAliases, type Loaded, loadSettings } from "./load.ts";
import { adminConfigPath, type ConfigPaths, configPaths, resolveHome } from "./paths.ts";
import { configSchema } from "./schema.ts";
import { collectSecrets } from "./secret_values.ts";
import { belongsInEnv, isSecretEnv, maskSecret, maskTree } from "./secrets.ts";
import { type Assignment, planAssignment } from "./set_value.ts";
import { importedText, starterText } from "./starter.ts";
import { pathText, type Tree, valueAt } from "./tree.ts";
import { findTypos } from "./typos.ts";

class FileConfig implements ConfigService {
  readonly home: string;
  readonly path: string;
  readonly envPath: string;
  readonly #platform: Platform;
  readonly #paths: ConfigPaths;
  readonly #file: ConfigFile;
  /** The administrator's; never written. */
  readonly #admin: ConfigFile;
  readonly #env: EnvStore;
  readonly ignoredBy: string | null;
  #loaded: Loaded | null = null;
  #loadedFor = "";
  #secrets: readonly string[] | null = null;
  #typos: readonly string[] | null = null;
  #notice: string | null = null;
  #looked = false;
  readonly #lookAgain = () => {
    this.#looked = false;
  };

  constructor(platform: Platform, home: string, env: Record<string, string>, admin: string) {
    this.#platform = platform;
    this.#paths = configPaths(platform, home);
    this.home = home;
    this.path = this.#paths.config;
    this.envPath = this.#paths.env;
    this.#env = new EnvStore(platform, this.envPath, env);
    this.#file = new ConfigFile(platform, this.#paths);
    this.#admin = new ConfigFile(platform, { ...this.#paths, config: admin });
    this.ignoredBy =
      ["HERMES_SAFE_MODE", "HERMES_IGNORE_USER_CONFIG"].find((name) => isYes(this.#env.get(name))) ?? null;
  }

  settings(): Settings {
    return this.#current().settings;
  }

  /** The disk is looked at once per step of the program: nothing can be heard of in between. */
  #current(): Loaded {
    if (!this.#looked) {
      if (this.ignoredBy === null) this.#file.refresh();
      this.#admin.refresh();
      this.#looked = true;
      queueMicrotask(this.#lookAgain);
    }
    return this.#fresh();
  }

  /** What is known without looking at the disk again. */
  #fresh(): Loaded {
    const wanted = `${this.#file.version}:${this.#admin.version}:${this.#env.version}`;
    if (this.#loaded && this.#loadedFor === wanted) return this.#loaded;
    this.#loadedFor = wanted;
    this.#secrets = null;
    this.#typos = null;
    return this.#loaded = loadSettings(this.#file.tree, this.#lookup, this.#admin.tree);
  }

  /** Safe mode leaves out what the user has written, in files as in the prompt. */
  readonly #lookup = (name: string): string | undefined =>
    this.#env.get(name) ?? (name === "HERMES_IGNORE_RULES" ? this.#env.get("HERMES_SAFE_MODE") : undefined);

  warnings(): readonly string[] {
    const { warnings } = this.#current();
    const pending = this.#legacyWaits() ? `${this.#paths.legacy} is there but not imported yet` : null;
    const own = [this.#admin.problem, this.#file.problem, this.#env.problem, this.#notice, pending];
    this.#typos ??= [...findTypos(this.#admin.tree), ...findTypos(this.#file.tree)];
    return [...own.filter((text) => text !== null), ...warnings, ...this.#typos];
  }

  env(name: string): string | undefined {
    return this.#env.get(name);
  }

  envNames(): readonly string[] {
    return this.#env.names();
  }

  reloadEnv(): number {
    return this.#env.reload();
  }

  knownSecrets(): readonly string[] {
    const loaded = this.#loaded ? this.#fresh() : this.#current();
    return this.#secrets ??= collectSecrets(this.#platform, {
      trees: [loaded.tree],
      envs: this.#env.sources(),
      authPath: this.#paths.auth,
    });
  }

  get(key: string): unknown {
    const name = key.trim();
    const path = (name === "model" ? name : canonicalKey(name)).split(".");
    const found = valueAt(this.#current().tree, path);
    if (found !== undefined) return maskTree(found, path.at(-1));
    const fromEnv = belongsInEnv(name) ? this.#env.get(name) : undefined;
    if (fromEnv !== undefined) return isSecretEnv(name) ? maskSecret(fromEnv) : fromEnv;
    throw unknownKey(key, /^[A-Z][A-Z0-9_]*$/.test(name) ? this.envPath : null);
  }

  async set(key: string, text: string): Promise<{ key: string; shown: string; file: string }> {
    const name = key.trim();
    if (!name.includes(".") && belongsInEnv(name) && !Object.hasOwn(TABLE, name)) {
      const upper = name.toUpperCase();
      await this.setEnv(upper, text);
      return { key: upper, shown: isSecretEnv(upper) ? maskSecret(text.trim()) : text, file: this.envPath };
    }
    await this.importLegacy();
    let planned: Assignment | null = null;
    await this.#file.edit((tree) => {
      planned = planAssignment(name, text, tree);
      this.#refuseSettled(planned.path);
      return [...openModel(tree, planned.path), planned];
    });
    return { ...echo(planned as unknown as Assignment), file: this.path };
  }

  /** Throws `config_invalid` where the administrator's file decides. */
  #refuseSettled(path: readonly (string | number)[]): void {
    this.#current();
    if (valueAt(applyAliases(this.#admin.tree), path) === undefined) return;
    throw new HermesError(
      "config_invalid",
      `${pathText(path)} is settled by the administrator (${this.#admin.path}) and cannot be changed here`,
      { key: pathText(path), path: this.#admin.path },
    );
  }

  async write(path: readonly (string | number)[], value: unknown): Promise<void> {
    this.#refuseSettled(path);
    await this.importLegacy();
    await this.#file.edit((tree) => [...openModel(tree, path), { path, value }]);
  }

  async append(path: readonly (string | number)[], value: string): Promise<void> {
    this.#refuseSettled(path);
    await this.importLegacy();
    await this.#file.edit((tree) => {
      const list = valueAt(tree, path) ?? [];
      if (!Array.isArray(list)) {
        throw new HermesError("config_invalid", `Cannot add to ${path.join(".")}: not a list`);
      }
      if (list.includes(value)) return [];
      return [list.length === 0 ? { path, value: [value] } : { path: [...path, list.length], value }];
    });
  }

  setEnv(name: string, value: string): Promise<void> {
    return this.#env.set(this.home, name, value);
  }

  shown(): Record<string, unknown> {
    this.#current();
    return maskTree(this.#file.tree) as Tree;
  }

  schema(): Record<string, unknown> {
    return configSchema();
  }

  async init(): Promise<boolean> {
    if (await this.importLegacy()) return true;
    return this.#file.create(starterText());
  }

  #legacyWaits(): boolean {
    return this.ignoredBy === null && !this.#file.exists() &&
      this.#platform.files.statSync(this.#paths.legacy) !== null;
  }

  async importLegacy(): Promise<boolean> {
    if (!this.#legacyWaits()) return false;
    const text = this.#platform.files.readTextSync(this.#paths.legacy) ?? "";
    const values = await parseLegacy(this.#paths.legacy, text.replace(/^\uFEFF/, ""));
    const made = await this.#file.create(importedText(values));
    if (made) this.#notice = `${this.#paths.legacy} was imported into ${this.path}`;
    return made;
  }
}

/** A model written as one text becomes an object before something is put beside it. */
function openModel(tree: Tree, path: readonly (string | number)[]): Edit[] {
  const { model } = tree;
  if (path[0] !== "model" || path.length < 2 || typeof model !== "string") return [];
  return [{ path: ["model"], value: { default: model } }];
}

function echo({ path, value }: Assignment): { key: string; shown: string } {
  const masked = maskTree(value, path.at(-1));
  return { key: path.join("."), shown: typeof masked === "string" ? masked : JSON.stringify(masked) };
}

/** `envPath`: where the value of a name like `OPENROUTER_API_KEY` would stand; null for a key of the file. */
function unknownKey(key: string, envPath: string | null): HermesError {
  if (envPath !== null) {
    const message = `${key} is not set, neither in the environment nor in ${envPath}`;
    return new HermesError("config_unknown_key", message, { key, path: envPath });
  }
  const message = `Unknown key ${JSON.stringify(key)}: nothing is set there, and nothing has a default there`;
  return new HermesError("config_unknown_key", message, { key });
}

/**
 * Opens the configuration of `home` (default: core.md D.1), under that of the machine (`admin`, by default where
 * `adminConfigPath` says). Reads `.env` now, the rest when first asked.
 */
export function createConfig(options: { platform: Platform; home?: string; admin?: string }): ConfigService {
  const { platform, home, admin = adminConfigPath(platform) } = options;
  const env = platform.env();
  return new FileConfig(platform, resolveHome(platform, env, home), env, admin);
}
