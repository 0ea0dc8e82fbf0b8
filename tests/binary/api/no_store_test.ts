/** A server whose database cannot be opened (api-server.md A8, B5, B9): it says so, and lives on. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig } from "../../support/program.ts";
import { ask } from "./run_scene.ts";

Deno.test("A8, B9: without a database each turn is 503 session_db_unavailable, nothing asks the model, health tells", async () => {
  await using rig = await makeRig();
  // A folder where a file is wanted: root can write anything else.
  await Deno.mkdir(`${rig.home}/hermes.db`);
  await using model = await startModelServer({ respond: () => "said" });
  await using api = await startApi({ rig, model });
  for (
    const [path, body] of [
      ["/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] }],
      ["/v1/chat/completions", { stream: true, messages: [{ role: "user", content: "hi" }] }],
      ["/v1/responses", { input: "hi" }],
      ["/v1/runs", { input: "hi" }],
      ["/api/sessions", { id: "s" }],
    ] as const
  ) {
    const { status, headers, body: answer } = await ask(api, path, { body });
    assertEquals([path, status, answer.error.code], [path, 503, "session_db_unavailable"]);
    assertEquals([answer.error.type, headers.get("x-should-retry")], ["invalid_request_error", null]);
  }
  assertEquals(model.calls().length, 0);
  const { features } = (await ask(api, "/v1/capabilities")).body;
  assertEquals(features.runs_idempotency, { supported: true, durable: false, retention_seconds: 86400 });
  assertEquals((await ask(api, "/health")).body.status, "ok");
  const { status, body } = await ask(api, "/health/detailed");
  assertEquals([status, body.status, body.readiness.checks.state_db], [200, "degraded", {
    status: "degraded",
    detail: "store_failed",
  }]);
  assertEquals(JSON.stringify(body).includes(rig.home), false);
  assertMatch(api.stderr(), /WARNING.*could not be looked through/);
  await Deno.remove(`${rig.home}/hermes.db`);
  assertEquals((await ask(api, "/v1/responses", { body: { input: "hi" } })).body.status, "completed");
});
