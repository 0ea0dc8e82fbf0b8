/** Which messages `/history` and `/save` are given (tui-gateway.md B.17), at moments that no host can time. */
import type { Hermes } from "../../../src/app/mod.ts";
import type { Message, Session } from "../../../src/core/contract.ts";
import { wholeConversation } from "../../../src/protocols/gateway/export.ts";
import { assertEquals } from "../../support/assert.ts";

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
