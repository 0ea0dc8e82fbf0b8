/**
 * The rooms that a first prompt needs and a new session does not: guard, tools, skills, commands. Loaded behind the
 * first answer, because together they cost half of a start.
 */
import { createGuard } from "@/approvals/mod.ts";
import { createCommands } from "@/commands/mod.ts";
import {
  type Commands,
  type FileAccess,
  forgetHints,
  type Guard,
  type Message,
  type Session,
  type SessionScope,
  type Store,
  type Tool,
} from "@/core/mod.ts";
import type { Redact } from "@/lib/redact.ts";
import { createTools, forgetReads, processesOf, restoreTodos, SkillRegistry } from "@/tools/mod.ts";
import { createFileHistory } from "./file_history.ts";
import type { FileHistory, HermesBase, HermesOptions, ProcessControl } from "./mod.ts";
import { createToolLists, type ToolLists } from "./tool_lists.ts";

export interface RoomsDeps {
  readonly base: HermesBase;
  readonly options: HermesOptions;
  readonly disk: FileAccess;
  store(): Store;
  childEnv(): Record<string, string>;
}

export interface Rooms {
  readonly guard: Guard;
  readonly tools: readonly Tool[];
  readonly lists: ToolLists;
  readonly skills: SkillRegistry;
  readonly commands: Commands;
  readonly fileHistory: FileHistory;
  restored(scope: SessionScope, history: readonly Message[]): void;
  forgotten(scope: SessionScope): void;
  stopProcesses(session: Session): Promise<number>;
  processes(session: Session): ProcessControl;
}

export function createRooms({ base, options, disk, store, childEnv }: RoomsDeps): Rooms {
  const { platform, config, log, models, version } = base;
  const redact: Redact = (text, mode) => base.redact(text, mode);
  const skills = new SkillRegistry({
    platform,
    home: config.home,
    log,
    env: (name) => config.env(name),
    childEnv,
  });
  const tools = createTools({ secretEnvNames: () => models.secretEnvNames(), skills, sessions: store });
  return {
    guard: createGuard({ platform, config, redact, log }),
    tools,
    lists: createToolLists(tools, { config, log }),
    skills,
    commands: createCommands({ version, models, config, tools }),
    fileHistory: createFileHistory({ platform, home: config.home, disk, store, surface: options.surface }),
    restored: (scope, history) => restoreTodos(scope, history),
    forgotten: (scope) => {
      forgetReads(scope);
      forgetHints(scope);
    },
    stopProcesses: (session) => processesOf(session.scope, platform).killAll("process.stop"),
    processes: (session) => processControl(processesOf(session.scope, platform), redact),
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
