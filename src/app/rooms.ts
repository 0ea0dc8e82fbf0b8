/**
 * The rooms that a first prompt needs and a new session does not: guard, tools, skills, commands. Loaded behind the
 * first answer, because together they cost half of a start.
 */
import { createGuard } from "@/approvals/mod.ts";
import { createCommands } from "@/commands/mod.ts";
import {
  type BrowserDriver,
  type Commands,
  type FileAccess,
  type FileHistory,
  forgetHints,
  type Guard,
  type Message,
  type Session,
  type SessionScope,
  type Store,
  type Tool,
} from "@/core/mod.ts";
import type { Redact } from "@/lib/redact.ts";
import {
  type BackgroundProcess,
  createPendingWrites,
  createTools,
  forgetReads,
  loadBrowserTools,
  processesOf,
  readRefusal,
  resolvePath,
  restoreTodos,
  selectTools,
  SkillRegistry,
} from "@/tools/mod.ts";
import { createFileHistory } from "./file_history.ts";
import type { HermesBase, HermesOptions, ProcessControl } from "./mod.ts";
import { createToolLists, type ToolLists } from "./tool_lists.ts";

export interface RoomsDeps {
  readonly base: HermesBase;
  readonly options: HermesOptions;
  readonly disk: FileAccess;
  store(): Store;
  /** What another profile has stored, if anything. The caller closes it. */
  profileStore(name: string): Store | null;
  childEnv(): Record<string, string>;
  /** Resolves when what turns have done until now is recorded. */
  recorded(): Promise<void>;
  /** Old contents of files are kept. */
  keepsFiles(): boolean;
}

export interface Rooms {
  readonly guard: Guard;
  readonly tools: readonly Tool[];
  readonly lists: ToolLists;
  readonly skills: SkillRegistry;
  readonly commands: Commands;
  readonly fileHistory: FileHistory;
  browserTools(): Promise<(driver: BrowserDriver) => readonly Tool[]>;
  restored(scope: SessionScope, history: readonly Message[]): void;
  forgotten(scope: SessionScope): void;
  refuseRead(path: string): Promise<string | null>;
  stopProcesses(session: Session): Promise<number>;
  processes(session: Session): ProcessControl;
}

export function createRooms(
  { base, options, disk, store, profileStore, childEnv, recorded, keepsFiles }: RoomsDeps,
): Rooms {
  const { platform, config, log, models, version } = base;
  const redact: Redact = (text, mode) => base.redact(text, mode);
  const skills = new SkillRegistry({
    platform,
    home: config.home,
    log,
    env: (name) => config.env(name),
    secrets: {
      store: async (name, value) => {
        base.keepSecret(value);
        await config.setEnv(name, value);
      },
      isReserved: (name) => models.secretEnvNames().includes(name),
      warn: (message) => log.warn(message),
    },
    childEnv,
  });
  const tools = createTools({
    secretEnvNames: () => models.secretEnvNames(),
    sudo: {
      configured: () => config.env("SUDO_PASSWORD"),
      keepSecret: (value) => base.keepSecret(value),
    },
    env: (name) => config.env(name),
    skills,
    sessions: store,
    openProfile: profileStore,
  });
  const { surface } = options;
  const fileHistory = createFileHistory({
    platform,
    home: config.home,
    disk,
    store,
    surface,
    recorded,
    keeps: keepsFiles,
    redact: (text) => redact(text, "file"),
  });
  const pending = createPendingWrites({
    platform,
    home: config.home,
    settings: () => config.settings(),
    skills,
  });
  return {
    guard: createGuard({ platform, config, redact, log, models }),
    tools,
    lists: createToolLists(tools, { config, log }),
    skills,
    commands: createCommands({ version, models, config, tools, skills, files: fileHistory, pending }),
    fileHistory,
    browserTools: async () => {
      const create = await loadBrowserTools();
      return (driver) =>
        selectTools(create(driver), { surface, settings: config.settings(), env: undefined }).tools;
    },
    restored: (scope, history) => restoreTodos(scope, history),
    forgotten: (scope) => {
      forgetReads(scope);
      forgetHints(scope);
    },
    refuseRead: async (path) => readRefusal(await resolvePath(path, "/", platform), config.home, platform),
    stopProcesses: (session) => processesOf(session.scope, platform).killAll("process.stop"),
    processes: (session) => processControl(processesOf(session.scope, platform), redact),
  };
}

function processControl(table: ReturnType<typeof processesOf>, redact: Redact): ProcessControl {
  const entryOf = (process: BackgroundProcess) => {
    const info = process.info();
    return { ...info, command: redact(info.command, "terminal") };
  };
  return {
    list: () => table.list().map(entryOf),
    ended: async (id) => {
      const process = table.get(id);
      await process?.ended;
      return process && entryOf(process);
    },
    kill: async (id) => {
      const process = table.get(id);
      await process?.kill("process.kill");
      return process !== null;
    },
  };
}
