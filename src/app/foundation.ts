/**
 * The light half of the wiring: configuration, credentials, log, redaction. A door that must answer at once starts
 * with this and loads the rest (`build.ts`) behind its first answer.
 */
import { createConfig } from "@/config/mod.ts";
import { createLogger } from "@/lib/log.ts";
import { createRedactor } from "@/lib/redact.ts";
import { createModels } from "@/models/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import type { HermesBase, HermesOptions } from "./mod.ts";
import { VERSION } from "./version.ts";

export function createBase(platform: Platform, options: HermesOptions): HermesBase {
  const config = createConfig({ platform });
  const redactor = createRedactor({
    knownSecrets: () => config.knownSecrets(),
    enabled: config.settings().security.redact_secrets,
  });
  const log = createLogger({
    write: (line) => platform.stderr(line),
    redact: (text) => redactor(text, "full"),
    level: config.settings().logging.level,
    name: "hermes",
    now: () => platform.clock.now(),
  });
  const models = createModels({
    platform,
    config,
    log,
    redact: (text) => redactor(text, "full"),
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
  };
}
