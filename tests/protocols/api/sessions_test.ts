import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { createClient, createFakeHermes, resultOf, userSays } from "./fake_hermes.ts";

type Turn = readonly [role: "user" | "assistant" | "system", content: string];

function messages(...turns: Turn[]): { messages: unknown[] } {
  return { messages: turns.map(([role, content]) => ({ role, content })) };
}

function idOf(response: Response): string {
  return response.headers.get("x-hermes-session-id") ?? "";
}

Deno.test("api 28: a conversation that grows stays in its session", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const first = await chat(messages(["system", "s"], ["user", "hi"]));
  const second = await chat(
    messages(["system", "s"], ["user", "hi"], ["assistant", " Hello!\n"], ["user", "more"]),
  );
  const third = await chat(
    messages(["system", "s"], ["user", "hi"], ["assistant", "Hello!"], ["user", "more"], [
      "assistant",
      "Hello!",
    ], [
      "user",
      "again",
    ]),
  );
  assertMatch(idOf(first), /^api-[0-9a-f]{16}$/);
  assertEquals([idOf(second), idOf(third)], [idOf(first), idOf(first)]);
  assertEquals(fake.submitted[2]!.options.history?.length, 4);
});

Deno.test("api 28, FC-09: a stranger with the same words gets another session, which is found again", async () => {
  const fake = createFakeHermes();
  let n = 0;
  fake.play = () => resultOf({ text: `answer ${++n}` });
  const { chat } = createClient(fake);
  const anna = await chat(messages(["user", "hi"]));
  const bert = await chat(messages(["user", "hi"]));
  assert(idOf(anna) !== idOf(bert));
  assertMatch(idOf(bert), /^api-[0-9a-f]{16}$/);
  const bertAgain = await chat(messages(["user", "hi"], ["assistant", "answer 2"], ["user", "b2"]));
  const annaAgain = await chat(messages(["user", "hi"], ["assistant", "answer 1"], ["user", "a2"]));
  assertEquals([idOf(annaAgain), idOf(bertAgain)], [idOf(anna), idOf(bert)]);
  const texts = fake.submitted.map(({ options }) => JSON.stringify(options.history));
  assertEquals(texts[2]!.includes("answer 1"), false);
  assertEquals(texts[3]!.includes("answer 2"), false);
});

Deno.test("FC-09: two strangers at the same moment do not share a session", async () => {
  const fake = createFakeHermes();
  const gate = Promise.withResolvers<void>();
  fake.play = async () => {
    await gate.promise;
    return resultOf();
  };
  const { chat } = createClient(fake);
  const answers = [chat(userSays("hi")), chat(userSays("hi")), chat(userSays("hi"))];
  gate.resolve();
  const ids = (await Promise.all(answers)).map(idOf);
  assertEquals(new Set(ids).size, 3);
});

Deno.test("FC-09: a session with a turn in it is not continued by anyone else", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const first = await chat(messages(["user", "hi"]));
  const gate = Promise.withResolvers<void>();
  fake.play = async () => {
    await gate.promise;
    return resultOf();
  };
  const follow = (text: string) => chat(messages(["user", "hi"], ["assistant", "Hello!"], ["user", text]));
  const both = [follow("one"), follow("two")];
  gate.resolve();
  const ids = (await Promise.all(both)).map(idOf);
  // Both came at once: whichever was admitted first goes on, the other one is a stranger.
  assertEquals(ids.filter((id) => id === idOf(first)).length, 1);
  assert(ids[1] !== ids[0]);
});

Deno.test("a history nobody here has had seeds its session, so that the next turn finds it", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const imported: Turn[] = [["user", "hi"], ["assistant", "from elsewhere"]];
  const first = await chat(messages(...imported, ["user", "go on"]));
  const second = await chat(
    messages(...imported, ["user", "go on"], ["assistant", "Hello!"], ["user", "more"]),
  );
  assertEquals(idOf(second), idOf(first));
});

Deno.test("system text, session key and opening words each make another conversation", async () => {
  const { chat } = createClient(createFakeHermes());
  const ids = [
    idOf(await chat(messages(["user", "hi"]))),
    idOf(await chat(messages(["system", "s"], ["user", "hi"]))),
    idOf(await chat(messages(["user", "hi"]), { "X-Hermes-Session-Key": "a" })),
    idOf(await chat(messages(["user", "hi"]), { "X-Hermes-Session-Key": "b" })),
    idOf(await chat(messages(["user", "hi there"]))),
    idOf(
      await createClient(createFakeHermes(), { key: "x".repeat(32) }).app.request(
        "http://127.0.0.1/v1/chat/completions",
        {
          method: "POST",
          headers: { Authorization: `Bearer ${"x".repeat(32)}` },
          body: JSON.stringify(messages(["user", "hi"])),
        },
      ),
    ),
  ];
  assertEquals(new Set(ids).size, 6);
});

Deno.test("an image opens a conversation as well", async () => {
  const { chat } = createClient(createFakeHermes());
  const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  const response = await chat({ messages: [{ role: "user", content: [image] }] });
  assertMatch(idOf(response), /^api-[0-9a-f]{16}$/);
});

Deno.test("api 29: a client's own id is used and echoed, and the server's transcript is the context", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const header = { "X-Hermes-Session-Id": "my-session" };
  const first = await chat(
    messages(["user", "ignored"], ["assistant", "ignored too"], ["user", "one"]),
    header,
  );
  const second = await chat(messages(["user", "two"]), header);
  assertEquals([idOf(first), idOf(second)], ["my-session", "my-session"]);
  assertEquals(fake.submitted.map(({ sessionId }) => sessionId), ["my-session", "my-session"]);
  assertEquals(fake.submitted.map(({ options }) => options.history), [undefined, undefined]);
});

Deno.test("idle sessions above max_live_sessions are closed, the least recently used first", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const header = (n: number) => ({ "X-Hermes-Session-Id": `s${n}` });
  for (let n = 0; n < 16; n++) await chat(userSays("hi"), header(n));
  await chat(userSays("again"), header(0));
  const closed = () => fake.hermes.sessions.live().filter((session) => session.closed).map(({ id }) => id);
  assertEquals(closed(), []);
  await chat(userSays("hi"), header(16));
  await chat(userSays("hi"), header(17));
  assertEquals(closed(), ["s1", "s2"]);
});
