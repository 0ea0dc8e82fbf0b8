/**
 * Takes back what a conversation did to files: each file goes from where the last change left it to where the first
 * one found it. A file that is not where the changes left it, or was changed by somebody else in between, is a
 * conflict. All or nothing; what was replaced is kept and recorded too, as one more change.
 */
import type {
  FileAccess,
  FileChange,
  FileDifference,
  FileHistory,
  FileRestore,
  RestoreOptions,
  Store,
} from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { hashText, SnapshotFiles } from "@/store/mod.ts";
import { decodeText, encodeText, unifiedDiff } from "@/tools/mod.ts";

export interface FileHistoryDeps {
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly disk: FileAccess;
  readonly surface: string;
  store(): Store;
  /** Takes secrets out of what is shown of a file. */
  redact(text: string): string;
  /** Contents of files are kept. */
  keeps(): boolean;
  /** Resolves when what turns have done until now is recorded. */
  recorded(): Promise<void>;
}

/** A file as it lies on the disk now. */
type Now =
  | { readonly kind: "absent" }
  | { readonly kind: "text"; readonly bytes: Uint8Array; readonly text: string; readonly hash: string }
  | { readonly kind: "unreadable"; readonly why: string };

interface Step extends FileRestore {
  readonly now: Now;
  readonly target: string | null;
  readonly targetText: string | null;
}

async function readNow(path: string, disk: FileAccess): Promise<Now> {
  try {
    if (!await disk.exists(path)) return { kind: "absent" };
    const bytes = await disk.read(path);
    const file = decodeText(bytes);
    if (file === null) return { kind: "unreadable", why: "it is no text file now" };
    return { kind: "text", bytes, text: file.text, hash: await hashText(file.text) };
  } catch (error) {
    return { kind: "unreadable", why: error instanceof Error ? error.message : String(error) };
  }
}

/** Why taking back the changes would take away something else; `null` when it would not. */
function conflictOf(changes: readonly FileChange[], now: Now): string | null {
  if (now.kind === "unreadable") return now.why;
  const gap = changes.some((change, at) => at > 0 && change.before !== changes[at - 1]?.after);
  if (gap) return "it was changed by somebody else between the turns";
  const left = changes.at(-1)?.after ?? null;
  const found = now.kind === "absent" ? null : now.hash;
  if (found === left) return null;
  if (found === null) return "it was deleted since";
  return left === null ? "it was created again since" : "it was changed since";
}

async function stepOf(
  path: string,
  changes: readonly FileChange[],
  deps: FileHistoryDeps,
  kept: SnapshotFiles,
): Promise<Step> {
  const now = await readNow(path, deps.disk);
  const target = changes[0]?.before ?? null;
  const base = { path, now, target, targetText: null };
  const found = now.kind === "text" ? now.hash : now.kind === "absent" ? null : undefined;
  if (found === target) return { ...base, action: "none" };
  const targetText = target === null ? null : await kept.get(target);
  if (target !== null && targetText === null) return { ...base, action: "lost" };
  const why = conflictOf(changes, now);
  if (why !== null) return { ...base, targetText, action: "conflict", why };
  return { ...base, targetText, action: target === null ? "remove" : "write" };
}

function bytesFor(step: Step): Uint8Array {
  const like = step.now.kind === "text" ? decodeText(step.now.bytes) : null;
  return encodeText(step.targetText ?? "", like ?? { encoding: "utf-8", bom: false });
}

async function put({ path, target }: Step, bytes: Uint8Array, disk: FileAccess): Promise<void> {
  if (target !== null) await disk.write(path, bytes);
  else if (await disk.exists(path)) await disk.remove(path);
}

async function putBack({ path, now }: Step, disk: FileAccess): Promise<void> {
  if (now.kind === "text") await disk.write(path, now.bytes);
  else if (now.kind === "absent" && await disk.exists(path)) await disk.remove(path);
}

/** Writes all, or leaves all as it was and throws. */
async function writeAll(steps: readonly Step[], disk: FileAccess): Promise<void> {
  const ready = steps.map((step) => ({ step, bytes: bytesFor(step) }));
  const done: Step[] = [];
  try {
    for (const { step, bytes } of ready) {
      await put(step, bytes, disk);
      done.push(step);
    }
  } catch (error) {
    for (const step of done) await putBack(step, disk);
    throw error;
  }
}

