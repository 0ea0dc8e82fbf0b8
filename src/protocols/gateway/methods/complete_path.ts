/**
 * `complete.path` (tui-gateway.md B.17): directory listings, and after `@` a fuzzy look over the files of the
 * repository. Bounded in results, depth and time; what cannot be listed gives nothing.
 */
import { resolve } from "node:path";
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import { harmlessRepository } from "@/lib/safe_git.ts";
import { runChild } from "../child_run.ts";
import { quoteValue } from "../reference_text.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

const MAX_ITEMS = 30;
const MAX_FILES = 20_000;
/** Characters of git's list. */
const MAX_LISTING = 4 << 20;
const MAX_DEPTH = 12;
const GIT_MS = 2_000;
const SKIPPED = new Set([".git", "node_modules", "__pycache__", ".venv", "venv", "target", "dist"]);

const REFERENCES: readonly (readonly [string, string])[] = [
  ["@diff", "changes that are not staged"],
  ["@staged", "staged changes"],
  ["@file:", "a file"],
  ["@folder:", "a folder"],
  ["@url:", "a web page"],
  ["@git:", "commits"],
];

interface Item {
  readonly text: string;
  readonly display: string;
  readonly meta: string;
}

export function completePathMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "complete.path",
      kind: "worker",
      params: z.object({ word: optional(z.string()), cwd: optional(z.string()), session_id: anything }),
      failCode: 5021,
      handle: async (params, { signal }) => {
        const { platform } = gateway.hermes;
        const cwd = params.cwd ?? gateway.live.maybe(params.session_id)?.session.cwd ?? platform.cwd();
        return {
          items: await complete(gateway.hermes, params.word ?? "", resolve(platform.cwd(), cwd), signal),
        };
      },
    }),
  ];
}

async function complete(hermes: Hermes, word: string, cwd: string, signal: AbortSignal): Promise<Item[]> {
  if (word === "@") return REFERENCES.map(([text, meta]) => ({ text, display: text, meta }));
  const reference = /^@(file|folder):["'`]?(.*)$/.exec(word);
  if (reference) {
    const [, kind, rest] = reference;
    return await listDirectory(hermes, rest!, cwd, {
      foldersOnly: kind === "folder",
      // What is typed on inside a folder still stands in its quotes.
      textOf: (path) =>
        `@${kind}:${kind === "file" && path.endsWith("/") ? openQuoted(path) : quoteValue(path)}`,
    });
  }
  if (!word.startsWith("@")) {
    return await listDirectory(hermes, word, cwd, { foldersOnly: false, textOf: (path) => path });
  }
  const wanted = word.slice(1).toLowerCase();
  const known = REFERENCES.filter(([text]) => text.startsWith(word.toLowerCase()));
  const files = rankFiles(await repositoryFiles(hermes, cwd, signal), wanted);
  return [
    ...known.map(([text, meta]) => ({ text, display: text, meta })),
    ...files.map((path) => ({ text: `@file:${quoteValue(path)}`, display: path, meta: "" })),
  ].slice(0, MAX_ITEMS);
}

function openQuoted(path: string): string {
  const whole = quoteValue(path);
  return whole === path ? path : whole.slice(0, -1);
}

/** Entries whose name begins with the last part of `word`; hidden ones only when it begins with a dot. */
async function listDirectory(
  hermes: Hermes,
  word: string,
  cwd: string,
  options: { readonly foldersOnly: boolean; textOf(path: string): string },
): Promise<Item[]> {
  const cut = word.lastIndexOf("/") + 1;
  const [shown, typed] = [word.slice(0, cut), word.slice(cut).toLowerCase()];
  const home = hermes.platform.homeDir();
  const folder = resolve(
    cwd,
    shown === "~/" || shown.startsWith("~/") ? home + shown.slice(1) : shown || ".",
  );
  const entries = await hermes.platform.files.list(folder).catch(() => []);
  const fitting = entries.filter((entry) =>
    entry.name.toLowerCase().startsWith(typed) && (typed.startsWith(".") || !entry.name.startsWith(".")) &&
    (entry.isDirectory || !options.foldersOnly)
  );
  fitting.sort((a, b) => Number(b.isDirectory) - Number(a.isDirectory) || (a.name < b.name ? -1 : 1));
  return fitting.slice(0, MAX_ITEMS).map((entry) => {
    const name = entry.isDirectory ? `${entry.name}/` : entry.name;
    return {
      text: options.textOf(`${shown}${name}`),
      display: name,
      meta: entry.isDirectory ? "folder" : "",
    };
  });
}

// ── Files of a repository ───────────────────────────────────────────────────────────────────────────────────

async function repositoryFiles(hermes: Hermes, cwd: string, signal: AbortSignal): Promise<string[]> {
  return await gitFiles(hermes, cwd, signal) ?? await walk(hermes, cwd, signal);
}

/** `null` where git is not there or does not answer in time. */
async function gitFiles(hermes: Hermes, cwd: string, signal: AbortSignal): Promise<string[] | null> {
  const { platform } = hermes;
  const repository = await harmlessRepository(platform.files, cwd);
  if (!repository) return null;
  const done = await runChild(platform, {
    program: "git",
    args: [...repository.args, "ls-files", "-coz", "--exclude-standard"],
    cwd,
    env: { ...hermes.childEnv(), ...repository.env },
    timeoutMs: GIT_MS,
    signal,
    keep: MAX_LISTING,
  }).catch(() => null);
  if (done?.code !== 0) return null;
  const paths = done.stdout.split("\0");
  // What was cut off at the front took a part of the first path along.
  if (done.stdout.length >= MAX_LISTING) paths.shift();
  return paths.filter((path) => path !== "").slice(0, MAX_FILES);
}

async function walk(hermes: Hermes, root: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  let level = [""];
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0 && found.length < MAX_FILES; depth++) {
    if (signal.aborted) break;
    const next: string[] = [];
    for (const folder of level) {
      const entries = await hermes.platform.files.list(`${root}/${folder}`).catch(() => []);
      for (const entry of entries) {
        if (entry.isFile) found.push(folder + entry.name);
        else if (entry.isDirectory && !SKIPPED.has(entry.name)) next.push(`${folder}${entry.name}/`);
      }
      if (found.length >= MAX_FILES) break;
    }
    level = next;
  }
  return found;
}

/** Exact name, prefix, start of a word, substring, subsequence; shorter paths first within a rank. */
export function rankFiles(paths: readonly string[], wanted: string): string[] {
  const ranked = paths.flatMap((path) => {
    const rank = rankOf(path.toLowerCase(), wanted);
    return rank === null ? [] : [{ path, rank }];
  });
  ranked.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1));
  return ranked.slice(0, MAX_ITEMS).map((entry) => entry.path);
}

function rankOf(path: string, wanted: string): number | null {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name === wanted || path === wanted) return 0;
  if (name.startsWith(wanted) || path.startsWith(wanted)) return 1;
  const at = path.indexOf(wanted);
  if (at > 0) return /[^a-z0-9]/.test(path[at - 1]!) ? 2 : 3;
  return isSubsequence(wanted, path) ? 4 : null;
}

function isSubsequence(wanted: string, path: string): boolean {
  let at = 0;
  for (const char of path) if (char === wanted[at]) at++;
  return at === wanted.length;
}
