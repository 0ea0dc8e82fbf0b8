/**
 * A conversation of 10,000 messages (tui-gateway.md A.5 guarantee 1): while it is opened, read or copied, others are
 * served. Counted in answers that come before the one of the slow method, not in milliseconds.
 */
import type { Message } from "../../../src/core/mod.ts";
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { openStore } from "../../../src/store/mod.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { eventually, makeRig, type Rig, runProgram } from "../../support/program.ts";
import { withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

const STORED = "20260101_101500_0a1b2c";
const MESSAGES = 10_000;
/** A method that holds the thread from beginning to end lets none through, one in four pieces three. */
const LEAST = 4;

function conversation(): Message[] {
  return Array.from({ length: MESSAGES / 4 }, (_, n): Message[] => [
    { role: "user", content: `Question ${n}: ${"please look at this ".repeat(10)}` },
    {
      role: "assistant",
      content: "I look. ".repeat(20),
      toolCalls: [{
        id: `c${n}`,
        name: "terminal",
        arguments: JSON.stringify({ command: `ls -la src/${n}` }),
      }],
    },
    { role: "tool", toolCallId: `c${n}`, toolName: "terminal", content: "a line of output\n".repeat(60) },
    { role: "assistant", content: `Answer ${n}: ${"this is what was found. ".repeat(20)}` },
  ]).flat();
}

async function prepare({ home, workspace }: Rig): Promise<Record<string, string>> {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(`${home}/hermes.db`, { platform: createDenoPlatform(), log });
  await store.createSession({ id: STORED, source: "tui", cwd: workspace, config: {} });
  await store.appendMessages(STORED, conversation());
  store.close();
  return {};
}

interface Host {
  /** In the order in which they came. */
  readonly frames: readonly Json[];
  request(method: string, params?: Json): Promise<Json>;
}

/** One interrupt after the other while the method runs: how many were answered before it was. */
async function interruptsDuring(
  host: Host,
  sid: string,
  method: string,
  params: Json,
): Promise<[Json, number]> {
  const from = host.frames.length;
  let isOver = false;
  const slow = host.request(method, params).finally(() => isOver = true);
  while (!isOver) {
    assertEquals(await host.request("session.interrupt", { session_id: sid }), { status: "interrupted" });
  }
  const result = await slow;
  const frames = host.frames.slice(from);
  const at = frames.findIndex((frame) => frame.result?.session_id === result.session_id);
  return [result, frames.slice(0, at).filter((frame) => frame.result?.status === "interrupted").length];
}

async function check(host: Host): Promise<void> {
  const { session_id: sid } = await host.request("session.create");
  const [resumed, whileResumed] = await interruptsDuring(host, sid, "session.resume", { session_id: STORED });
  assertEquals([resumed.message_count, resumed.resumed], [MESSAGES, STORED]);
  assert(whileResumed >= LEAST, `session.resume let ${whileResumed} through`);

  const on = { session_id: resumed.session_id };
  const [branched, whileBranched] = await interruptsDuring(host, sid, "session.branch", on);
  assertEquals([branched.message_count, branched.parent], [MESSAGES, STORED]);
  assert(whileBranched >= LEAST, `session.branch let ${whileBranched} through`);

  const again = await host.request("session.resume", { session_id: STORED });
  assertEquals(again.messages, resumed.messages);
  const { count, messages } = await host.request("session.history", on);
  assertEquals([count, messages], [MESSAGES, resumed.messages]);
}

Deno.test("A.5: session.resume and session.branch of 10,000 messages let interrupts through (stdio)", async () => {
  await withGateway({ prepare }, async ({ host }) => await check(host));
});

Deno.test("A.5: session.resume and session.branch of 10,000 messages let interrupts through (WebSocket)", async () => {
  await withWsGateway({ prepare }, async ({ connect }) => await check(await connect()));
});

Deno.test("A.5, B.11: while a rewind looks for its target in 10,000 messages, and cuts, other connections are served", async () => {
  await withWsGateway({
    prepare,
    config: { compression: { enabled: false } },
    model: { respond: () => "anew" },
  }, async ({ connect }) => {
    const [host, other] = [await connect(), await connect()];
    const { session_id: sid } = await other.request("session.create");
    const { session_id: long, messages } = await host.request("session.resume", { session_id: STORED });
    const turns = messages.filter((row: Json) => row.role === "user");
    const to = { session_id: long, truncate_before_row_id: turns.at(-1)!.row_id, confirm_truncate: true };

    const wrong = { ...to, text: "x", truncate_before_user_ordinal: 0 };
    const [refused, whileRefused] = await servedDuring(other, sid, () => host.call("prompt.submit", wrong));
    assertEquals(refused.error.code, 4030);
    assert(whileRefused >= LEAST, `a refused rewind let ${whileRefused} through`);

    const cut = { ...to, text: "instead", truncate_before_user_ordinal: turns.length - 1 };
    const [done, whileCut] = await servedDuring(other, sid, () => host.call("prompt.submit", cut));
    assertEquals([done.result.status, done.result.survivor_user_row_ids.length], [
      "streaming",
      turns.length - 1,
    ]);
    // It searches as the refused one did, and writes: that lets as many through again, at the least.
    assert(
      whileCut >= whileRefused + LEAST,
      `a rewind let ${whileCut} through, ${whileRefused} of them in its search`,
    );
    await host.event("message.complete", long);
    const after = (await host.request("session.history", { session_id: long })).messages;
    const left = after.filter((row: Json) => row.role === "user");
    assertEquals(done.result.survivor_user_row_ids, left.slice(0, -1).map((row: Json) => row.row_id));
    assertEquals([left.length, left.at(-1).text, after.at(-1).text], [turns.length, "instead", "anew"]);
  });
});

Deno.test("A.5, B.1: while a session is created with 50,000 messages other connections are served", async () => {
  await withWsGateway({ model: { respond: () => "x" } }, async ({ connect }) => {
    const [host, other] = [await connect(), await connect()];
    const { session_id: sid } = await other.request("session.create");
    const messages = Array.from({ length: 5 * MESSAGES }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: `Line ${n} of what was said`,
    }));
    const [made, served] = await servedDuring(other, sid, () => host.request("session.create", { messages }));
    assertEquals(made.message_count, messages.length);
    assertEquals(made.messages.map((row: Json) => row.text), messages.map(({ content }) => content));
    // Without a pause it is the one that came with the request.
    assert(served >= 2, `session.create let ${served} through`);
  });
});

