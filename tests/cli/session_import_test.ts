/** Lines of `hermes sessions export` come back; the limits of core.md D.10. */
import { MAX_IMPORT, readImport } from "../../src/cli/session_import.ts";
import { messageJson, sessionJson } from "../../src/cli/session_text.ts";
import type { Message, SessionRow } from "../../src/core/contract.ts";
import { makeStore, sessionRow } from "../store/rig.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";

const MESSAGES: readonly Message[] = [
  {
    role: "user",
    content: [{ type: "text", text: "look" }, { type: "image_url", image_url: { url: "data:," } }],
  },
  {
    role: "assistant",
    content: null,
    reasoning: "hm",
    toolCalls: [{ id: "c1", name: "terminal", arguments: '{"command":"ls"}' }],
    finishReason: "tool_calls",
  },
  { role: "tool", toolCallId: "c1", toolName: "terminal", content: "a.txt", effect: "unknown" },
  { role: "user", content: "note", displayKind: "notice" },
  { role: "assistant", content: "done" },
];

const line = (more: Record<string, unknown> = {}) =>
  JSON.stringify({ id: "s1", source: "acp", messages: [], ...more });
const why = (text: string) => {
  try {
    readImport(text);
  } catch (error) {
    return (error as Error).message;
  }
  return "taken";
};

Deno.test("core D.10: what export writes is what import brings back, times and all", async () => {
  await using from = await makeStore();
  await using to = await makeStore();
  await from.store.createSession(
    sessionRow("s1", { title: "Fix it", startedAt: 1_000, config: { model: "m" } }),
  );
  await from.store.appendMessages("s1", MESSAGES);
  await from.store.endSession("s1", "closed");
  const [before, kept] = [from.store.getSession("s1") as SessionRow, from.store.loadLineage("s1")];
  const [session] = readImport(
    JSON.stringify({ ...sessionJson(before), messages: kept.map(messageJson) }) + "\n",
  );
  assertEquals(await to.store.importSession(session!), true);
  const after = to.store.getSession("s1") as SessionRow;
  const facts = (row: SessionRow) => [
    [row.source, row.title, row.cwd, row.config.model, row.startedAt, row.lastActivityAt],
    [row.endedAt, row.endReason, row.messageCount, row.toolCallCount],
  ];
  assertEquals(facts(after), facts(before));
  const bare = (messages: readonly Message[]) => messages.map(({ rowId: _, ...message }) => message);
  assertEquals(bare(to.store.loadMessages("s1")), bare(kept));
  assertEquals(to.store.search("a.txt").length, from.store.search("a.txt").length);
  assertEquals(await to.store.importSession(session!), false, "it is here already");
  const [twin] = readImport(line({ id: "s2", title: "Fix it" }));
  await to.store.importSession(twin!);
  assertEquals(to.store.getSession("s2")?.title, "Fix it #2");
});

Deno.test("core D.10: 500 sessions, 10,000 messages each, 5 MB each, 25 MB in all", () => {
  const lines = Array.from({ length: 500 }, (_, n) => line({ id: `s${n}` }));
  assertEquals(readImport(lines.join("\n")).length, 500);
  assertEquals(why([...lines, line({ id: "more" })].join("\n")), "line 501: more than 500 sessions");
  const one = { role: "user", content: "x" };
  assertEquals(readImport(line({ messages: Array(10_000).fill(one) }))[0]!.messages.length, 10_000);
  assertEquals(
    why(line({ messages: Array(10_001).fill(one) })),
    "line 1: a session of more than 10000 messages",
  );
  const empty = line({ messages: [{ role: "user", content: "" }] }).length;
  const sized = (bytes: number) => line({ messages: [{ role: "user", content: "x".repeat(bytes - empty) }] });
  assertEquals(readImport(sized(5_000_000)).length, 1);
  assertEquals(why(sized(5_000_001)), "line 1: a session of more than 5 MB");
  assertEquals(MAX_IMPORT, 25_000_000);
});

Deno.test("core D.10: a line that is no session is named, and nothing is taken", () => {
  assertEquals(why("{"), "line 1: this is no JSON object");
  assertEquals(why(`${line()}\n[]`), "line 2: this is no JSON object");
  assertEquals(why(line({ id: "../x" })), "line 1: a session needs an id");
  assertEquals(why(`${line()}\n\n${line()}`), "line 3: the session s1 stands there twice");
  assertEquals(
    why(JSON.stringify({ id: "a" })),
    "line 1: a session needs messages, as sessions export writes them",
  );
  for (
    const message of [
      { role: "system", content: "you are" },
      { role: "user", content: 5 },
      { role: "tool", content: "x" },
      { role: "assistant", content: "x", tool_calls: [{ id: "c", function: { name: "t", arguments: {} } }] },
    ]
  ) assertEquals(why(line({ messages: [message] })), "line 1: message 1 is none that sessions export writes");
  assertThrows(() => readImport("nonsense"));
});
