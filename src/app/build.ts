/**
 * The only place that wires the rooms together. Cheap on purpose: the store, the tools and the model libraries are
 * opened when they are first needed, so a door can answer its first message at once.
 */
import { createGuard } from "@/approvals/mod.ts";
import { createCommands } from "@/commands/mod.ts";
import { createConfig } from "@/config/mod.ts";
import {
  type CoreServices,
  LiveSessions,
  type ResolvedModel,
  type SessionStore,
  type Tool,
  type ToolSpec,
} from "@/core/mod.ts";
import { createLogger } from "@/lib/log.ts";
import { createRedactor } from "@/lib/redact.ts";
import { createModels } from "@/models/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { openStore } from "@/store/mod.ts";
import { createLocalFiles, createTools, forgetReads, processesOf, restoreTodos } from "@/tools/mod.ts";
import type { Hermes, HermesOptions } from "./mod.ts";
import { scrubEnvironment } from "./child_env.ts";
import { VERSION } from "./version.ts";

/** Builds the program for one surface; throws nothing: what is missing shows when it is used. */
export function buildHermes(platform: Platform, options: HermesOptions): Hermes {
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
  const guard = createGuard({ platform, config, redact: redactor, log });
  const tools = createTools({ secretEnvNames: () => models.secretEnvNames() });

  let opened: SessionStore | null = null;
  function store(): SessionStore {
    if (!opened) {
      platform.files.mkdirSync(config.home, { mode: 0o700 });
      opened = openStore(options.storePath ?? `${config.home}/hermes.db`, { platform, log });
    }
    return opened;
  }

  const specs = toolSpecs(tools);
  const services: CoreServices = {
    platform,
    log,
    models,
    guard,
    home: config.home,
    settings: () => config.settings(),
    store,
    tools: (surface) => surface === "api_server" ? withoutClarify(tools) : tools,
    toolSpecs: (surface) =>
      surface === "api_server" ? specs.filter((spec) => spec.name !== "clarify") : specs,
    childEnv: () => scrubEnvironment(platform.env(), models.secretEnvNames(), config.settings()),
    restored: (scope, history) => restoreTodos(scope, history),
    forgotten: (scope) => forgetReads(scope),
    yolo: options.yolo ?? isTrue(config.env("HERMES_YOLO_MODE")),
    persistModel: (model) => persistModel(model),
  };

  async function persistModel(model: ResolvedModel): Promise<void> {
    await config.write(["model", "default"], model.model);
    await config.write(["model", "provider"], model.provider);
    await config.write(["model", "base_url"], model.baseUrl || undefined);
  }

  const sessions = new LiveSessions(services, createLocalFiles(platform));
  return {
    version: VERSION,
    platform,
    home: config.home,
    log,
    config,
    models,
    sessions,
    tools,
    guard,
    childEnv: services.childEnv,
    stopProcesses: (session) => processesOf(session.scope, platform).killAll("process.stop"),
    commands: createCommands({ version: VERSION, models, config, tools }),
    settings: () => config.settings(),
    store,
    redact: (text, mode = "full") => redactor(text, mode),
    shutdown: async (reason, limits) => {
      await sessions.closeAll(reason, limits ?? {});
      opened?.close();
      opened = null;
    },
  };
}

function withoutClarify(tools: readonly Tool[]): readonly Tool[] {
  return tools.filter((tool) => tool.name !== "clarify");
}

function toolSpecs(tools: readonly Tool[]): readonly ToolSpec[] {
  return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(1|true|yes|on)$/i.test(value.trim());
}
