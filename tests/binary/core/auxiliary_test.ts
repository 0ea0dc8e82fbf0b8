/** Side tasks of the real program: titles by a model of their own, with its key, its fields and its chain (core A.18, E.4). */
import { withCore } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const KEY = "side-key-1234567890";

Deno.test("core A.18: the first exchange is named by the configured model, with its own key and fields; the chain helps", async () => {
  await using down = await startModelServer({
    respond: () => ({ steps: [{ error: { status: 401, message: "no" } }] }),
  });
  await using side = await startModelServer({ turns: ['Title: "Plans for lunch"'], key: KEY });
  await withCore({
    model: { turns: ["Soup.", "Bread."] },
    config: {
      auxiliary: {
        title_generation: {
          provider: "custom",
          model: "first",
          base_url: down.url,
          fallback_chain: [{
            provider: "custom",
            model: "second",
            base_url: side.url,
            api_key: KEY,
            extra_body: { top_k: 7 },
          }],
        },
      },
    },
  }, async ({ model, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "What is for lunch?");
    const { payload } = await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    assertEquals([payload.title, payload.session_id], ["Plans for lunch", stored]);
    assertEquals([down.calls().length, side.calls().length, model.calls().length], [1, 1, 1]);
    const { headers, body } = side.calls()[0]!;
    assertEquals(headers["authorization"], `Bearer ${KEY}`);
    assertEquals([body.model, body.temperature, body.max_tokens, body.top_k], ["second", 0.3, 500, 7]);
    assert(down.calls()[0]!.headers["authorization"] !== `Bearer ${KEY}`);
    await host.turn(sid, "And then?");
    assertEquals(side.calls().length, 1);
    for (const line of host.lines) assert(!line.includes(KEY));
  });
});

Deno.test("core A.18: provider main has the session's own model name the conversation", async () => {
  await withCore({
    model: {
      respond: (request) =>
        String(request.body.messages[0]?.content).startsWith("You name conversations")
          ? "A short name"
          : "Yes.",
    },
    config: { auxiliary: { title_generation: { provider: "main", language: "German" } } },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "Is it?");
    const { payload } = await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    assertEquals([payload.title, model.calls().length], ["A short name", 2]);
    assert(model.calls()[1]!.body.messages[0].content.includes("German"));
  });
});
