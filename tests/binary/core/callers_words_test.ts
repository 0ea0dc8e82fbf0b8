/** Who writes in the system prompt beside the program: the caller (core A.4) and the owner of `SOUL.md` (core D.1). */
import { query } from "../../support/core_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ModelServerRequest, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

const systemOf = (request: ModelServerRequest | undefined): string => request?.body.messages[0].content;

Deno.test("core A.4: a caller's system message stands in the context layer; the stored prompt is without it and stays", async () => {
  await using model = await startModelServer({ loop: true, turns: ["ok"] });
  await using rig = await makeRig();
  const cwd = rig.workspace;
  await Deno.writeTextFile(`${cwd}/AGENTS.md`, "Project rules.\n");
  await Deno.mkdir(`${rig.home}/memories`);
  await Deno.writeTextFile(`${rig.home}/memories/MEMORY.md`, "a known fact\n");
  const headers = { "X-Hermes-Session-Id": "callers-words" };
  const ask = async (system: string | null, content: string) => {
    await using api = await startApi({ model, rig, config: { terminal: { cwd } } });
    const messages = [...(system === null ? [] : [{ role: "system", content: system }]), {
      role: "user",
      content,
    }];
    const response = await api.chat({ model: "hermes-agent", messages }, { headers });
    assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "ok"]);
    await api.stop();
    return systemOf(model.calls().at(-1));
  };
  const one = await ask("Speak in verse.", "one");
  const two = await ask(null, "two");
  const three = await ask("Speak in prose.", "three");
  const places = ["# Project Context", "# Memory (", "Conversation started: "].map((part) =>
    two.indexOf(part)
  );
  assert(places[0]! > 0 && places[0]! < places[1]! && places[1]! < places[2]!, places.join());
  const [stable, rest] = [two.slice(0, places[0]), two.slice(places[0])];
  assertEquals(one, `${stable}Speak in verse.\n\n${rest}`);
  assertEquals(three, `${stable}Speak in prose.\n\n${rest}`);
  const stored = query(rig, "SELECT DISTINCT system_prompt FROM session_prompts");
  assertEquals(stored, [{ system_prompt: two }]);
});

Deno.test("core D.1: the first turn leaves a default SOUL.md, which changes no prompt; the user's own words do", async () => {
  await using model = await startModelServer({ loop: true, turns: ["ok"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const path = `${rig.home}/SOUL.md`;
  const run = async () => {
    const { code, stderr } = await runProgram(["run", "hi"], { rig });
    assertEquals(code, 0, stderr);
    return systemOf(model.calls().at(-1));
  };
  assertEquals((await runProgram(["--version"], { rig })).code, 0);
  assertEquals(await Deno.lstat(path).catch(() => null), null);
  const first = await run();
  const soul = await Deno.readTextFile(path);
  assertMatch(soul, /^You are Hermes, .+\.\n$/);
  assert(first.startsWith(`${soul}\n`));
  assertEquals(await run(), first);
  await Deno.writeTextFile(path, "I am Ada.\n");
  assertEquals(await run(), first.replace(soul.trim(), "I am Ada."));
  assertEquals(await Deno.readTextFile(path), "I am Ada.\n");
});

Deno.test("FC-18: what earlier runs left in the caches is removed when it is a week old", async () => {
  await using model = await startModelServer({ loop: true, turns: ["ok"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const folders = [
    `${rig.home}/cache/web`,
    `${rig.home}/cache/mcp`,
    `${rig.home}/cache/delegation`,
    `${rig.env["TMPDIR"]}/hermes-results`,
  ];
  for (const folder of folders) {
    await Deno.mkdir(folder, { recursive: true });
    for (const [name, days] of [["old-abcdef.txt", 8], ["new-abcdef.txt", 6]] as const) {
      await Deno.writeTextFile(`${folder}/${name}`, "x");
      const at = Date.now() / 1000 - days * 86_400;
      await Deno.utime(`${folder}/${name}`, at, at);
    }
  }
  assertEquals((await runProgram(["run", "hi"], { rig })).code, 0);
  for (const folder of folders) {
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["new-abcdef.txt"], folder);
  }
});
