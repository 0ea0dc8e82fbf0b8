/**
 * `read_file`: numbered lines of a text file, in pages (core.md B.5). Bounded in every direction, refuses what never
 * ends, and does not repeat what the conversation already holds.
 */
import { basename } from "node:path";
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { type Args, maybeString, readInteger, readText, ToolError } from "./args.ts";
import { readFile as card } from "./cards/files.ts";
import { type FileLedger, ledgerOf } from "./file_ledger.ts";
import { absoluteOf, type ResolvedPath, resolvePath } from "./paths.ts";
import { readRefusal } from "./read_deny.ts";
import { fail, settle, succeed } from "./result.ts";
import { similarNames } from "./similar_names.ts";
import { decodeText, hashBytes, isBinaryPath, isImagePath, toLf } from "./text_file.ts";

const DEFAULT_LIMIT = 500;
const LARGE_BYTES = 512 * 1024;
/** Larger files are not loaded at all. */
const MAX_BYTES = 64 * 1024 * 1024;

interface Page {
  readonly content: string;
  readonly totalLines: number;
  /** First and last line shown; `to` < `from` when there is none. */
  readonly from: number;
  readonly to: number;
  readonly cutBy: "lines" | "bytes" | null;
}

/** Lines `offset`…`offset + limit - 1`, each as `<n>|<text>`; at least one line, however long, is shown. */
function pageOf(
  text: string,
  offset: number,
  limit: number,
  caps: { line: number; total: number },
): Page {
  const lines = toLf(text).split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const shown: string[] = [];
  let size = 0;
  let cutBy: Page["cutBy"] = null;
  for (let n = offset; n <= lines.length; n++) {
    if (shown.length === limit) {
      cutBy = "lines";
      break;
    }
    const line = lines[n - 1]!;
    const entry = `${n}|${line.length > caps.line ? `${line.slice(0, caps.line)}... [truncated]` : line}`;
    if (size + entry.length + 1 > caps.total && shown.length > 0) {
      cutBy = "bytes";
      break;
    }
    shown.push(entry);
    size += entry.length + 1;
  }
  return {
    content: shown.join("\n"),
    totalLines: lines.length,
    from: offset,
    to: offset + shown.length - 1,
    cutBy,
  };
}

async function notFound(target: ResolvedPath, context: ToolContext): Promise<ToolOutcome> {
  const similar = await similarNames(target.path, context.platform);
  return fail(`File not found: ${target.path}`, similar.length ? { similar_files: similar } : {});
}

/** Refuses what is no readable text file; the bytes otherwise, `null` when there is no such file. */
async function load(target: ResolvedPath, context: ToolContext): Promise<Uint8Array | null> {
  const stat = await context.platform.files.stat(target.path);
  if (stat?.isDirectory) {
    throw new ToolError(
      `'${target.path}' is a directory. List it with search_files (target "files") or with the terminal`,
    );
  }
  if (stat && stat.size > MAX_BYTES) {
    throw new ToolError(
      `'${target.path}' has ${stat.size} bytes, more than read_file loads (${MAX_BYTES}). ` +
        "Use search_files, or `sed -n '<from>,<to>p'` in the terminal",
      { file_size: stat.size },
    );
  }
  if (!stat && !await context.files.exists(target.path)) return null;
  return await context.files.read(target.path);
}

function binaryText(path: string): string {
  return isImagePath(path)
    ? `'${path}' is an image, not text. Use vision_analyze to look at it`
    : `'${path}' is a binary file and cannot be shown as text`;
}

