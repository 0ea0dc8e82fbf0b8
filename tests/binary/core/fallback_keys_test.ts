/** The failover chain's own keys and its older form; a turn refused in a huge session: core A.11. */
import { assert, assertEquals } from "../../support/assert.ts";
import { failing, rows, sent, withCore } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";

Deno.test("core A.11: fallback_model is the older form; its key_env holds the key, which no child process sees", async () => {
  await using other = await startModelServer({ turns: ["From the other."], key: "other-key-1234" });
  await withCore({
    model: { turns: [failing(401, "bad key")], loop: true },
    env: { SPARE_KEY: "other-key-1234" },
    config: {
      fallback_model: {
        provider: "custom",
        model: "spare",
        base_url: other.url,
        key_env: "SPARE_KEY",
        reasoning_effort: "low",
      },
    },
  }, async ({ host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "one")).text, "From the other.");
    assertEquals(other.calls()[0]!.body.model, "spare");
    const run = await host.request("shell.exec", { session_id: sid, command: 'echo "[$SPARE_KEY]"' });
    assertEquals(run.stdout.trim(), "[]");
    for (const line of host.lines) assert(!line.includes("other-key-1234"));
  });
});

Deno.test("core A.11: fallback_providers wins over fallback_model; api_key of an entry is used", async () => {
  await using other = await startModelServer({ turns: ["Listed."], key: "listed-key-1234" });
  await withCore({
    model: { turns: [failing(401, "bad key")], loop: true },
    config: {
      fallback_model: { provider: "custom", model: "never", base_url: "http://127.0.0.1:9/v1" },
      fallback_providers: [
        { provider: "custom", model: "spare", base_url: other.url, api_key: "listed-key-1234" },
      ],
    },
  }, async ({ host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "one")).text, "Listed.");
  });
});

Deno.test("core A.11: a turn refused with 400 in a huge session stays stored and is left out of later requests", async () => {
  const big = "word ".repeat(60_000);
  await withCore({
    model: { turns: ["Read.", failing(400, "unsupported content"), "Fine."] },
    modelSettings: { context_length: 400_000 },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, big);
    assertEquals((await host.turn(sid, "poison")).status, "error");
    assertEquals((await host.turn(sid, "and now?")).text, "Fine.");
    const last = sent(model.calls().at(-1)).map((message) => message.content);
    assertEquals(last.map((content) => content.slice(0, 8)), ["word wor", "Read.", "and now?"]);
    const kept = rows(rig, stored).map((row) => row.content?.slice(0, 6) ?? null);
    assertEquals(kept, ["word w", "Read.", "poison", null, "and no", "Fine."]);
  });
});

Deno.test("core A.11: in a small session a refused turn is sent again with the next one", async () => {
  await withCore({ model: { turns: [failing(400, "unsupported content"), "Fine."] } }, async (scene) => {
    const { sid } = await scene.open();
    await scene.host.turn(sid, "first");
    await scene.host.turn(sid, "second");
    const last = sent(scene.model.calls().at(-1)).map((message) => message.content);
    assertEquals(last, ["first\nsecond"]);
  });
});
