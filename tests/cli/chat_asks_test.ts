import { assertEquals } from "../support/assert.ts";
import { toAnswer } from "@/cli/chat_asks.ts";
import type { Ask, AskPayload } from "@/core/mod.ts";

function askOf(payload: AskPayload): Ask {
  return {
    id: "a",
    sessionId: "s",
    turnId: "t",
    callId: "c",
    toolName: "terminal",
    payload,
    timeoutMs: 1_000,
    openedAt: 0,
  };
}

const APPROVAL = askOf({
  kind: "approval",
  command: "rm -rf build",
  description: "recursive delete",
  patternKey: "recursive delete",
  patternKeys: ["recursive delete"],
  choices: ["once", "session", "deny"],
});
const CLARIFY = askOf({ kind: "clarify", question: "Which?", choices: ["red", "blue"] });
const line = (text: string) => ({ type: "line", text }) as const;

Deno.test("toAnswer() takes words, letters, yes and no for what was offered", () => {
  const choice = (text: string) => {
    const answer = toAnswer(APPROVAL, line(text));
    return answer?.type === "choice" ? answer.choice : answer;
  };
  assertEquals(["once", "o", " Y ", "s", "d", "no"].map(choice), [
    "once",
    "once",
    "once",
    "session",
    "deny",
    "deny",
  ]);
});

Deno.test("toAnswer() takes no empty line, no unknown word and no choice that was not offered", () => {
  assertEquals(
    ["", "  ", "maybe", "always", "a", "constructor"].map((text) => toAnswer(APPROVAL, line(text))),
    [
      null,
      null,
      null,
      null,
      null,
      null,
    ],
  );
});

Deno.test("toAnswer() ends the turn when the input has ended, it never consents", () => {
  assertEquals(toAnswer(APPROVAL, { type: "end" }), { type: "cancel" });
});

Deno.test("toAnswer() takes a clarification by number or as text", () => {
  assertEquals(toAnswer(CLARIFY, line("2")), { type: "text", text: "blue" });
  assertEquals(toAnswer(CLARIFY, line("green")), { type: "text", text: "green" });
  assertEquals(toAnswer(CLARIFY, line("7")), { type: "text", text: "7" });
});
