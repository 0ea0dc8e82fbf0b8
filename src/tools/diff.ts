/** Unified diffs as the model and the tests read them: `a/` and `b/` headers, `/dev/null` for an absent side. */
import type { FileEdit } from "@/core/contract.ts";
import { shownPath } from "./paths.ts";

const MAX_CHARS = 100_000;
/** Milliseconds for the shortest diff of one file; afterwards the changed part is shown as one block. */
const MAX_MS = 300;

/** The diff of all edits, paths relative to `cwd`; bounded, and says so when it was cut. */
export async function unifiedDiff(edits: readonly FileEdit[], cwd: string): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  const parts: string[] = [];
  for (const edit of edits) {
    if (edit.oldText === edit.newText) continue;
    const shown = shownPath(edit.path, cwd).replace(/^\//, "");
    const from = edit.oldText === null ? "/dev/null" : `a/${shown}`;
    const to = edit.newText === null ? "/dev/null" : `b/${shown}`;
    const before = edit.oldText ?? "", after = edit.newText ?? "";
    const patch = createTwoFilesPatch(from, to, before, after, undefined, undefined, {
      context: 3,
      timeout: MAX_MS,
    });
    parts.push(patch?.replace(/^=+\n/, "") ?? blockDiff(from, to, before, after));
  }
  const text = parts.join("");
  return text.length <= MAX_CHARS
    ? text
    : `${text.slice(0, MAX_CHARS)}\n(diff cut: ${text.length} characters in all)\n`;
}

/** One hunk from the first to the last line that differs. */
function blockDiff(from: string, to: string, before: string, after: string): string {
  const old = before.split("\n"), wanted = after.split("\n");
  let head = 0;
  while (head < old.length && head < wanted.length && old[head] === wanted[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, wanted.length) - head;
  while (tail < most && old[old.length - 1 - tail] === wanted[wanted.length - 1 - tail]) tail++;
  const removed = old.slice(head, old.length - tail), added = wanted.slice(head, wanted.length - tail);
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  return `--- ${from}\n+++ ${to}\n@@ -${head + 1},${removed.length} +${head + 1},${added.length} @@\n${
    lines.join("\n")
  }\n`;
}
