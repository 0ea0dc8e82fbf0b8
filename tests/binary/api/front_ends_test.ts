/** What chat front ends do beside plain turns: stopping an answer, and small calls of their own (api-server.md C4, D2). */
import { assert, assertEquals } from "../../support/assert.ts";
import { type ApiServer, readSse, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";
import { ask, type Wire } from "./run_scene.ts";

type Turn = readonly [role: "user" | "assistant", content: string];

/** One whole turn of a client that sends its own history; the session it went to. */
async function say(api: ApiServer, turns: readonly Turn[]): Promise<string> {
  const response = await api.chat({ messages: turns.map(([role, content]) => ({ role, content })) });
  assertEquals(response.status, 200);
  await response.body?.cancel();
  return response.headers.get("x-hermes-session-id")!;
}

async function listed(api: ApiServer, query = ""): Promise<string[]> {
  const { body } = await ask(api, `/api/sessions${query}`);
  return body.data.map((row: Wire) => row.id);
}

/** Reads until `words` pieces of text have come, then leaves, as a stop button does; gives what was read. */
async function stopAfter(api: ApiServer, prompt: string, words: number) {
  const leave = new AbortController();
  const body = { messages: [{ role: "user", content: prompt }], stream: true };
  const response = await api.chat(body, { signal: leave.signal });
  const id = response.headers.get("x-hermes-session-id")!;
  let text = "";
  let read = 0;
  for await (const { json } of readSse(response)) {
    const piece = json?.choices[0]?.delta.content ?? "";
    if (piece === "") continue;
    text += piece;
    if (++read === words) break;
  }
  leave.abort();
  const stored = await eventually(
    async () => {
      const { body } = await ask(api, `/api/sessions/${id}/messages`);
      return body.data?.find((row: Wire) => row.finish_reason === "interrupted")?.content as
        | string
        | undefined;
    },
    20_000,
    "the stopped answer in the store",
  );
  return { id, text, stored };
}

const ENDLESS = { steps: [{ text: "word " }, { text: "and another ", repeat: 400, delay_ms: 20 }] };

Deno.test("C4, D2: a conversation goes on in its session after an answer was stopped, however much of it was read", async () => {
  await using model = await startModelServer({ turns: [ENDLESS, "on we go", "and on"] });
  await using api = await startApi({ model });
  const { id, text, stored } = await stopAfter(api, "tell me a story", 4);
  assert(stored.startsWith(text), stored);
  // A page that shows less than it was sent.
  const stopped: Turn[] = [["user", "tell me a story"], ["assistant", "word and"]];
  assertEquals(await say(api, [...stopped, ["user", "go on"]]), id);
  assertEquals(
    await say(api, [...stopped, ["user", "go on"], ["assistant", "on we go"], ["user", "more"]]),
    id,
  );
  assertEquals(await listed(api), [id]);
  const last = model.calls()[2]!.body.messages.filter((message: Wire) => message.role !== "system");
  assertEquals(last.map((message: Wire) => message.content), [
    "tell me a story",
    "word and",
    "go on",
    "on we go",
    "more",
  ]);
});

Deno.test("D2, FC-09: a stopped answer is not continued by one who has read something else, or nothing", async () => {
  await using model = await startModelServer({ turns: [ENDLESS, "a", "b"] });
  await using api = await startApi({ model });
  const { id } = await stopAfter(api, "tell me a story", 2);
  const other = await say(api, [["user", "tell me a story"], ["assistant", "no"], ["user", "go on"]]);
  const nothing = await say(api, [["user", "tell me a story"], ["user", "go on"]]);
  assert(other !== id);
  assert(nothing !== id);
});

Deno.test("D2, FC-09: of two that were stopped the one is meant that was stored so; what fits both is neither", async () => {
  await using model = await startModelServer({ turns: [ENDLESS, ENDLESS, "on we go", "b"] });
  await using api = await startApi({ model });
  const long = await stopAfter(api, "tell me a story", 40);
  const short = await stopAfter(api, "tell me a story", 2);
  assert(long.id !== short.id);
  assert(long.stored.startsWith(short.stored), short.stored);
  const goOn = (read: string) =>
    say(api, [["user", "tell me a story"], ["assistant", read], ["user", "go on"]]);
  const either = await goOn("word and");
  assert(either !== long.id && either !== short.id);
  assertEquals(await goOn(short.stored), short.id);
});

Deno.test("D2, FC-09: a part of an answer that came to its end is another conversation", async () => {
  await using model = await startModelServer({ turns: ["word and another", "b"] });
  await using api = await startApi({ model });
  const id = await say(api, [["user", "tell me a story"]]);
  const part = await say(api, [["user", "tell me a story"], ["assistant", "word"], ["user", "go on"]]);
  assert(part !== id);
});

const TITLE_TASK = '### Task:\nGive the conversation a title.\n### Output:\nJSON format: { "title": "…" }\n' +
  "### Chat History:\n<chat_history>\nUSER: hello\nASSISTANT: hi\n</chat_history>";
const WITH_DOCUMENTS =
  "### Task:\nAnswer from the context.\n<context>\nthe document\n</context>\nwhat does it say?";

Deno.test("C4: a title that a front end asks for is answered, and no list of conversations shows its session", async () => {
  await using model = await startModelServer({ turns: ["hi", '{ "title": "Hello" }', "fine", "it says so"] });
  await using api = await startApi({ model });
  const chat = await say(api, [["user", "hello"]]);
  const task = await say(api, [["user", TITLE_TASK]]);
  assertEquals(await say(api, [["user", "hello"], ["assistant", "hi"], ["user", "how are you?"]]), chat);
  const documents = await say(api, [["user", WITH_DOCUMENTS]]);
  assertEquals((await listed(api)).toSorted(), [chat, documents].toSorted());
  assertEquals(await listed(api, "?source=tool"), [task]);
  assertEquals((await ask(api, `/api/sessions/${task}`)).status, 200);
});

Deno.test("A8: a base URL without /v1 is answered with what is missing", async () => {
  await using model = await startModelServer({ turns: ["hi"] });
  await using api = await startApi({ model });
  for (const path of ["/models", "/chat/completions", "/responses"]) {
    const body = path === "/models" ? {} : { body: { messages: [{ role: "user", content: "hi" }] } };
    const refused = await ask(api, path, body);
    assertEquals([refused.status, refused.body.error.code], [404, "not_found"]);
    assert(refused.body.error.message.endsWith("ends in /v1"), refused.body.error.message);
  }
  assertEquals((await ask(api, "/nope")).body.error.message, "No such route");
  assertEquals(model.calls().length, 0);
});

Deno.test("B1, D1: a request that is refused for what it holds leaves no session behind", async () => {
  await using model = await startModelServer({ turns: ["hi"] });
  await using api = await startApi({ model });
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
  const messages = [
    { role: "user", content: "hello" },
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "call_1", content: "r" },
  ];
  const response = await api.chat({ messages }, { headers: { "X-Hermes-Session-Id": "mine" } });
  assertEquals(response.status, 400);
  await response.body?.cancel();
  assertEquals((await ask(api, "/api/sessions/mine")).status, 404);
});
