import type { Settings, Tool } from "@/core/mod.ts";
import { createTools, SkillRegistry } from "@/tools/mod.ts";
import { assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { type Bench, type Json, makeBench } from "./context.ts";

const SKILLS = {
  external_dirs: [] as string[],
  disabled: [] as string[],
  template_vars: true,
  inline_shell: false,
  inline_shell_timeout: 2,
  write_approval: false,
};

interface Kit extends AsyncDisposable {
  readonly bench: Bench;
  readonly registry: SkillRegistry;
  readonly warnings: string[];
  readonly settings: Settings;
  run(name: string, args: Json): Promise<Json>;
  add(path: string, head: string, body?: string): Promise<void>;
}

async function makeKit(skills: Json = {}, env: Record<string, string> = {}): Promise<Kit> {
  const bench = await makeBench();
  const settings = { skills: { ...SKILLS, ...skills }, terminal: {} } as unknown as Settings;
  const warnings: string[] = [];
  const registry = new SkillRegistry({
    platform: { ...bench.platform, os: "linux" },
    home: bench.home,
    log: { warn: (text) => void warnings.push(text) },
    env: (name) => env[name],
    childEnv: () => ({ PATH: Deno.env.get("PATH") ?? "/bin" }),
  });
  const tools = new Map(createTools({ skills: registry }).map((tool) => [tool.name, tool]));
  return {
    bench,
    registry,
    warnings,
    settings,
    async run(name, args) {
      const context = bench.context({ overrides: { settings } });
      return JSON.parse((await tools.get(name)!.execute(args, context)).content as string);
    },
    add: async (path, head, body = "Do it.") => {
      const base = path.startsWith("/") ? path : `${bench.home}/skills/${path}`;
      await bench.write(`${base}/SKILL.md`, `---\n${head}\n---\n${body}\n`);
    },
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

Deno.test("skills_list sorts by category then name, and hides disabled ones and those of other platforms", async () => {
  await using kit = await makeKit({ disabled: ["off"] });
  assertEquals((await kit.run("skills_list", {})).count, 0);
  await kit.add("ops/deploy", "name: deploy\ndescription: Ships it");
  await kit.add("ops/off", "name: off\ndescription: x");
  await kit.add("art/paint", "name: paint\ndescription: Paints");
  await kit.add("art/mac", "name: mac\ndescription: x\nplatforms: [macos]");
  await kit.add("solo", "name: solo\ndescription: Alone");
  await kit.add(".hidden/x", "name: hidden\ndescription: x");
  const all = await kit.run("skills_list", {});
  assertEquals(all.skills, [
    { name: "solo", description: "Alone", category: "" },
    { name: "paint", description: "Paints", category: "art" },
    { name: "deploy", description: "Ships it", category: "ops" },
  ]);
  assertEquals([all.success, all.categories, all.count], [true, ["art", "ops"], 3]);
  assertEquals((await kit.run("skills_list", { category: "art" })).count, 1);
});

Deno.test("the home wins over external folders; a change on disk is seen at once", async () => {
  await using kit = await makeKit({ external_dirs: ["~/more"] });
  await kit.add(`${kit.bench.userHome}/more/deploy`, "name: deploy\ndescription: external");
  await kit.add(`${kit.bench.userHome}/more/extra`, "name: extra\ndescription: external");
  await kit.add("deploy", "name: deploy\ndescription: mine");
  const names = async () =>
    (await kit.registry.list({ settings: kit.settings })).map((s) => `${s.name}:${s.description}`);
  assertEquals(await names(), ["deploy:mine", "extra:external"]);
  await kit.add("deploy", "name: deploy\ndescription: changed now");
  assertEquals(await names(), ["deploy:changed now", "extra:external"]);
  const refused = await kit.run("skill_manage", { action: "delete", name: "extra" });
  assertMatch(refused.error, /external folder .* only read/);
});

Deno.test("list() with tools leaves out what they do not meet, and stand-ins for what is there", async () => {
  await using kit = await makeKit();
  const hermes = (line: string) => `description: x\nmetadata:\n  hermes:\n    ${line}`;
  await kit.add("needs", `name: needs\n${hermes("requires_tools: [web_search]")}`);
  await kit.add("set", `name: set\n${hermes("requires_toolsets: [terminal]")}`);
  await kit.add("standin", `name: standin\n${hermes("fallback_for_toolsets: [web]")}`);
  const names = async (tools: Pick<Tool, "name" | "toolset">[]) =>
    (await kit.registry.list({ settings: kit.settings, tools })).map((skill) => skill.name);
  assertEquals(await names([]), ["standin"]);
  assertEquals(
    await names([{ name: "web_search", toolset: "web" }, { name: "terminal", toolset: "terminal" }]),
    [
      "needs",
      "set",
    ],
  );
});

Deno.test("skill_view gives instructions, linked files and what is missing", async () => {
  await using kit = await makeKit({}, { HAVE: "1" });
  await kit.add(
    "ops/deploy",
    "name: deploy\ndescription: Ships it\nmetadata:\n  hermes:\n    tags: [ci, cd]\n    related_skills: [test]\n" +
      "required_environment_variables:\n  - HAVE\n  - {name: NEED, prompt: The token}",
    "Run ${HERMES_SKILL_DIR}/scripts/go.sh for ${HERMES_SESSION_ID}. !`echo no`",
  );
  const dir = `${kit.bench.home}/skills/ops/deploy`;
  await kit.bench.write(`${dir}/references/api.md`, "See ${HERMES_SKILL_DIR}");
  await kit.bench.write(`${dir}/scripts/go.sh`, "true");
  const view = await kit.run("skill_view", { name: "deploy" });
  assertEquals(view.content, `Run ${dir}/scripts/go.sh for s1. !\`echo no\``);
  assertEquals([view.tags, view.related_skills, view.skill_dir], [["ci", "cd"], ["test"], dir]);
  assertEquals(view.linked_files, { references: ["references/api.md"], scripts: ["scripts/go.sh"] });
  assertEquals([view.missing_required_environment_variables, view.setup_needed, view.readiness_status], [
    ["NEED"],
    true,
    "setup_needed",
  ]);
  assertEquals(await kit.run("skill_view", { name: "ops/deploy", file_path: "references/api.md" }), {
    success: true,
    name: "deploy",
    file: "references/api.md",
    content: `See ${dir}`,
    file_type: ".md",
  });
});

Deno.test("skill_view errors: unknown, ambiguous, disabled, unsupported, out of the folder, missing file", async () => {
  await using kit = await makeKit({ disabled: ["off"] });
  await kit.add("a/twin", "name: twin\ndescription: x");
  await kit.add("b/twin", "name: twin\ndescription: y");
  await kit.add("off", "name: off\ndescription: x");
  await kit.add("win", "name: win\ndescription: x\nplatforms: windows");
  await kit.add("ok", "name: ok\ndescription: x");
  await kit.bench.write(`${kit.bench.home}/skills/ok/references/a.md`, "a");
  await kit.bench.write(`${kit.bench.home}/.env`, "KEY=1");
  await Deno.symlink(`${kit.bench.home}/.env`, `${kit.bench.home}/skills/ok/references/link.md`);
  const view = (name: string, file_path?: string) => kit.run("skill_view", { name, file_path });
  const unknown = await view("nothing");
  assertEquals([unknown.success, unknown.error], [false, "Skill 'nothing' not found"]);
  assertEquals(unknown.available_skills, ["ok", "twin", "twin"]);
  const twin = await view("twin");
  assertEquals(twin.matches.map((match: Json) => match.name), ["a/twin", "b/twin"]);
  assertEquals((await view("b/twin")).description, "y");
  assertMatch((await view("off")).error, /is disabled/);
  assertEquals((await view("win")).readiness_status, "unsupported");
  for (const path of ["../off/SKILL.md", "references/link.md"]) {
    assertMatch((await view("ok", path)).error, /^Access denied/);
  }
  assertMatch((await view("../ok")).error, /is not a name of a skill/);
  const missing = await view("ok", "references/b.md");
  assertEquals(missing.available_files.references.includes("references/a.md"), true);
});

Deno.test("skill_view runs inline commands only with skills.inline_shell, and ends those that hang", async () => {
  await using kit = await makeKit({ inline_shell: true, inline_shell_timeout: 3 });
  await kit.add("sh", "name: sh\ndescription: x", "A !`echo hi; pwd` B !`exit 3` C !`sleep 60`");
  const start = performance.now();
  const { content } = await kit.run("skill_view", { name: "sh" });
  assertEquals(
    content,
    `A hi\n${kit.bench.home}/skills/sh B [exit 3: exit 3] C [stopped after 3 s: sleep 60]`,
  );
  assertWithin(performance.now() - start, 5_000);
  await kit.bench.platform.clock.delay(600);
});

Deno.test("inline commands are the skill's own words: what a client calls its session is no part of them", async () => {
  await using kit = await makeKit({ inline_shell: true, inline_shell_timeout: 3 });
  await kit.add(
    "id",
    "name: id\ndescription: x",
    '${HERMES_SESSION_ID} !`echo "${HERMES_SESSION_ID}" ${HERMES_SKILL_DIR}`',
  );
  const dir = `${kit.bench.home}/skills/id`;
  const signal = new AbortController().signal;
  for (const sessionId of ["s1", "!`echo ran`", "$(echo ran)", '"; echo ran; "']) {
    const text = await kit.registry.invocation("id", "", { settings: kit.settings, sessionId, signal });
    assertEquals(text?.split("\n").at(-1), `${sessionId} ${sessionId} ${dir}`);
  }
});

Deno.test("a broken front matter is told on stderr once; the skill keeps the name of its folder", async () => {
  await using kit = await makeKit();
  await kit.add("broken", "name: [");
  await kit.run("skills_list", {});
  await kit.run("skills_list", {});
  assertEquals(kit.warnings.length, 1);
  assertMatch(kit.warnings[0]!, /broken: its front matter is not valid YAML/);
  const view = await kit.run("skill_view", { name: "broken" });
  assertEquals([view.success, view.content], [true, "Do it."]);
});

Deno.test("invocation() is the skill's text with what the user added; null for no or two skills", async () => {
  await using kit = await makeKit();
  await kit.add("a/twin", "name: twin\ndescription: x");
  await kit.add("b/twin", "name: twin\ndescription: y");
  await kit.add("deploy", "name: deploy\ndescription: x", "Ship.");
  const context = { settings: kit.settings, sessionId: "s1", signal: new AbortController().signal };
  const dir = `${kit.bench.home}/skills/deploy`;
  assertEquals(
    await kit.registry.invocation("deploy", " now ", context),
    `[The user runs the skill "deploy" (folder ${dir}). Follow its instructions.]\n\nShip.\n\nThe user adds:\nnow`,
  );
  assertEquals(await kit.registry.invocation("twin", "", context), null);
  assertEquals(await kit.registry.invocation("none", "", context), null);
});

const DOCUMENT = "---\nname: deploy\ndescription: Ships it\n---\nStep one.\n";

Deno.test("skill_manage creates, patches, edits, writes and removes files, deletes", async () => {
  await using kit = await makeKit();
  const manage = (args: Json) => kit.run("skill_manage", { name: "deploy", ...args });
  const dir = `${kit.bench.home}/skills/ops/deploy`;
  assertEquals(
    (await manage({ action: "create", content: DOCUMENT, category: "ops" })).path,
    `${dir}/SKILL.md`,
  );
  assertEquals(
    (await manage({ action: "patch", old_string: "Step one.", new_string: "Step two." })).success,
    true,
  );
  assertEquals(await kit.bench.read(`${dir}/SKILL.md`), DOCUMENT.replace("one", "two"));
  assertEquals(
    (await manage({ action: "write_file", file_path: "scripts/go.sh", file_content: "a\n" })).success,
    true,
  );
  assertEquals(
    (await manage({ action: "patch", file_path: "scripts/go.sh", old_string: "a", new_string: "b" })).success,
    true,
  );
  assertEquals(await kit.bench.read(`${dir}/scripts/go.sh`), "b\n");
  assertEquals((await manage({ action: "remove_file", file_path: "scripts/go.sh" })).success, true);
  assertEquals((await manage({ action: "edit", content: DOCUMENT + "More.\n" })).success, true);
  assertEquals((await manage({ action: "delete" })).success, true);
  assertEquals(await kit.bench.platform.files.stat(dir), null);
});

Deno.test("skill_manage refuses, and then nothing has changed", async () => {
  await using kit = await makeKit();
  await kit.add("deploy", "name: deploy\ndescription: Ships it", "Step one.");
  await kit.add("pinned", "name: pinned\ndescription: x\nmetadata:\n  hermes:\n    pinned: true");
  const file = `${kit.bench.home}/skills/deploy/SKILL.md`;
  const before = await kit.bench.read(file);
  const why = async (args: Json) => {
    const result = await kit.run("skill_manage", { name: "deploy", ...args });
    assertEquals(result.success, false, JSON.stringify(args));
    return result.error as string;
  };
  const create = (name: string, content: string) => why({ action: "create", name, content });
  assertMatch(await create("Bad Name", DOCUMENT), /cannot be a name/);
  assertMatch(await create("a".repeat(65), DOCUMENT), /at most 64/);
  assertMatch(await create("deploy", DOCUMENT), /There is a skill 'deploy' already/);
  assertMatch(await create("new", "no head"), /no YAML front matter/);
  assertMatch(await create("new", "---\nname: new\ndescription: x\n---\n  \n"), /no instructions/);
  assertMatch(await create("new", DOCUMENT), /names 'deploy', the skill is 'new'/);
  assertMatch(
    await create("new", `---\nname: new\ndescription: ${"x".repeat(1_025)}\n---\nx`),
    /at most 1024/,
  );
  assertMatch(
    await create("new", `---\nname: new\ndescription: x\n---\n${"x".repeat(100_001)}`),
    /at most 100000/,
  );
  assertMatch(
    await why({ action: "create", name: "new", content: DOCUMENT, category: "../up" }),
    /cannot be a category/,
  );
  assertMatch(
    await why({ action: "patch", old_string: "description: Ships it", new_string: "" }),
    /'name' and 'description'/,
  );
  assertMatch(await why({ action: "patch", old_string: "not there", new_string: "x" }), /Could not find/);
  assertMatch(
    await why({ action: "write_file", file_path: "SKILL.md", file_content: "x" }),
    /must be below references/,
  );
  assertMatch(
    await why({ action: "write_file", file_path: "scripts/../../x", file_content: "x" }),
    /must be below/,
  );
  const big = "x".repeat(1_048_577);
  assertMatch(
    await why({ action: "write_file", file_path: "assets/x", file_content: big }),
    /at most 1048576/,
  );
  assertMatch(await why({ action: "remove_file", file_path: "assets/none" }), /has no file/);
  assertMatch(await why({ action: "delete", name: "pinned" }), /is pinned/);
  assertMatch(await why({ action: "delete", absorbed_into: "nowhere" }), /Skill 'nowhere' not found/);
  assertMatch(await why({ action: "explode" }), /'action' must be one of/);
  assertEquals(await kit.bench.read(file), before);
});

Deno.test("skill_manage does not write through a link that leads out of the skill", async () => {
  await using kit = await makeKit();
  await kit.add("deploy", "name: deploy\ndescription: x");
  await Deno.mkdir(`${kit.bench.dir}/outside`);
  await Deno.symlink(`${kit.bench.dir}/outside`, `${kit.bench.home}/skills/deploy/scripts`);
  const result = await kit.run("skill_manage", {
    action: "write_file",
    name: "deploy",
    file_path: "scripts/x",
    file_content: "x",
  });
  assertMatch(result.error, /^Access denied/);
  assertEquals(await kit.bench.platform.files.stat(`${kit.bench.dir}/outside/x`), null);
});

Deno.test("skills.write_approval stages the change and writes nothing", async () => {
  await using kit = await makeKit({ write_approval: true });
  const staged = await kit.run("skill_manage", { action: "create", name: "deploy", content: DOCUMENT });
  assertEquals([staged.success, staged.staged], [true, true]);
  assertEquals(await kit.bench.platform.files.stat(`${kit.bench.home}/skills/deploy`), null);
  assertEquals(
    JSON.parse(await kit.bench.read(`${kit.bench.home}/pending/${staged.pending_id}.json`)).kind,
    "skill",
  );
  const refused = await kit.run("skill_manage", { action: "create", name: "No Name", content: DOCUMENT });
  assertMatch(refused.error, /'No Name' cannot be a name/);
  assertEquals((await kit.bench.platform.files.list(`${kit.bench.home}/pending`)).length, 1);
});
