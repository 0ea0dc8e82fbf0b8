import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { makeBench, SECRET } from "./context.ts";

Deno.test("core 38: 60 matches with limit 50 say that there are more, and where", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", Array.from({ length: 60 }, (_, i) => `hit ${i + 1}\nmiss\n`).join(""));
  const first = await bench.json("search_files", { pattern: "^hit", limit: 50 });
  assertEquals([first.total_count, first.truncated, first.limit_reason, first.next_offset], [
    60,
    true,
    "limit",
    50,
  ]);
  assertMatch(first.hint, /offset=50/);
  const lines = (first.matches_text as string).split("\n");
  assertEquals([lines.length, lines[0], lines[1], lines[50]], [51, "a.txt", "  1: hit 1", "  99: hit 50"]);
  const rest = await bench.json("search_files", { pattern: "^hit", limit: 50, offset: 50 });
  assertEquals([rest.truncated, rest.next_offset, (rest.matches_text as string).split("\n").length], [
    false,
    undefined,
    11,
  ]);
});

Deno.test("search_files gives few matches as objects and skips hidden, ignored and binary files", async () => {
  await using bench = await makeBench();
  await bench.write(".gitignore", "build/\n*.log\n!keep.log\n");
  await Deno.mkdir(`${bench.dir}/.git`);
  for (
    const path of [
      "src/a.ts",
      "build/x.ts",
      "b.log",
      "keep.log",
      ".hidden/c.ts",
      "sub/deep/d.ts",
      "sub/skip.ts",
    ]
  ) {
    await bench.write(path, `needle in ${path}\n`);
  }
  await bench.write("sub/.gitignore", "skip.ts\n!sub.log\n");
  await bench.write("sub/sub.log", "needle in sub/sub.log\n");
  await bench.write("e.bin", new Uint8Array([0, ...new TextEncoder().encode("needle")]));
  const result = await bench.json("search_files", { pattern: "needle" });
  assertEquals(result.matches, [
    { path: "keep.log", line: 1, content: "needle in keep.log" },
    { path: "src/a.ts", line: 1, content: "needle in src/a.ts" },
    { path: "sub/deep/d.ts", line: 1, content: "needle in sub/deep/d.ts" },
    { path: "sub/sub.log", line: 1, content: "needle in sub/sub.log" },
  ]);
  assertEquals([result.total_count, result.truncated], [4, false]);
  const below = await bench.json("search_files", {
    pattern: "needle",
    path: "sub",
    file_glob: "*.ts",
    output_mode: "files_only",
  });
  assertEquals(below.files, ["sub/deep/d.ts"]);
  const byPath = await bench.json("search_files", {
    pattern: "needle",
    file_glob: "sub/**/*.ts",
    output_mode: "count",
  });
  assertEquals(byPath.counts, { "sub/deep/d.ts": 1 });
});

Deno.test("search_files leaves credentials out, masks secrets and cuts long lines", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", `key ${SECRET} ${"z".repeat(2_000)}\n`);
  await bench.write(`${bench.home}/auth.json`, "key\n");
  const result = await bench.json("search_files", { pattern: "key" });
  assertMatch(result.matches[0].content, /^key «redacted:zz…» z+\.\.\. \[truncated\]$/);
  const home = await bench.json("search_files", { pattern: "key", path: bench.home });
  assertEquals([home.total_count, home._omitted], [0, 1]);
});

Deno.test("search_files shows context lines and counts", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "1\n2\nhit\n4\n5\n6\nhit\n");
  const context = await bench.json("search_files", { pattern: "hit", context: 1 });
  assertEquals(context.matches_text, "a.txt\n  2- 2\n  3: hit\n  4- 4\n  --\n  6- 6\n  7: hit");
  const page = await bench.json("search_files", { pattern: "hit", context: 1, limit: 1 });
  assertEquals([page.matches_text, page.truncated, page.next_offset], [
    "a.txt\n  2- 2\n  3: hit\n  4- 4",
    true,
    1,
  ]);
  const count = await bench.json("search_files", { pattern: "hit", output_mode: "count" });
  assertEquals(count.counts, { "a.txt": 2 });
});

Deno.test("search_files target files: glob, newest first", async () => {
  await using bench = await makeBench();
  const names = ["a.ts", "sub/b.ts", "c.js"];
  for (const [i, name] of names.entries()) {
    await bench.write(name, "");
    await Deno.utime(`${bench.dir}/${name}`, 1_000 + i, 1_000 + i);
  }
  assertEquals((await bench.json("search_files", { pattern: "*.ts", target: "files" })).files, [
    "sub/b.ts",
    "a.ts",
  ]);
  assertEquals((await bench.json("search_files", { pattern: "sub/**", target: "find" })).files, ["sub/b.ts"]);
  assertEquals(
    (await bench.json("search_files", { pattern: "*.{js,ts}", target: "files", limit: 1 })).next_offset,
    1,
  );
});

Deno.test("search_files refuses bad patterns, unknown paths and patterns that could run for ever", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", `${"a".repeat(40)}!\n`);
  assertMatch((await bench.json("search_files", { pattern: "(" })).error, /Invalid/);
  assertMatch((await bench.json("search_files", { pattern: "x", path: "nope" })).error, /Path not found/);
  const start = performance.now();
  const result = await bench.json("search_files", { pattern: "(a+)+$" });
  assert(typeof result.error === "string" || result.total_count === 0);
  assertWithin(performance.now() - start, 2_000);
  assertEquals((await bench.json("search_files", { pattern: "(?i)AAAA" })).total_count, 1);
});

Deno.test("search_files warns at the third identical search in a row and blocks the fourth", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "x\n");
  const search = () => bench.json("search_files", { pattern: "x" });
  await search();
  assertEquals((await search())._warning, undefined);
  assertMatch((await search())._warning, /three times/);
  assertMatch((await search()).error, /BLOCKED/);
  await bench.json("todo", {});
  assertEquals((await search()).total_count, 1);
});

Deno.test("search_files reads the output of ripgrep where there is one", async () => {
  const bin = await Deno.makeTempDir();
  const script = `#!/bin/sh
root=""; for a in "$@"; do root="$a"; done
printf '%s/a.txt\\0007:first hit\\n%s/a.txt\\0008-after\\n%s/b.txt\\0001:second\\n' "$root" "$root" "$root"`;
  await Deno.writeTextFile(`${bin}/rg`, script, { mode: 0o755 });
  await using bench = await makeBench({ env: { PATH: `${bin}:${Deno.env.get("PATH")}` } });
  const result = await bench.json("search_files", { pattern: "hit", context: 1 });
  assertEquals(result.matches_text, "a.txt\n  7: first hit\n  8- after\nb.txt\n  1: second");
  assertEquals(result.total_count, 2);
  await Deno.remove(bin, { recursive: true });
});

Deno.test("search_files ends when it is cancelled", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", "x\n");
  const result = await bench.json("search_files", { pattern: "x" }, { signal: AbortSignal.abort() });
  assertEquals([result.truncated, result.limit_reason], [true, "cancelled"]);
});
