/**
 * A V4A patch over several files, worked out in memory before anything is written: one edit per file, or one error
 * that lists everything that does not fit (core.md B.5).
 */
import type { ToolContext } from "@/core/contract.ts";
import { ToolError } from "./args.ts";
import { type EditPlan, type FileBefore, type PlannedEdit, readForEdit } from "./edit_plan.ts";
import { type ResolvedPath, resolvePath } from "./paths.ts";
import { lineEndOf, withLineEnd } from "./text_file.ts";
import { applyHunks } from "./v4a_apply.ts";
import { parsePatch, type PatchOperation } from "./v4a_parse.ts";

/** A file while the operations run over it, keyed by its real path. */
interface Draft {
  readonly before: FileBefore;
  /** `null` = absent now. */
  text: string | null;
  /** The draft whose file was moved here. */
  movedFrom: FileBefore | null;
  replaced: boolean;
}

class Drafts {
  readonly #byPath = new Map<string, Draft>();
  readonly #context: ToolContext;

  constructor(context: ToolContext) {
    this.#context = context;
  }

  async open(path: string): Promise<Draft> {
    const target: ResolvedPath = await resolvePath(path, this.#context.cwd, this.#context.platform);
    let draft = this.#byPath.get(target.real);
    if (!draft) {
      const before = await readForEdit(target, this.#context);
      draft = { before, text: before.file?.text ?? null, movedFrom: null, replaced: false };
      this.#byPath.set(target.real, draft);
    }
    return draft;
  }

  plan(): EditPlan {
    return [...this.#byPath.values()].flatMap((draft): PlannedEdit[] => {
      if (draft.text === (draft.before.file?.text ?? null)) return [];
      return [{
        before: draft.before,
        newText: draft.text,
        replacesAll: draft.replaced,
        ...(draft.movedFrom ? { movedFrom: draft.movedFrom } : {}),
      }];
    });
  }
}

async function run(operation: PatchOperation, drafts: Drafts): Promise<number> {
  const draft = await drafts.open(operation.path);
  if (operation.type === "add") {
    const old = draft.before.file;
    draft.text = old && lineEndOf(old.text) === "\r\n" ? withLineEnd(operation.text, "\r\n") : operation.text;
    draft.replaced = old !== null;
    return 1;
  }
  if (draft.text === null) throw new ToolError("file not found");
  if (operation.type === "delete") {
    draft.text = null;
    return 1;
  }
  if (operation.type === "move") return await move(draft, operation.to, drafts);
  const { text, changed } = applyHunks(draft.text, operation.hunks);
  draft.text = text;
  return changed;
}

async function move(draft: Draft, to: string, drafts: Drafts): Promise<number> {
  const target = await drafts.open(to);
  if (target === draft) throw new ToolError("source and destination of the move are the same file");
  if (target.text !== null || target.before.bytes) throw new ToolError(`cannot move onto '${to}': it exists`);
  if (!draft.before.bytes) throw new ToolError("a file that this patch adds cannot be moved by it");
  target.text = draft.text;
  target.movedFrom = draft.before;
  draft.text = null;
  return 1;
}

/** Throws `ToolError` listing every operation that failed. */
export async function planPatch(patch: string, context: ToolContext): Promise<EditPlan> {
  const operations = parsePatch(patch);
  const drafts = new Drafts(context);
  const problems: string[] = [];
  let changed = 0;
  for (const operation of operations) {
    try {
      changed += await run(operation, drafts);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      problems.push(`• ${operation.path}: ${context.redact(error.message, "file")}`);
    }
  }
  if (problems.length > 0) {
    throw new ToolError(`Patch validation failed (no files were modified):\n${problems.join("\n")}`);
  }
  const plan = drafts.plan();
  if (changed === 0 || plan.length === 0) {
    throw new ToolError("The patch changes nothing: its hunks have only context lines. Nothing was written");
  }
  return plan;
}
