/**
 * From a planned change to bytes on disk, all or nothing: plan (nothing written) → proposal for the human → checks
 * that the files still are what was planned from → write → read back. A failure in the middle puts everything back
 * (FC-16, FC-17, acp.md C7). Knows nothing of how a change was worked out.
 */
import { dirname } from "node:path";
import { throwIfAborted } from "@/lib/abort.ts";
import type { EditProposal, FileEdit, ToolContext } from "@/core/contract.ts";
import { type Args, ToolError } from "./args.ts";
import { ledgerOf } from "./file_ledger.ts";
import { readIfThere } from "./local_files.ts";
import { realOf, type ResolvedPath } from "./paths.ts";
import { decodeText, encodeText, hashBytes, type TextFile } from "./text_file.ts";

/** Larger files are not loaded. */
const MAX_EDIT_BYTES = 64 * 1024 * 1024;

/** A file as it was when the plan was made. */
export interface FileBefore {
  readonly target: ResolvedPath;
  /** `null` when absent. */
  readonly bytes: Uint8Array | null;
  readonly file: TextFile | null;
}

/** One file of a plan. `newText` `null` = removed. */
export interface PlannedEdit {
  readonly before: FileBefore;
  readonly newText: string | null;
  /** Another file of the plan that is moved here: mode, encoding and BOM come with it. */
  readonly movedFrom?: FileBefore;
  /** The plan replaces the text as a whole, so all of it must have been seen. */
  readonly replacesAll: boolean;
}

export type EditPlan = readonly PlannedEdit[];

/** Reads a file for planning, through the backend that will write it. Throws when it is no text file. */
export async function readForEdit(target: ResolvedPath, context: ToolContext): Promise<FileBefore> {
  const stat = await context.platform.files.stat(target.path);
  if (stat?.isDirectory) throw new ToolError(`'${target.path}' is a directory, not a file`);
  if (stat?.isSpecial) {
    throw new ToolError(`'${target.path}' is a FIFO, socket or device, not a regular file`);
  }
  if (stat && stat.size > MAX_EDIT_BYTES) {
    throw new ToolError(
      `'${target.path}' has ${stat.size} bytes, more than is edited at once (${MAX_EDIT_BYTES}). Use the terminal`,
    );
  }
  const bytes = await readIfThere(context.files, target.path);
  if (!bytes) return { target, bytes: null, file: null };
  const file = decodeText(bytes);
  if (!file) throw new ToolError(`'${target.path}' is a binary file and cannot be edited as text`);
  return { target, bytes, file };
}

function editOf(planned: PlannedEdit): FileEdit {
  const { before, newText } = planned;
  return { path: before.target.path, oldText: before.file?.text ?? null, newText };
}

export function editsOf(plan: EditPlan): FileEdit[] {
  return plan.map(editOf);
}

export function proposalOf(toolName: string, plan: EditPlan, args: Args): EditProposal {
  const edits = editsOf(plan);
  const one = edits.length === 1 ? edits[0]! : null;
  return {
    toolName,
    path: edits.map((edit) => edit.path).join(", "),
    oldText: one ? one.oldText : joined(edits, "oldText"),
    newText: one ? one.newText ?? "" : joined(edits, "newText") ?? "",
    arguments: args,
    paths: edits.map((edit) => edit.path),
    edits,
    reals: plan.map(({ before }) => before.target.real),
  };
}

function joined(edits: readonly FileEdit[], side: "oldText" | "newText"): string | null {
  if (edits.every((edit) => edit[side] === null)) return null;
  return edits.map((edit) => `*** ${edit.path}\n${edit[side] ?? "(absent)"}`).join("\n");
}

/** What the file holds after the edit; `null` = absent. */
function bytesOf({ before, newText, movedFrom }: PlannedEdit): Uint8Array | null {
  if (newText === null) return null;
  return encodeText(newText, movedFrom?.file ?? before.file ?? { encoding: "utf-8", bom: false });
}

