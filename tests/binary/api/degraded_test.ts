/**
 * A disk that does not take runs or responses (api-server.md A1 step 3): they are kept in memory, the server says so,
 * and sessions are as durable as before. Triggers stand for the disk: they refuse exactly what they name.
 */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, type Rig } from "../../support/program.ts";
import {
  ask,
  eventsOf,
  eventsUntil,
  refusal,
  startRun,
  statusOf,
  untilStatus,
  type Wire,
} from "./run_scene.ts";

const RESPONSES = ["INSERT ON api_responses", "UPDATE ON api_responses"];
const RUNS = ["INSERT ON api_runs", "UPDATE ON api_runs"];

function refuse(rig: Rig, writes: readonly string[]): void {
  change(
    rig,
    writes.map((write, i) => `CREATE TRIGGER broken_${i}_${nameOf(write)} BEFORE ${write} ${RAISE}`),
  );
}

function mend(rig: Rig, writes: readonly string[]): void {
  change(rig, writes.map((write, i) => `DROP TRIGGER broken_${i}_${nameOf(write)}`));
}

const RAISE = "BEGIN SELECT RAISE(FAIL, 'disk I/O error'); END";

function nameOf(write: string): string {
  return write.replaceAll(" ", "_");
}

function change(rig: Rig, statements: readonly string[]): void {
  using db = new DatabaseSync(`${rig.home}/hermes.db`);
  db.exec("PRAGMA busy_timeout = 5000");
  for (const statement of statements) db.exec(statement);
}

async function keptIn(api: ApiServer): Promise<Wire> {
  const { features } = (await ask(api, "/v1/capabilities")).body;
  const { body } = await ask(api, "/health/detailed");
  const { state_db, response_store, run_store } = body.readiness.checks;
  return [features.runs_idempotency.durable, body.status, state_db, response_store, run_store];
}

const OK = { status: "ok" };
const MEMORY = { status: "degraded", detail: "memory" };

Deno.test("A1 step 3: responses that the disk refuses are had, chained and named from memory, until the server ends", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ respond: (_request, n) => `answer ${n}` });
  await using api = await startApi({ rig, model });
  const before = (await ask(api, "/v1/responses", { body: { input: "0", conversation: "c" } })).body;
  assertEquals(await keptIn(api), [true, "ok", OK, OK, OK]);
  refuse(rig, RESPONSES);
  const first = (await ask(api, "/v1/responses", { body: { input: "1", conversation: "c" } })).body;
  assertEquals(first.status, "completed");
  assertEquals((await ask(api, `/v1/responses/${first.id}`)).body, first);
  assertEquals((await ask(api, `/v1/responses/${before.id}`)).body, before, "its access cannot be noted");
  const said = () =>
    model.calls().at(-1)!.body.messages.filter((m: Wire) => m.role === "user").map((m: Wire) => m.content);
  await ask(api, "/v1/responses", { body: { input: "2", previous_response_id: first.id } });
  assertEquals(said(), ["0", "1", "2"]);
  const third = (await ask(api, "/v1/responses", { body: { input: "3", conversation: "c" } })).body;
  assertEquals(said(), ["0", "1", "3"]);
  assertEquals((await ask(api, `/v1/responses/${first.id}`, { method: "DELETE" })).body.deleted, true);
  assertEquals(await refusal(api, `/v1/responses/${first.id}`), [404, "response_not_found"]);
  assertEquals(await keptIn(api), [true, "degraded", OK, MEMORY, OK]);
  const warnings = api.stderr().match(/responses cannot be written to disk and are kept in memory/g);
  assertEquals(warnings?.length, 1, "once, not with each of them");
  mend(rig, RESPONSES);
  const last = (await ask(api, "/v1/responses", { body: { input: "4", conversation: "c" } })).body;
  assertEquals(said(), ["0", "1", "3", "4"]);
  assertEquals(await keptIn(api), [true, "ok", OK, OK, OK]);
  assertMatch(api.stderr(), /responses are kept on disk again/);
  const session = (await api.call("/api/sessions")).json();
  assertEquals((await session).data.length > 0, true);
  await api.stop();
  await using next = await startApi({ rig, model, keepConfig: true });
  assertEquals(await refusal(next, `/v1/responses/${third.id}`), [404, "response_not_found"]);
  assertEquals((await ask(next, `/v1/responses/${last.id}`)).body, last);
  await ask(next, "/v1/responses", { body: { input: "5", conversation: "c" } });
  assertEquals(said(), ["0", "1", "3", "4", "5"]);
});

