/** Which messages `/history` and `/save` are given (tui-gateway.md B.17), at moments that no host can time. */
import type { Hermes } from "../../../src/app/mod.ts";
import type { Message, Session } from "../../../src/core/contract.ts";
import { saveConversation, wholeConversation } from "../../../src/protocols/gateway/export.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const row = (content: string, rowId?: number): Message => ({
  role: "user",
  content,
  ...(rowId === undefined ? {} : { rowId }),
});

/** A session with this memory; `rows` by the id of the stored session they are read for. */
function scene(memory: readonly Message[], rows: Record<string, readonly Message[]>, stored = true) {
  const asked: string[] = [];
  const session = { stored, headId: "first", history: () => memory };
  const store = {
    fetchLineage: (id: string) => {
      asked.push(id);
      const found = rows[id]!;
      if (rows["moved"] && id === "first") session.headId = "moved";
      return Promise.resolve(found);
    },
  };
  const hermes = { store: () => store } as unknown as Hermes;
  return {
    asked,
    texts: async () => contents(await wholeConversation(hermes, session as unknown as Session)),
  };
}

function contents(messages: readonly Message[]): unknown[] {
  return messages.map(({ content }) => content);
}

Deno.test("wholeConversation(): memory alone while nothing is stored", async () => {
  const { texts, asked } = scene([row("a")], {}, false);
  assertEquals([await texts(), asked], [["a"], []]);
});

Deno.test("wholeConversation(): the chain, then what could not be stored yet, without stand-ins for results", async () => {
  const { texts } = scene([row("b", 2), row("made up", 0), row("c")], { first: [row("a", 1), row("b", 2)] });
  assertEquals(await texts(), ["a", "b", "c"]);
});

Deno.test("wholeConversation(): a row whose write has just ended stands once", async () => {
  const { texts } = scene([row("a", 1), row("b")], { first: [row("a", 1), row("b", 2)] });
  assertEquals(await texts(), ["a", "b"]);
});

Deno.test("wholeConversation(): a conversation that is compressed meanwhile is read again", async () => {
  const { texts, asked } = scene([row("S", 3), row("b", 4)], {
    first: [row("a", 1), row("b", 2)],
    moved: [row("a", 1), row("S", 3), row("b", 4)],
  });
  assertEquals([await texts(), asked], [["a", "S", "b"], ["first", "moved"]]);
});

/** What `saveConversation` needs; `redact` takes as long as one of many secrets does. */
function saver(messages: readonly Message[], redact: (text: string) => string) {
  const written: string[] = [];
  const files = {
    mkdir: () => Promise.resolve(),
    lstat: () => Promise.resolve(null),
    write: (_path: string, bytes: Uint8Array) => {
      written.push(new TextDecoder().decode(bytes));
      return Promise.resolve();
    },
  };
  const hermes = { home: "/h", platform: { files, clock: { now: () => 0 } }, redact } as unknown as Hermes;
  const model = { model: "m" };
  const session = { stored: false, headId: "s", createdAt: 0, model, history: () => messages };
  return { written, save: () => saveConversation(hermes, session as unknown as Session) };
}

Deno.test("B.17: session.save writes indented JSON without secrets, whatever is in it", async () => {
  for (const messages of [[], [row("a\nb"), row('"sk"'), row("")]]) {
    const { written, save } = saver(messages, (text) => text.replace("sk", "***"));
    await save();
    assertEquals(written, [`${
      JSON.stringify(
        {
          model: "m",
          session_id: "s",
          session_start: "1970-01-01T00:00:00.000Z",
          system_prompt: "",
          messages: messages.map(({ content, ...rest }) => ({
            ...rest,
            content: String(content).replace("sk", "***"),
          })),
        },
        null,
        2,
      )
    }\n`]);
  }
});

Deno.test("A.5: session.save of a long conversation leaves the thread to others while it takes the secrets out", async () => {
  let others = 0;
  const seen: number[] = [];
  const timer = setInterval(() => others++, 0);
  const { save } = saver(Array.from({ length: 1_000 }, (_, n) => row(`${n}`)), (text) => {
    const until = performance.now() + 0.05;
    while (performance.now() < until);
    seen.push(others);
    return text;
  });
  await save();
  clearInterval(timer);
  assert(seen.at(-1)! - seen[0]! >= 4, `others had ${seen.at(-1)! - seen[0]!} turns`);
});
