import { assert, assertEquals } from "../support/assert.ts";
import { planSearch } from "../../src/store/search_query.ts";
import { agent, makeStore, sessionRow, user } from "./rig.ts";

async function stored(...contents: string[]) {
  const rig = await makeStore();
  await rig.store.createSession(sessionRow("s1", { title: "t" }));
  await rig.store.appendMessages("s1", contents.map(user));
  return { rig, store: rig.store, find: (q: string) => rig.store.search(q).map((hit) => hit.snippet) };
}

Deno.test("core 53: a prefix, an exact phrase and a CJK word are found and marked", async () => {
  const { rig, find } = await stored(
    "we deployed it",
    "the exact phrase here",
    "phrase exact",
    "昨日東京都庁へ行った",
  );
  await using _ = rig;
  assertEquals(find("deploy*"), ["we >>>deployed<<< it"]);
  assertEquals(find('"exact phrase"'), ["the >>>exact phrase<<< here"]);
  assertEquals(find("東京都"), ["昨日>>>東京都<<<庁へ行った"]);
});

Deno.test("core D.9: a match comes with the messages around it, cut, of its own session alone", async () => {
  const { rig, store } = await stored("first", "x".repeat(300), "the needle", "last");
  await using _ = rig;
  await store.createSession(sessionRow("s2", { title: "other" }));
  await store.appendMessages("s2", [user("needle alone")]);
  await store.appendMessages("s1", [user("needle again")]);
  const [again, alone, middle] = store.search("needle", { sort: "newest", around: true });
  assertEquals([middle!.before, middle!.after], [
    { role: "user", text: "x".repeat(200) },
    { role: "user", text: "last" },
  ]);
  assertEquals([alone!.before, alone!.after], [null, null]);
  assertEquals([again!.before, again!.after], [{ role: "user", text: "last" }, null]);
  assertEquals("before" in store.search("needle")[0]!, false);
});

Deno.test("search() finds CJK words that are too short for trigrams", async () => {
  const { rig, find } = await stored("昨日東京へ行った", "100%東_京", "plain");
  await using _ = rig;
  assertEquals(find("東京"), ["昨日>>>東京<<<へ行った"]);
  assertEquals(find("東_"), ["100%>>>東_<<<京"]);
  assertEquals(find("東京 100"), []);
});

Deno.test("search() keeps AND, OR, NOT and joins words by AND", async () => {
  const { rig, store } = await stored("red apple", "green apple", "red pear");
  await using _ = rig;
  const count = (q: string) => store.search(q).length;
  assertEquals(count("red apple"), 1);
  assertEquals(count("apple OR pear"), 3);
  assertEquals(count("apple NOT red"), 1);
  assertEquals(count("AND apple OR"), 2);
  assertEquals(count("apple AND NOT green"), 1);
});

Deno.test("search() takes any input without a syntax error", async () => {
  const { rig, store } = await stored("foo-bar.baz_qux at C:\\dir", "column text");
  await using _ = rig;
  assertEquals(store.search("foo-bar.baz_qux").length, 1);
  assertEquals(store.search("text:column").length, 1);
  const odd = [
    '"',
    '""',
    "*",
    "(",
    "a AND",
    "NEAR(a b)",
    "-x",
    "^",
    "{}:",
    "'; DROP TABLE messages; --",
    "\u0000",
  ];
  for (const query of [...odd, "\ud800", "x".repeat(10_000), "AND OR NOT", '"unbalanced phrase', "   "]) {
    assert(Array.isArray(store.search(query)), query);
  }
  assertEquals(store.check(), "ok");
});

Deno.test("search() finds tool names and arguments, and names the session", async () => {
  const { rig, store } = await stored("hello");
  await using _ = rig;
  const [id] = await store.appendMessages("s1", [{
    role: "assistant",
    content: null,
    toolCalls: [{ id: "c", name: "terminal", arguments: '{"command":"kubectl apply"}' }],
  }]);
  const [hit] = store.search("kubectl");
  assertEquals([hit!.messageId, hit!.sessionId, hit!.role, hit!.title], [id, "s1", "assistant", "t"]);
  assertEquals(store.search("terminal").length, 1);
});

Deno.test("search() leaves out agents' own sessions unless asked, and timeline rows always", async () => {
  const { rig, store } = await stored("needle");
  await using _ = rig;
  await store.createSession(sessionRow("sub", { source: "subagent" }));
  await store.appendMessages("sub", [agent("needle")]);
  await store.appendMessages("s1", [{ role: "user", content: "needle", displayKind: "hidden" }]);
  assertEquals(store.search("needle").map((hit) => hit.sessionId), ["s1"]);
  assertEquals(store.search("needle", { sources: ["subagent"] }).map((hit) => hit.sessionId), ["sub"]);
});

Deno.test("search() pages through many matches, newest first", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s1"));
  await store.appendMessages("s1", Array.from({ length: 1_200 }, (_, n) => user(`common ${n}`)));
  const first = store.search("common", { limit: 2 });
  const second = store.search("common", { limit: 2, offset: 2 });
  assertEquals([...first, ...second].map((hit) => hit.messageId), [1200, 1199, 1198, 1197]);
});

Deno.test("search() takes roles and an order, also of CJK words and many matches", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s1"));
  await store.appendMessages(
    "s1",
    Array.from({ length: 1_200 }, (_, n) => (n % 2 ? agent : user)(`common ${n} 東京`)),
  );
  for (const query of ["common", "東京", '"common"']) {
    const ids = (options: Parameters<typeof store.search>[1]) =>
      store.search(query, { limit: 2, ...options }).map((hit) => hit.messageId);
    assertEquals(ids({ sort: "oldest" }), [1, 2]);
    assertEquals(ids({ sort: "newest" }), [1200, 1199]);
    assertEquals(ids({ sort: "oldest", roles: ["assistant"] }), [2, 4]);
    assertEquals(ids({ sort: "oldest", roles: ["assistant"], offset: 1 }), [4, 6]);
    assertEquals(ids({ roles: ["tool"] }), []);
  }
});

Deno.test("FC-18: only the first part of a long tool result is indexed", async () => {
  const { rig, store } = await stored("x");
  await using _ = rig;
  const content = "start " + "a ".repeat(50_000) + "finish";
  await store.appendMessages("s1", [{ role: "tool", toolCallId: "c", toolName: "terminal", content }]);
  assertEquals([store.search("start").length, store.search("finish").length], [1, 0]);
  assertEquals(store.loadMessages("s1")[1]!.content, content);
});

Deno.test("planSearch() quotes every term and cuts long queries", () => {
  assertEquals(planSearch("a-b c*"), { type: "words", match: '"a-b" AND "c"*', terms: ["a-b", "c"] });
  assertEquals(planSearch("AND"), null);
  const long = planSearch("y".repeat(5_000));
  assert(long !== null && long.terms[0]!.length === 2_048);
});
