/** Small input that could take for ever, or hide how much it takes. */
import { globTest } from "../../src/tools/glob.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";
import { assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { makeBench } from "../tools/context.ts";

/** Generous: what is meant takes centuries when it goes wrong. */
const SOON_MS = 10_000;

Deno.test("search_files: no pattern holds the program, whatever the files hold", async () => {
  await using bench = await makeBench();
  await bench.write("a.txt", `${"a".repeat(19_000)}!\n`.repeat(20));
  await bench.write("x.txt", `${"x".repeat(19_000)}\n`.repeat(20));
  const patterns = [
    "(a+)+$",
    "(a|aa)+$",
    "(a|a)*b",
    "((a+))+$",
    "(?:a?){40}a{40}b",
    "a*a*a*a*a*a*b",
    "x.*x.*x.*x.*y",
  ];
  for (const pattern of patterns) {
    const start = performance.now();
    const result = await bench.json("search_files", { pattern });
    assertEquals(result.total_count, 0, pattern);
    assertWithin(performance.now() - start, SOON_MS, pattern);
  }
});

Deno.test("search_files finds the same with both engines", async () => {
  await using bench = await makeBench();
  await bench.write("a.ts", "const one = first(second);\nlet two = 2;\nimport { x } from 'y-z';\n");
  const found = async (pattern: string) => {
    const result = await bench.json("search_files", { pattern });
    assertEquals(result.error, undefined, pattern);
    return result.matches.map((match: { line: number }) => match.line);
  };
  assertEquals(await found("first\\("), [1]);
  assertEquals(await found("o.*\\(sec.*\\)"), [1]);
  assertEquals(await found("^(const|let)\\s+\\w+\\s*="), [1, 2]);
  assertEquals(await found("(?i)IMPORT .* from 'Y\\-z'"), [3]);
  assertEquals(await found("y\\-z"), [3]);
  assertEquals(await found("[[:digit:]]+;.*$|two.*"), [2]);
  assertMatch((await bench.json("search_files", { pattern: "(?=x)y" })).error, /Invalid regular expression/);
});

Deno.test("globTest() matches as before, and never slowly", () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ["*.ts", "src/a.ts", true],
    ["*.ts", "src/a.tsx", false],
    ["src/*.ts", "src/a.ts", true],
    ["src/*.ts", "src/b/a.ts", false],
    ["src/**/*.ts", "src/a.ts", true],
    ["src/**/*.ts", "src/b/c/a.ts", true],
    ["**/a.ts", "a.ts", true],
    ["src/**", "src/b/c", true],
    ["src/**", "src", false],
    ["*.{ts,tsx}", "a.tsx", true],
    ["{a,b}/{c,d{e,f}}.x", "b/df.x", true],
    ["{a,b}/{c,d{e,f}}.x", "b/d.x", false],
    ["[a-c]?.t[!x]", "bz.ts", true],
    ["[a-c]?.t[!x]", "bz.tx", false],
    ["[z-a].ts", "[z-a].ts", true],
    ["!*.ts", "a.ts", false],
    ["!*.ts", "a.js", true],
    ["a**b", "axxb", true],
    ["./src/*.ts", "src/a.ts", true],
    ["a.b", "axb", false],
    ["a{b", "a{b", true],
    ["a}b", "a}b", true],
  ];
  for (const [glob, path, wanted] of cases) assertEquals(globTest(glob)(path), wanted, `${glob} ${path}`);
  const start = performance.now();
  const name = "a".repeat(250);
  for (
    const glob of ["*a".repeat(100) + "b", "**/".repeat(60) + "b", "?*".repeat(100) + "b", "{a,b}".repeat(60)]
  ) {
    assertEquals(globTest(glob)(`${`${name}/`.repeat(12)}${name}`), false);
  }
  assertWithin(performance.now() - start, SOON_MS);
});

Deno.test("wrapUntrusted() is quick on text made of its own words", () => {
  const start = performance.now();
  for (const piece of ["untrusted", "untrusted_", "untrusted_tool", "untrusted________"]) {
    wrapUntrusted("x", piece.repeat(50_000));
  }
  assertWithin(performance.now() - start, SOON_MS);
});

Deno.test("patch: a small call cannot make the program load or build what fills its memory", async () => {
  await using bench = await makeBench();
  await bench.write("bomb.txt", "a".repeat(200_000));
  const grown = await bench.json("patch", {
    path: "bomb.txt",
    old_string: "a",
    new_string: "b".repeat(10_000),
    replace_all: true,
  });
  assertMatch(grown.error, /would become too large; nothing was changed/);
  assertEquals((await bench.read("bomb.txt")).length, 200_000);
  Deno.truncateSync(await bench.write("hole.txt", ""), 20 * 2 ** 30);
  for (
    const [tool, args] of [
      ["patch", { path: "hole.txt", old_string: "a", new_string: "b" }],
      ["write_file", { path: "hole.txt", content: "b" }],
      ["read_file", { path: "hole.txt" }],
    ] as const
  ) assertMatch((await bench.json(tool, args)).error, /has 21474836480 bytes, more than/);
});
