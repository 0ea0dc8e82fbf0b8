/** Words to texts: what fits best comes first (core.md B.14). */
import { Bm25, wordsOf } from "../../src/lib/bm25.ts";
import { assertEquals } from "../support/assert.ts";

const doc = (value: string, text = value) => ({ value, fields: [[text, 1]] as const });

Deno.test("core B.14: words are cut at case and underscores, plurals are one word with the singular", () => {
  assertEquals(wordsOf("mcp__git-hub__createIssues"), ["mcp", "git", "hub", "create", "issue"]);
  assertEquals(wordsOf("class HTTP2 access"), ["class", "http2", "access"]);
  assertEquals(wordsOf("查询 Wetter"), ["查", "询", "wetter"]);
  assertEquals(wordsOf("--- !"), []);
});

Deno.test("core B.14: a rare word outweighs a frequent one, a short text a long one, a heavy field a light one", () => {
  const rare = new Bm25([doc("a", "send message"), doc("b", "send invoice"), doc("c", "send mail")]);
  assertEquals(rare.search("send an invoice", 3), ["b", "a", "c"]);
  const long = new Bm25([doc("long", `issue ${"of many words ".repeat(20)}`), doc("short", "issue")]);
  assertEquals(long.search("issue", 2), ["short", "long"]);
  const heavy = new Bm25([
    { value: "told", fields: [["list", 3], ["create", 1]] as const },
    { value: "named", fields: [["create", 3], ["list", 1]] as const },
  ]);
  assertEquals(heavy.search("create", 2), ["named", "told"]);
});

Deno.test("core B.14: nothing that holds none of the words; the limit; equals in their order", () => {
  const index = new Bm25(["one", "two", "three"].map((name) => doc(name, "same words")));
  assertEquals(index.search("other", 5), []);
  assertEquals(index.search("", 5), []);
  assertEquals(index.search("words", 2), ["one", "two"]);
  assertEquals(new Bm25([]).search("words", 2), []);
});