Deno.test("A1 step 3, B5: runs that the disk refuses live in memory; keys of theirs hold; durable is false; sessions are stored", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ respond: (_request, n) => `answer ${n}` });
  await using api = await startApi({ rig, model });
  const stored = await startRun(api, { input: "go" });
  await untilStatus(api, stored, "completed");
  refuse(rig, RUNS);
  const headers = { "Idempotency-Key": "k1" };
  const ids = [
    await startRun(api, { input: "a", session_id: "s" }, headers),
    await startRun(api, { input: "b" }),
  ];
  for (const id of ids) await untilStatus(api, id, "completed");
  const again = await ask(api, "/v1/runs", { body: { input: "a", session_id: "s" }, headers });
  assertEquals([again.status, again.body], [202, { run_id: ids[0], status: "completed", replayed: true }]);
  assertEquals(
    await refusal(api, "/v1/runs", { body: { input: "other" }, headers }),
    [409, "idempotency_key_conflict"],
  );
  const frames = await eventsOf(api, ids[0]!);
  assertEquals(frames.map((frame) => frame.json?.event ?? frame.comment), [
    "open",
    "message.delta",
    "run.completed",
    "stream closed",
  ]);
  const list = async (query: string) =>
    (await ask(api, `/v1/runs?${query}`)).body.data.map((run: Wire) => run.run_id);
  assertEquals(await list("limit=10"), [ids[1], ids[0], stored]);
  assertEquals(await list(`limit=1&after=${ids[1]}`), [ids[0]]);
  assertEquals(await list(`limit=1&after=${ids[0]}`), [stored]);
  assertEquals(await list("session_id=s&status=completed"), [ids[0]]);
  assertEquals(await keptIn(api), [false, "degraded", OK, OK, MEMORY]);
  assertEquals(
    (await ask(api, "/health/detailed")).body.readiness.checks.background_queues.active_api_runs,
    0,
  );
  assertEquals(model.calls().length, 3);
  assertMatch(api.stderr(), /runs cannot be written to disk and are kept in memory/);
  await api.stop();
  await using next = await startApi({ rig, model, keepConfig: true });
  assertEquals(await refusal(next, `/v1/runs/${ids[0]}`), [404, "run_not_found"]);
  assertEquals((await ask(next, "/api/sessions/s/messages")).body.data.map((m: Wire) => m.content), [
    "a",
    "answer 1",
  ]);
});

Deno.test("A1 step 3, E3: a run whose disk fails on its way ends in memory, with all its events and its callback", async () => {
  const told: string[] = [];
  await using receiver = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      told.push((await request.json()).type);
      return new Response(null);
    },
  );
  await using rig = await makeRig();
  await using model = await startModelServer({
    respond: () => ({ steps: [{ text: "one " }, { delay_ms: 1500, text: "two" }] }),
  });
  const callback_url = `http://127.0.0.1:${receiver.addr.port}/end`;
  await using api = await startApi({
    rig,
    model,
    server: { callback_urls: [callback_url] },
    env: { API_SERVER_CALLBACK_SECRET: "0123456789abcdef" },
  });
  const id = await startRun(api, { input: "go", callback_url });
  await eventsUntil(api, id, (event) => event.event === "message.delta");
  refuse(rig, RUNS);
  const status = await untilStatus(api, id, "completed");
  assertEquals(status.output, "one two");
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  assertEquals(events.map((event) => [event.seq, event.event]), [
    [0, "message.delta"],
    [1, "message.delta"],
    [2, "run.completed"],
  ]);
  await eventually(() => told.length > 0 ? true : undefined, 5_000, "the callback");
  assertEquals(told, ["run.completed"]);
  assertEquals((await ask(api, "/v1/runs")).body.data.map((run: Wire) => [run.run_id, run.status]), [
    [id, "completed"],
  ]);
  assertEquals(
    (await ask(api, "/health/detailed")).body.readiness.checks.background_queues.active_api_runs,
    0,
  );
});

Deno.test("A1 step 3, A10: what cannot be read is 503 and not gone; a key that cannot be looked up starts nothing", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ respond: () => "said" });
  await using first = await startApi({ rig, model });
  const { id } = (await ask(first, "/v1/responses", { body: { input: "hi", conversation: "c" } })).body;
  await first.stop();
  change(rig, ["DROP TABLE api_responses", "DROP TABLE api_conversations", "DROP TABLE api_runs"]);
  await using api = await startApi({ rig, model, keepConfig: true });
  const gone: [number, string] = [503, "session_db_unavailable"];
  assertEquals(await refusal(api, `/v1/responses/${id}`), gone);
  assertEquals(await refusal(api, "/v1/responses", { body: { input: "x", conversation: "c" } }), gone);
  assertEquals(await refusal(api, "/v1/responses", { body: { input: "x", previous_response_id: id } }), gone);
  const calls = model.calls().length;
  const headers = { "Idempotency-Key": "k" };
  assertEquals(await refusal(api, "/v1/runs", { body: { input: "x" }, headers }), gone);
  assertEquals(model.calls().length, calls);
  const fresh = (await ask(api, "/v1/responses", { body: { input: "new" } })).body;
  assertEquals((await ask(api, `/v1/responses/${fresh.id}`)).body, fresh);
  const run = await startRun(api, { input: "go" });
  assertEquals((await untilStatus(api, run, "completed")).output, "said");
  assertEquals((await statusOf(api, run)).status, "completed");
  const failed = { status: "degraded", detail: "store_failed" };
  assertEquals(await keptIn(api), [false, "degraded", OK, failed, failed]);
  assert(!api.stderr().includes("[ERROR]"), api.stderr());
});
