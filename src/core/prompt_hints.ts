/**
 * Hints of subdirectories (core.md A.4, last paragraph): when a tool touches a path below the workspace, the
 * instructions kept there come along with its result, once per directory and session. Read like project files: regular,
 * bounded, scanned.
 */
import { dirname, isAbsolute, join, normalize, relative } from "node:path";
import { within } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Content } from "./messages.ts";
import type { SessionScope } from "./ports.ts";
import { type PromptFile, READ_BOUND_MS, readContextFile } from "./prompt_files.ts";
import type { Settings } from "./settings.ts";

const FILES = ["AGENTS.md", "CLAUDE.md", ".cursorrules"];
const PATH_KEYS = ["path", "file_path", "workdir"];
const MAX_CHARS = 8_000;
const ANCESTORS = 5;
const MAX_WORDS = 20;

export interface HintQuery {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly scope: SessionScope;
  readonly cwd: string;
  /** Only below these is looked; what stands in them is in the prompt already. */
  readonly roots: readonly string[];
}

/** Directories this session has been told about; lives with the session. */
class Told {
  readonly directories = new Set<string>();
}

/** Everything is told again when it comes up: what was said before has left the model's sight. */
export function forgetHints(scope: SessionScope): void {
  scope.state("core.hints", () => new Told()).directories.clear();
}

/** The instructions that belong to the paths of a call; empty when there are none or they were told. Never throws. */
export async function collectHints(
  args: Readonly<Record<string, unknown>>,
  query: HintQuery,
): Promise<string> {
  if (query.settings.agent.ignore_rules) return "";
  const paths = pathsOf(args, query);
  if (paths.length === 0) return "";
  const told = query.scope.state("core.hints", () => new Told()).directories;
  const places = await within(Promise.all(paths.map((path) => placeOf(path, query))), READ_BOUND_MS) ?? [];
  const fresh = [...new Set(places.flatMap((place) => directoriesOf(place, query.roots)))]
    .filter((directory) => !told.has(directory));
  for (const directory of fresh) told.add(directory);
  const found =
    await within(Promise.all(fresh.map((directory) => hintOf(directory, query))), READ_BOUND_MS) ?? [];
  return found.filter((file) => file !== null).map(({ name, text }) => `${name}:\n${text}`).join("\n\n");
}

/** A result with the hints in it: a field of a JSON object, else more text. */
export function withHints(content: Content, hints: string): Content {
  if (hints === "" || typeof content !== "string") return content;
  if (content.startsWith("{")) {
    try {
      return JSON.stringify({ ...JSON.parse(content), project_instructions: hints });
    } catch {
      // Not JSON after all: as text.
    }
  }
  return `${content}\n\n[Instructions kept in this directory]\n${hints}`;
}

/** Absolute paths that a call names, and words of a command that look like paths. */
function pathsOf(args: Readonly<Record<string, unknown>>, { cwd, platform }: HintQuery): string[] {
  const written = PATH_KEYS.map((key) => args[key]).filter((value) =>
    typeof value === "string" && value !== ""
  );
  const command = args["command"];
  if (typeof command === "string") {
    const words = command.slice(0, 4_000).split(/[\s;|&<>()"'`=]+/).filter((word) => word.includes("/"));
    written.push(...words.slice(0, MAX_WORDS));
  }
  return (written as string[]).filter((path) => !path.includes("://")).map((path) => {
    const full = path.startsWith("~/") ? join(platform.homeDir(), path.slice(2)) : path;
    return normalize(isAbsolute(full) ? full : join(cwd, full)).replace(/(.)[\\/]+$/, "$1");
  });
}

/** The directory that a path is or stands in. */
async function placeOf(path: string, { platform }: HintQuery): Promise<string> {
  const stat = await platform.files.stat(path).catch(() => null);
  return stat?.isDirectory ? path : dirname(path);
}

/** A directory and its ancestors, strictly below a root. */
function directoriesOf(place: string, roots: readonly string[]): string[] {
  const found: string[] = [];
  for (
    let at = place;
    found.length <= ANCESTORS && roots.some((root) => isBelow(at, root));
    at = dirname(at)
  ) {
    found.push(at);
  }
  return found;
}

function isBelow(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest !== "" && !isAbsolute(rest) && rest !== ".." && !/^\.\.[\\/]/.test(rest);
}

async function hintOf(directory: string, { platform, cwd }: HintQuery): Promise<PromptFile | null> {
  const { files } = platform;
  for (const name of FILES) {
    const path = join(directory, name);
    // A path below a file has none of them.
    if (!(await files.stat(path).catch(() => null))?.isFile) continue;
    const shown = isBelow(path, cwd) ? relative(cwd, path) : path;
    const file = await readContextFile(path, { files, log: QUIET, name: shown, cap: MAX_CHARS });
    if (file) return file;
  }
  return null;
}

/** A hint that cannot be read is no event for anybody. */
const QUIET = { warn() {} };
