/**
 * `write_file`: puts a whole text into a file (core.md B.5). Parents are made, mode, line ends and BOM of an existing
 * file stay, what does not parse is refused, and text that this session has not seen is never overwritten.
 */
import type { Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { type Args, maybeString, readText, ToolError } from "./args.ts";
import { writeFile } from "./cards/files.ts";
import { commit, type EditPlan, proposalOf, readForEdit, replan } from "./edit_plan.ts";
import { type Lint, lintText } from "./lint.ts";
import type { PathLocks } from "./path_locks.ts";
import { refuseOtherProfile } from "./other_profiles.ts";
import { absoluteOf, isInside, resolvePath } from "./paths.ts";
import { settle, succeed } from "./result.ts";
import { lineEndOf, withLineEnd } from "./text_file.ts";

/** Half or more of the lines carry `<n>|` with n one up each time: read_file's view, not file content. */
export function looksNumbered(content: string): boolean {
  const lines = content.split("\n").filter((line) => line !== "");
  let last = NaN, counted = 0;
  for (const line of lines) {
    const number = Number(/^(\d+)\|/.exec(line)?.[1] ?? NaN);
    if (number === last + 1) counted++;
    if (number > 0) last = number;
  }
  // The first numbered line has none before it to count from.
  return counted >= 1 && (counted + 1) * 2 >= lines.length;
}

/** Refuses the stand-in of a secret: writing it would replace the real one (core.md B.5). */
export function refuseRedacted(newText: string, oldText: string | null): void {
  const token = /«redacted:[^»\n]*»/.exec(newText)?.[0];
  if (token && !oldText?.includes(token)) {
    throw new ToolError(
      `The text contains ${token}, which stands for a secret and is not its value. ` +
        "Change the other lines with patch and leave that one alone",
    );
  }
}

async function plan(args: Args, context: ToolContext): Promise<{ plan: EditPlan; lint: Lint }> {
  const written = readText(args, "path");
  const content = maybeString(args, "content");
  if (content === null && args.content !== undefined && args.content !== null) {
    throw new ToolError("Argument 'content' must be one string: the text of the file");
  }
  if (content === null) {
    throw new ToolError(
      "Missing required argument 'content': the call was probably cut off by the output limit. " +
        "Write the file in smaller parts: a first part with write_file, the rest with patch",
    );
  }
  if (looksNumbered(content)) {
    throw new ToolError(
      "The content looks like the numbered view of read_file (`<n>|<text>`). Write the text without the numbers",
    );
  }
  const target = await resolvePath(written, context.cwd, context.platform);
  refuseOtherProfile(target, args, context.home);
  const before = await readForEdit(target, context);
  const old = before.file;
  refuseRedacted(content, old?.text ?? null);
  let newText = old?.bom && content.startsWith("\ufeff") ? content.slice(1) : content;
  if (old && lineEndOf(old.text) === "\r\n") newText = withLineEnd(newText, "\r\n");
  const lint = await lintText(target.path, newText.replace(/^\ufeff/, ""), old?.text ?? null);
  if (lint.status === "error") {
    throw new ToolError(`${lint.output}. Nothing was written; the file is as it was`, { lint });
  }
  return { plan: [{ before, newText, replacesAll: true }], lint };
}

async function execute(args: Args, context: ToolContext, locks: PathLocks): Promise<ToolOutcome> {
  const target = await resolvePath(readText(args, "path"), context.cwd, context.platform);
  return await locks.with([target.real], context.signal, async () => {
    const made = await replan(context, () => plan(args, context));
    const done = await commit(made.plan, context);
    const outside = !context.roots.concat(context.cwd).some((root) => isInside(target.path, root));
    return succeed({
      bytes_written: done.bytesWritten,
      dirs_created: done.dirsCreated,
      lint: made.lint,
      files_modified: done.edits.map((edit) => edit.path),
      resolved_path: target.real,
      ...(outside ? { _warning: `The file is outside the working directory ${context.cwd}` } : {}),
    }, done.edits);
  });
}

export function createWriteFile(locks: PathLocks): Tool {
  return {
    name: "write_file",
    toolset: "file",
    description:
      "Writes a whole text file and missing directories. An existing file must have been read in this " +
      "session and be unchanged since. For parts of a file use patch.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        content: { type: "string" },
        cross_profile: { type: "boolean" },
      },
      required: ["path", "content"],
    },
    parallel: "path",
    describe: writeFile,
    paths(args, { cwd }) {
      const path = absoluteOf(maybeString(args, "path"), cwd);
      return path ? [path] : [];
    },
    propose: async (args, context) => proposalOf("write_file", (await plan(args, context)).plan, args),
    execute: (args, context) => settle(() => execute(args, context, locks)),
  };
}
