/** Request repair (core.md A.1, FC-12): whatever a history holds, what is sent satisfies a strict provider's rules. */
import type { AssistantMessage, Message, ToolCall } from "@/core/mod.ts";
import { repairForRequest } from "@/core/request_repair.ts";
import { strictFault } from "../support/core_driver.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { fc, holds } from "./support.ts";

const id = fc.constantFrom("c1", "c2", "c3", "c4", "");
const text = fc.constantFrom("", " ", "one", "two\n", "\ud83d");
const call: fc.Arbitrary<ToolCall> = fc.record({
  id,
  name: fc.constantFrom("read_file", "terminal", "", " "),
  arguments: fc.constantFrom("{}", '{"path":"a"}', "", "{"),
}, { noNullPrototype: true });
const parts = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant("text" as const), text }, { noNullPrototype: true }),
    fc.record({
      type: fc.constant("image_url" as const),
      image_url: fc.constant({ url: "data:image/png;base64,AA==" }),
    }, { noNullPrototype: true }),
  ),
  { maxLength: 2 },
);
const kind = fc.constantFrom<{ displayKind?: string }>({}, {}, { displayKind: "hidden" });
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.tuple(fc.oneof(text, parts), kind).map(([content, kind]): Message => ({
    role: "user",
    content,
    ...kind,
  })),
  fc.tuple(
    fc.oneof(text, fc.constant(null)),
    fc.option(fc.array(call, { maxLength: 3 }), { nil: undefined }),
    fc.option(fc.constant("thought"), { nil: undefined }),
  ).map(([content, toolCalls, reasoning]): Message => ({
    role: "assistant",
    content,
    ...(toolCalls ? { toolCalls } : {}),
    ...(reasoning ? { reasoning } : {}),
  })),
  fc.record({
    role: fc.constant("tool" as const),
    toolCallId: id,
    toolName: fc.constant("read_file"),
    content: fc.constantFrom("result a", "result b"),
  }, { noNullPrototype: true }),
);
const history = fc.array(message, { maxLength: 14 });

/** The shape that the strict rules are written for. */
function onWire(messages: readonly Message[]) {
  return messages.map((message) => {
    if (message.role === "tool") {
      return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
    }
    if (message.role === "user") return { role: "user", content: message.content };
    return {
      role: "assistant",
      content: message.content?.trim(),
      ...(message.toolCalls ? { tool_calls: message.toolCalls.map(({ id }) => ({ id })) } : {}),
    };
  });
}

Deno.test("FC-12: repairForRequest() satisfies a strict provider's rules, whatever the history holds", async () => {
  await holds(
    fc.property(history, (messages) => {
      assertEquals(strictFault(onWire(repairForRequest(messages))), null);
    }),
    10,
  );
});

Deno.test("FC-12: repairForRequest() loses no text of the user, changes no input, and is done after once", async () => {
  await holds(
    fc.property(history, (messages) => {
      const before = structuredClone(messages);
      const once = repairForRequest(messages);
      assertEquals(messages, before);
      assertEquals(onWire(repairForRequest(once)), onWire(once));
      const said = (all: readonly Message[]) =>
        all.filter((m) => m.role === "user").map((m) => JSON.stringify(m.content)).join("");
      for (const word of ["one", "two"]) {
        assertEquals(said(once).split(word).length, said(messages).split(word).length);
      }
    }),
    5,
  );
});

Deno.test("FC-12: each result goes to its call, and calls that got none are said to be interrupted", async () => {
  await holds(
    fc.property(history, (messages) => {
      const repaired = repairForRequest(messages);
      repaired.forEach((message, at) => {
        if (message.role !== "assistant" || !message.toolCalls?.length) return;
        for (const call of message.toolCalls) assert(call.name.trim() !== "", "a call without a name");
        const results = repaired.slice(at + 1, at + 1 + message.toolCalls.length);
        assertEquals(
          results.map((r) => r.role === "tool" && r.toolCallId),
          message.toolCalls.map((c) => c.id),
        );
      });
      const calls = (all: readonly Message[]) =>
        new Set(all.flatMap((m) => (m as AssistantMessage).toolCalls ?? []).map((c) => c.id)).size;
      assertEquals(calls(repaired), calls(messages));
    }),
    5,
  );
});
