/** `src/models/record_writer.ts`: from what a model said to the steps of a script. */
import type { ModelChunk, ModelFailure } from "@/core/mod.ts";
import { RECORDING_HEAD, tracksOf } from "../../src/models/builtin/script_format.ts";
import { parseScript } from "../../src/models/builtin/script_parse.ts";
import { stepsOfCall } from "../../src/models/record_writer.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";

const redact = (text: string) => text.replaceAll("s3cret-value", "***").replace(/("pin":")[^"]+/g, "$1***");
const text = (value: string): ModelChunk => ({ type: "text", text: value });
const done = (more: Partial<Extract<ModelChunk, { type: "done" }>> = {}): ModelChunk => ({
  type: "done",
  finish: "stop",
  toolCalls: [],
  usage: null,
  ...more,
});
const failed = (failure: Partial<ModelFailure>): ModelChunk => ({
  type: "error",
  toolInFlight: false,
  failure: { kind: "unknown", message: "m", provider: "p", model: "m", retryable: false, ...failure },
});

Deno.test("stepsOfCall() keeps the pieces, and joins those that share a secret", () => {
  assertEquals(stepsOfCall([text("a"), text("b"), done()], redact), [{ text: "a" }, { text: "b" }]);
  const torn = [text("it is s3cret"), text("-value."), done()];
  assertEquals(stepsOfCall(torn, redact), [{ text: "it is ***." }]);
});

Deno.test("stepsOfCall() keeps calls at their place, with arguments as they were sent and without secrets", () => {
  const chunks: ModelChunk[] = [
    { type: "reasoning", text: "hm" },
    { type: "tool_name", name: "a" },
    text("x"),
    { type: "tool_name", name: "b" },
    done({
      finish: "tool_calls",
      toolCalls: [
        { id: "1", name: "a", arguments: '{"k":1}' },
        { id: "", name: "b", arguments: '{ "k": "s3cret-value", "pin": "1234" }' },
        { id: "3", name: "c", arguments: '{"cut": ' },
      ],
    }),
  ];
  assertEquals(stepsOfCall(chunks, redact), [
    { reasoning: "hm" },
    { tool: "a", args: { k: 1 }, id: "1" },
    { text: "x" },
    { tool: "b", args: { k: "***", pin: "***" } },
    { tool: "c", args: '{"cut": ', id: "3" },
  ]);
});

Deno.test("stepsOfCall() tells how the call ended: usage, finish, failure, connection, cancel", () => {
  const usage = { input: 60, output: 7, cacheRead: 40, cacheWrite: 0, reasoning: 3 };
  assertEquals(stepsOfCall([done({ usage, finish: "length" })], redact), [
    { usage: { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 40, reasoning_tokens: 3 } },
    { finish: "length" },
  ]);
  assertEquals(stepsOfCall([failed({ kind: "rate_limit", status: 429, retryAfterMs: 1500 })], redact), [
    { error: { status: 429, message: "m", headers: { "Retry-After": "1.5" } } },
  ]);
  assertEquals(stepsOfCall([failed({ kind: "connection" })], redact), [{ reset: true }]);
  assertEquals(stepsOfCall([failed({ kind: "timeout" })], redact), [{
    error: { status: 408, message: "m" },
  }]);
  assertEquals(stepsOfCall([text("hal")], redact), [{ text: "hal" }, { stall: true }]);
});

Deno.test("parseScript() closes a recording that was cut off, and no other file", () => {
  const whole = `${RECORDING_HEAD}  {"steps":[{"text":"a"}]},\n  {"track":2,"steps":[{"text":"b"}]},\n`;
  for (const torn of [whole, `${whole}  // a torn`, `${whole}  {"steps":[{"te`, `${whole}]}\n`]) {
    assertEquals(parseScript(torn).turns.length, 2, torn);
  }
  assertEquals(parseScript(RECORDING_HEAD).turns, []);
  assertThrows(() => parseScript('{ "turns": [\n  "a",\n'));
});

Deno.test("tracksOf() is nothing for a script of one track", () => {
  assertEquals(tracksOf({ turns: ["a", { steps: [] }] }), null);
  const tracks = tracksOf({ turns: ["a", { track: 2, steps: [] }, { track: 1, steps: [] }] });
  assertEquals([tracks?.get(1)?.length, tracks?.get(2)?.length], [2, 1]);
});
