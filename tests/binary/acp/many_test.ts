/** Several sessions at once, long ones, and those of other doors (FC-14.1; acp.md C3, D3; issue "speed"). */
import { ALLOW, calls, DENY, type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram } from "../../support/program.ts";
import { DatabaseSync } from "node:sqlite";
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { openStore } from "../../../src/store/mod.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

const ROUNDS = 20;

Deno.test("FC-14.1: of ten sessions that wait exactly the approved one runs its command, twenty times over", async () => {
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.role === "user" ? calls(["terminal", { command: `rm -rf ${last.content}` }]) : "ok";
  };
  await withAcp({ respond }, async ({ acp, rig }) => {
    acp.onPermission = () => undefined;
    for (let round = 0; round < ROUNDS; round++) {
      const dirs = Array.from({ length: 10 }, (_, n) => `${rig.workspace}/r${round}-${n}`);
      for (const dir of dirs) await Deno.mkdir(dir);
      const ids = await Promise.all(dirs.map(() => acp.newSession(rig.workspace)));
      const sent = ids.map((id, n) => acp.startPrompt(id, dirs[n]!));
      const asked = await eventually(
        () => {
          const all = acp.requests("session/request_permission").slice(round * 10);
          return all.length === 10 && all;
        },
        15_000,
        "ten questions",
      );
      const of = (n: number) => asked.find((r: Json) => r.params.sessionId === ids[n]);
      const approved = (2 + round) % 10;
      const denied = (7 + round) % 10;
      for (const request of asked) assert(request.params.toolCall.rawInput.command.startsWith("rm -rf "));
      await acp.respond(of(approved).id, ALLOW);
      await acp.respond(of(denied).id, DENY);
      await Promise.all([sent[approved]!.answer, sent[denied]!.answer]);
      const left = await Promise.all(dirs.map(exists));
      assertEquals(left, dirs.map((_, n) => n !== approved), `round ${round}`);
      await Promise.all(ids.map((id) => acp.cancel(id)));
      const ends = await Promise.all(sent.map(async ({ answer }) => (await answer).result.stopReason));
      assertEquals(ends, ids.map((_, n) => n === approved || n === denied ? "end_turn" : "cancelled"));
      await Promise.all(ids.map((id) => acp.request("session/close", { sessionId: id })));
      assertEquals(await Promise.all(dirs.map(exists)), left);
    }
  });
});

Deno.test("four sessions that stream at once each have their own text, whole, with one frame per delta at most", async () => {
  const deltas = 3_000;
  const respond = (request: Json) => {
    const word = request.body.messages.at(-1).content;
    return { steps: Array.from({ length: deltas }, (_, n) => ({ text: `${word}${n} ` })), pack: 20 };
  };
  await withAcp({ respond }, async ({ acp, rig }) => {
    const words = ["ant", "bee", "cat", "dog"];
    const ids = await Promise.all(words.map(() => acp.newSession(rig.workspace)));
    const ends = await Promise.all(ids.map((id, n) => acp.prompt(id, words[n]!, 60_000)));
    assertEquals(ends.map((end) => end.stopReason), Array(4).fill("end_turn"));
    for (const [n, id] of ids.entries()) {
      const wanted = Array.from({ length: deltas }, (_, i) => `${words[n]}${i} `).join("");
      assertEquals(acp.text(id), wanted);
      const chunks = acp.updates(id).filter((u) => u.sessionUpdate === "agent_message_chunk");
      assert(chunks.length <= deltas, `${chunks.length} frames`);
      assertEquals(new Set(chunks.map((u) => u.messageId)).size, 1);
    }
  });
});

