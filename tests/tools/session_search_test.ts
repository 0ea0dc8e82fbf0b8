import type { Message, SessionStore } from "@/core/mod.ts";
import { createTools } from "@/tools/mod.ts";
import { agent, makeStore, sessionRow, user } from "../store/rig.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type Json, makeBench } from "./context.ts";

interface Kit extends AsyncDisposable {
  readonly store: SessionStore;
  /** Called from the session `me`. */
  search(args: Json): Promise<Json>;
  add(id: string, messages: readonly Message[], extra?: Json): Promise<number[]>;
}

async function makeKit(): Promise<Kit> {
  const rig = await makeStore();
  const bench = await makeBench();
  const tool = createTools({ sessions: () => rig.store }).find((one) => one.name === "session_search")!;
  const kit: Kit = {
    store: rig.store,
    search: async (args) =>
      JSON.parse((await tool.execute(args, bench.context({ session: "me" }))).content as string),
    add: async (id, messages, extra = {}) => {
      await rig.store.createSession(sessionRow(id, { startedAt: 1_700_000_000, ...extra }));
      return await rig.store.appendMessages(id, messages);
    },
    [Symbol.asyncDispose]: async () => {
      await bench[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
  return kit;
}

function talk(turns: number, word = "text"): Message[] {
  return Array.from(
    { length: turns },
    (_, i) => [user(`${word} question ${i}`), agent(`${word} answer ${i}`)],
  ).flat();
}

Deno.test("session_search browse: the newest, without itself and without the agent's own work", async () => {
  await using kit = await makeKit();
  await kit.add("old", [user("the old one"), agent("yes")], { title: "Old days" });
  await kit.add("new", [user("the new one")], { config: { model: "m1" } });
  await kit.add("sub", [user("hidden")], { source: "subagent" });
  await kit.add("me", [user("asking")]);
  const { success, mode, results, count } = await kit.search({});
  assertEquals([success, mode, count], [true, "browse", 2]);
  assertEquals(results.map((one: Json) => [one.session_id, one.title, one.preview, one.message_count]), [
    ["new", null, "the new one", 1],
    ["old", "Old days", "the old one", 2],
  ]);
  assertEquals([results[0].source, results[0].started_at], ["acp", "2023-11-14T22:13:20Z"]);
});

Deno.test("session_search discover: one hit per conversation with anchor, neighbours and both ends", async () => {
  await using kit = await makeKit();
  const ids = await kit.add("s1", talk(10), { title: "Ten turns", config: { model: "m1" } });
  await kit.store.appendMessages("s1", [user("where is the zebra"), agent("zebra in the zoo"), ...talk(5)]);
  await kit.add("s2", [user("another zebra")]);
  await kit.add("me", [user("zebra here")]);
  const found = await kit.search({ query: "zebra", sort: "oldest" });
  assertEquals([found.mode, found.count, found.sessions_searched], ["discover", 2, 3]);
  const [first, second] = found.results;
  assertEquals([first.session_id, first.when, first.model, first.title, first.matched_role], [
    "s1",
    "2023-11-14T22:13:20Z",
    "m1",
    "Ten turns",
    "user",
  ]);
  assertEquals(first.snippet, "where is the >>>zebra<<<");
  assertEquals(first.match_message_id, ids.at(-1)! + 1);
  assertEquals(first.messages.length, 11);
  assertEquals(first.messages.filter((m: Json) => m.anchor).map((m: Json) => m.content), [
    "where is the zebra",
  ]);
  assertEquals([first.messages_before, first.messages_after], [15, 6]);
  assertEquals(first.bookend_start.map((m: Json) => m.content), [
    "text question 0",
    "text answer 0",
    "text question 1",
  ]);
  assertEquals(first.bookend_end.at(-1).content, "text answer 4");
  assertEquals(second.session_id, "s2");
});

Deno.test("session_search discover: titles first, cron last, roles filtered, nothing said plainly", async () => {
  await using kit = await makeKit();
  await kit.add("cron", [user("gnu report")], { source: "cron" });
  await kit.add("tool", [user("x"), {
    role: "tool",
    toolCallId: "c",
    toolName: "terminal",
    content: "yak output",
  } as Message]);
  await kit.add("text", [user("a gnu")]);
  await kit.add("titled", [user("other words")]);
  await kit.store.setTitle("titled", "All about gnu");
  await kit.add("me", [user("hi")]);
  const ids = async (args: Json) => (await kit.search(args)).results.map((one: Json) => one.session_id);
  assertEquals(await ids({ query: "gnu" }), ["titled", "text", "cron"]);
  assertEquals(await ids({ query: "gnu", limit: 1 }), ["titled"]);
  assertEquals(await ids({ query: "yak" }), []);
  assertEquals(await ids({ query: "yak", role_filter: "tool" }), ["tool"]);
  assertMatch((await kit.search({ query: "unheardof" })).message, /^Nothing found/);
});

Deno.test("session_search discover: a compressed conversation is one hit, and one's own past is none", async () => {
  await using kit = await makeKit();
  await kit.add("a", [user("ibex before"), agent("ok")]);
  await kit.store.rotate("a", sessionRow("a2", { parentId: "a" }), [user("ibex after")]);
  await kit.add("me0", [user("ibex mine")]);
  await kit.store.rotate("me0", sessionRow("me", { parentId: "me0" }), [user("summary")]);
  const { results } = await kit.search({ query: "ibex", limit: 10 });
  assertEquals(results.length, 1);
  assert(["a", "a2"].includes(results[0].session_id));
});

Deno.test("session_search read: the first 20 and the last 10 messages, long ones cut", async () => {
  await using kit = await makeKit();
  await kit.add("long", [...talk(20), user("x".repeat(3_000))], { title: "Long talk" });
  const read = await kit.search({ session_id: "long" });
  assertEquals([read.mode, read.message_count, read.messages.length, read.truncated], ["read", 41, 30, true]);
  assertEquals(read.messages[20].content, "text answer 15");
  assertEquals(read.messages.at(-1).content, `${"x".repeat(2_000)}… (3000 characters)`);
  await kit.add("short", talk(2));
  const short = await kit.search({ session_id: "short" });
  assertEquals([short.messages.length, short.truncated], [4, false]);
  assertEquals((await kit.search({ session_id: "Long talk" })).session_id, "long");
  await kit.store.setTitle("short", "feature/login");
  assertEquals((await kit.search({ session_id: "feature/login" })).session_id, "short");
  assertEquals((await kit.search({ session_id: "default/long" })).session_id, "long");
  const none = await kit.search({ session_id: "nothing-here" });
  assertEquals([none.success, none.error], [
    false,
    "Session 'nothing-here' not found. Without arguments this tool lists the newest",
  ]);
});

Deno.test("session_search scroll: a window around a message, its edges counted", async () => {
  await using kit = await makeKit();
  const ids = await kit.add("s", talk(10));
  const at = await kit.search({ session_id: "s", around_message_id: ids[4], window: 2 });
  assertEquals([at.mode, at.window, at.messages_before, at.messages_after], ["scroll", 2, 2, 13]);
  assertEquals(at.messages.map((m: Json) => m.id), ids.slice(2, 7));
  assertEquals(at.messages[2].anchor, true);
  const edge = await kit.search({ session_id: "s", around_message_id: ids[0], window: 99 });
  assertEquals([edge.window, edge.messages_before, edge.messages.length], [20, 0, 20]);
  assertMatch(
    (await kit.search({ session_id: "s", around_message_id: 999_999 })).error,
    /has no message 999999/,
  );
  assertMatch((await kit.search({ around_message_id: 5 })).error, /needs the 'session_id'/);
});

Deno.test("session_search scroll is refused in the own conversation, also in its compressed past", async () => {
  await using kit = await makeKit();
  const [id] = await kit.add("me0", [user("mine")]);
  await kit.store.rotate("me0", sessionRow("me", { parentId: "me0" }), [user("summary")]);
  const refused = await kit.search({ session_id: "me0", around_message_id: id });
  assertEquals([refused.success, refused.error], [
    false,
    "That message belongs to the conversation you are in: you have it before you already",
  ]);
});

Deno.test("session_search: sort and role_filter are asked of the store, not of its first 300 rows", async () => {
  await using kit = await makeKit();
  await kit.add("old", [agent("lynx in the file")]);
  for (let n = 0; n < 4; n++) {
    await kit.add(
      `noise${n}`,
      Array.from({ length: 100 }, () => ({
        role: "tool",
        toolCallId: "c",
        toolName: "terminal",
        content: "lynx",
      } as Message)),
    );
  }
  await kit.add("new", [user("a lynx, seen at last, in a long sentence about it")]);
  await kit.add("me", [user("hi")]);
  const ids = async (args: Json) => (await kit.search(args)).results.map((one: Json) => one.session_id);
  assertEquals(await ids({ query: "lynx", sort: "newest" }), ["new", "old"]);
  assertEquals(await ids({ query: "lynx", sort: "oldest" }), ["old", "new"]);
  assertEquals((await ids({ query: "lynx" })).toSorted(), ["new", "old"]);
  assertEquals(await ids({ query: "lynx", role_filter: "tool", sort: "oldest", limit: 1 }), ["noise0"]);
});

Deno.test("session_search: a conversation that belongs to a scoped key does not look into other profiles", async () => {
  await using here = await makeStore();
  await using other = await makeStore();
  await using bench = await makeBench();
  await other.store.createSession(sessionRow("theirs"));
  await other.store.appendMessages("theirs", [user("a heron")]);
  let closed = 0;
  const ask = async (owner: string | null, args: Json) => {
    const owners = { ofSession: (id: string) => id === "me" ? owner : null };
    const sessions = new Proxy(here.store, {
      get: (store, name) => {
        if (name === "owners") return owners;
        const value = store[name as keyof typeof store];
        return typeof value === "function" ? value.bind(store) : value;
      },
    });
    const openProfile = (name: string) =>
      name === "work"
        ? Object.assign(Object.create(other.store), {
          close: () => void closed++,
          owners: undefined,
        })
        : null;
    const tool = createTools({ sessions: () => sessions, openProfile }).find((one) =>
      one.name === "session_search"
    )!;
    return JSON.parse((await tool.execute(args, bench.context({ session: "me" }))).content as string);
  };
  const args = { query: "heron", profile: "work" };
  assertEquals((await ask("key_1", args)).error, "There is no profile 'work' with conversations");
  assertEquals((await ask("key_1", { session_id: "work/theirs" })).success, false);
  assertEquals(closed, 0);
  assertEquals((await ask(null, { profile: "nobody" })).success, false);
});

Deno.test("session_search is not there without a store", () => {
  assertEquals(createTools().some((tool) => tool.name === "session_search"), false);
});
