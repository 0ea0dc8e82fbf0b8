/** `src/core/rejected_turns.ts`: what a request leaves out after a 400 in a huge session (core A.11). */
import type { Message } from "@/core/mod.ts";
import { isHuge, rejectionMark, withoutRejected } from "../../src/core/rejected_turns.ts";
import { assert, assertEquals } from "../support/assert.ts";

const user = (content: string): Message => ({ role: "user", content });
const answer = (content: string): Message => ({ role: "assistant", content });

Deno.test("withoutRejected() leaves out the marked turn with its work, and nothing else", () => {
  const call: Message = {
    role: "assistant",
    content: null,
    toolCalls: [{ id: "c", name: "n", arguments: "{}" }],
  };
  const result: Message = { role: "tool", toolCallId: "c", toolName: "n", content: "x" };
  const history = [user("a"), answer("A"), user("bad"), call, result, rejectionMark(1), user("c")];
  assertEquals(withoutRejected(history), [user("a"), answer("A"), user("c")]);
  assertEquals(withoutRejected([user("bad"), rejectionMark(1), user("bad too"), rejectionMark(2)]), []);
});

Deno.test("withoutRejected() gives the list itself where nothing was rejected", () => {
  const history = [user("a"), answer("A")];
  assert(withoutRejected(history) === history);
});

Deno.test("isHuge() is more than 50,000 tokens or more than 80 messages", () => {
  assertEquals(isHuge({ tokens: 50_000, messages: 80 }), false);
  assertEquals(isHuge({ tokens: 50_001, messages: 1 }), true);
  assertEquals(isHuge({ tokens: 1, messages: 81 }), true);
});