Deno.test("core.md D.2: what a rewind of 10,000 messages has written is folded back by a process of its own", async () => {
  await withWsGateway({
    prepare,
    config: { compression: { enabled: false }, logging: { level: "DEBUG" } },
    model: { respond: () => "anew" },
  }, async ({ rig, connect }) => {
    const host = await connect();
    const { session_id: sid, messages } = await host.request("session.resume", { session_id: STORED });
    const last = messages.findLast((row: Json) => row.role === "user").row_id;
    const size = () => Deno.statSync(`${rig.home}/hermes.db`).size;
    const before = size();
    await host.request("prompt.submit", {
      session_id: sid,
      text: "instead",
      truncate_before_row_id: last,
      confirm_truncate: true,
    });
    await host.event("message.complete", sid);
    // The process is there for some ten milliseconds only: too short to be met in every look at what runs.
    const told = () => Deno.readTextFile(`${rig.home}/logs/agent.log`).catch(() => "");
    const folded = "folded back by another process";
    await eventually(async () => (await told()).includes(folded), 10_000, "word of the process");
    assert(size() > before + 5_000_000, `the database has grown from ${before} to ${size()} bytes`);
  });
});

Deno.test("fold-back refuses what is no database, and makes none", async () => {
  await using rig = await makeRig();
  const fold = async (...args: string[]) => {
    const { code, stderr } = await runProgram(["fold-back", ...args], { rig });
    return [code, stderr.trim()];
  };
  assertEquals(await fold(), [2, "usage: fold-back <database>"]);
  const [code, said] = await fold(`${rig.home}/absent.db`);
  assertEquals(code, 1);
  assertMatch(String(said), /No such file/);
  assertEquals([...Deno.readDirSync(rig.home)].filter(({ name }) => name.endsWith(".db")), []);
});

Deno.test("B.4: a session that is closed while a resume reads it is opened anew, not met half gone", async () => {
  await withWsGateway({ prepare }, async ({ connect }) => {
    const [host, other] = [await connect(), await connect()];
    const { session_id: first } = await host.request("session.resume", { session_id: STORED });
    const resuming = host.request("session.resume", { session_id: STORED });
    assertEquals(await other.request("session.close", { session_id: first }), { closed: true });
    const { session_id: sid, resumed, message_count: count } = await resuming;
    assertEquals([sid === first, resumed, count], [false, STORED, MESSAGES]);
    assertEquals((await host.request("session.status", { session_id: sid })).session_key, STORED);
  });
});

/** How many interrupts of another connection were answered meanwhile. */
async function servedDuring(
  other: Host,
  sid: string,
  run: () => Promise<Json>,
): Promise<[Json, number]> {
  let isOver = false;
  const slow = run().finally(() => isOver = true);
  let served = 0;
  while (!isOver) {
    await other.request("session.interrupt", { session_id: sid });
    if (!isOver) served++;
  }
  return [await slow, served];
}

Deno.test("A.5, core A.16: while a compression in place rewrites 10,000 messages other connections are served", async () => {
  const answered = Promise.withResolvers<void>();
  const respond = () => {
    answered.resolve();
    return "THE SUMMARY";
  };
  const config = { compression: { in_place: true } };
  await withWsGateway({ prepare, config, model: { respond } }, async ({ connect }) => {
    const [host, other] = [await connect(), await connect()];
    const { session_id: sid } = await other.request("session.create");
    const { session_id: long } = await host.request("session.resume", { session_id: STORED });
    const compressing = host.request("session.compress", { session_id: long });
    // From here on it is only written down.
    await answered.promise;
    const [done, served] = await servedDuring(other, sid, () => compressing);
    assertEquals([done.status, done.before_messages], ["compressed", MESSAGES]);
    assert(served >= LEAST, `a compression in place let ${served} through`);
    const { count, messages } = await host.request("session.history", { session_id: long });
    assertEquals([count, messages], [done.after_messages, done.messages]);
    assertEquals((await host.request("session.title", { session_id: long })).session_key, STORED);
  });
});
