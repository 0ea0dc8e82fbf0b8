/**
 * What git says about a working directory, for the prompt (core.md A.4 "coding posture"): branch, distance to its
 * upstream, changed files. `git` gets two seconds; without it, or when it must not be trusted with this repository's
 * own settings, the branch is read from the files of git and no process is started.
 */
import { within } from "@/lib/abort.ts";
import { harmlessRepository, type Repository } from "@/lib/safe_git.ts";
import type { Child, Platform } from "@/platform/mod.ts";
import { branchOf } from "./git_place.ts";

const BOUND_MS = 2_000;
const MAX_OUTPUT = 200_000;
const MAX_PATHS = 8;
const STATUS = [
  "status",
  "--porcelain=v2",
  "--branch",
  "--untracked-files=normal",
  "--ignore-submodules=all",
];
export interface GitQuery {
  readonly platform: Platform;
  /** Where `.git` is. */
  readonly root: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** One to three lines; empty when not even the branch can be told. Never throws, at most two seconds. */
export async function gitSnapshot(query: GitQuery): Promise<string> {
  const { files } = query.platform;
  const repository = await harmlessRepository(files, query.root);
  const status = repository?.root === query.root ? await runStatus(query, repository) : null;
  if (status !== null) return describeStatus(status);
  const branch = branchOf(files, query.root);
  return branch ? `Git branch: ${branch}` : "";
}

async function runStatus(
  { platform, cwd, env }: GitQuery,
  repository: Repository,
): Promise<string | null> {
  const decoder = new TextDecoder();
  let output = "";
  let child: Child;
  try {
    child = platform.spawn("git", [...repository.args, ...STATUS], {
      cwd,
      env: { ...env, ...repository.env },
      stdin: "null",
      onStdout: (chunk) => {
        if (output.length < MAX_OUTPUT) output += decoder.decode(chunk, { stream: true });
      },
      onStderr: () => {/* why it failed is of no use to the model */},
    });
  } catch {
    return null; // no git on this machine
  }
  const exit = await within(child.exited.catch(() => null), BOUND_MS);
  if (exit === undefined) child.kill("SIGKILL");
  return exit?.code === 0 ? output : null;
}

interface Status {
  branch: string;
  ahead: number;
  behind: number;
  changed: string[];
  untracked: number;
}

function parseStatus(output: string): Status {
  const status: Status = { branch: "", ahead: 0, behind: 0, changed: [], untracked: 0 };
  for (const line of output.split("\n")) {
    if (line.startsWith("# branch.head ")) status.branch = line.slice(14);
    else if (line.startsWith("# branch.ab ")) {
      const [, ahead, behind] = /\+(\d+) -(\d+)/.exec(line) ?? [];
      [status.ahead, status.behind] = [Number(ahead ?? 0), Number(behind ?? 0)];
    } else if (line.startsWith("? ")) status.untracked++;
    else if (/^[12u] /.test(line)) status.changed.push(pathOf(line));
  }
  return status;
}

/** The path field: the ninth of an ordinary entry, the tenth of a rename, the eleventh of a conflict. */
function pathOf(line: string): string {
  const fields = line.split("\t")[0]!.split(" ");
  const from = line[0] === "1" ? 8 : line[0] === "2" ? 9 : 10;
  return fields.slice(from).join(" ").slice(0, 120);
}

function describeStatus(output: string): string {
  const { branch, ahead, behind, changed, untracked } = parseStatus(output);
  const distance = [ahead ? `${ahead} ahead` : "", behind ? `${behind} behind` : ""].filter(Boolean).join(
    ", ",
  );
  const counts = [
    changed.length ? `${changed.length} changed` : "",
    untracked ? `${untracked} untracked` : "",
  ].filter(Boolean).join(", ");
  const lines = [
    `Git branch: ${branch || "unknown"}${distance ? ` (${distance})` : ""}`,
    `Git status when the conversation started: ${counts || "clean"}`,
  ];
  if (changed.length > 0) {
    const more = changed.length > MAX_PATHS ? `, … ${changed.length - MAX_PATHS} more` : "";
    lines.push(`Changed files: ${changed.slice(0, MAX_PATHS).join(", ")}${more}`);
  }
  return lines.join("\n");
}
