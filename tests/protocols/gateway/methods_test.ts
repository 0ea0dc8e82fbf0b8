import { assertEquals } from "../../support/assert.ts";
import { allMethods, buildMethods } from "../../../src/protocols/gateway/methods/mod.ts";
import { LATER } from "../../../src/protocols/gateway/methods/later.ts";
import type { Gateway } from "../../../src/protocols/gateway/server.ts";

const gateway = { hermes: {}, live: {} } as unknown as Gateway;

Deno.test("what is written of families that load later is what they are", async () => {
  for (const family of LATER) {
    const methods = (await family.load())(gateway);
    assertEquals(Object.fromEntries(methods.map(({ name, kind }) => [name, kind])), family.kinds);
  }
});

Deno.test("the table knows every method, and every name once", async () => {
  const names = (await allMethods(gateway)).map((method) => method.name);
  assertEquals(names.length, new Set(names).size);
  const table = buildMethods(gateway);
  for (const name of names) assertEquals(table.get(name)?.name, name);
  assertEquals(table.get("no.such"), undefined);
});

Deno.test("A.5: workers are the methods the contract calls workers", () => {
  const workers = [
    "session.list session.resume session.branch session.compress slash.exec cli.exec shell.exec complete.path",
    "complete.slash setup.status setup.runtime_check process.list plugins.manage browser.manage model.options",
    "reload.mcp session.usage session.active_list skills.manage billing.step_up billing.state voice.toggle",
    "voice.record learning.frames pet.cells pet.gallery pet.select",
    // It has to wait for a program, like the calls that the contract names as such.
    "clipboard.paste",
  ].join(" ").split(" ");
  const inline = [
    "prompt.submit session.create session.activate session.close session.interrupt session.steer session.history",
    "session.title session.status clarify.respond approval.respond sudo.respond secret.respond config.get",
    "command.resolve commands.catalog delegation.status delegation.pause subagent.interrupt subagent.steer",
    "spawn_tree.save spawn_tree.list spawn_tree.load terminal.resize image.attach rollback.list rollback.diff rollback.restore",
  ].join(" ").split(" ");
  const table = buildMethods(gateway);
  for (const name of workers) assertEquals(table.get(name)?.kind, "worker", name);
  for (const name of inline) assertEquals(table.get(name)?.kind, "inline", name);
});
