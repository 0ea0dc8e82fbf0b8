/**
 * A conversation that another server on the same home deletes while it is open here (core.md D.4, api-server.md A8):
 * what runs is answered, what waits or comes is 404 and costs no model call.
 */
import { startApi } from "../../support/api_driver.ts";
import { assertEquals } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig } from "../../support/program.ts";
import { ask, refusal, startRun, untilStatus } from "./run_scene.ts";

const DELETED = "Another program has deleted this conversation";
const GONE: [number, unknown] = [404, "session_not_found"];

Deno.test("core D.4: what waits while another server deletes the session is 404 and never reaches the model", async () => {
  const first = Promise.withResolvers<void>();
  await using model = await startModelServer({
    respond: async (_, n) => {
      if (n === 1) await first.promise;
      return `answer ${n}`;
    },
  });
  await using rig = await makeRig();
  await using api = await startApi({ rig, model });
  await using other = await startApi({ rig, model });
  await ask(api, "/api/sessions", { body: { id: "s" } });
  assertEquals((await ask(api, "/api/sessions/s/chat", { body: { message: "a" } })).status, 200);
  const running = ask(api, "/api/sessions/s/chat", { body: { message: "b" } });
  await eventually(() => model.calls().length === 2);
  const run = await startRun(api, { input: "c", session_id: "s" });
  const waiting = refusal(api, "/api/sessions/s/chat", { body: { message: "d" } });
  await eventually(async () => (await ask(api, "/health/detailed")).body.active_agents === 3);
  assertEquals((await ask(other, "/api/sessions/s", { method: "DELETE" })).status, 200);
  first.resolve();
  assertEquals((await running).body.message.content, "answer 1");
  assertEquals(await waiting, GONE);
  const failed = await untilStatus(api, run, "failed");
  assertEquals(failed.error, DELETED);
  assertEquals(model.calls().length, 2);
});

Deno.test("core D.4: an idle session that another server has deleted takes no prompt; its id is free again", async () => {
  await using model = await startModelServer({ respond: (_, n) => `answer ${n}` });
  await using rig = await makeRig();
  await using api = await startApi({ rig, model });
  await using other = await startApi({ rig, model });
  await ask(api, "/api/sessions", { body: { id: "s" } });
  await ask(api, "/api/sessions/s/chat", { body: { message: "a" } });
  await ask(other, "/api/sessions/s", { method: "DELETE" });
  const body = { message: "b" };
  assertEquals(await refusal(api, "/api/sessions/s/chat", { body }), GONE);
  assertEquals(await refusal(api, "/api/sessions/s/chat/stream", { body }), GONE);
  const headers = { "X-Hermes-Session-Id": "s" };
  const chat = { messages: [{ role: "user", content: "b" }] };
  assertEquals(await refusal(api, "/v1/chat/completions", { body: chat, headers }), GONE);
  const anew = await ask(api, "/v1/chat/completions", { body: chat, headers });
  assertEquals(
    [anew.status, anew.body.choices[0].message.content],
    [200, "answer 1"],
    "told once, then as any id nobody has used",
  );
  assertEquals(model.calls().length, 2);
});
