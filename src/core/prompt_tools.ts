/**
 * Which of the usual tools this machine has (core.md A.4 "environment", `agent.environment_probe`): one line for the
 * prompt, from looks along PATH. Nothing is executed; directories that do not answer are left out; a PATH is looked
 * through once in the life of the program.
 */
import { delimiter, isAbsolute } from "node:path";
import { within } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { DirectoryLooks } from "./directory_looks.ts";

/** In the order of the line, which stays below 150 bytes when all of them are there. */
const NAMES = [
  "git",
  "gh",
  "rg",
  "jq",
  "node",
  "npm",
  "deno",
  "bun",
  "python3",
  "uv",
  "cargo",
  "go",
  "java",
  "gcc",
  "make",
  "docker",
];
const MAX_DIRECTORIES = 40;
/** Looked at first. */
const USUAL = "/usr/bin";
/** Milliseconds for directories to answer. */
const ANSWER_MS = 100;
/** Milliseconds on the thread; a slow file system is not looked through to its end. */
const LOOK_MS = 20;

/** `Tools on PATH: git, node, …`; empty where none is found. Never rejects. */
export async function toolsLine(platform: Platform, looks: DirectoryLooks): Promise<string> {
  // Commands have the same one; to make their whole environment costs more than all these looks.
  const { PATH: path } = platform.env();
  return path ? await looks.once(`tools:${path}`, () => lookAlong(platform, looks, path)) : "";
}

async function lookAlong(platform: Platform, looks: DirectoryLooks, path: string): Promise<string> {
  const directories = [...new Set(path.split(delimiter))].filter(isAbsolute).slice(0, MAX_DIRECTORIES);
  const home = platform.homeDir();
  const isHome = (one: string) => one.startsWith(`${home}/`);
  const others = directories.filter((one) => !isHome(one) && !isSystems(one));
  const answering = new Set<string>();
  const asked = others.map(async (directory) => {
    if (await looks.answers(directory)) answering.add(directory);
  });
  const search = new Search(platform);
  // Most tools are in the machine's own directories: with them found, the others are asked for few names.
  if (directories.includes(USUAL)) search.in([USUAL]);
  search.in(directories.filter((one) => isSystems(one) && one !== USUAL));
  search.in(directories.filter(isHome));
  if (asked.length > 0 && !search.isDone) await within(Promise.all(asked), ANSWER_MS);
  search.in(others.filter((one) => answering.has(one)));
  return search.found.length === 0 ? "" : `Tools on PATH: ${search.found.join(", ")}`;
}

class Search {
  readonly #platform: Platform;
  readonly #waiting = new Set(NAMES);
  #spentMs = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  get found(): string[] {
    return NAMES.filter((name) => !this.#waiting.has(name));
  }

  get isDone(): boolean {
    return this.#waiting.size === 0 || this.#spentMs > LOOK_MS;
  }

  /** On the thread: these directories answer. */
  in(directories: readonly string[]): void {
    const { clock } = this.#platform;
    for (const directory of directories) {
      if (this.isDone) return;
      const start = clock.monotonic();
      this.#look(directory);
      this.#spentMs += clock.monotonic() - start;
    }
  }

  #look(directory: string): void {
    if (!isPresent(this.#platform, directory)) return;
    for (const name of this.#waiting) {
      if (isTool(this.#platform, directory, name)) this.#waiting.delete(name);
    }
  }
}

/** Where the machine itself runs from. It answers, and so does the home, where the program keeps its own files. */
function isSystems(directory: string): boolean {
  return directory.startsWith("/usr/") || directory === "/bin" || directory === "/sbin";
}

function isPresent({ files }: Platform, directory: string): boolean {
  try {
    return files.statSync(directory) !== null;
  } catch {
    return false;
  }
}

function isTool({ os, files }: Platform, directory: string, name: string): boolean {
  const endings = os === "windows" ? [".exe", ".cmd"] : [""];
  return endings.some((ending) => {
    try {
      const stat = files.statSync(`${directory}/${name}${ending}`);
      return stat !== null && stat.isFile && (os === "windows" || (stat.mode & 0o111) !== 0);
    } catch {
      return false; // not ours to look at
    }
  });
}
