/** `llm.oneshot` (tui-gateway.md B.18, A.7): one answer beside every conversation, and its refusals. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig } from "../../support/program.ts";
import { withGateway } from "./scene.ts";

Deno.test("B.18 llm.oneshot: instructions and input are one request, and no session comes of it", async () => {
  await withGateway({ model: { turns: ["  Fix the parser \n"] } }, async ({ host, model }) => {
    const answer = await host.request("llm.oneshot", { instructions: "Name it.", input: "the change" });
    assertEquals(answer, { text: "Fix the parser", model: "scripted", provider: "custom" });
    const [{ body }] = model.calls() as [Json];
    assertEquals(body.messages.map(({ role, content }: Json) => [role, content]), [
      ["system", "Name it."],
      ["user", "the change"],
    ]);
    assertEquals([body.max_tokens ?? body.max_completion_tokens, body.temperature, body.tools], [
      1024,
      0.3,
      undefined,
    ]);
    assertEquals((await host.request("session.list")).sessions, []);
    assertEquals((await host.request("session.active_list")).sessions, []);
  });
});

Deno.test("B.18 llm.oneshot: a session lends its model and keeps its conversation as it is", async () => {
  await withGateway({ model: { turns: ["first", "beside", "second"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.turn(sid, "one");
    const given = { session_id: sid, input: "aside", max_tokens: 7, temperature: 0 };
    assertEquals((await host.request("llm.oneshot", given)).text, "beside");
    assertEquals(model.calls()[1]!.body.temperature, 0);
    assertEquals((await host.request("session.history", { session_id: sid })).count, 2);
    await host.turn(sid, "two");
    const sent = model.calls()[2]!.body.messages.map(({ content }: Json) => content);
    assertEquals(sent.slice(1), ["one", "first", "two"]);
    assertEquals((await host.refused("llm.oneshot", { session_id: "none", input: "x" })).code, 4001);
  });
});

Deno.test("B.18 llm.oneshot: without a session the model of auxiliary.<task> is asked", async () => {
  await using side = await startModelServer({ turns: ["from the side"], models: ["small"] });
  const config = {
    auxiliary: { chores: { model: "small", base_url: side.url, api_key: "k" } },
  };
  await withGateway({ model: { turns: ["from the main one"] }, config }, async ({ host, model }) => {
    const chore = await host.request("llm.oneshot", { input: "x", task: "chores" });
    assertEquals([chore.text, chore.model], ["from the side", "small"]);
    assertEquals(model.calls().length, 0);
    const other = await host.request("llm.oneshot", { input: "x", task: "nowhere" });
    assertEquals([other.text, other.model], ["from the main one", "scripted"]);
  });
});

Deno.test("B.18 llm.oneshot: templates are filled; 4030, 4031 and 4032 ask no model", async () => {
  await withGateway({ model: { turns: ["Add a line"] } }, async ({ host, model }) => {
    const refused: readonly (readonly [Json, number])[] = [
      [{}, 4030],
      [{ instructions: " ", input: "" }, 4030],
      [{ template: "poem", variables: {} }, 4031],
      [{ template: "toString" }, 4031],
      [{ template: "commit_message" }, 4032],
      [{ template: "commit_message", variables: { diff: "  " } }, 4032],
      [{ template: "commit_message", variables: { diff: 5 } }, 4032],
      [{ template: "commit_message", variables: ["+a"] }, 4032],
      [{ template: "commit_message", variables: { diff: "+a", recent_commits: {} } }, 4032],
      [{ input: "x", max_tokens: 0 }, -32602],
      [{ input: "x", temperature: "warm" }, -32602],
    ];
    for (const [params, code] of refused) {
      assertEquals((await host.refused("llm.oneshot", params)).code, code, JSON.stringify(params));
    }
    assertEquals(model.calls().length, 0);
    const variables = { diff: "+a line", recent_commits: "Fix it" };
    const { text } = await host.request("llm.oneshot", { template: "commit_message", variables });
    assertEquals(text, "Add a line");
    assertEquals(model.calls()[0]!.body.messages.at(-1).content, "diff:\n+a line\n\nrecent_commits:\nFix it");
  });
});

Deno.test("B.18 llm.oneshot: a model that fails, or says nothing, is 5030; others are served meanwhile", async () => {
  const turns = [{ steps: [{ error: { status: 400, message: "no such thing" } }] }, ""];
  await withGateway({ model: { turns } }, async ({ host }) => {
    const failed = await host.refused("llm.oneshot", { input: "x" });
    assertEquals(failed.code, 5030);
    assertMatch(failed.message, /no such thing/);
    assertEquals((await host.refused("llm.oneshot", { input: "x" })).code, 5030);
  });
  const answer = Promise.withResolvers<string>();
  await withGateway({ model: { respond: () => answer.promise } }, async ({ host }) => {
    const asked = await host.post("llm.oneshot", { input: "x" });
    assertEquals(await host.request("ping"), { pong: true });
    assertEquals(host.frames.some(({ id }) => id === asked), false);
    answer.resolve("late");
    assertEquals((await host.response(asked)).result.text, "late");
  });
});

Deno.test("B.18 llm.oneshot: where no model is set up it is 5030, which says what to do", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig });
  const refused = await host.refused("llm.oneshot", { input: "x" });
  assertEquals(refused.code, 5030);
  assertMatch(refused.message, /hermes setup/);
  const { sid } = await host.session();
  assertEquals((await host.refused("llm.oneshot", { input: "x", session_id: sid })).code, 5030);
});

Deno.test("B.18 llm.oneshot: counts for the day, and a budget that is used up refuses it", async () => {
  const config = { budgets: { day: { model_calls: 1 } } };
  await withGateway({ model: { turns: ["one", "two"] }, config }, async ({ host, model }) => {
    assertEquals((await host.request("llm.oneshot", { input: "x" })).text, "one");
    assertEquals((await host.request("insights.get")).model_calls, 1);
    const refused = await host.refused("llm.oneshot", { input: "x" });
    assertEquals(refused.code, 5030);
    assertMatch(refused.message, /budgets\.day\.model_calls/);
    assertEquals(model.calls().length, 1);
  });
});
