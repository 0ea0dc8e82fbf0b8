/**
 * `patch`: changes a part of one file (replace mode) or several files at once (V4A), wholly or not at all
 * (core.md B.5). The work is in `replace.ts` and `v4a_*.ts`; this file is the tool around it.
 */
import type { EditProposal, FileEdit, Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { type Args, maybeString, readBoolean, readText, ToolError } from "./args.ts";
import { patch, patchedPaths } from "./cards/files.ts";
import { unifiedDiff } from "./diff.ts";
import { commit, type EditPlan, editsOf, proposalOf, readForEdit, replan } from "./edit_plan.ts";
import { ledgerOf } from "./file_ledger.ts";
import { type Lint, lintText } from "./lint.ts";
import type { PathLocks } from "./path_locks.ts";
import { refuseOtherProfile } from "./other_profiles.ts";
import { absoluteOf, realOf, resolvePath } from "./paths.ts";
import { MatchError, replaceText } from "./replace.ts";
import { settle, succeed } from "./result.ts";
import { similarNames } from "./similar_names.ts";
import { planPatch } from "./v4a_plan.ts";
import { refuseRedacted } from "./write_file.ts";

interface Planned {
  readonly plan: EditPlan;
  /** Replace mode only. */
  readonly strategy?: string;
  readonly count?: number;
}

function modeOf(args: Args): "replace" | "patch" {
  const mode = maybeString(args, "mode");
  if (mode === "patch" || mode === "replace") return mode;
  if (mode) throw new ToolError(`Argument 'mode' must be "replace" or "patch", got '${mode}'`);
  return maybeString(args, "patch") && args.old_string === undefined ? "patch" : "replace";
}

async function planReplace(args: Args, context: ToolContext): Promise<Planned> {
  const written = readText(args, "path");
  const oldText = maybeString(args, "old_string"), newText = maybeString(args, "new_string");
  if (oldText === null) throw new ToolError("Missing required argument 'old_string'");
  if (newText === null) {
    throw new ToolError("Missing required argument 'new_string' (an empty text removes the old one)");
  }
  const target = await resolvePath(written, context.cwd, context.platform);
  const before = await readForEdit(target, context);
  if (!before.file) {
    const similar = await similarNames(target.path, context.platform);
    throw new ToolError(`File not found: ${target.path}`, similar.length ? { similar_files: similar } : {});
  }
  try {
    const done = replaceText(before.file.text, oldText, newText, {
      replaceAll: readBoolean(args, "replace_all"),
    });
    const plan = [{ before, newText: done.text, replacesAll: false }];
    return { plan, strategy: done.strategy, count: done.count };
  } catch (error) {
    throw error instanceof MatchError ? adviseAfter(error, oldText, target.real, context) : error;
  }
}

/** The third failure in a row on one file changes the advice (core.md B.5). */
function adviseAfter(error: MatchError, oldText: string, real: string, context: ToolContext): ToolError {
  const failures = ledgerOf(context.scope).countFailure(real);
  const redacted = oldText.includes("«redacted:")
    ? " old_string contains a stand-in for a secret, which is not what the file holds: leave that line out."
    : "";
  const hint = failures >= 3
    ? `This is failure ${failures} in a row on this file. Read it again with read_file, or replace it with write_file`
    : error.count === 0
    ? "Read the file again and copy the text exactly, without line numbers"
    : "Nothing was changed";
  // The message quotes the file, so it is treated like a read of it.
  const message = context.redact(error.message, "file");
  return new ToolError(`${message}${redacted}\n${hint}`, { _hint: hint });
}

async function plan(args: Args, context: ToolContext): Promise<Planned> {
  for (const path of patchedPaths(args)) {
    const target = await resolvePath(path, context.cwd, context.platform);
    refuseOtherProfile(target, args, context.home);
  }
  const planned = modeOf(args) === "replace"
    ? await planReplace(args, context)
    : { plan: await planPatch(readText(args, "patch"), context) };
  for (const edit of editsOf(planned.plan)) {
    if (edit.newText !== null) refuseRedacted(edit.newText, edit.oldText);
  }
  return planned;
}

async function lintOf(edits: readonly FileEdit[]): Promise<Lint | Record<string, Lint>> {
  const lints: Record<string, Lint> = {};
  for (const edit of edits) {
    if (edit.newText !== null) lints[edit.path] = await lintText(edit.path, edit.newText, edit.oldText);
  }
  const all = Object.values(lints);
  return all.length === 1 ? all[0]! : all.length === 0 ? { status: "skipped" } : lints;
}

function pathsWhere(edits: readonly FileEdit[], test: (edit: FileEdit) => boolean): string[] {
  return edits.filter(test).map((edit) => edit.path);
}

async function lockPaths(args: Args, context: ToolContext): Promise<string[]> {
  const reals = patchedPaths(args).map(async (path) =>
    (await resolvePath(path, context.cwd, context.platform)).real
  );
  return await Promise.all(reals);
}

async function execute(args: Args, context: ToolContext, locks: PathLocks): Promise<ToolOutcome> {
  return await locks.with(await lockPaths(args, context), context.signal, async () => {
    const planned = await replan(context, () => plan(args, context));
    const { edits } = await commit(planned.plan, context);
    const first = planned.plan[0]!.before.target;
    return succeed({
      success: true,
      diff: context.redact(await unifiedDiff(edits, context.cwd), "file"),
      files_modified: pathsWhere(edits, (edit) => edit.oldText !== null && edit.newText !== null),
      files_created: pathsWhere(edits, (edit) => edit.oldText === null),
      files_deleted: pathsWhere(edits, (edit) => edit.newText === null),
      lint: await lintOf(edits),
      ...(planned.plan.length === 1 ? { resolved_path: await realOf(first.path, context.platform) } : {}),
      ...(planned.count && planned.count > 1 ? { replacements: planned.count } : {}),
      ...(planned.strategy && planned.strategy !== "exact"
        ? { _hint: `old_string did not match exactly; it was matched by ${planned.strategy}. Check the diff` }
        : {}),
    }, edits);
  });
}

export function createPatch(locks: PathLocks): Tool {
  return {
    name: "patch",
    toolset: "file",
    description:
      "Changes files and shows the diff. replace: old_string in path becomes new_string; it must be there " +
      "once (take in lines around it), unless replace_all. patch: a V4A patch over several files, applied " +
      "whole or not at all (*** Begin Patch, *** Update File: p, @@ hint @@, lines with ' ', '-', '+', *** " +
      "Add File, *** Delete File, *** Move File: a -> b, *** End Patch).",
    parameters: {
      type: "object",
      properties: {
        mode: { type: "string", enum: ["replace", "patch"], default: "replace" },
        path: { type: "string" },
        old_string: { type: "string" },
        new_string: { type: "string" },
        replace_all: { type: "boolean" },
        patch: { type: "string" },
        cross_profile: { type: "boolean" },
      },
    },
    parallel: "path",
    describe: patch,
    paths: (args, { cwd }) => patchedPaths(args).flatMap((path) => absoluteOf(path, cwd) ?? []),
    propose: async (args, context): Promise<EditProposal> =>
      proposalOf("patch", (await plan(args, context)).plan, args),
    execute: (args, context) => settle(() => execute(args, context, locks), { success: false }),
  };
}