/** The answer to a request that came before, or `null` when the content is to be shown. */
function repeatOf(
  ledger: FileLedger,
  key: string,
  hash: string,
  base: Record<string, unknown>,
): { outcome: ToolOutcome } | { warning: string | null } {
  const repeat = ledger.repeatedRead(key, hash);
  const inRow = ledger.countInRow(`read ${key}`);
  if (repeat === "blocked") {
    return {
      outcome: fail(
        "BLOCKED: this part of the file has not changed and was returned before. " +
          "Use the content that is already in the conversation and go on with the task",
        base,
      ),
    };
  }
  if (repeat === "unchanged") {
    const message = "The file has not changed since this part of it was read; its content is further up.";
    return {
      outcome: succeed({
        status: "unchanged",
        dedup: true,
        content_returned: false,
        ...base,
        message,
      }),
    };
  }
  if (inRow >= 4) {
    return {
      outcome: fail(
        `BLOCKED: this part of the file was read ${inRow} times in a row. Do something else before reading it again`,
        base,
      ),
    };
  }
  return { warning: inRow === 3 ? "This part of the file was read three times in a row." : null };
}

function hintOf(page: Page, size: number, path: string): string | null {
  const hints: string[] = [];
  if (page.totalLines > 0 && page.from > page.totalLines) {
    hints.push(`The file has only ${page.totalLines} lines; offset ${page.from} is past its end.`);
  }
  if (page.cutBy) {
    hints.push(
      `Shown: lines ${page.from}-${page.to} of ${page.totalLines}. Use offset=${page.to + 1} to go on.`,
    );
  }
  if (size > LARGE_BYTES) {
    hints.push(
      `The file is large (${Math.round(size / 1024)} KB): read it in pages or search it with search_files.`,
    );
  }
  if (page.totalLines === 0) hints.push(`'${basename(path)}' is empty.`);
  return hints.length ? hints.join(" ") : null;
}

async function readFile(args: Args, context: ToolContext): Promise<ToolOutcome> {
  const written = readText(args, "path");
  const maxLines = context.settings.tool_output.max_lines;
  const offset = readInteger(args, "offset", { or: 1, min: 1, max: Number.MAX_SAFE_INTEGER });
  const limit = readInteger(args, "limit", { or: Math.min(DEFAULT_LIMIT, maxLines), min: 1, max: maxLines });
  const target = await resolvePath(written, context.cwd, context.platform);
  const resolved = target.real === written ? {} : { resolved_path: target.real };
  const refusal = await readRefusal(target, context.home, context.platform);
  if (refusal) return fail(refusal);
  if (isBinaryPath(target.path)) {
    if (await context.files.exists(target.path)) return fail(binaryText(target.path));
    return await notFound(target, context);
  }
  const bytes = await load(target, context);
  if (!bytes) return await notFound(target, context);
  const file = decodeText(bytes);
  if (!file) return fail(binaryText(target.path), { file_size: bytes.length });

  const ledger = ledgerOf(context.scope);
  const hash = await hashBytes(bytes);
  const page = pageOf(file.text, offset, limit, {
    line: context.settings.tool_output.max_line_length,
    total: context.settings.file_read_max_chars,
  });
  const base = { total_lines: page.totalLines, file_size: bytes.length, ...resolved };
  const repeat = repeatOf(ledger, `${target.real}:${offset}:${limit}`, hash, base);
  if ("outcome" in repeat) return repeat.outcome;
  ledger.noteShown(target.real, hash, { from: page.from, to: page.to, total: page.totalLines });
  const hint = hintOf(page, bytes.length, target.path);
  const body = {
    content: context.redact(page.content, "file"),
    ...base,
    truncated: page.cutBy !== null,
    ...(page.cutBy ? { truncated_by: page.cutBy, next_offset: page.to + 1 } : {}),
    ...(hint ? { hint } : {}),
    ...(repeat.warning ? { _warning: repeat.warning } : {}),
  };
  return { ...succeed(body), keepWhole: true };
}

export function createReadFile(): Tool {
  return {
    name: "read_file",
    toolset: "file",
    description:
      "Reads a text file in pages, from line offset, as lines `<n>|<text>`; the numbers are not part of it.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        offset: { type: "integer", default: 1 },
        limit: { type: "integer", maximum: 2000, default: DEFAULT_LIMIT },
      },
      required: ["path"],
    },
    parallel: "path",
    describe: card,
    paths(args, { cwd }) {
      const path = absoluteOf(maybeString(args, "path"), cwd);
      return path ? [path] : [];
    },
    execute: (args, context) => settle(() => readFile(args, context)),
  };
}
