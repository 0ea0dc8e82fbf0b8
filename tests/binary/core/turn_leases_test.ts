/**
 * Several programs on one home and one session (core.md D.4 `session_turn_leases`): a turn runs in one of them at a
 * time, the others are told, and each goes on from what the others have stored.
 */
import { DatabaseSync } from "node:sqlite";
import { startAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { query, rows, sent, strictFault, withCore } from "../../support/core_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";

/** A model that answers everything but "hang", which it leaves open until it is let go. */
function hangingModel() {
  const { promise, resolve } = Promise.withResolvers<void>();
  let hangs = 0;
  return {
    letGo: resolve,
    get hangs() {
      return hangs;
    },
    // deno-lint-ignore no-explicit-any
    respond: async ({ body }: { body: any }) => {
      const last = body.messages?.at(-1)?.content;
      if (last !== "hang") return `echo: ${JSON.stringify(last)}`;
      hangs++;
      await promise;
      return "at last";
    },
  };
}

const leases = (rig: Rig) => query(rig, "SELECT session_id, pid FROM session_turn_leases");
const told = (rig: Rig, stored: string) => rows(rig, stored).map((row) => [row.role, row.content]);

Deno.test("core D.4: while one program runs a turn, gateway, run and serve on the same session are refused and store nothing", async () => {
  const model = hangingModel();
  await withCore({ model: { respond: model.respond } }, async ({ rig, host, open, model: server }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "first");
    await using other = await startGateway({ rig });
    const resumed = await other.request("session.resume", { session_id: stored });
    await host.request("prompt.submit", { session_id: sid, text: "hang" });
    await eventually(() => model.hangs === 1, 5_000, "the model to be asked");
    assertEquals(leases(rig), [{ session_id: stored, pid: host.child.pid }]);
    const before = told(rig, stored);

    const words = new RegExp(
      `^session busy: another hermes \\(process ${host.child.pid}\\) is running a turn`,
    );
    for (
      const [method, params] of [
        ["prompt.submit", { text: "mine" }],
        ["session.compress", {}],
        ["session.undo", {}],
      ] as const
    ) {
      const refused = await other.refused(method, { session_id: resumed.session_id, ...params });
      assertEquals(refused.code, 4009, method);
      assertMatch(refused.message, words);
    }

    const run = await runProgram(["run", "--session", stored, "mine, too"], { rig });
    assertEquals([run.code, run.stdout], [1, ""]);
    assertMatch(run.stderr, /session busy: another hermes .* wait until it has ended or stop it there/);

    await using api = await startApi({ rig, model: server });
    const headers = { "X-Hermes-Session-Id": stored };
    const messages = [{ role: "user", content: "and mine" }];
    for (
      const [path, body] of [
        ["/v1/chat/completions", { messages }],
        ["/v1/chat/completions", { messages, stream: true }],
        ["/v1/responses", { input: "and mine" }],
        ["/v1/runs", { input: "and mine" }],
        [`/api/sessions/${stored}/chat`, { message: "and mine" }],
      ] as const
    ) {
      const answer = await api.call(path, { body, headers });
      const { error } = await answer.json();
      assertEquals([answer.status, error.code], [409, "session_active_turn"], path);
      assertMatch(error.message, words);
    }
    assertEquals(told(rig, stored), before);
    assertEquals(query(rig, "SELECT id FROM sessions").length, 1);
    assertEquals(query(rig, "SELECT id FROM api_runs"), []);

    model.letGo();
    await host.event("message.complete", sid, 1);
    await host.idle(sid);
    assertEquals(leases(rig), []);
    // The other one goes on from what has come in since it opened the session.
    const complete = await other.turn(resumed.session_id, "now?");
    assertEquals(complete.text, 'echo: "now?"');
    const request = sent(server.calls().at(-1));
    assertEquals(strictFault(request), null);
    assertEquals(request.map(({ content }) => content), [
      "first",
      'echo: "first"',
      "hang",
      "at last",
      "now?",
    ]);
    const back = await host.turn(sid, "and I?");
    assertEquals([back.text, sent(server.calls().at(-1)).length], ['echo: "and I?"', 7]);
  });
});

