/** Neighbours of the field cases on the surfaces that the cases themselves do not name. */
import { fingerprint } from "../../scripts/torture/judge.ts";
import { startAcp } from "../support/acp_driver.ts";
import { startApi } from "../support/api_driver.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { query, withCore } from "../support/core_driver.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeRig, modelConfig } from "../support/program.ts";

Deno.test("FC-02: a session whose title is refused is not made, on the API and the gateway", async () => {
  await using model = await startModelServer({ turns: ["hello"], loop: true });
  await using api = await startApi({ model });
  await (await api.call("/api/sessions", { body: { title: "Taken" } })).body?.cancel();
  for (const title of ["Taken", "x".repeat(101)]) {
    const response = await api.call("/api/sessions", { body: { title } });
    assertEquals([response.status, (await response.json()).error.code], [400, "invalid_title"]);
  }
  assertEquals(query(api.rig, "SELECT title FROM sessions"), [{ title: "Taken" }]);
  await withCore({ model: { turns: ["hello"], loop: true } }, async ({ rig, host, open }) => {
    const first = await open();
    await host.request("session.title", { session_id: first.sid, title: "Taken" });
    const second = await open();
    await host.refused("session.title", { session_id: second.sid, title: "Taken" });
    assertEquals(query(rig, "SELECT title FROM sessions"), [{ title: "Taken" }]);
  });
});

Deno.test("FC-02: a refused /undo of a session that holds nothing leaves nothing in the store", async () => {
  await withCore({ model: { turns: ["hello"], loop: true } }, async ({ rig, host, open }) => {
    const other = await open();
    await host.turn(other.sid, "hi");
    const { sid } = await open();
    for (const command of ["/undo", "/retry"]) {
      assertEquals((await host.refused("slash.exec", { session_id: sid, command })).code, 4018, command);
    }
    assertEquals(query(rig, "SELECT id FROM sessions"), [{ id: other.stored }]);
  });
});

Deno.test("FC-05: what does not exist is an error on the gateway, and nothing is made", async () => {
  await withCore({ model: { turns: ["hello"], loop: true } }, async ({ rig, host }) => {
    const session_id = "does-not-exist";
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["prompt.submit", { session_id, text: "hi" }],
      ["session.resume", { session_id }],
      ["session.history", { session_id }],
      ["session.title", { session_id, title: "x" }],
      ["session.compress", { session_id }],
      ["session.branch", { session_id }],
      ["session.interrupt", { session_id }],
      ["session.status", { session_id }],
    ];
    for (const [method, params] of calls) {
      await host.refused(method, params);
    }
    assertEquals((await host.request("session.list", {})).sessions, []);
    assertEquals(query(rig, "SELECT id FROM sessions"), []);
  });
});

Deno.test("FC-05: what does not exist is a 404 on the API, and nothing is made", async () => {
  await using model = await startModelServer({ turns: ["hello"], loop: true });
  await using api = await startApi({ model });
  const calls: readonly (readonly [string, string, unknown?])[] = [
    ["GET", "/api/sessions/none"],
    ["PATCH", "/api/sessions/none", { title: "x" }],
    ["DELETE", "/api/sessions/none"],
    ["GET", "/api/sessions/none/messages"],
    ["POST", "/api/sessions/none/fork", {}],
    ["POST", "/api/sessions/none/chat", { message: "hi" }],
    ["GET", "/v1/runs/run_none"],
    ["GET", "/v1/runs/run_none/events"],
    ["POST", "/v1/runs/run_none/stop"],
    ["POST", "/v1/runs/run_none/approval", { choice: "once" }],
    ["GET", "/v1/responses/resp_none"],
    ["POST", "/v1/responses", { input: "hi", previous_response_id: "resp_none" }],
    ["POST", "/v1/runs", { input: "hi", previous_response_id: "resp_none" }],
  ];
  for (const [method, path, body] of calls) {
    const response = await api.call(path, { method, ...(body === undefined ? {} : { body }) });
    const answer = await response.json();
    assertEquals([response.status, typeof answer.error?.message], [404, "string"], `${method} ${path}`);
  }
  assertEquals(query(api.rig, "SELECT id FROM sessions"), []);
  assertEquals(model.calls().length, 0);
});

Deno.test("FC-22: a request whose address cannot be read is refused in JSON", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: api.port });
  await connection.write(
    new TextEncoder().encode("GET /health HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n"),
  );
  let text = "";
  const buffer = new Uint8Array(4_096);
  for (let n = await connection.read(buffer); n !== null; n = await connection.read(buffer)) {
    text += new TextDecoder().decode(buffer.subarray(0, n));
  }
  assert(/^HTTP\/1\.1 40\d /.test(text), text);
  assert(/"error":\{"message":"/.test(text), text);
});

Deno.test("FC-02: a mode, an option or a value that no session has leaves an ended session as it is", async () => {
  await using model = await startModelServer({ turns: ["ok"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig);
  await acp.initialize();
  const sessionId = await acp.newSession(rig.workspace);
  await acp.prompt(sessionId, "hi");
  await acp.request("session/close", { sessionId });
  const before = fingerprint(rig);
  for (
    const [method, params] of [
      ["session/set_mode", { modeId: "nope" }],
      ["session/set_config_option", { configId: "../../etc/passwd", value: "default" }],
      ["session/set_config_option", { configId: "model", value: true }],
      ["session/set_config_option", { configId: "edit_approval_policy", value: "nope" }],
    ] as const
  ) {
    assertEquals((await acp.ask(method, { sessionId, ...params })).error?.code, -32602, method);
  }
  assertEquals(fingerprint(rig), before);
});
