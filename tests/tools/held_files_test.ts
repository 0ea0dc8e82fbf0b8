/** Figures and names of the file and skill tools (core.md B.5, B.11). */
import type { Settings, Tool } from "@/core/mod.ts";
import { STRATEGIES } from "@/tools/match_strategies.ts";
import { SkillRegistry } from "@/tools/mod.ts";
import { applyHunks } from "@/tools/v4a_apply.ts";
import { parsePatch } from "@/tools/v4a_parse.ts";
import { assertEquals, assertMatch, assertThrows } from "../support/assert.ts";
import { makeBench } from "./context.ts";

Deno.test("core B.5: devices and windows into processes are not read, also through a link", async () => {
  await using bench = await makeBench();
  const proc = "environ cmdline maps smaps smaps_rollup numa_maps mem auxv pagemap fd/0 fd/1 fd/2".split(" ");
  const devices = "zero random urandom full stdin stdout stderr tty console fd/0 fd/1 fd/2".split(" ");
  const paths = [
    ...proc.flatMap((name) => [`/proc/self/${name}`, `/proc/1/${name}`, `/proc/self/task/1/${name}`]),
    ...devices.map((name) => `/dev/${name}`),
  ];
  for (const path of paths) {
    const { error, content } = await bench.json("read_file", { path });
    assertMatch(String(error), /^Access denied: '.*' is a device or process file that cannot be read/, path);
    assertEquals(content, undefined, path);
  }
  if (bench.platform.os !== "linux") return;
  for (const name of ["auxv", "pagemap", "environ"]) {
    await Deno.symlink(`/proc/self/${name}`, `${bench.dir}/${name}.txt`);
    const { error, content } = await bench.json("read_file", { path: `${name}.txt` });
    assertMatch(String(error), /is a device or process file/, name);
    assertEquals(content, undefined, name);
  }
});

function apply(text: string, body: string): string {
  const [operation] = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`);
  return applyHunks(text, operation!.type === "update" ? operation!.hunks : []).text;
}

Deno.test("core B.5: a hunk with a hint fits from 500 characters before it to 2,000 behind it", () => {
  const change = "@@ class Here @@\n-old line\n+new line";
  const hint = "class Here\n";
  const behind = (gap: number) => `${hint}${"#".repeat(gap - 1)}\nold line\n`;
  // The last character of the line is the 2,000th behind the hint's own line; its line end counts as one of the gap.
  const most = 2_000 - 1 - "old line".length;
  assertEquals(apply(behind(most), change), behind(most).replace("old", "new"));
  assertThrows(() => apply(behind(most + 1), change), /Could not find/);
  const before = (gap: number) => `old line\n${"#".repeat(gap - 1)}\n${hint}`;
  const least = 500 - "old line\n".length;
  assertEquals(apply(before(least), change), before(least).replace("old", "new"));
  assertThrows(() => apply(before(least + 1), change), /Could not find/);
  // One outside does not make one inside ambiguous.
  const two = `old line\n${"#".repeat(600)}\n${behind(most)}`;
  assertEquals(apply(two, change), two.replace(/old(?! line\n#)/, "new"));
});

Deno.test("core B.5: block_anchor wants a middle that is alike by 0.50, and one candidate", () => {
  const find = (content: string, pattern: string) => {
    const strategy = STRATEGIES.find(({ name }) => name === "block_anchor")!;
    return strategy.find(content, pattern).map(({ start, end }) => content.slice(start, end));
  };
  const middle = (equal: number) => "a".repeat(equal) + "b".repeat(100 - equal);
  const file = (line: string) => `start\n${line}\nend\n`;
  const pattern = (equal: number) => `start\n${"a".repeat(equal)}${"c".repeat(100 - equal)}\nend`;
  for (const equal of [50, 51, 80]) {
    assertEquals(find(file(middle(equal)), pattern(equal)), [`start\n${middle(equal)}\nend`], `${equal}`);
  }
  for (const equal of [49, 20, 1]) assertEquals(find(file(middle(equal)), pattern(equal)), [], `${equal}`);
  // A second one with the same anchors: both are named, so that none is chosen.
  assertEquals(find(file(middle(80)) + file(middle(60)), pattern(80)).length, 2);
});

Deno.test("core B.11: requires_… and fallback_for_…: a stand-in goes when what it stands in for is there", async () => {
  await using bench = await makeBench();
  const registry = new SkillRegistry({
    platform: bench.platform,
    home: bench.home,
    log: { warn() {} },
    env: () => undefined,
    childEnv: () => ({}),
  });
  const conditions = {
    always: "tags: [x]",
    for_tool: "fallback_for_tools: [web_search, web_extract]",
    for_toolset: "fallback_for_toolsets: [web]",
    needs_both: "requires_tools: [web_search, terminal]",
    needs_set: "requires_toolsets: [web]",
  };
  for (const [name, line] of Object.entries(conditions)) {
    const head = `name: ${name}\ndescription: d\nmetadata:\n  hermes:\n    ${line}`;
    await bench.write(`${bench.home}/skills/${name}/SKILL.md`, `---\n${head}\n---\nDo it.\n`);
  }
  const settings = { skills: { external_dirs: [], disabled: [] } } as unknown as Settings;
  const names = async (...tools: Pick<Tool, "name" | "toolset">[]) =>
    (await registry.list({ settings, tools })).map((skill) => skill.name);
  const tool = (name: string, toolset: string) => ({ name, toolset });
  assertEquals(await names(), ["always", "for_tool", "for_toolset"]);
  assertEquals(await names(tool("web_search", "own")), ["always", "for_toolset"]);
  assertEquals(await names(tool("web_extract", "own")), ["always", "for_toolset"]);
  assertEquals(await names(tool("other", "web")), ["always", "for_tool", "needs_set"]);
  assertEquals(await names(tool("web_search", "web"), tool("terminal", "terminal")), [
    "always",
    "needs_both",
    "needs_set",
  ]);
});