Deno.test("session/load of a session of 200 messages gives all of them in order, before its answer", async () => {
  await using rig = await makeRig({ config: modelConfig("http://127.0.0.1:9/v1") });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(`${rig.home}/hermes.db`, { platform: createDenoPlatform(), log: silent });
  const sessionId = crypto.randomUUID();
  await store.createSession({ id: sessionId, source: "acp", cwd: rig.workspace, config: {} });
  await store.appendMessages(
    sessionId,
    Array.from(
      { length: 200 },
      (_, n) =>
        n % 2 === 0
          ? { role: "user" as const, content: `question ${n}` }
          : { role: "assistant" as const, content: `answer ${n}` },
    ),
  );
  store.close();
  await using acp = startAcp(rig);
  await acp.initialize();
  const sent = acp.send("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
  const answer = await sent.answer;
  assert(answer.result, JSON.stringify(answer.error));
  const before = acp.frames.slice(0, acp.indexOfAnswer(sent.id)).map(({ frame }) => frame.params?.update)
    .filter(Boolean);
  assertEquals(
    before.map((u) => u.content.text),
    Array.from({ length: 200 }, (_, n) => `${n % 2 === 0 ? "question" : "answer"} ${n}`),
  );
  assertWithin(answer.at - sent.at, 1_000);
});

Deno.test("acp.all_sources lists and loads a conversation of another door; without it there is none", async () => {
  await using model = await startModelServer({ respond: (_, n) => `answer ${n}` });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const run = await runProgram(["run", "begun on the command line"], { rig });
  assertEquals([run.code, run.stdout], [0, "answer 0\n"]);
  const place = { cwd: rig.workspace, mcpServers: [] };
  let foreign = "";
  {
    await rig.writeConfig(modelConfig(model.url, { acp: { all_sources: true } }));
    await using acp = startAcp(rig);
    await acp.initialize();
    const { sessions } = await acp.request("session/list", { cwd: rig.workspace });
    assertEquals(sessions.map((s: Json) => [s.title, s.cwd]), [["begun on the command line", rig.workspace]]);
    foreign = sessions[0].sessionId;
    await acp.request("session/load", { sessionId: foreign, ...place });
    assertEquals(
      acp.updates(foreign).slice(0, 2).map((u) => [u.sessionUpdate, u.content.text]),
      [["user_message_chunk", "begun on the command line"], ["agent_message_chunk", "answer 0"]],
    );
    assertEquals((await acp.prompt(foreign, "go on here")).stopReason, "end_turn");
    assertEquals(acp.text(foreign).slice(-8), "answer 1");
    assertEquals((await acp.request("session/list", { cwd: rig.home })).sessions, []);
  }
  await rig.writeConfig(modelConfig(model.url));
  await using acp = startAcp(rig);
  await acp.initialize();
  assertEquals((await acp.request("session/list", {})).sessions, []);
  assertEquals((await acp.ask("session/load", { sessionId: foreign, ...place })).error?.code, -32002);
});

Deno.test("acp C3: pages go on behind an id of another door in any script, and past a time that is none", async () => {
  await using model = await startModelServer();
  await using rig = await makeRig({ config: modelConfig(model.url, { acp: { all_sources: true } }) });
  await using acp = startAcp(rig);
  await acp.initialize();
  assertEquals((await acp.request("session/list", {})).sessions, []);
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(`${rig.home}/hermes.db`, { platform: createDenoPlatform(), log: silent });
  const ids = Array.from({ length: 52 }, (_, n) => `séance-会議-${100 + n}`);
  for (const id of ids) {
    await store.createSession({ id, source: "api_server", cwd: rig.workspace, config: {} });
    await store.appendMessages(id, [{ role: "user", content: `about ${id}` }]);
  }
  store.close();
  const db = new DatabaseSync(`${rig.home}/hermes.db`);
  ids.forEach((id, n) =>
    db.prepare("UPDATE sessions SET last_activity_at = ? WHERE id = ?").run(n === 51 ? 1e15 : 1000 - n, id)
  );
  db.close();
  const first = await acp.request("session/list", {});
  const second = await acp.request("session/list", { cursor: first.nextCursor });
  const listed = [...first.sessions, ...second.sessions];
  assertEquals(listed.map((s: Json) => s.sessionId), [ids[51], ...ids.slice(0, 51)]);
  assertEquals(listed.slice(0, 2).map((s: Json) => s.updatedAt), [undefined, "1970-01-01T00:16:40.000Z"]);
});

Deno.test("C11: usage_update carries what the session has cost so far when the prices are known", async () => {
  const turn = { steps: [{ text: "hi" }, { usage: { prompt_tokens: 1000, completion_tokens: 100 } }] };
  const priced = { id: "priced", pricing: { prompt: "0.000001", completion: "0.00001" } };
  await using model = await startModelServer({ turns: [turn, turn], models: ["scripted", priced] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig);
  await acp.initialize();
  const sessionId = await acp.newSession(rig.workspace);
  await acp.prompt(sessionId, "/model priced");
  const costs = () =>
    acp.updates(sessionId).filter((u) => u.sessionUpdate === "usage_update").map((u) => u.cost);
  assertEquals(costs().filter(Boolean), []);
  await acp.prompt(sessionId, "one");
  assertEquals(costs().at(-1), { amount: 0.002, currency: "USD" });
  await acp.prompt(sessionId, "two");
  assertEquals(costs().at(-1), { amount: 0.004, currency: "USD" });
});

Deno.test("session/list has the first words as the title until there is a better one", async () => {
  await withAcp({ turns: ["hi"] }, async ({ acp, rig, sessionId }) => {
    await acp.prompt(sessionId, "the first words");
    const { sessions } = await acp.request("session/list", {});
    assertMatch(sessions[0].title, /^the first words$/);
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const store = openStore(`${rig.home}/hermes.db`, { platform: createDenoPlatform(), log: silent });
    await store.setTitle(sessionId, "A better name");
    store.close();
    assertEquals((await acp.request("session/list", {})).sessions[0].title, "A better name");
  });
});
