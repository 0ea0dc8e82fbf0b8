/** What is found by name: titles and stored words (core 48, 53), models by short and ambiguous names (core 57–59). */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { type Json, query, withCore } from "../../support/core_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

Deno.test("core 48: a title used twice is refused with its owner; after a compression the child owns the next number", async () => {
  const turns = ["one", "two", "three", "four", "five", "## Summary\nWhat was done so far."];
  await withCore({ model: { turns } }, async ({ host, rig, open }) => {
    const first = await open();
    const second = await open();
    await host.turn(second.sid, "hello");
    for (const text of ["a", "b", "c", "d"]) await host.turn(first.sid, text);
    await host.request("session.title", { session_id: first.sid, title: "Plan" });
    const refused = await host.refused("session.title", { session_id: second.sid, title: "Plan" });
    assertEquals(refused.code, 4022);
    assertMatch(refused.message, new RegExp(first.stored));
    await host.request("session.compress", { session_id: first.sid });
    const titles = query(
      rig,
      "SELECT title, parent_session_id AS parent FROM sessions WHERE title LIKE 'Plan%'",
    );
    assertEquals(titles.sort((a: Json, b: Json) => a.title.length - b.title.length), [
      { title: "Plan", parent: null },
      { title: "Plan #2", parent: first.stored },
    ]);
  });
});

Deno.test("core 53: a prefix, an exact phrase and a CJK word are found, the match marked", async () => {
  const turns = ["we deployed it", "the exact phrase here", "phrase exact", "昨日東京都庁へ行った"];
  await withCore({ model: { turns } }, async ({ host, rig, open }) => {
    const { sid } = await open();
    for (const text of ["1", "2", "3", "4"]) await host.turn(sid, text);
    const found = async (words: string) => {
      const { stdout } = await runProgram(["sessions", "search", words, "--json"], { rig });
      return stdout.trim().split("\n").map((line) => JSON.parse(line)).flat().map((hit: Json) => hit.snippet);
    };
    assertEquals(await found("deploy*"), ["we >>>deployed<<< it"]);
    assertEquals(await found('"exact phrase"'), ["the >>>exact phrase<<< here"]);
    assertEquals(await found("東京都"), ["昨日>>>東京都<<<庁へ行った"]);
  });
});

/** What `/model <name>` makes of a name on a provider whose address is a server of ours. */
async function switched(provider: string, models: readonly string[], name: string): Promise<string> {
  await using model = await startModelServer({ models: [...models] });
  const config = modelConfig(model.url) as Json;
  config.model = {
    ...config.model,
    provider,
    default: models[0],
    base_url: model.url,
    api_key: "key-0123456789",
  };
  await using rig = await makeRig({ config });
  await using host = await startGateway({ rig });
  const { sid } = await host.session({ cwd: rig.workspace });
  await host.request("slash.exec", { session_id: sid, command: `/model ${name}` });
  const { info } = await host.request("session.activate", { session_id: sid });
  return info.model;
}

Deno.test("core 57: a model is called what its provider calls it", async () => {
  const router = ["openai/gpt-5.5", "anthropic/claude-sonnet-4.6"];
  assertEquals(await switched("openrouter", router, "claude-sonnet-4.6"), "anthropic/claude-sonnet-4.6");
  const own = ["claude-opus-4-6", "claude-sonnet-4-6"];
  assertEquals(await switched("anthropic", own, "claude-sonnet-4.6"), "claude-sonnet-4-6");
});

Deno.test("core 58: a family is its newest model on the current provider; custom:box:qwen is a model of that box", async () => {
  const own = ["claude-opus-4-6", "claude-sonnet-4-6", "claude-sonnet-5-5", "claude-sonnet-5"];
  assertEquals(await switched("anthropic", own, "sonnet"), "claude-sonnet-5-5");
  await using box = await startModelServer({ models: ["qwen"], turns: ["ok"] });
  await withCore({ config: { providers: { box: { base_url: box.url } } } }, async ({ host, open, model }) => {
    const { sid } = await open();
    await host.request("slash.exec", { session_id: sid, command: "/model custom:box:qwen" });
    const { info } = await host.request("session.activate", { session_id: sid });
    assertEquals([info.provider, info.model], ["custom:box", "qwen"]);
    await host.turn(sid, "hi");
    assertEquals([model.calls().length, box.calls().length], [0, 1]);
    assertEquals(box.calls()[0]!.body.model, "qwen");
  });
});

Deno.test("core 59: a model that two providers declare asks for --provider, and nothing changes", async () => {
  await using box = await startModelServer({ models: ["shared"] });
  const providers = {
    box: { base_url: box.url, models: ["shared"] },
    two: { base_url: box.url, models: ["shared"] },
  };
  await withCore({ config: { providers } }, async ({ host, open }) => {
    const { sid } = await open();
    const before = (await host.request("session.activate", { session_id: sid })).info;
    const refused = await host.refused("slash.exec", { session_id: sid, command: "/model shared" });
    assertMatch(refused.message, /--provider custom:box or --provider custom:two/);
    const after = (await host.request("session.activate", { session_id: sid })).info;
    assertEquals([after.provider, after.model], [before.provider, before.model]);
  });
});
