/**
 * `search_files`: text in files by regular expression, or files by glob (core.md B.5). ripgrep where there is one,
 * else the built-in walker; the same results in the same order from both. Paged, and says when there is more.
 */
import { relative } from "node:path";
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { type Args, maybeString, readInteger, readText, ToolError } from "./args.ts";
import { searchFiles } from "./cards/files.ts";
import { ledgerOf } from "./file_ledger.ts";
import { globTest, hasGlob } from "./glob.ts";
import { resolvePath, shownPath } from "./paths.ts";
import { isCredentialPath, readRefusal } from "./read_deny.ts";
import { fail, settle, succeed } from "./result.ts";
import { listByRipgrep, searchByRipgrep } from "./search_rg.ts";
import type { ContentQuery, Found, SearchEnd, SearchScope, Sink } from "./search_types.ts";
import { searchByWalking, walkFiles } from "./search_walk.ts";
import { similarNames } from "./similar_names.ts";

const TIMEOUT_MS = 60_000;
const MAX_LINE = 500;
/** Matches are counted up to here. */
const MAX_COUNT = 10_000;
/** Files whose time is looked up for the order of a file search. */
const MAX_FILES = 50_000;
/** From this many matches on they are grouped by file, which needs fewer tokens. */
const GROUP_FROM = 5;

interface Request {
  readonly pattern: string;
  readonly target: "content" | "files";
  readonly glob: string | null;
  readonly limit: number;
  readonly offset: number;
  readonly mode: "content" | "files_only" | "count";
  readonly context: number;
}

function readRequest(args: Args): Request {
  const target = (maybeString(args, "target") ?? "content").toLowerCase();
  const mode = maybeString(args, "output_mode") ?? "content";
  if (!["content", "files", "grep", "find"].includes(target)) {
    throw new ToolError(`Argument 'target' must be "content" or "files", got '${target}'`);
  }
  if (mode !== "content" && mode !== "files_only" && mode !== "count") {
    throw new ToolError(`Argument 'output_mode' must be "content", "files_only" or "count", got '${mode}'`);
  }
  return {
    pattern: readText(args, "pattern"),
    target: target === "files" || target === "find" ? "files" : "content",
    glob: maybeString(args, "file_glob") || null,
    limit: readInteger(args, "limit", { or: 50, min: 1, max: 1_000 }),
    offset: readInteger(args, "offset", { or: 0, min: 0, max: 1_000_000 }),
    mode,
    context: readInteger(args, "context", { or: 0, min: 0, max: 20 }),
  };
}

interface Session {
  readonly request: Request;
  readonly root: string;
  readonly context: ToolContext;
  readonly scope: SearchScope;
  readonly omitted: Set<string>;
}

function openSession(request: Request, root: string, context: ToolContext): Session {
  const omitted = new Set<string>();
  const scope: SearchScope = {
    signal: context.signal,
    deadline: context.platform.clock.monotonic() + TIMEOUT_MS,
    isOmitted(path) {
      if (!isCredentialPath(path, context.home)) return false;
      omitted.add(path);
      return true;
    },
  };
  return { request, root, context, scope, omitted };
}

/** What is common to all answers; a hint with the next offset stands last. */
function answer(
  session: Session,
  body: Record<string, unknown>,
  page: { total: number; shown: number; end: SearchEnd; capped: boolean },
): ToolOutcome {
  const { request, omitted } = session;
  const next = request.offset + page.shown;
  const more = page.total > next;
  const truncated = more || page.end.limitReason !== null || page.capped;
  const reason = page.end.limitReason ?? (page.capped ? "count_limit" : more ? "limit" : null);
  return succeed({
    total_count: page.total,
    ...body,
    truncated,
    ...(reason ? { limit_reason: reason } : {}),
    ...(omitted.size > 0 ? { _omitted: omitted.size } : {}),
    ...(page.end.warning ? { warning: page.end.warning } : {}),
    ...(more
      ? {
        next_offset: next,
        hint: `Results truncated. Use offset=${next} to see more, or a narrower pattern, path or file_glob.`,
      }
      : {}),
  });
}

async function findContent(session: Session, sink: Sink): Promise<SearchEnd> {
  const { request, root, context, scope } = session;
  const { platform } = context;
  const query: ContentQuery = {
    pattern: request.pattern,
    root,
    glob: request.glob,
    context: request.context,
  };
  return await searchByRipgrep(query, { ...context.childEnv }, sink, platform, scope) ??
    await searchByWalking(query, sink, platform, scope);
}

async function searchLines(session: Session): Promise<ToolOutcome> {
  const { request, context } = session;
  const kept: Found[] = [];
  let total = 0;
  let before: Found[] = [];
  const end = await findContent(session, (found) => {
    const inPage = total >= request.offset && total < request.offset + request.limit;
    if (found.isMatch) {
      if (inPage) kept.push(...before, cutLine(found));
      before = [];
      total++;
    } else if (isContextOf(kept.at(-1), found)) kept.push(cutLine(found));
    else if (total >= request.offset && total < request.offset + request.limit) before.push(cutLine(found));
    return total < MAX_COUNT;
  });
  const matches = kept.filter((found) => found.isMatch).length;
  const clean = kept.map((found) => ({ ...found, text: context.redact(found.text, "file") }));
  return answer(session, formatLines(clean, matches, context.cwd), {
    total,
    shown: matches,
    end,
    capped: total >= MAX_COUNT,
  });
}

