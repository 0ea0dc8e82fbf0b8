/**
 * The light half of the wiring: configuration, credentials, log, redaction. A door that must answer at once starts
 * with this and loads the rest (`build.ts`) behind its first answer.
 */
import { createConfig } from "@/config/mod.ts";
import { createLogger } from "@/lib/log.ts";
import { isQuiet } from "@/lib/quiet.ts";
import { createRedactor, createWatch } from "@/lib/redact.ts";
import { createStreamRedactor, OPEN_STREAM } from "@/lib/stream_redact.ts";
import { createModels, createRecorder } from "@/models/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { LogFiles } from "./log_files.ts";
import type { HermesBase, HermesOptions } from "./mod.ts";
import { VERSION } from "./version.ts";

export function createBase(platform: Platform, options: HermesOptions): HermesBase {
  const config = createConfig({ platform });
  const typed = new TypedSecrets();
  const knownSecrets = () => typed.with(config.knownSecrets());
  const enabled = config.settings().security.redact_secrets;
  const redactor = createRedactor({ knownSecrets, enabled });
  const watch = createWatch(knownSecrets);
  const streamRedactor = () =>
    createStreamRedactor({ redact: (text) => redactor(text, "terminal"), watch: watch() });
  const logFiles = new LogFiles(config.home, platform, () => {
    const { max_size_mb, backup_count } = config.settings().logging;
    return { maxBytes: Math.round(max_size_mb * 1024 * 1024), keep: backup_count };
  });
  const log = createLogger({
    write: (line) => platform.stderr(line),
    redact: (text) => redactor(text, "full"),
    level: config.settings().logging.level,
    ...(isQuiet(platform.env()) ? { shown: "WARNING" } : {}),
    name: "hermes",
    now: () => platform.clock.now(),
    format: options.logFormat ?? "text",
    keep: (level, line) => logFiles.add(level, line),
  });
  const recorder = options.record === undefined ? null : createRecorder({
    platform,
    path: options.record,
    log,
    redact: (text) => redactor(text, "full"),
  });
  const models = createModels({
    ...(recorder ? { tap: recorder.tap } : {}),
    platform,
    config,
    log,
    redact: (text) => redactor(text, "full"),
    keepSecret: (value) => void typed.add(value),
    flags: {
      ...(options.model === undefined ? {} : { model: options.model }),
      ...(options.provider === undefined ? {} : { provider: options.provider }),
      ...(options.demo === undefined ? {} : { demo: options.demo }),
    },
  });
  return {
    version: VERSION,
    platform,
    home: config.home,
    log,
    config,
    models,
    settings: () => config.settings(),
    redact: (text, mode = "full") => redactor(text, mode),
    redactStream: () => enabled ? streamRedactor() : OPEN_STREAM,
    keepSecret: (value) => typed.add(value),
    logWritten: () => logFiles.idle(),
    ...(recorder ? { closeRecording: recorder.close } : {}),
  };
}

/** A shorter one would mask ordinary words everywhere; whoever has it takes it out of his own texts. */
const SHORTEST = 6;

/** Secrets that a person has typed in, beside the configured ones; in memory only. */
class TypedSecrets {
  readonly #values = new Map<number, string>();
  #next = 0;
  #of: readonly string[] | null = null;
  #all: readonly string[] = [];

  add(value: string): () => void {
    if (value.length < SHORTEST) return () => {};
    const key = this.#next++;
    this.#values.set(key, value);
    this.#of = null;
    return () => {
      this.#values.delete(key);
      this.#of = null;
    };
  }

  /** The same array as long as nothing has changed. */
  with(configured: readonly string[]): readonly string[] {
    if (this.#of !== configured) {
      this.#of = configured;
      this.#all = this.#values.size === 0 ? configured : [...this.#values.values(), ...configured];
    }
    return this.#all;
  }
}
