/**
 * What kind of workspace a directory is (core.md A.4): its manifests, whether there is code in it, and the commands
 * that check it. Only names known here are taken from the files, so a manifest cannot write into the prompt.
 */
import { extname, join } from "node:path";
import type { Files } from "@/platform/mod.ts";
import { isPresent } from "./prompt_files.ts";

const MANIFESTS = [
  "package.json",
  "deno.json",
  "deno.jsonc",
  "pyproject.toml",
  "setup.py",
  "requirements.txt",
  "Cargo.toml",
  "go.mod",
  "Makefile",
  "justfile",
  "CMakeLists.txt",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "Gemfile",
  "composer.json",
  "mix.exs",
  "Package.swift",
  "pubspec.yaml",
  "flake.nix",
];
/** A mark of a workspace that is no build file. */
const MARKS = ["AGENTS.md", "CLAUDE.md", ".hermes.md"];
const SOURCES = new Set(
  (".ts .tsx .js .jsx .mjs .cjs .py .rs .go .java .kt .swift .c .h .cc .cpp .hpp .cs .rb .php .sh .lua .ex .exs " +
    ".scala .dart .zig .hs .ml .clj .vue .svelte .sql").split(" "),
);
const SKIPPED = new Set(["node_modules", ".git", "venv", ".venv", "dist", "build", "target", "vendor"]);
const SCAN_ENTRIES = 500;
const MAX_MANIFEST = 65_536;
const CHECKS = ["ok", "check", "typecheck", "lint", "test", "build"];

export interface Workspace {
  /** Names of the build files in the directory. */
  readonly manifests: readonly string[];
  readonly isCode: boolean;
}

/** Looks at the directory, which answers, and at its repository when it has one. Never throws. */
export async function inspectWorkspace(
  files: Files,
  cwd: string,
  gitRoot: string | null,
): Promise<Workspace> {
  const names = [...MANIFESTS, ...MARKS].filter((name) => isPresent(files, join(cwd, name)));
  const stats = await Promise.all(names.map((name) => files.stat(join(cwd, name)).catch(() => null)));
  const there = names.filter((_, at) => stats[at]?.isFile);
  const manifests = there.filter((name) => !MARKS.includes(name));
  if (there.length > 0) return { manifests, isCode: true };
  return { manifests, isCode: gitRoot !== null && await hasSources(files, gitRoot) };
}

/** A source file in the top two levels, among the first 500 entries. */
async function hasSources(files: Files, root: string): Promise<boolean> {
  let left = SCAN_ENTRIES;
  const open = [root];
  for (let level = 0; level < 2; level++) {
    const next: string[] = [];
    for (const directory of open.splice(0)) {
      for (const entry of await files.list(directory).catch(() => [])) {
        if (left-- <= 0) return false;
        if (entry.isFile && SOURCES.has(extname(entry.name))) return true;
        if (entry.isDirectory && !SKIPPED.has(entry.name)) next.push(join(directory, entry.name));
      }
    }
    open.push(...next);
  }
  return false;
}

/** Commands that check the work, as far as the manifests tell; at most six. */
export async function verifyCommands(
  files: Files,
  cwd: string,
  manifests: readonly string[],
): Promise<string[]> {
  const found = await Promise.all(manifests.map(async (name) => {
    const reader = READERS[name];
    if (!reader) return [];
    const text = await files.readHead(join(cwd, name), MAX_MANIFEST)
      .then((bytes) => new TextDecoder().decode(bytes)).catch(() => "");
    return await reader(text, { files, cwd });
  }));
  return [...new Set(found.flat())].slice(0, 6);
}

type Reader = (text: string, at: { files: Files; cwd: string }) => string[] | Promise<string[]>;

const READERS: Readonly<Record<string, Reader>> = {
  "package.json": async (text, { files, cwd }) => {
    const runner = await packageRunner(files, cwd);
    return named(text, "scripts").map((name) => `${runner} ${name}`);
  },
  "deno.json": (text) => named(text, "tasks").map((name) => `deno task ${name}`),
  "deno.jsonc": (text) => named(text, "tasks").map((name) => `deno task ${name}`),
  "pyproject.toml": (text) => [
    ...(/\[tool\.ruff/.test(text) ? ["ruff check"] : []),
    ...(/\[tool\.mypy/.test(text) ? ["mypy ."] : []),
    ...(/pytest/.test(text) ? ["pytest"] : []),
  ],
  "Cargo.toml": () => ["cargo check", "cargo test"],
  "go.mod": () => ["go vet ./...", "go test ./..."],
  "Makefile": (text) =>
    CHECKS.filter((name) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(text)).map((name) => `make ${name}`),
  "justfile": (text) =>
    CHECKS.filter((name) => new RegExp(`^${name}\\b[^:\n]*:(?!=)`, "m").test(text)).map((name) =>
      `just ${name}`
    ),
  "pom.xml": () => ["mvn test"],
  "build.gradle": () => ["./gradlew test"],
  "build.gradle.kts": () => ["./gradlew test"],
  "mix.exs": () => ["mix test"],
  "Package.swift": () => ["swift test"],
};

/** Known check names in a section of a JSON file. */
function named(text: string, section: string): string[] {
  const names = namesIn(text, section);
  return CHECKS.filter((name) => names.includes(name));
}

function namesIn(text: string, section: string): string[] {
  try {
    const found = (JSON.parse(text) as Record<string, unknown> | null)?.[section];
    return typeof found === "object" && found !== null ? Object.keys(found) : [];
  } catch {
    // Comments or a trailing comma: the names are looked for in what stands between the braces.
    const body = new RegExp(`"${section}"\\s*:\\s*\\{([^}]*)`).exec(text)?.[1] ?? "";
    return [...body.matchAll(/"([\w:-]+)"\s*:/g)].map((match) => match[1]!);
  }
}

const LOCK_FILES: readonly (readonly [file: string, runner: string])[] = [
  ["pnpm-lock.yaml", "pnpm run"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun run"],
  ["bun.lockb", "bun run"],
];

async function packageRunner(files: Files, cwd: string): Promise<string> {
  const stats = await Promise.all(LOCK_FILES.map(([name]) => files.stat(join(cwd, name)).catch(() => null)));
  return LOCK_FILES.find((_, at) => stats[at])?.[1] ?? "npm run";
}