/** A line of context right behind a line of the page belongs to it. */
function isContextOf(last: Found | undefined, found: Found): boolean {
  return last !== undefined && last.path === found.path && last.line === found.line - 1;
}

function cutLine(found: Found): Found {
  return found.text.length <= MAX_LINE
    ? found
    : { ...found, text: `${found.text.slice(0, MAX_LINE)}... [truncated]` };
}

function formatLines(found: readonly Found[], matches: number, cwd: string): Record<string, unknown> {
  const withContext = found.length > matches;
  if (matches < GROUP_FROM && !withContext) {
    return {
      matches: found.map(({ path, line, text }) => ({ path: shownPath(path, cwd), line, content: text })),
    };
  }
  const out: string[] = [];
  let last: Found | null = null;
  for (const one of found) {
    if (last?.path !== one.path) out.push(shownPath(one.path, cwd));
    else if (withContext && last.line !== one.line - 1) out.push("  --");
    out.push(`  ${one.line}${one.isMatch ? ":" : "-"} ${one.text}`);
    last = one;
  }
  return { matches_format: "path-grouped", matches_text: out.join("\n") };
}

async function searchCounts(session: Session): Promise<ToolOutcome> {
  const { request, context } = session;
  const counts = new Map<string, number>();
  const end = await findContent(session, (found) => {
    if (found.isMatch) counts.set(found.path, (counts.get(found.path) ?? 0) + 1);
    return counts.size < MAX_COUNT;
  });
  const all = [...counts];
  const page = all.slice(request.offset, request.offset + request.limit);
  const body = request.mode === "count"
    ? { counts: Object.fromEntries(page.map(([path, count]) => [shownPath(path, context.cwd), count])) }
    : { files: page.map(([path]) => shownPath(path, context.cwd)) };
  return answer(session, body, {
    total: all.length,
    shown: page.length,
    end,
    capped: all.length >= MAX_COUNT,
  });
}

/** Files by glob, the newest first. */
async function searchNames(session: Session): Promise<ToolOutcome> {
  const { request, root, context, scope } = session;
  const { platform } = context;
  const inPattern = globTest(hasGlob(request.pattern) ? request.pattern : `*${request.pattern}*`);
  const inGlob = request.glob ? globTest(request.glob) : () => true;
  const paths: string[] = [];
  const take = (path: string): boolean => {
    const name = relative(root, path).replaceAll("\\", "/");
    if (inPattern(name) && inGlob(name)) paths.push(path);
    return paths.length < MAX_FILES;
  };
  const end = await listByRipgrep(root, { ...context.childEnv }, take, platform, scope) ??
    await listByWalking(session, take);
  const dated = await Promise.all(
    paths.map(async (path) => ({ path, time: (await platform.files.stat(path))?.mtimeMs ?? 0 })),
  );
  dated.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1));
  const page = dated.slice(request.offset, request.offset + request.limit);
  const body = { files: page.map(({ path }) => shownPath(path, context.cwd)) };
  return answer(session, body, {
    total: dated.length,
    shown: page.length,
    end,
    capped: dated.length >= MAX_FILES,
  });
}

async function listByWalking(session: Session, take: (path: string) => boolean): Promise<SearchEnd> {
  const files = walkFiles(session.root, session.context.platform, session.scope);
  for (;;) {
    const next = await files.next();
    if (next.done) return { limitReason: next.value };
    if (!take(next.value)) return { limitReason: null };
  }
}

async function search(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const request = readRequest(args);
  const written = maybeString(args, "path") || ".";
  const root = await resolvePath(written, context.cwd, context.platform);
  const stat = await context.platform.files.stat(root.path);
  if (!stat) {
    const similar = await similarNames(root.path, context.platform);
    return fail(`Path not found: ${root.path}`, similar.length ? { similar_files: similar } : {});
  }
  const refusal = await readRefusal(root, context.home, context.platform);
  if (refusal) return fail(refusal);
  if (request.target === "files" && !stat.isDirectory) return fail(`'${root.path}' is not a directory`);
  const inRow = ledgerOf(context.scope).countInRow(`search ${root.real} ${JSON.stringify(request)}`);
  if (inRow >= 4) {
    return fail(
      `BLOCKED: this search was made ${inRow} times in a row with the same result. Use what it returned`,
    );
  }
  const session = openSession(request, root.path, context);
  const outcome = request.target === "files"
    ? await searchNames(session)
    : request.mode === "content"
    ? await searchLines(session)
    : await searchCounts(session);
  if (inRow < 3) return outcome;
  const warned = {
    ...JSON.parse(outcome.content as string),
    _warning: "This search was made three times in a row.",
  };
  return { ...outcome, content: JSON.stringify(warned) };
}

export function createSearchFiles(): Tool {
  return {
    name: "search_files",
    toolset: "file",
    description:
      "Searches text by regular expression (context: lines around a match), or with target=files finds " +
      "files by glob, newest first. Hidden and git-ignored files are left out.",
    parameters: {
      type: "object",
      properties: {
        pattern: { type: "string" },
        target: { type: "string", enum: ["content", "files"] },
        path: { type: "string" },
        file_glob: { type: "string" },
        limit: { type: "integer", default: 50 },
        offset: { type: "integer" },
        output_mode: { type: "string", enum: ["content", "files_only", "count"] },
        context: { type: "integer" },
      },
      required: ["pattern"],
    },
    parallel: "safe",
    describe: searchFiles,
    execute: (args, context) => settle(() => search(args, context)),
  };
}