function sameBytes(a: Uint8Array | null, b: Uint8Array | null): boolean {
  if (a === null || b === null) return a === b;
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

const CHANGED_SINCE_APPROVAL =
  "The file has changed since approval; nothing was written. Read it again and make the edit anew";

/** Plans again what was approved: a plan that no longer works out means that a file has moved on meanwhile. */
export async function replan<T>(context: ToolContext, plan: () => Promise<T>): Promise<T> {
  try {
    return await plan();
  } catch (error) {
    if (context.approved && error instanceof ToolError) throw new ToolError(CHANGED_SINCE_APPROVAL);
    throw error;
  }
}

/** The plan must be exactly what the human was shown. */
function checkApproved(plan: EditPlan, approved: EditProposal): void {
  const edits = editsOf(plan);
  const same = edits.length === approved.edits.length && edits.every((edit, i) => {
    const shown = approved.edits[i]!;
    return edit.path === shown.path && edit.oldText === shown.oldText && edit.newText === shown.newText;
  });
  if (!same) throw new ToolError(CHANGED_SINCE_APPROVAL);
}

/** A link that was turned around since the guard has judged the edit must not lead it somewhere else. */
function checkPlaces(plan: EditPlan, { edits, reals }: EditProposal): void {
  const judged = new Map(edits.map(({ path }, at) => [path, reals?.[at]]));
  for (const { before: { target } } of plan) {
    const real = judged.get(target.path);
    if (real !== undefined && real !== target.real) throw elsewhere(target.path);
  }
}

function elsewhere(path: string): ToolError {
  return new ToolError(
    `'${path}' leads to another place than when this edit was judged (a link on the way has changed); ` +
      "nothing was written",
  );
}

/** Nothing that this session has not seen is overwritten; a diff that the user allowed counts as seen. */
async function checkSeen(plan: EditPlan, context: ToolContext): Promise<void> {
  const ledger = ledgerOf(context.scope);
  for (const { before, replacesAll, newText } of plan) {
    if (!before.bytes || (!replacesAll && newText !== null)) continue;
    const path = before.target.path;
    const state = ledger.stateOf(before.target.real, await hashBytes(before.bytes));
    if (state === "changed") {
      throw new ToolError(
        `'${path}' has changed since this session last read or wrote it; nothing was written. Read it again first`,
      );
    }
    if (state === "never" && replacesAll) {
      throw new ToolError(
        `'${path}' exists and this session has not read it; nothing was written. Read it with read_file first, ` +
          "or change a part of it with patch",
      );
    }
    if (state === "partial" && replacesAll) {
      throw new ToolError(
        `This session has read only parts of '${path}'; nothing was written. Read the rest of it first, ` +
          "or change a part of it with patch",
      );
    }
  }
}

/** Parent directories that do not exist yet, outermost first. */
async function missingParents(path: string, context: ToolContext): Promise<string[]> {
  const missing: string[] = [];
  for (let at = dirname(path); await context.platform.files.stat(at) === null; at = dirname(at)) {
    missing.unshift(at);
    if (dirname(at) === at) break;
  }
  return missing;
}

export interface Committed {
  readonly edits: readonly FileEdit[];
  readonly bytesWritten: number;
  readonly dirsCreated: readonly string[];
}

/** One thing that was done, and how to take it back. */
type Undo = () => Promise<void>;

async function apply(planned: PlannedEdit, plan: EditPlan, context: ToolContext): Promise<Undo | null> {
  const { before, newText, movedFrom } = planned;
  const { files } = context;
  const { path, real } = before.target;
  for (const { target } of movedFrom ? [movedFrom, before] : [before]) {
    if (await realOf(target.path, context.platform) !== target.real) throw elsewhere(target.path);
  }
  if (newText === null) {
    if (plan.some((other) => other.movedFrom === before)) return null; // The move has taken it away.
    await files.remove(path);
    return () => files.write(path, before.bytes!);
  }
  const undo: Undo = async () => {
    if (before.bytes) await files.write(path, before.bytes);
    else if (await files.exists(path)) await files.remove(path);
    if (movedFrom && !await files.exists(movedFrom.target.path)) {
      await files.write(movedFrom.target.path, movedFrom.bytes!);
    }
  };
  try {
    if (movedFrom) await files.rename(movedFrom.target.path, path);
    if (!movedFrom || newText !== movedFrom.file?.text) await files.write(path, bytesOf(planned)!, real);
  } catch (error) {
    await undo().catch(() => {/* the first error is the one to report */});
    throw error;
  }
  return undo;
}

async function verify(plan: EditPlan, context: ToolContext): Promise<void> {
  for (const planned of plan) {
    const path = planned.before.target.path;
    if (await context.files.reshapes?.(path)) continue;
    if (!sameBytes(await readIfThere(context.files, path), bytesOf(planned))) {
      throw new ToolError(`'${path}' does not hold what was written when read back`);
    }
  }
}

async function rollBack(undo: Undo[], dirs: readonly string[], context: ToolContext): Promise<string> {
  const failed: string[] = [];
  for (const step of undo.reverse()) {
    await step().catch((error) => failed.push(error instanceof Error ? error.message : String(error)));
  }
  for (const dir of [...dirs].reverse()) {
    await context.platform.files.remove(dir).catch(() => {/* it was not made, or others use it */});
  }
  return failed.length === 0
    ? "All files were put back as they were"
    : `Some files could NOT be put back: ${failed.join("; ")}`;
}

async function noteWritten(plan: EditPlan, context: ToolContext): Promise<void> {
  const ledger = ledgerOf(context.scope);
  for (const planned of plan) {
    const { before, replacesAll, movedFrom } = planned;
    const source = movedFrom ?? before;
    const knewAll = replacesAll || context.approved !== null || source.bytes === null ||
      ledger.stateOf(source.target.real, await hashBytes(source.bytes)) === "current";
    // Asked again: a new file may have another real path now that its parents exist.
    const real = await realOf(before.target.path, context.platform);
    ledger.clearFailures(real);
    const bytes = bytesOf(planned);
    if (bytes && knewAll) ledger.noteWhole(real, await hashBytes(bytes));
    else if (!bytes && movedFrom === undefined) ledger.noteGone(before.target.real);
  }
}

/** Moves and writes first, removals last: what is lost by a removal is hardest to put back. */
function inOrder(plan: EditPlan): PlannedEdit[] {
  const rank = (one: PlannedEdit) => one.newText === null ? 2 : one.movedFrom ? 0 : 1;
  return [...plan].sort((a, b) => rank(a) - rank(b));
}

/** Writes the plan. Call it under the locks of its paths, with a plan made under the same locks. */
export async function commit(plan: EditPlan, context: ToolContext): Promise<Committed> {
  const judged = context.approved ?? context.reviewed;
  if (judged) checkPlaces(plan, judged);
  if (context.approved) checkApproved(plan, context.approved);
  else await checkSeen(plan, context);
  const dirs: string[] = [];
  for (const { before, newText } of plan) {
    if (newText !== null) {
      for (const dir of await missingParents(before.target.path, context)) {
        if (!dirs.includes(dir)) dirs.push(dir);
      }
    }
  }
  const undo: Undo[] = [];
  throwIfAborted(context.signal);
  try {
    for (const planned of inOrder(plan)) {
      const step = await apply(planned, plan, context);
      if (step) undo.push(step);
    }
    await verify(plan, context);
  } catch (error) {
    const note = await rollBack(undo, dirs, context);
    const reason = error instanceof Error ? error.message : String(error);
    throw new ToolError(`Writing failed: ${reason}. ${note}`);
  }
  await noteWritten(plan, context);
  const bytesWritten = plan.reduce((sum, one) => sum + (bytesOf(one)?.length ?? 0), 0);
  return { edits: editsOf(plan), bytesWritten, dirsCreated: dirs };
}
