/** Several loads of one session, and a close among them (acp.md A6.4, C3, C10, C12). */
import { type Json, startAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { openStore } from "../../../src/store/mod.ts";

const COUNT = 3_000;

async function storeLong(rig: Rig): Promise<string> {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(`${rig.home}/hermes.db`, { platform: createDenoPlatform(), log: silent });
  const sessionId = crypto.randomUUID();
  await store.createSession({ id: sessionId, source: "acp", cwd: rig.workspace, config: {} });
  const rows = Array.from({ length: COUNT }, (_, n) => ({
    role: n % 2 === 0 ? "user" as const : "assistant" as const,
    content: `${n} ${"x".repeat(400)}`,
  }));
  await store.appendMessages(sessionId, rows);
  store.close();
  return sessionId;
}

function numbers(updates: Json[]): number[] {
  return updates.filter((u) => /_message_chunk$/.test(u.sessionUpdate)).map((u) => parseInt(u.content.text));
}

const ALL = Array.from({ length: COUNT }, (_, n) => n);

Deno.test("acp C12: loads of one session on neighbouring lines give the whole of it each, one after the other", async () => {
  await using rig = await makeRig({ config: modelConfig("http://127.0.0.1:9/v1") });
  const sessionId = await storeLong(rig);
  await using acp = startAcp(rig);
  await acp.initialize();
  const load = () => acp.send("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
  const [one, two] = [load(), load()];
  assert((await one.answer).result && (await two.answer).result);
  const [first, second] = [acp.indexOfAnswer(one.id), acp.indexOfAnswer(two.id)];
  const updatesIn = (from: number, to: number) =>
    acp.frames.slice(from, to).flatMap(({ frame }) => frame.params?.update ?? []);
  assertEquals(numbers(updatesIn(0, first)), ALL);
  assertEquals(numbers(updatesIn(first, second)), ALL);
});

Deno.test("acp C3: a close ends the load under way and the one that waits, and is answered after them", async () => {
  await using rig = await makeRig({ config: modelConfig("http://127.0.0.1:9/v1") });
  const sessionId = await storeLong(rig);
  await using acp = startAcp(rig);
  await acp.initialize();
  const place = { cwd: rig.workspace, mcpServers: [] };
  const loads = [1, 2].map(() => acp.send("session/load", { sessionId, ...place }));
  await acp.update((u) => u.sessionUpdate === "user_message_chunk");
  const close = acp.send("session/close", { sessionId });
  const again = acp.send("session/load", { sessionId, ...place });
  assertEquals((await close.answer).result, {});
  const before = acp.indexOfAnswer(close.id);
  for (const one of loads) {
    const { result, error } = await one.answer;
    assert(result || error?.code === -32800, JSON.stringify(error));
    assert(acp.indexOfAnswer(one.id) < before);
  }
  assert((await again.answer).result);
  const shown = acp.frames.slice(before).flatMap(({ frame }) => frame.params?.update ?? []);
  assertEquals(numbers(shown), ALL);
  assertEquals((await acp.ask("session/close", { sessionId })).result, {});
});
