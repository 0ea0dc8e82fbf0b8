/**
 * V4A patches: what is written is what is read, a hunk changes its lines and no others, the paths that a question
 * shows are all the paths that a patch touches, and no text makes the reader throw anything but a `ToolError`.
 */
import { ToolError } from "@/tools/args.ts";
import { applyHunks } from "@/tools/v4a_apply.ts";
import {
  type Hunk,
  type HunkLine,
  parsePatch,
  type PatchOperation,
  pathsInPatch,
} from "@/tools/v4a_parse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { fc, holds } from "./support.ts";

const word = fc.string({
  unit: fc.constantFrom("a", "b", "é", ".", "-", "_", "(", "{", "😀"),
  minLength: 1,
  maxLength: 6,
});
const path = fc.tuple(fc.constantFrom("", "/", "src/", "a b/"), word.filter((name) => !/^\.+$/.test(name)))
  .map((p) => p.join(""))
  .map((path) => path.trim()).filter((path) => !path.split(/[\\/]/).includes(".."));
const content = fc.string({
  unit: fc.constantFrom("a", "b", " ", "\t", "+", "-", "@", "*", "é", "\\", "\u2028", "@@", "*** "),
  maxLength: 10,
});

const hunkLine = fc.record({ kind: fc.constantFrom<HunkLine["kind"]>(" ", "-", "+"), text: content });
const hunk = fc.record({
  hint: fc.constantFrom("", "", "def f():", "class A"),
  lines: fc.array(hunkLine, { minLength: 1, maxLength: 5 }),
}).filter(({ lines }) => !isBlank(lines[0]!) && !isBlank(lines.at(-1)!));
const operation = fc.oneof<fc.Arbitrary<PatchOperation>[]>(
  fc.record({
    type: fc.constant("update" as const),
    path,
    hunks: fc.array(hunk, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({
    type: fc.constant("add" as const),
    path,
    text: fc.array(content, { maxLength: 4 }).map((lines) => lines.map((line) => `${line}\n`).join("")),
  }),
  fc.record({ type: fc.constant("delete" as const), path }),
  fc.record({ type: fc.constant("move" as const), path, to: path }),
);

function isBlank(line: HunkLine): boolean {
  return line.kind === " " && line.text === "";
}

function writeHunk({ hint, lines }: Hunk): string[] {
  return [hint ? `@@ ${hint} @@` : "@@", ...lines.map(({ kind, text }) => kind + text)];
}

function write(operations: readonly PatchOperation[], eol: string): string {
  const lines = operations.flatMap((operation) => {
    switch (operation.type) {
      case "update":
        return [`*** Update File: ${operation.path}`, ...operation.hunks.flatMap(writeHunk)];
      case "add":
        return [
          `*** Add File: ${operation.path}`,
          ...operation.text.split("\n").slice(0, -1).map((line) => `+${line}`),
        ];
      case "delete":
        return [`*** Delete File: ${operation.path}`];
      case "move":
        return [`*** Move File: ${operation.path} -> ${operation.to}`];
    }
  });
  return ["*** Begin Patch", ...lines, "*** End Patch", ""].join(eol);
}

Deno.test("parsePatch() reads back what a patch was written from", async () => {
  await holds(
    fc.property(
      fc.array(operation, { minLength: 1, maxLength: 4 }),
      fc.constantFrom("\n", "\r\n"),
      (operations, eol) => {
        assertEquals(parsePatch(write(operations, eol)), structuredClone(operations));
      },
    ),
    3,
  );
});

/** Parts of patches in any order, and any text. */
const scrap = fc.array(
  fc.oneof(
    fc.constantFrom(
      "*** Begin Patch",
      "*** Update File: a",
      "***Update File:b",
      "*** Add File: c ",
      "*** Delete File:",
      "*** Move File: a -> d",
      "*** Move File: a -> d -> e",
      "*** Move File: .env",
      "*** Update File: ../x",
      "*** Update File: .env\u2028",
      " *** Add File: .env",
      "@@",
      "@@ -1,2 +3,4 @@ hint",
      "+x",
      "-x",
      " x",
      "x",
      "",
      "*** End of File",
      "*** End Patch",
      "\\ No newline at end of file",
    ),
    content,
  ),
  { maxLength: 10 },
).chain((lines) => fc.constantFrom("\n", "\r\n", "\r").map((eol) => lines.join(eol)));

Deno.test("FC-15: pathsInPatch() names every path that parsePatch() would touch, and never throws", async () => {
  await holds(
    fc.property(fc.oneof(scrap, fc.string()), (patch) => {
      const named = pathsInPatch(patch);
      let operations: readonly PatchOperation[];
      try {
        operations = parsePatch(patch);
      } catch (error) {
        assert(error instanceof ToolError, `threw ${error}`);
        return;
      }
      for (const operation of operations) {
        assert(named.includes(operation.path), `${operation.path} is not named`);
        if (operation.type === "move") assert(named.includes(operation.to), `${operation.to} is not named`);
      }
    }),
    5,
  );
});

interface Change {
  readonly before: readonly string[];
  readonly at: number;
  readonly remove: number;
  readonly add: readonly string[];
  readonly eol: string;
  readonly ended: boolean;
}

/** A file whose lines are all different, and one change in it with its surroundings. */
const change: fc.Arbitrary<Change> = fc.record({
  before: fc.uniqueArray(fc.nat(999), { minLength: 1, maxLength: 12 }).map((ids) =>
    ids.map((id) => `${"  ".repeat(id % 3)}line ${id};`)
  ),
  at: fc.nat(11),
  remove: fc.nat(3),
  add: fc.array(content.map((text) => `  new ${text}`), { maxLength: 3 }),
  eol: fc.constantFrom("\n", "\r\n"),
  ended: fc.boolean(),
}).map((change) => ({ ...change, at: change.at % change.before.length }))
  .filter(({ remove, add, at, before }) => (remove > 0 || add.length > 0) && at + remove <= before.length)
  // A single line without an end tells nobody which line end the file has.
  .filter(({ before, ended }) => before.length > 1 || ended);

function fileOf(lines: readonly string[], eol: string, ended: boolean): string {
  return lines.length === 0 ? "" : lines.join(eol) + (ended ? eol : "");
}

Deno.test("FC-16: a hunk changes its own lines and no others; line ends and the missing last one stay", async () => {
  await holds(
    fc.property(change, ({ before, at, remove, add, eol, ended }) => {
      const from = Math.max(0, at - 2), to = Math.min(before.length, at + remove + 2);
      const keep = (text: string): HunkLine => ({ kind: " ", text });
      const lines: HunkLine[] = [
        ...before.slice(from, at).map(keep),
        ...before.slice(at, at + remove).map((text): HunkLine => ({ kind: "-", text })),
        ...add.map((text): HunkLine => ({ kind: "+", text })),
        ...before.slice(at + remove, to).map(keep),
      ];
      const after = [...before.slice(0, at), ...add, ...before.slice(at + remove)];
      if (after.length === 0 || lines.every((line) => line.kind === "+")) return;
      const { text, changed } = applyHunks(fileOf(before, eol, ended), [{ hint: "", lines }]);
      assertEquals(changed, 1);
      assertEquals(text, fileOf(after, eol, ended));
    }),
    5,
  );
});

Deno.test("FC-16: a hunk that fits nowhere is a ToolError, and so is one that fits at several places", async () => {
  await holds(fc.property(change, ({ before, at, eol, ended }) => {
    const file = fileOf([...before, ...before], eol, ended);
    const twice: Hunk = { hint: "", lines: [{ kind: "-", text: before[at]! }, { kind: "+", text: "x" }] };
    const never: Hunk = { hint: "", lines: [{ kind: "-", text: "%%%%%" }, { kind: "+", text: "x" }] };
    for (const hunk of [twice, never]) {
      let refused = false;
      try {
        applyHunks(file, [hunk]);
      } catch (error) {
        refused = error instanceof ToolError;
      }
      assert(refused);
    }
  }));
});
