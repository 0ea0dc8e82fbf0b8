/** Several processes on one database: core row 47 and FC-24, with the real programs. */
import { DatabaseSync } from "node:sqlite";
import { startAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { calling, query, rows, sessionRow, shell } from "../../support/core_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";

function integrity(rig: Rig): string {
  return query<{ integrity_check: string }>(rig, "PRAGMA integrity_check")[0]!.integrity_check;
}

/** Rows by role of the whole database. */
function counts(rig: Rig): Record<string, number> {
  const found = query<{ role: string; n: number }>(
    rig,
    "SELECT role, count(*) AS n FROM messages GROUP BY role",
  );
  return Object.fromEntries(found.map(({ role, n }) => [role, n]));
}

/** Answers each prompt with one quick command, then with `echo:` and the prompt. */
function echoing() {
  // deno-lint-ignore no-explicit-any
  return (request: any) => {
    const messages = request.body.messages;
    const prompt = messages.findLast((m: { role: string }) => m.role === "user").content;
    return messages.at(-1).role === "user" ? calling(shell("true")) : `echo: ${prompt}`;
  };
}

Deno.test("core 47: four processes append to one database: no lost row, no crash", async () => {
  await using model = await startModelServer({ respond: echoing() });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const runs = Array.from({ length: 4 }, async (_, worker) => {
    await using host = await startGateway({ rig });
    const { sid, stored } = await host.session({ cwd: rig.workspace });
    for (let n = 0; n < 10; n++) {
      const complete = await host.turn(sid, `${worker}-${n}`, 20_000);
      assertEquals([complete.status, complete.text], ["complete", `echo: ${worker}-${n}`]);
    }
    assertEquals((await host.end()).code, 0);
    return stored;
  });
  for (const [worker, stored] of (await Promise.all(runs)).entries()) {
    const found = rows(rig, stored);
    assertEquals(
      found.filter((row) => row.role === "user").map((row) => row.content),
      Array.from({ length: 10 }, (_, n) => `${worker}-${n}`),
    );
    assertEquals(found.length, 40);
  }
  assertEquals(counts(rig), { assistant: 80, tool: 40, user: 40 });
  assertEquals(integrity(rig), "ok");
});

Deno.test("core 47: four processes start on an empty data directory at the same moment", async () => {
  await using model = await startModelServer({ turns: ["ok"], loop: true });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const ends = await Promise.all(Array.from({ length: 4 }, () => runProgram(["run", "hi"], { rig })));
  assertEquals(ends.map((end) => [end.code, end.stdout]), Array(4).fill([0, "ok\n"]));
  assertEquals(counts(rig), { assistant: 4, user: 4 });
  assertEquals(integrity(rig), "ok");
});

/** Holds the write lock of the database, as another program would; what is returned gives it back. */
function holdLock(rig: Rig): () => void {
  const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
  db.exec("PRAGMA busy_timeout=5000; BEGIN IMMEDIATE");
  return () => {
    db.exec("ROLLBACK");
    db.close();
  };
}

Deno.test("FC-24: acp, gateway and serve share a database through 20 turns each and a lock of 3 s: all is stored", async () => {
  const TURNS = 20;
  await using model = await startModelServer({ respond: echoing() });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using api = await startApi({ rig, model });
  await using acp = startAcp(rig);
  await using host = await startGateway({ rig });
  await acp.initialize();
  const acpSession = await acp.newSession(rig.workspace);
  const { sid, stored } = await host.session({ cwd: rig.workspace });
  await host.turn(sid, "gateway-0");

  async function throughAcp() {
    for (let n = 0; n < TURNS; n++) {
      const result = await acp.prompt(acpSession, `acp-${n}`, 30_000);
      assertEquals(result.stopReason, "end_turn");
    }
  }
  async function throughGateway() {
    for (let n = 1; n < TURNS; n++) {
      const complete = await host.turn(sid, `gateway-${n}`, 30_000);
      assertEquals([complete.status, complete.warning], ["complete", undefined]);
    }
  }
  async function throughApi() {
    for (let n = 0; n < TURNS; n++) {
      const answer = await api.chat({ messages: [{ role: "user", content: `api-${n}` }] }, {
        headers: { "X-Hermes-Session-Id": "shared-session" },
      });
      assertEquals([answer.status, (await answer.json()).choices[0].message.content], [
        200,
        `echo: api-${n}`,
      ]);
    }
  }
  async function throughTheLock() {
    const start = performance.now();
    const release = holdLock(rig);
    // Input is read meanwhile: who waits for the database here would wait for ever.
    for (let n = 0; n < 4 || performance.now() - start < 3_000; n++) {
      await host.request("session.status", { session_id: sid });
    }
    release();
  }
  await Promise.all([throughAcp(), throughGateway(), throughApi(), throughTheLock()]);
  const prompts = query<{ content: string }>(
    rig,
    "SELECT content FROM messages WHERE role = 'user' ORDER BY id",
  );
  for (const door of ["acp", "gateway", "api"]) {
    const mine = prompts.map((row) => row.content).filter((text) => text.startsWith(`${door}-`));
    assertEquals(mine, Array.from({ length: TURNS }, (_, n) => `${door}-${n}`));
  }
  assertEquals(counts(rig), { assistant: 6 * TURNS, tool: 3 * TURNS, user: 3 * TURNS });
  assertEquals(rows(rig, stored).length, 4 * TURNS);
  assertEquals(integrity(rig), "ok");
  const told = host.lines.join("\n") + host.stderr + acp.lines.join("\n") + api.stdout();
  assertEquals(/database is locked|SQLITE_BUSY/i.test(told), false);
});

Deno.test("FC-06, FC-24: an interrupt does not wait for a locked database", async () => {
  await using model = await startModelServer({ turns: ["first", { steps: [{ stall: true }] }, "third"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using host = await startGateway({ rig });
  const { sid, stored } = await host.session({ cwd: rig.workspace });
  await host.turn(sid, "one");
  const release = holdLock(rig);
  await host.request("prompt.submit", { session_id: sid, text: "two" });
  await host.request("session.interrupt", { session_id: sid });
  assertEquals((await host.event("message.complete", sid, 1)).status, "interrupted");
  release();
  await host.idle(sid);
  await host.end();
  assertEquals(rows(rig, stored).map((row) => [row.role, row.content]), [
    ["user", "one"],
    ["assistant", "first"],
    ["user", "two"],
    ["assistant", "Operation interrupted."],
  ]);
});

Deno.test("core D.6: a resume by a session without messages goes on in its deepest descendant that has some", async () => {
  await using model = await startModelServer({ turns: ["one", "two"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using host = await startGateway({ rig });
  const cwd = rig.workspace;
  const parent = await host.session({ cwd });
  await host.request("session.title", { session_id: parent.sid, title: "the plan" });
  await host.request("session.close", { session_id: parent.sid });
  const child = await host.session({ cwd, parent_session_id: parent.stored });
  await host.turn(child.sid, "hello");
  await host.request("session.close", { session_id: child.sid });
  for (const wanted of [parent.stored, "the plan"]) {
    const { session_id, resumed, messages } = await host.request("session.resume", { session_id: wanted });
    assertEquals([resumed, messages.length], [child.stored, 2]);
    await host.request("session.close", { session_id });
  }
});

Deno.test("core D.3, F.9: what a session has cost is in its row and in the API, where the price is known", async () => {
  const gold = { id: "gold", pricing: { prompt: "0.00001", completion: "0.00002" } };
  await using model = await startModelServer({ models: [gold], turns: ["one", "two"] });
  const config = modelConfig(model.url);
  Object.assign(config["model"] as object, { default: "gold" });
  await using rig = await makeRig({ config });
  const expected = (row: { input_tokens: number; output_tokens: number }) =>
    Math.round((row.input_tokens * 10 + row.output_tokens * 20) * 1000) / 1e9;
  {
    await using host = await startGateway({ rig });
    await host.request("model.options", { refresh: true });
    const { sid, stored } = await host.session({ cwd: rig.workspace });
    await host.turn(sid, "hello");
    const row = sessionRow(rig, stored);
    assert(row.input_tokens > 0 && row.output_tokens > 0);
    assertEquals(Math.round(row.estimated_cost_usd * 1e9) / 1e9, expected(row));
    assertEquals([row.cost_status, row.cost_source], ["estimated", "provider_models_api"]);
    assertEquals([row.billing_provider, row.billing_base_url], ["custom", model.url]);
  }
  await using api = await startApi({ rig, config });
  const { session } = await (await api.call("/api/sessions", { method: "POST", body: {} })).json();
  assertEquals(session.estimated_cost_usd, null);
  const path = `/api/sessions/${session.id}`;
  await (await api.call(`${path}/chat`, { method: "POST", body: { message: "hi" } })).json();
  const after = (await (await api.call(path)).json()).session;
  assertEquals(after.estimated_cost_usd, expected(after));
  assert(after.estimated_cost_usd > 0);
});
