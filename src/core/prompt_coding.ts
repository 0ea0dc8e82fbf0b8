/**
 * The coding posture (core.md A.4): how to work on code, and what this workspace is. Shown where a person works on a
 * project (`agent.coding_context`), with facts gathered once, at the start of the conversation.
 */
import { within } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import { READ_BOUND_MS } from "./prompt_files.ts";
import { gitSnapshot } from "./prompt_git.ts";
import { inspectWorkspace, verifyCommands, type Workspace } from "./prompt_workspace.ts";
import type { Settings } from "./settings.ts";

const BRIEF =
  "You are in a code workspace. Read the code around a change before you make it and follow its conventions. Make the " +
  "smallest change that does the job; leave what is not part of it alone, and never undo changes of the user that you " +
  "did not make. After a change run the checks that cover it and report what they said. Commit or push only when you " +
  "were asked to.";
const FOCUS =
  "Stay with the code: no detours into other topics, answers short, paths as `file:line` where they help.";
const INTERACTIVE = new Set(["cli", "tui", "acp", "desktop"]);

export interface CodingQuery {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly surface: string;
  readonly cwd: string;
  readonly gitRoot: string | null;
  /** The file system of `cwd` does. */
  readonly answers: boolean;
  readonly env: Readonly<Record<string, string>>;
}

/** The block, or an empty text where it does not apply. Never throws. */
export async function codingPosture(query: CodingQuery): Promise<string> {
  const mode = modeOf(query.settings);
  if (mode === "off" || (mode === "auto" && !INTERACTIVE.has(query.surface))) return "";
  const { files } = query.platform;
  const looking = query.answers
    ? inspectWorkspace(files, query.cwd, query.gitRoot)
    : Promise.resolve(undefined);
  const workspace = await within(looking, READ_BOUND_MS) ?? { manifests: [], isCode: false };
  if (mode === "auto" && !workspace.isCode) return "";
  const facts = await factsOf(query, workspace);
  return ["# Coding", BRIEF, mode === "focus" ? FOCUS : "", facts, instructions(query.settings)]
    .filter(Boolean).join("\n");
}

function modeOf(settings: Settings): "auto" | "focus" | "on" | "off" {
  const word = String(settings.agent.coding_context).trim().toLowerCase();
  if (word === "focus") return "focus";
  if (/^(on|true|always|yes)$/.test(word)) return "on";
  return /^(off|false|never|no|none)$/.test(word) ? "off" : "auto";
}

/** True when the surface is kept to tools for code (core.md B.2). */
export function isCodingFocus(settings: Settings): boolean {
  return modeOf(settings) === "focus";
}

async function factsOf(query: CodingQuery, { manifests }: Workspace): Promise<string> {
  const { platform, cwd, gitRoot } = query;
  const [git, checks] = await Promise.all([
    gitRoot === null
      ? ""
      : within(gitSnapshot({ platform, root: gitRoot, cwd, env: query.env }), READ_BOUND_MS),
    within(verifyCommands(platform.files, cwd, manifests), READ_BOUND_MS),
  ]);
  return [
    gitRoot !== null && gitRoot !== cwd ? `Repository root: ${gitRoot}` : "",
    git ?? "",
    manifests.length ? `Manifests: ${manifests.join(", ")}` : "",
    checks?.length ? `Checks: ${checks.join(", ")}` : "",
  ].filter(Boolean).join("\n");
}

function instructions(settings: Settings): string {
  const own = settings.agent.coding_instructions;
  if (typeof own === "string") return own.trim();
  if (!Array.isArray(own)) return "";
  return own.filter((line) => typeof line === "string" && line.trim()).map((line) => `- ${line.trim()}`).join(
    "\n",
  );
}