Deno.test("core D.4: ACP answers a prompt for a session that another program works in with an error that says what to do", async () => {
  const model = hangingModel();
  await using server = await startModelServer({ respond: model.respond });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  await using first = startAcp(rig);
  await first.initialize();
  const sessionId = await first.newSession(rig.workspace);
  await first.prompt(sessionId, "first");
  await using second = startAcp(rig);
  await second.initialize();
  await second.request("session/resume", { sessionId, cwd: rig.workspace });
  const running = first.startPrompt(sessionId, "hang");
  await eventually(() => model.hangs === 1, 5_000, "the model to be asked");
  const error = (await second.startPrompt(sessionId, "mine").answer).error!;
  assertEquals([error.code, error.data.reason], [-32602, "busy"]);
  assertMatch(error.message, /^session busy: another hermes \(process \d+\).*then send this again$/);
  assertEquals(rows(rig, sessionId).map((row) => row.role), ["user", "assistant", "user"]);
  // A cancel does not wait for the other program.
  const waiting = second.startPrompt(sessionId, "mine");
  await second.cancel(sessionId);
  assertEquals((await waiting.answer).result.stopReason, "cancelled");
  model.letGo();
  assertEquals((await running.answer).result.stopReason, "end_turn");
  await second.prompt(sessionId, "mine");
  assertEquals(rows(rig, sessionId).map((row) => row.content), [
    "first",
    'echo: "first"',
    "hang",
    "at last",
    "mine",
    'echo: "mine"',
  ]);
});

Deno.test("core D.4: a program that is killed in its turn holds up nobody", async () => {
  const model = hangingModel();
  await withCore({ model: { respond: model.respond } }, async ({ rig, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "first");
    await using other = await startGateway({ rig });
    const { session_id } = await other.request("session.resume", { session_id: stored });
    await host.request("prompt.submit", { session_id: sid, text: "hang" });
    await eventually(() => model.hangs === 1, 5_000, "the model to be asked");
    assertEquals((await other.refused("prompt.submit", { session_id, text: "me" })).code, 4009);
    host.kill("SIGKILL");
    await host.exited();
    model.letGo();
    assertEquals(leases(rig).map(({ session_id }) => session_id), [stored]);
    // Two messages of the user in a row go to the model as one.
    const echo = 'echo: "hang\\nme"';
    assertEquals((await other.turn(session_id, "me")).text, echo);
    await other.idle(session_id);
    assertEquals(leases(rig), []);
    assertEquals(rows(rig, stored).map((row) => row.content), [
      "first",
      'echo: "first"',
      "hang",
      "me",
      echo,
    ]);
  });
});

Deno.test("core D.4: another machine's turn holds a session until its lease expires", async () => {
  await withCore({ model: { loop: true, turns: ["yes"] } }, async ({ rig, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "first");
    const hold = (seconds: number) => {
      const db = new DatabaseSync(`${rig.home}/hermes.db`);
      db.exec("PRAGMA busy_timeout=5000");
      db.prepare("INSERT OR REPLACE INTO turn_holders VALUES ('h', 'elsewhere', 77, '1', ?)")
        .run(Date.now() / 1000 + seconds);
      db.prepare("UPDATE sessions SET turn_holder = 'h' WHERE id = ?").run(stored);
      db.close();
    };
    hold(50);
    const { code, message } = await host.refused("prompt.submit", { session_id: sid, text: "second" });
    assertEquals(code, 4009);
    assertMatch(message, /\(process 77 on elsewhere\)/);
    const run = await runProgram(["run", "--session", stored, "second"], { rig });
    assertEquals(run.code, 1);
    hold(-1);
    assertEquals((await host.turn(sid, "second")).status, "complete");
    assertEquals(rows(rig, stored).map((row) => row.content), ["first", "yes", "second", "yes"]);
  });
});
