/** What the core needs of configuration and logging. `config/` implements it (core.md E). */
import type { Settings } from "./settings.ts";

export interface ConfigService {
  /** Data home, absolute (`HERMES_HOME`, else `~/.hermes`). */
  readonly home: string;
  readonly path: string;
  readonly envPath: string;
  /** The variable that keeps the user's file from being read (`HERMES_SAFE_MODE`); null when it is read. */
  readonly ignoredBy: string | null;
  /** Effective settings; re-read when the file changed. A broken file gives the last good ones plus a warning. */
  settings(): Settings;
  /** What is wrong with the files, for people. */
  warnings(): readonly string[];
  /** Environment value: process environment, then HOME `.env`; empty counts as unset. */
  env(name: string): string | undefined;
  /** Names set in the process environment or `.env`. */
  envNames(): readonly string[];
  /** Re-reads `.env`; the number of values that changed. */
  reloadEnv(): number;
  /** Values of keys, tokens and passwords that are configured anywhere; for redaction, never for display. */
  knownSecrets(): readonly string[];
  /** Effective value of a dotted key, secrets masked. Throws `config_unknown_key`. */
  get(key: string): unknown;
  /** `config set` of core.md E.3: coercion, secrets to `.env`, comments kept. Throws, and then nothing was written. */
  set(key: string, text: string): Promise<{ key: string; shown: string; file: string }>;
  /** Typed write of one value at a path; comments and order kept. `undefined` removes. */
  write(path: readonly (string | number)[], value: unknown): Promise<void>;
  /** Appends to a list unless it is there. */
  append(path: readonly (string | number)[], value: string): Promise<void>;
  /** Writes one line of `.env`; an empty value takes the name out of it. */
  setEnv(name: string, value: string): Promise<void>;
  /** The user's own file, secrets masked. */
  shown(): Record<string, unknown>;
  /** JSON Schema of the file. */
  schema(): Record<string, unknown>;
  /** Writes a commented starter file when there is none; true if it did. */
  init(): Promise<boolean>;
  /** Imports `config.yaml` once when there is no `config.jsonc`; true if it did. Throws `config_invalid`. */
  importLegacy(): Promise<boolean>;
}

export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