export function createFileHistory(deps: FileHistoryDeps): FileHistory {
  const kept = new SnapshotFiles(deps.platform, `${deps.home}/snapshots`);

  async function stepsOf(sessionId: string, since: number, only?: string): Promise<Step[]> {
    await deps.recorded();
    const byPath = new Map<string, FileChange[]>();
    for (const change of deps.store().snapshots.changes(sessionId)) {
      if (change.at < since || (only !== undefined && change.path !== only)) continue;
      const list = byPath.get(change.path) ?? [];
      list.push(change);
      byPath.set(change.path, list);
    }
    const steps: Step[] = [];
    for (const path of [...byPath.keys()].sort()) {
      steps.push(await stepOf(path, byPath.get(path)!, deps, kept));
    }
    return steps;
  }

  /** So that a restore can be seen, and a later one knows where it left the files. */
  async function remember(sessionId: string, steps: readonly Step[]): Promise<void> {
    const at = deps.platform.clock.now() / 1000;
    const changes: FileChange[] = [];
    for (const { path, now, target } of steps) {
      const before = now.kind === "text" ? now.hash : null;
      if (now.kind === "text") await kept.put(now.hash, now.text);
      changes.push({ at, sessionId, turnId: "", path, before, after: target });
    }
    const store = deps.store();
    await store.snapshots.record(changes);
    const files = changes.map(({ path, before, after }) => ({ path, before, after }));
    const entry = { at, sessionId, turnId: "", surface: deps.surface, client: deps.surface };
    await store.audit.append([
      { ...entry, kind: "restore", tool: null, callId: null, detail: { files, files_changed: files.length } },
    ]);
  }

  return {
    get enabled() {
      return deps.keeps();
    },
    turns(sessionId) {
      const turns = new Map<string, number>();
      for (const { turnId, at } of deps.store().snapshots.changes(sessionId)) {
        if (turnId !== "" && !turns.has(turnId)) turns.set(turnId, at);
      }
      return [...turns].map(([turnId, at]) => ({ turnId, at }));
    },
    async checkpoints(sessionId) {
      await deps.recorded();
      return deps.store().snapshots.checkpoints(sessionId);
    },
    plan: async (sessionId, since, options) => (await stepsOf(sessionId, since, options?.path)).map(shown),
    async compare(sessionId, since, options) {
      const steps = await stepsOf(sessionId, since, options?.path);
      const changed = steps.filter(({ action }) => action !== "none");
      return await Promise.all(changed.map(async (step) => {
        const difference = await differenceOf(step);
        return { ...difference, diff: deps.redact(difference.diff) };
      }));
    },
    async restore(sessionId, since, options: RestoreOptions = {}) {
      const steps = await stepsOf(sessionId, since, options.path);
      const blocked = steps.some(({ action, now }) =>
        action === "lost" || (action === "conflict" && (!options.force || now.kind === "unreadable"))
      );
      const toDo = steps.filter(({ action }) => action !== "none");
      if (blocked || toDo.length === 0) return { done: !blocked, files: steps.map(shown) };
      await writeAll(toDo, deps.disk);
      await remember(sessionId, toDo);
      return {
        done: true,
        files: steps.map((step) =>
          step.action === "none"
            ? shown(step)
            : { path: step.path, action: step.target === null ? "remove" : "write" }
        ),
      };
    },
  };
}

/** From what the file was to what it is. */
async function differenceOf({ path, now, target, targetText }: Step): Promise<FileDifference> {
  const note = (text: string): FileDifference => ({ path, added: 0, removed: 0, diff: `${path}: ${text}\n` });
  if (target !== null && targetText === null) return note("its old content is not kept any more");
  if (now.kind === "unreadable") return note(now.why);
  const newText = now.kind === "text" ? now.text : null;
  const diff = await unifiedDiff([{ path, oldText: targetText, newText }], "/");
  const body = diff.split("\n").slice(2);
  const count = (sign: string) => body.filter((line) => line.startsWith(sign)).length;
  return { path, added: count("+"), removed: count("-"), diff };
}

function shown({ path, action, why }: Step): FileRestore {
  return why === undefined ? { path, action } : { path, action, why };
}
