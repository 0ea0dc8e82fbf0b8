/** Figures and names of the system prompt: enforcement, project files, the scan for code, hints (core.md A.4). */
import { toolUseEnforcement } from "@/core/prompt_guidance.ts";
import { collectHints } from "@/core/prompt_hints.ts";
import { inspectWorkspace } from "@/core/prompt_workspace.ts";
import { SessionState } from "@/core/session_state.ts";
import type { Files } from "@/platform/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { makePromptBench, namedTool, type PromptBench } from "./prompt_support.ts";

Deno.test("core A.4: tool use is enforced by itself for eight families of models, with an extra for OpenAI and Google", async () => {
  await using bench = await makePromptBench();
  const { settings } = bench.facts({ config: { agent: { tool_use_enforcement: "auto" } } });
  const linesOf = (model: string) => toolUseEnforcement(settings, model).split("\n").filter(Boolean).length;
  const cases: readonly (readonly [string, number])[] = [
    ["openai/gpt-5.5", 2],
    ["codex-mini", 2],
    ["Gemini-3-pro", 2],
    ["gemma-3-27b", 2],
    ["grok-4.3", 1],
    ["z-ai/glm-5.2", 1],
    ["GLM-4.7", 1],
    ["qwen3-coder", 1],
    ["deepseek-chat", 1],
    ["claude-sonnet-4-6", 0],
    ["llama-3.3-70b", 0],
    ["kimi-k2", 0],
    ["m1", 0],
  ];
  for (const [model, lines] of cases) assertEquals(linesOf(model), lines, model);
  const isIn = async (modelName: string) =>
    (await bench.build({ modelName, tools: [namedTool("x")] })).includes(toolUseEnforcement(settings, "glm"));
  assertEquals([await isIn("glm-5.2"), await isIn("claude-sonnet-4-6")], [true, false]);
});

async function project(bench: PromptBench): Promise<string | null> {
  return /# Project Context\n\n([\s\S]*?)\n\nConversation started:/.exec(await bench.build())?.[1] ?? null;
}

Deno.test("core A.4: claude.md and agents.md count in small letters too, in the order of the chain", async () => {
  await using bench = await makePromptBench();
  const isFolding = await (async () => {
    await bench.write("case", "");
    return await Deno.stat(`${bench.cwd}/CASE`).then(() => true, () => false);
  })();
  const said = async () => (await project(bench))?.replace(/^## (\S+)/, (line) => isFolding ? "##" : line);
  const heading = (name: string) => isFolding ? "##" : `## ${name}`;
  await bench.write(".cursorrules", "old rules");
  await bench.write("claude.md", "small claude");
  assertEquals(await said(), `${heading("claude.md")}\n\nsmall claude`);
  await bench.write("CLAUDE.md", "claude");
  assertEquals(await said(), `${heading("CLAUDE.md")}\n\nclaude`);
  await bench.write("agents.md", "small agents");
  assertEquals(await said(), `${heading("agents.md")}\n\nsmall agents`);
  await bench.write("AGENTS.md", "agents");
  assertEquals(await said(), `${heading("AGENTS.md")}\n\nagents`);
});

Deno.test("core A.4: 500 entries in two levels are looked at for code, the folders of others left out", async () => {
  await using bench = await makePromptBench();
  const { files: real } = bench.facts().platform;
  const file = (name: string) => ({ name, isFile: true, isDirectory: false, isSymlink: false });
  const folder = (name: string) => ({ name, isFile: false, isDirectory: true, isSymlink: false });
  const texts = (n: number) => Array.from({ length: n }, (_, at) => file(`${at}.txt`));
  const isCode = async (tree: Readonly<Record<string, readonly ReturnType<typeof file>[]>>) => {
    const list = (path: string) => Promise.resolve(tree[path.slice(bench.cwd.length)] ?? []);
    const files = Object.assign(Object.create(real), { list }) as Files;
    return (await inspectWorkspace(files, bench.cwd, bench.cwd)).isCode;
  };
  assertEquals(await isCode({ "": [...texts(499), file("a.ts")] }), true);
  assertEquals(await isCode({ "": [...texts(500), file("a.ts")] }), false);
  const split = (below: number) => ({
    "": [folder("src"), ...texts(399)],
    "/src": [...texts(below), file("a.py")],
  });
  assertEquals([await isCode(split(99)), await isCode(split(100))], [true, false]);
  for (const name of ["node_modules", ".git", "venv", "dist", "build", "target", "vendor"]) {
    assertEquals(await isCode({ "": [folder(name)], [`/${name}`]: [file("a.ts")] }), false, name);
  }
  const third = { "": [folder("a")], "/a": [folder("b")], "/a/b": [file("a.ts")] };
  assertEquals([await isCode({ ...third, "/a": [file("a.ts")] }), await isCode(third)], [true, false]);
});

Deno.test("core A.4: a hint has at most 8,000 characters", async () => {
  await using bench = await makePromptBench();
  await bench.write("lib/AGENTS.md", "a".repeat(8_000));
  await bench.write("more/CLAUDE.md", "b".repeat(8_001));
  const ask = (path: string) => collectHints({ path }, { ...bench.facts(), scope: new SessionState("s") });
  assertEquals(await ask("lib/a.ts"), `lib/AGENTS.md:\n${"a".repeat(8_000)}`);
  const cut = await ask("more/a.ts");
  assert(cut.length < 8_000, `${cut.length}`);
  // 70 % of the beginning and 20 % of the end.
  assertEquals([...cut.matchAll(/b{100,}/g)].map(([run]) => run.length), [5_600, 1_600]);
  assert(cut.includes("801 of 8001 characters left out"), cut.slice(5_600, 5_800));
});

Deno.test("core A.4: the directory of a touched file and up to 5 ancestors are looked at", async () => {
  await using bench = await makePromptBench();
  const names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
  const at = (depth: number) => names.slice(0, depth).join("/");
  for (let depth = 1; depth <= names.length; depth++) {
    await bench.write(`${at(depth)}/AGENTS.md`, `at ${depth}`);
  }
  await bench.write(`${at(9)}/file.ts`, "");
  const hints = await collectHints(
    { path: `${at(9)}/file.ts` },
    { ...bench.facts(), scope: new SessionState("s") },
  );
  const wanted = [9, 8, 7, 6, 5, 4].map((depth) => `${at(depth)}/AGENTS.md:\nat ${depth}`).join("\n\n");
  assertEquals(hints, wanted);
  const facts = { ...bench.facts(), scope: new SessionState("t") };
  assertEquals(await collectHints({ workdir: at(9) }, facts), wanted, "a directory is its own place");
});
