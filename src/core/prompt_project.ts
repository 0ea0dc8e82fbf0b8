/**
 * The project's own instructions (core.md A.4 "project context"): the first of a written chain of files that is there,
 * nothing else. What it holds was written by people of the project, so it is scanned before the model sees it.
 */
import { basename, join } from "node:path";
import { within } from "@/lib/abort.ts";
import type { Files } from "@/platform/mod.ts";
import type { Logger } from "./ports.ts";
import { ancestorsOf, isPresent, type PromptFile, READ_BOUND_MS, readContextFile } from "./prompt_files.ts";

const OWN = [".hermes.md", "HERMES.md"];
const AGENTS = ["AGENTS.md", "agents.md"];
const CLAUDE = ["CLAUDE.md", "claude.md"];
const MAX_RULES = 50;

export interface ProjectQuery {
  readonly files: Files;
  readonly log: Pick<Logger, "warn">;
  readonly cwd: string;
  /** `null` outside a repository. */
  readonly gitRoot: string | null;
  readonly cap: number;
}

export const PROJECT_HEADING = "# Project Context";

/** The block under `# Project Context`; empty when the project has no instructions. `cwd` is known to answer. */
export async function projectContext(query: ProjectQuery): Promise<string> {
  const found = await firstHit(query);
  if (found.length === 0) return "";
  const parts = found.map(({ name, text }) => `## ${name}\n\n${text}`);
  return [PROJECT_HEADING, ...parts].join("\n\n");
}

async function firstHit(query: ProjectQuery): Promise<readonly PromptFile[]> {
  const own = ownDirectories(query).flatMap((dir) => OWN.map((name) => join(dir, name)));
  const chain = [...own, ...[...AGENTS, ...CLAUDE].map((name) => join(query.cwd, name))];
  for (const path of chain.filter((path) => isPresent(query.files, path))) {
    const file = await read(path, query);
    if (file) return [file];
  }
  return await cursorRules(query);
}

/** Up to the git root; the cwd alone where there is none. */
function ownDirectories({ cwd, gitRoot }: ProjectQuery): string[] {
  if (gitRoot === null) return [cwd];
  const all = ancestorsOf(cwd);
  return all.slice(0, all.indexOf(gitRoot) + 1);
}

async function read(path: string, query: ProjectQuery): Promise<PromptFile | null> {
  const name = path.startsWith(`${query.cwd}/`) ? path.slice(query.cwd.length + 1) : basename(path);
  return await readContextFile(path, { ...query, name });
}

async function cursorRules(query: ProjectQuery): Promise<readonly PromptFile[]> {
  const directory = join(query.cwd, ".cursor", "rules");
  const single = join(query.cwd, ".cursorrules");
  const names = isPresent(query.files, directory)
    ? await within(listRules(query.files, directory), READ_BOUND_MS) ?? []
    : [];
  const paths = [
    ...(isPresent(query.files, single) ? [single] : []),
    ...names.map((name) => join(directory, name)),
  ];
  const found = await Promise.all(paths.map((path) => read(path, query)));
  return found.filter((file) => file !== null);
}

async function listRules(files: Files, directory: string): Promise<string[]> {
  if (!(await files.stat(directory).catch(() => null))?.isDirectory) return [];
  const entries = await files.list(directory).catch(() => []);
  return entries.map((entry) => entry.name).filter((name) => name.endsWith(".mdc")).sort().slice(
    0,
    MAX_RULES,
  );
}
