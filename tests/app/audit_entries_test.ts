/** What of an event reaches the audit trail. */
import { auditOf, createClean } from "@/app/audit_entries.ts";
import type { Ask, AskOutcome, AskPayload, CoreEvent, CoreEventBody } from "@/core/mod.ts";
import { assertEquals } from "../support/assert.ts";

const clean = createClean((text) => text.replaceAll("s3cret", "***"));
const noted = (body: CoreEventBody) =>
  auditOf({ ...body, sessionId: "s", turnId: "t", seq: 1 } as CoreEvent, clean);

function ask(payload: AskPayload): Ask {
  return {
    id: "a",
    sessionId: "s",
    turnId: "t",
    callId: "c",
    toolName: "x",
    payload,
    timeoutMs: 1,
    openedAt: 5000,
  };
}

function answered(payload: AskPayload, outcome: AskOutcome): unknown {
  return noted({ type: "ask.close", ask: ask(payload), outcome })?.detail;
}

Deno.test("createClean() bounds a text, redacts it, and sees a secret that the cut would halve", () => {
  assertEquals(clean("a s3cret b"), "a *** b");
  assertEquals(clean("x".repeat(3000)).length, 2000 + " […]".length);
  assertEquals(clean("abs3cret", 4), "ab** […]");
});

Deno.test("auditOf() keeps that a password or a secret was given, never its text", () => {
  const text: AskOutcome = { type: "answered", answer: { type: "text", text: "hunter2" } };
  const base = { ask_id: "a", asked_at: 5, outcome: "answered" };
  assertEquals(answered({ kind: "sudo", command: "apt" }, text), { ...base, about: "sudo", given: true });
  assertEquals(answered({ kind: "secret", envVar: "K", prompt: "?" }, text), {
    ...base,
    about: "secret",
    given: true,
  });
  assertEquals(answered({ kind: "clarify", question: "?", choices: null }, text), {
    ...base,
    about: "clarify",
    text: "hunter2",
  });
});

Deno.test("auditOf() tells silence, nobody to ask and a cancel from an answer", () => {
  const payload: AskPayload = { kind: "clarify", question: "?", choices: null };
  const outcomes = (["timeout", "unattended", "cancelled"] as const).map((type) =>
    (answered(payload, { type }) as { outcome: string }).outcome
  );
  assertEquals(outcomes, ["timeout", "unattended", "cancelled"]);
});

Deno.test("auditOf() leaves out what is only streamed", () => {
  const bodies: CoreEventBody[] = [
    { type: "text.delta", text: "x" },
    { type: "reasoning.delta", text: "x" },
    { type: "tool.progress", callId: "c", name: "n", text: "x" },
    { type: "session.change", what: "title" },
  ];
  assertEquals(bodies.map(noted), [null, null, null, null]);
});
