/**
 * What references in a prompt stand for, as text behind the prompt (tui-gateway.md B.11). Files and folders only
 * inside the workspace, never credentials, secrets redacted, all of it bounded by the model's window. A refusal stops
 * the prompt; what is only missing is noted for the model and the prompt goes on.
 */
import { extname, isAbsolute, relative, resolve } from "node:path";
import type { Hermes } from "@/app/mod.ts";
import { harmlessRepository, PLAIN_DIFF } from "@/lib/safe_git.ts";
import type { Session } from "@/core/contract.ts";
import { runChild } from "./child_run.ts";
import type { Reference } from "./reference_text.ts";
import { fenced, findReferences } from "./reference_text.ts";

/** Nothing of the prompt may be sent. */
export class RefusedReference extends Error {
  override readonly name = "RefusedReference";
}

export interface Expanded {
  /** To be put behind the prompt; empty when it has no references. */
  readonly context: string;
  /** For people: what could not be attached. */
  readonly warnings: readonly string[];
}

const WINDOW_TOKENS = 128_000;
const CHARS_PER_TOKEN = 4;
/** Of the window: more than this much is refused. */
const MAX_SHARE = 0.5;
const MAX_REFERENCES = 20;
const MAX_ENTRIES = 200;
const MAX_DEPTH = 4;
const MAX_COMMITS = 10;
const GIT_MS = 5_000;
const SKIPPED = new Set([".git", "node_modules", "__pycache__", ".venv", "venv", "target", "dist"]);

