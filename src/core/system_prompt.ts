/**
 * The system prompt (core.md A.4): built once per session, stored in its row and replayed byte for byte. Three
 * layers: stable (identity, guidance, skills, surroundings), context (project), volatile (memories, facts of the
 * day); what a turn adds to the context layer (the caller's words, the personality) is `prompt_layers.ts`. Everything
 * that has to be read is read at the same time, each with a bound of its own; nothing that is missing or broken keeps
 * the turn from starting.
 */
import { DEFAULT_PROFILE, profileOf } from "@/lib/profile.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Logger, ResolvedModel, SessionScope, Skills, Tool } from "./ports.ts";
import { codingPosture } from "./prompt_coding.ts";
import { contextFileCap, findGitRoot, guarded, readPromptText } from "./prompt_files.ts";
import {
  FINISH,
  HELP,
  IDENTITY,
  PARALLEL,
  platformHint,
  STEER_NOTE,
  toolGuidance,
  toolUseEnforcement,
} from "./prompt_guidance.ts";
import type { DirectoryLooks } from "./directory_looks.ts";
import { memorySnapshot } from "./prompt_memory.ts";
import { projectContext } from "./prompt_project.ts";
import { skillsIndex } from "./prompt_skills.ts";
import { toolsLine } from "./prompt_tools.ts";
import { isDesktop, surroundings, today } from "./prompt_surroundings.ts";
import type { Settings } from "./settings.ts";
import { soulPath } from "./soul.ts";

export interface PromptFacts {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly log: Pick<Logger, "warn">;
  readonly home: string;
  readonly looks: DirectoryLooks;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly surface: string;
  readonly tools: readonly Tool[];
  readonly model: ResolvedModel;
  readonly skills: Skills | null;
  /** Environment of child processes. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** The memories as the session saw them first; absent: read now. */
  readonly memories?: string;
}

/** Never throws; milliseconds, or the bounds of its parts when a file system hangs. */
export async function buildSystemPrompt(facts: PromptFacts): Promise<string> {
  const { settings, model, tools } = facts;
  const { agent } = settings;
  const surface = facts.surface === "tui" && isDesktop(facts.platform) ? "desktop" : facts.surface;
  const [soul, directory, memories, skills, tooling] = await Promise.all([
    identity(facts),
    directoryParts(facts, surface),
    facts.memories ?? takeMemories(facts),
    skillsIndex(facts),
    agent.environment_probe === false || tools.length === 0 ? "" : toolsLine(facts.platform, facts.looks),
  ]);
  const blocks = [
    soul,
    HELP,
    agent.task_completion_guidance ? FINISH : "",
    agent.parallel_tool_call_guidance && tools.length > 0 ? PARALLEL : "",
    toolGuidance(tools),
    STEER_NOTE,
    tools.length > 0 ? toolUseEnforcement(settings, model.model) : "",
    skills,
    surroundings(facts, tooling),
    directory.coding,
    profileLine(facts.home),
    platformHint(surface, settings),
    directory.project,
    memories,
    `Conversation started: ${
      today(facts.platform, settings)
    }\nModel: ${model.model}\nProvider: ${model.provider}`,
  ];
  return blocks.filter(Boolean).join("\n\n");
}

/** Nothing for the default one. */
function profileLine(home: string): string {
  const name = profileOf(home);
  if (name === DEFAULT_PROFILE) return "";
  return `Profile: ${name}. Its settings, skills and memories are in ${home}; those of other profiles are not yours.`;
}

type MemoryFacts = Pick<PromptFacts, "platform" | "log" | "home" | "settings">;

function snapshotOf(scope: SessionScope): { text: string | null } {
  return scope.state("core.memories", () => ({ text: null as string | null }));
}

/** The memories of a session: read when first asked for, then the same until `forgetMemories`. Never throws. */
export async function memoriesOf(scope: SessionScope, facts: MemoryFacts): Promise<string> {
  const snapshot = snapshotOf(scope);
  return snapshot.text ??= await takeMemories(facts);
}

/** The conversation begins anew: its next prompt reads the memories again. */
export function forgetMemories(scope: SessionScope): void {
  snapshotOf(scope).text = null;
}

async function takeMemories({ platform, log, home, settings }: MemoryFacts): Promise<string> {
  if (settings.agent.ignore_rules) return "";
  return await memorySnapshot({ files: platform.files, log, home, settings });
}

async function identity({ platform, log, home, settings, looks }: PromptFacts): Promise<string> {
  if (settings.agent.ignore_rules) return IDENTITY;
  const path = soulPath(home);
  const soul = await looks.text(path, async () => {
    const text = await readPromptText(path, { files: platform.files, log });
    return text === null ? null : guarded(text, "SOUL.md", "context");
  });
  return soul ?? IDENTITY;
}

/** What the directory says: its project files, and how to work on its code. */
async function directoryParts(
  facts: PromptFacts,
  surface: string,
): Promise<{ project: string; coding: string }> {
  const { platform, settings, log, cwd } = facts;
  const { files } = platform;
  const answers = await facts.looks.answers(cwd);
  const gitRoot = answers ? findGitRoot(files, cwd) : null;
  const cap = contextFileCap(settings.context_file_max_chars, facts.model.contextWindow);
  const [project, coding] = await Promise.all([
    settings.agent.ignore_rules || !answers ? "" : projectContext({ files, log, cwd, gitRoot, cap }),
    codingPosture({
      platform,
      settings,
      surface,
      cwd,
      gitRoot,
      answers,
      get env() {
        return facts.childEnv;
      },
    }),
  ]);
  return { project, coding };
}
