/** Wishes of the configuration as they reach the wire of the real program: core A.2, A.12, E.4, E.5. */
import { calling, failing, shell, withCore } from "../../support/core_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";

Deno.test("core A.12: the effort for a model stands in the request, the session's own choice before it", async () => {
  await withCore({
    model: { turns: ["a", "b"] },
    config: { agent: { reasoning_effort: "low", reasoning_overrides: { "vendor/Scripted": "high" } } },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "one");
    await host.request("config.set", { session_id: sid, key: "reasoning", value: "medium" });
    await host.turn(sid, "two");
    assertEquals(model.calls().map(({ body }) => body.reasoning_effort), ["high", "medium"]);
  });
});

Deno.test("core E.5: the ephemeral prompt and the prefill messages come from the environment, also from .env, and are stored nowhere", async () => {
  await withCore({
    model: { turns: ["ok"] },
    env: { HERMES_PREFILL_MESSAGES_FILE: "examples.json" },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.home}/.env`, "HERMES_EPHEMERAL_SYSTEM_PROMPT='Talk like a pirate.'\n");
    await host.request("reload.env", {});
    const examples = [{ role: "user", content: "Hi" }, { role: "assistant", content: "Ahoy" }];
    await Deno.writeTextFile(`${rig.home}/examples.json`, JSON.stringify(examples));
    const { sid, stored } = await open();
    await host.turn(sid, "who are you?");
    const { messages } = model.calls()[0]!.body;
    assert(messages[0].content.endsWith("Talk like a pirate."), messages[0].content.slice(-80));
    assertEquals(messages.slice(1).map((m: { content: string }) => m.content), [
      "Hi",
      "Ahoy",
      "who are you?",
    ]);
    const { messages: shown } = await host.request("session.history", { session_id: sid });
    assertEquals([shown.length, JSON.stringify(shown).includes("Ahoy"), stored === ""], [2, false, false]);
  });
});

Deno.test("core E.4: provider_routing goes to OpenRouter as it stands, and to nobody else", async () => {
  const config = { provider_routing: { sort: "price", only: ["a", "b"] } };
  for (
    const [provider, wanted] of [["openrouter", config.provider_routing], ["custom", undefined]] as const
  ) {
    await withCore({
      model: { turns: ["ok"] },
      modelSettings: { provider, default: "vendor/scripted" },
      config,
    }, async ({ model, host, open }) => {
      const { sid } = await open();
      await host.turn(sid, "hi");
      assertEquals(model.calls()[0]!.body.provider, wanted);
    });
  }
});

type Wire = "chat_completions" | "anthropic_messages";

for (const api_mode of ["chat_completions", "anthropic_messages"] satisfies Wire[]) {
  Deno.test(`core E.4: openrouter.response_cache lets another session have the answer, never the same one again: ${api_mode}`, async () => {
    const told = async (config: Record<string, unknown>, provider = "openrouter") => {
      const found: (readonly [string | undefined, string | undefined])[] = [];
      await withCore({
        model: { turns: ["one", "two", "three"] },
        modelSettings: { provider, default: "vendor/scripted", api_mode },
        config,
      }, async ({ model, host, open }) => {
        const { sid } = await open();
        await host.turn(sid, "hi");
        const { message } = await host.request("command.dispatch", { session_id: sid, name: "retry" });
        await host.turn(sid, message);
        const other = await open();
        await host.turn(other.sid, "hi");
        for (const { headers } of model.calls()) {
          found.push([headers["x-openrouter-cache"], headers["x-openrouter-cache-ttl"]]);
        }
      });
      return found;
    };
    assertEquals(await told({}), [["true", "300"], ["false", undefined], ["true", "300"]]);
    assertEquals((await told({ openrouter: { response_cache_ttl: 100_000 } }))[0], ["true", "86400"]);
    const none = [undefined, undefined] as const;
    assertEquals(await told({ openrouter: { response_cache: false } }), [none, none, none]);
    assertEquals(await told({}, "custom"), [none, none, none]);
  });
}

Deno.test("core D.1: HERMES_DUMP_REQUESTS keeps what was sent when a call failed for good, without secrets", async () => {
  const secret = "sk-or-v1-0123456789abcdef0123456789abcdef";
  await withCore({
    model: { turns: [calling(shell("true")), failing(400, "odd request")] },
    env: { HERMES_DUMP_REQUESTS: "1" },
  }, async ({ rig, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, `my key is ${secret}`);
    const names = [...Deno.readDirSync(`${rig.home}/sessions`)].map(({ name }) => name);
    assertEquals(names.length, 1);
    const text = await Deno.readTextFile(`${rig.home}/sessions/${names[0]}`);
    const { failure, request } = JSON.parse(text);
    assertEquals([failure.status, request.messages.length], [400, 3]);
    assert(!text.includes(secret));
  });
});