interface Place {
  readonly hermes: Hermes;
  readonly cwd: string;
  /** Real paths. */
  readonly roots: readonly string[];
  /** Characters that may be attached altogether. */
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Text of one reference, or why there is none. */
type Part = { readonly text: string } | { readonly missing: string };

/** Throws `RefusedReference`, and an `AbortError` when `signal` fires. */
export async function expandReferences(
  hermes: Hermes,
  session: Session,
  text: string,
  signal: AbortSignal,
): Promise<Expanded> {
  const references = findReferences(text);
  if (references.length === 0) return { context: "", warnings: [] };
  if (references.length > MAX_REFERENCES) {
    throw new RefusedReference(`${references.length} references in one prompt; at most ${MAX_REFERENCES}`);
  }
  const place = await placeOf(hermes, session, signal);
  const parts: string[] = [];
  const warnings: string[] = [];
  let total = 0;
  for (const reference of references) {
    signal.throwIfAborted();
    const part = await partOf(reference, place);
    if ("missing" in part) {
      warnings.push(`${reference.shown}: ${part.missing}`);
      continue;
    }
    total += part.text.length;
    if (total > place.limit) throw tooMuch(place.limit);
    parts.push(`## ${reference.shown}\n${part.text}`);
  }
  return { context: contextOf(parts, warnings), warnings };
}

function contextOf(parts: readonly string[], warnings: readonly string[]): string {
  const missing = warnings.length === 0
    ? []
    : [`Not attached:\n${warnings.map((one) => `- ${one}`).join("\n")}`];
  return ["--- Attached by the references above ---", ...parts, ...missing].join("\n\n");
}

function tooMuch(limit: number): RefusedReference {
  const tokens = Math.floor(limit / CHARS_PER_TOKEN);
  return new RefusedReference(`The references are too large: at most about ${tokens} tokens fit this model`);
}

async function placeOf(hermes: Hermes, session: Session, signal: AbortSignal): Promise<Place> {
  const window = session.usage().contextMax ?? WINDOW_TOKENS;
  const roots = await Promise.all(
    session.roots.map(async (root) => await hermes.platform.files.realPath(root) ?? root),
  );
  const limit = Math.floor(window * MAX_SHARE * CHARS_PER_TOKEN);
  return { hermes, cwd: session.cwd, roots, limit, signal };
}

async function partOf(reference: Reference, place: Place): Promise<Part> {
  switch (reference.kind) {
    case "file":
      return await filePart(reference, place);
    case "folder":
      return await folderPart(reference, place);
    case "diff":
      return await gitPart(["diff", ...PLAIN_DIFF], place);
    case "staged":
      return await gitPart(["diff", ...PLAIN_DIFF, "--staged"], place);
    case "git":
      return await commitsPart(reference, place);
    case "url":
      return {
        missing: "web pages are not fetched for a reference; the model may open it with its own tools",
      };
  }
}

// ── Files ───────────────────────────────────────────────────────────────────────────────────────────────────

/** The real path, or `null` when there is nothing. Throws for what must not be looked at. */
async function locate(value: string, { hermes, cwd, roots }: Place): Promise<string | null> {
  const { files, homeDir } = { files: hermes.platform.files, homeDir: hermes.platform.homeDir() };
  const path = resolve(cwd, value === "~" || value.startsWith("~/") ? homeDir + value.slice(1) : value);
  const refusal = await hermes.refuseRead(path);
  if (refusal !== null) throw new RefusedReference(refusal);
  const real = await files.realPath(path).catch(() => null);
  const judged = real ?? path;
  if (!roots.some((root) => isInside(judged, root)) && !(real === null && isInside(path, cwd))) {
    throw new RefusedReference(`Access denied: '${path}' is outside the workspace`);
  }
  return real;
}

function isInside(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest === "" || (!isAbsolute(rest) && rest !== ".." && !/^\.\.[\\/]/.test(rest));
}

async function filePart({ value, lines }: Reference, place: Place): Promise<Part> {
  const { hermes, limit } = place;
  const path = await locate(value, place);
  if (path === null) return { missing: "there is no such file" };
  const stat = await hermes.platform.files.stat(path);
  if (!stat?.isFile) return { missing: "it is not a file" };
  if (stat.size > limit * 4) throw tooMuch(limit);
  const bytes = await hermes.platform.files.read(path);
  const text = decode(bytes);
  if (text === null) return { missing: "it is not a text file" };
  const part = lines ? text.split("\n").slice(lines[0] - 1, lines[1]).join("\n") : text;
  if (lines && part === "") return { missing: "it has no such lines" };
  return { text: fenced(hermes.redact(part, "file"), extname(path).slice(1)) };
}

/** `null` for what is no UTF-8 text. */
function decode(bytes: Uint8Array): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

async function folderPart({ value }: Reference, place: Place): Promise<Part> {
  const { files } = place.hermes.platform;
  const root = await locate(value, place);
  if (root === null) return { missing: "there is no such folder" };
  if (!(await files.stat(root))?.isDirectory) return { missing: "it is not a folder" };
  const lines: string[] = [];
  const look = async (folder: string, depth: number): Promise<void> => {
    const entries = await files.list(folder).catch(() => []);
    entries.sort((a, b) => a.name < b.name ? -1 : 1);
    for (const entry of entries) {
      if (lines.length > MAX_ENTRIES || place.signal.aborted) return;
      if (SKIPPED.has(entry.name)) continue;
      lines.push(`${"  ".repeat(depth)}${entry.name}${entry.isDirectory ? "/" : ""}`);
      if (entry.isDirectory && depth < MAX_DEPTH) await look(`${folder}/${entry.name}`, depth + 1);
    }
  };
  await look(root, 0);
  const shown = lines.length > MAX_ENTRIES ? [...lines.slice(0, MAX_ENTRIES), "… and more"] : lines;
  return { text: fenced(shown.length === 0 ? "(empty)" : shown.join("\n")) };
}

// ── Git ─────────────────────────────────────────────────────────────────────────────────────────────────────

async function commitsPart({ value }: Reference, place: Place): Promise<Part> {
  if (!/^\d{1,3}$/.test(value) || Number(value) === 0) {
    return { missing: "use @git: with a number of commits" };
  }
  return await gitPart([
    "log",
    "-p",
    "--pretty=medium",
    ...PLAIN_DIFF,
    `-n${Math.min(MAX_COMMITS, Number(value))}`,
  ], place);
}

async function gitPart(args: readonly string[], { hermes, cwd, signal, limit }: Place): Promise<Part> {
  const repository = await harmlessRepository(hermes.platform.files, cwd);
  if (!repository) {
    return { missing: "there is no repository here, or its settings make git run other programs" };
  }
  const command = {
    program: "git",
    args: [...repository.args, ...args],
    cwd,
    env: { ...hermes.childEnv(), ...repository.env },
  };
  const run = runChild(hermes.platform, { ...command, timeoutMs: GIT_MS, signal, keep: limit + 1 });
  const { code, stdout, stderr, stopped } = await run.catch(() => ({
    code: null,
    stopped: null,
    stdout: "",
    stderr: "git cannot be run",
  }));
  if (stopped === "timeout") return { missing: "git did not answer in time" };
  if (code !== 0) return { missing: stderr.trim().split("\n")[0] || "git failed" };
  if (stdout.length > limit) throw tooMuch(limit);
  return stdout.trim() === ""
    ? { text: "(no changes)" }
    : { text: fenced(hermes.redact(stdout, "file"), "diff") };
}
