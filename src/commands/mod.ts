/** The one registry of slash commands: a written list, from which catalogue, help and the ACP list derive. */
import {
  type CommandHost,
  type CommandInfo,
  type CommandResult,
  type Commands,
  HermesError,
  type Session,
  type Surface,
} from "@/core/contract.ts";
import type { Command, CommandDeps } from "./command.ts";
import { compact, compress } from "./compress.ts";
import {
  agents,
  context,
  help,
  profile,
  status,
  toolGroups,
  tools,
  toolsets,
  usage,
  version,
} from "./info.ts";
import { hostReasoning, model, reasoning, yolo } from "./model.ts";
import { branch, clear, create, quit, resume, sessions } from "./open.ts";
import { memory } from "./pending.ts";
import { rollback } from "./rollback.ts";
import { queue, reset, steer, title } from "./session.ts";
import { skills } from "./skills.ts";
import { busy, config, fast, personality, reload, reloadMcp, reloadSkills, verbose } from "./settings.ts";
import { background, history, learn, retry, save, stop, undo } from "./turns.ts";

export { compactOptions, describePlan, describeWish, parseCompression } from "./compress.ts";
export { describeSkills, findSkills, inspectSkill, listSkills, type SkillDesk } from "./skills.ts";

/** In catalogue order; the order of the ACP list is part of its contract (acp.md C9). */
const ALL: readonly Command[] = [
  help,
  model,
  tools,
  toolsets,
  toolGroups,
  skills,
  context,
  reset,
  compact,
  create,
  clear,
  sessions,
  resume,
  branch,
  compress,
  undo,
  retry,
  rollback,
  steer,
  queue,
  background,
  agents,
  stop,
  history,
  save,
  status,
  usage,
  profile,
  title,
  reasoning,
  hostReasoning,
  fast,
  busy,
  verbose,
  personality,
  yolo,
  config,
  reload,
  reloadMcp,
  reloadSkills,
  memory,
  learn,
  version,
  quit,
];

export function createCommands(deps: Omit<CommandDeps, "list">): Commands {
  function list(surface: Surface): readonly CommandInfo[] {
    return ALL.filter(({ surfaces, unlisted }) => surfaces.includes(surface) && !unlisted?.includes(surface));
  }

  function find(name: string, surface: Surface): Command | null {
    const wanted = name.replace(/^\//, "").toLowerCase();
    const known = ALL.filter((command) => command.surfaces.includes(surface));
    return known.find((c) => c.name === wanted) ?? known.find((c) => c.aliases.includes(wanted)) ?? null;
  }

  async function run(
    name: string,
    args: string,
    at: { session: Session; surface: Surface; signal?: AbortSignal; host?: CommandHost },
  ): Promise<CommandResult> {
    const command = find(name, at.surface);
    if (!command) throw new HermesError("invalid_argument", `Unknown command "/${name}": see /help`);
    const changesModel = command.name === "model" && args.trim() !== "";
    if ((command.needsIdle || changesModel) && at.session.running) {
      throw new HermesError(
        "session_busy",
        `session busy: /${command.name} has to wait until the turn has ended`,
      );
    }
    return await command.run(args.trim(), at, { ...deps, list });
  }

  return { list, find, run };
}
