/**
 * With `foundation.ts` the only place that wires the rooms together. The store and the model libraries are opened when they
 * are first needed.
 */
import { createGuard } from "@/approvals/mod.ts";
import { createCommands } from "@/commands/mod.ts";
import {
  type CoreServices,
  forgetHints,
  HermesError,
  LiveSessions,
  type ResolvedModel,
  type Store,
} from "@/core/mod.ts";
import { within } from "@/lib/abort.ts";
import type { Redact } from "@/lib/redact.ts";
import { createMcp } from "@/mcp/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { openStore } from "@/store/mod.ts";
import {
  createLocalFiles,
  createTools,
  forgetReads,
  processesOf,
  restoreTodos,
  SkillRegistry,
} from "@/tools/mod.ts";
import { createBase } from "./foundation.ts";
import type { Hermes, HermesBase, HermesOptions, ProcessControl } from "./mod.ts";
import { scrubEnvironment } from "./child_env.ts";
import { createFileHistory } from "./file_history.ts";
import { Journal } from "./journal.ts";
import { createToolLists } from "./tool_lists.ts";
import { VERSION } from "./version.ts";

/** How long the end waits for the last entries of the audit trail. */
const JOURNAL_MS = 1_000;

/** Builds the program for one surface; throws nothing: what is missing shows when it is used. */
export function buildHermes(platform: Platform, options: HermesOptions): Hermes {
  return completeHermes(createBase(platform, options), options);
}

/** The whole record on a base that is there already. */
export function completeHermes(base: HermesBase, options: HermesOptions): Hermes {
  const { platform, config, log, models } = base;
  const redactor: Redact = (text, mode) => base.redact(text, mode);
  const guard = createGuard({ platform, config, redact: redactor, log });

  let opened: Store | null = null;
  function store(): Store {
    if (!opened) {
      makeHome(platform, config.home);
      opened = openStore(options.storePath ?? `${config.home}/hermes.db`, { platform, log });
    }
    return opened;
  }

  const journal = new Journal({
    platform,
    home: config.home,
    log,
    store,
    settings: () => config.settings(),
    redact: (text) => redactor(text, "full"),
  });
  const childEnv = () => scrubEnvironment(platform.env(), models.secretEnvNames(), config.settings());
  const skills = new SkillRegistry({
    platform,
    home: config.home,
    log,
    env: (name) => config.env(name),
    childEnv,
  });
  const tools = createTools({ secretEnvNames: () => models.secretEnvNames(), skills, sessions: store });
  const lists = createToolLists(tools, { config, log });
  const mcp = createMcp({
    platform,
    config,
    log,
    redact: (text) => redactor(text, "full"),
    version: VERSION,
    surface: options.surface,
    childEnv,
  });

  const services: CoreServices = {
    platform,
    log,
    models,
    guard,
    home: config.home,
    settings: () => config.settings(),
    store,
    tools: (surface) => lists.of(surface).tools,
    toolSpecs: (surface) => lists.of(surface).specs,
    childEnv,
    external: mcp,
    skills,
    restored: (scope, history) => restoreTodos(scope, history),
    forgotten: (scope) => {
      forgetReads(scope);
      forgetHints(scope);
    },
    onSession: (session) => journal.watch(session),
    yolo: options.yolo ?? isTrue(config.env("HERMES_YOLO_MODE")),
    persistModel: (model) => persistModel(model),
  };

  async function persistModel(model: ResolvedModel): Promise<void> {
    await config.write(["model", "default"], model.model);
    await config.write(["model", "provider"], model.provider);
    await config.write(["model", "base_url"], model.baseUrl || undefined);
  }

  const disk = createLocalFiles(platform);
  const sessions = new LiveSessions(services, disk);
  return {
    ...base,
    sessions,
    tools,
    skills,
    disk,
    guard,
    mcp,
    fileHistory: createFileHistory({ platform, home: config.home, disk, store, surface: options.surface }),
    childEnv,
    stopProcesses: (session) => processesOf(session.scope, platform).killAll("process.stop"),
    processes: (session) => processControl(processesOf(session.scope, platform), redactor),
    commands: createCommands({ version: VERSION, models, config, tools }),
    store,
    shutdown: async (reason, limits) => {
      await Promise.all([sessions.closeAll(reason, limits ?? {}), mcp.close()]);
      await within(journal.close(), JOURNAL_MS);
      opened?.close();
      opened = null;
    },
  };
}

function processControl(table: ReturnType<typeof processesOf>, redact: Redact): ProcessControl {
  return {
    list: () =>
      table.list().map((process) => {
        const info = process.info();
        return { ...info, command: redact(info.command, "terminal") };
      }),
    kill: async (id) => {
      const process = table.get(id);
      await process?.kill("process.kill");
      return process !== null;
    },
  };
}

function makeHome(platform: Platform, home: string): void {
  try {
    platform.files.mkdirSync(home, { mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const advice = "Set HERMES_HOME to a folder that can be written.";
    throw new HermesError("store_failed", `Cannot use the data home ${home}: ${reason}. ${advice}`, { home });
  }
}

function isTrue(value: string | undefined): boolean {
  return value !== undefined && /^(1|true|yes|on)$/i.test(value.trim());
}
