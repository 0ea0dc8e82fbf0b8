import type { ModelChunk } from "@/core/mod.ts";
import { ChatAssembler } from "@/models/providers/chat_assembler.ts";
import { MessagesAssembler } from "@/models/providers/messages_assembler.ts";
import { ResponsesAssembler } from "@/models/providers/responses_assembler.ts";
import { SseParser } from "@/models/providers/sse.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { fold } from "./helpers.ts";

const CONTEXT = { provider: "box", model: "m", redact: (text: string) => text, now: () => 0 };

type Delta = Record<string, unknown>;

function chunk(delta: Delta, finish: string | null = null): Record<string, unknown> {
  return { choices: [{ index: 0, delta, finish_reason: finish }] };
}

function call(index: number | undefined, id: string | undefined, name?: string, args?: unknown): Delta {
  return { tool_calls: [{ index, id, function: { name, arguments: args } }] };
}

function assemble(chunks: readonly Record<string, unknown>[], done = true) {
  const assembler = new ChatAssembler(CONTEXT);
  for (const one of chunks) assembler.accept(one);
  if (done) assembler.acceptEvent("[DONE]");
  return fold(assembler.finish());
}

function sse(values: readonly unknown[], end = "\n\n"): string {
  return values.map((v) => `data: ${typeof v === "string" ? v : JSON.stringify(v)}${end}`).join("");
}

/** The way of a real stream: bytes in pieces, one batch per piece. */
function stream(text: string, size: number): readonly ModelChunk[] {
  const [parser, assembler] = [new SseParser(), new ChatAssembler(CONTEXT)];
  const bytes = new TextEncoder().encode(text);
  const chunks: ModelChunk[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const data of parser.push(bytes.subarray(at, at + size))) assembler.acceptEvent(data);
    chunks.push(...assembler.takeBatch());
  }
  for (const data of parser.end()) assembler.acceptTail(data);
  return [...chunks, ...assembler.finish()];
}

Deno.test("ChatAssembler gives the same answer for every split of the bytes", () => {
  const text = ": hello\r\n\r\n" + sse([
    chunk({ role: "assistant", content: "" }),
    chunk({ reasoning_content: "Grüße " }),
    chunk({ content: "<thi" }),
    chunk({ content: "nk>x</think>Ωmega 🚀 " }),
    chunk({ content: "end" }),
    chunk(call(0, "a", "read_file", "")),
    chunk(call(0, undefined, undefined, '{"path":"ä')),
    chunk(call(0, undefined, undefined, '.txt"}')),
    chunk(call(1, "b", "todo", "{}")),
    chunk({}, "tool_calls"),
    {
      choices: [],
      usage: { prompt_tokens: 100, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 40 } },
    },
    "[DONE]",
  ], "\r\n\r\n");
  const size = new TextEncoder().encode(text).length;
  const expected = {
    text: "Ωmega 🚀 end",
    reasoning: "Grüße x",
    names: ["read_file", "todo"],
    done: {
      type: "done" as const,
      finish: "tool_calls" as const,
      toolCalls: [{ id: "a", name: "read_file", arguments: '{"path":"ä.txt"}' }, {
        id: "b",
        name: "todo",
        arguments: "{}",
      }],
      usage: { input: 60, output: 7, cacheRead: 40, cacheWrite: 0, reasoning: 0 },
      reasoningContent: "Grüße ",
    },
    failure: null,
    toolInFlight: false,
  };
  for (let n = 1; n <= size; n++) assertEquals(fold(stream(text, n)), expected, `pieces of ${n}`);
});

Deno.test("ChatAssembler joins the text of one read into one chunk", () => {
  const assembler = new ChatAssembler(CONTEXT);
  for (let n = 0; n < 50; n++) assembler.accept(chunk({ content: "a" }));
  assertEquals(assembler.takeBatch(), [{ type: "text", text: "a".repeat(50) }]);
});

Deno.test("ChatAssembler assigns a name that is sent again and starts a new call for a new id", () => {
  const got = assemble([
    chunk(call(0, "a", "read_file", '{"a"')),
    chunk(call(0, "a", "read_file", ":1}")),
    chunk(call(0, "b", "todo", "{}")),
  ]);
  assertEquals(got.done?.toolCalls, [
    { id: "a", name: "read_file", arguments: '{"a":1}' },
    { id: "b", name: "todo", arguments: "{}" },
  ]);
});

Deno.test("ChatAssembler takes calls without index or id, and arguments that are objects", () => {
  const got = assemble([
    chunk(call(undefined, "a", "x", { n: 1 })),
    chunk(call(undefined, "b", "y", "{}")),
    chunk({ function_call: undefined }),
  ]);
  assertEquals(got.done?.toolCalls, [
    { id: "a", name: "x", arguments: '{"n":1}' },
    { id: "b", name: "y", arguments: "{}" },
  ]);
  assertEquals(assemble([chunk(call(0, undefined, "x", "{}"))]).done?.toolCalls[0]?.id, "");
});

Deno.test("the assemblers stand a place that is no number", () => {
  const odd = JSON.stringify({ toString: null });
  for (const assembler of [new MessagesAssembler(CONTEXT), new ResponsesAssembler(CONTEXT)]) {
    assembler.acceptEvent(
      `{"index":${odd},"type":"content_block_start","content_block":{"type":"text","text":"a"}}`,
    );
    assembler.acceptEvent(`{"output_index":${odd},"type":"response.output_text.delta","delta":"a"}`);
    assertEquals(fold(assembler.finish()).text, "a");
  }
});

Deno.test("ChatAssembler shows no text once call deltas have begun", () => {
  const got = assemble([
    chunk({ content: "before" }),
    chunk(call(0, "a", "x", "{}")),
    chunk({ content: "after" }),
  ]);
  assertEquals(got.text, "before");
  const held = assemble([
    chunk({ content: "a <thi" }),
    chunk(call(0, "a", "x", "{}")),
    chunk({}, "tool_calls"),
  ]);
  assertEquals(held.text, "a <thi");
});

Deno.test("ChatAssembler judges the finish reason", () => {
  const cases: readonly (readonly [string | null, string, string])[] = [
    ["stop", "{}", "tool_calls"],
    ["tool_calls", "{}", "tool_calls"],
    ["length", '{"a', "length"],
    ["content_filter", "{}", "content_filter"],
    [null, "{}", "tool_calls"],
    [null, '{"path":"a', "length"],
  ];
  for (const [reason, args, finish] of cases) {
    assertEquals(
      assemble([chunk(call(0, "a", "x", args)), chunk({}, reason)], false).done?.finish,
      finish,
      String(reason),
    );
  }
  assertEquals(assemble([chunk({ content: "x" }, "max_tokens")]).done?.finish, "length");
  // Cut off right behind the name: the arguments have not come yet. With an end mark there are none.
  assertEquals(assemble([chunk(call(0, "a", "x", ""))], false).done?.finish, "length");
  assertEquals(assemble([chunk(call(0, "a", "x", ""))], true).done?.finish, "tool_calls");
  assertEquals(assemble([chunk({ content: "x" })]).done?.finish, "stop");
});

Deno.test("FC-04: an answer that ends without any sign of an end is a failure, not an answer", () => {
  const got = assemble([chunk({ content: "half" })], false);
  assertEquals([got.text, got.done, got.failure?.kind, got.failure?.retryable], [
    "half",
    null,
    "connection",
    true,
  ]);
});

Deno.test("ChatAssembler takes a stream without content for empty", () => {
  for (const chunks of [[], [chunk({ role: "assistant", content: "" })], [{ choices: [] }]]) {
    assertEquals(assemble(chunks).failure?.kind, "empty_stream");
  }
});

Deno.test("ChatAssembler ends at an error object inside the stream", () => {
  const got = assemble([chunk(call(0, "a", "x", "{")), {
    error: { message: "Overloaded, try again later", code: 529 },
  }]);
  assertEquals([got.failure?.kind, got.failure?.status, got.toolInFlight], ["overloaded", 529, true]);
  assertMatch(assemble([{ error: "boom" }]).failure!.message, /boom/);
});

Deno.test("ChatAssembler takes an event that is not JSON for an invalid answer", () => {
  assertEquals(fold(stream("data: {oops}\n\n", 999)).failure?.kind, "invalid_response");
  const cut = fold(stream(sse([chunk({ content: "a" })]) + 'data: {"choices":[{"del', 999));
  assertEquals([cut.text, cut.failure?.kind], ["a", "connection"]);
});

Deno.test("ChatAssembler reads one field of thought and keeps the details", () => {
  const got = assemble([
    chunk({ reasoning: "a", reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] }),
    chunk({
      reasoning: "b",
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "b", signature: "s" }],
    }),
    chunk({ content: "y" }, "stop"),
  ]);
  assertEquals(got.reasoning, "ab");
  assertEquals(got.done?.reasoningDetails, [{
    type: "reasoning.text",
    index: 0,
    text: "ab",
    signature: "s",
  }]);
  const only = assemble([
    chunk({ reasoning_details: [{ type: "reasoning.summary", summary: "s" }] }),
    chunk({ content: "y" }),
  ]);
  assertEquals(only.reasoning, "s");
  const both = assemble([chunk({ reasoning: "a", reasoning_content: "a" }), chunk({ content: "y" })]);
  assertEquals([both.reasoning, both.done?.reasoningContent], ["a", "a"]);
});

Deno.test("SseParser.push() skips comments and other fields and joins data lines", () => {
  const parser = new SseParser();
  const events = parser.push(
    new TextEncoder().encode(": ping\n\nevent: x\nid: 1\ndata: a\ndata:b\n\ndata: c\n"),
  );
  assertEquals([events, parser.end()], [["a\nb"], ["c"]]);
});

Deno.test("SseParser.push() joins a line that comes in many pieces, its CR apart from its LF", () => {
  const parser = new SseParser();
  const push = (text: string) => parser.push(new TextEncoder().encode(text));
  const pieces = Array.from({ length: 1_000 }, (_, n) => `${n},`);
  assertEquals(["data: ", ...pieces].flatMap(push), []);
  assertEquals(push("end\r"), []);
  assertEquals(push("\n\r"), []);
  assertEquals(push("\ndata: next"), [`${pieces.join("")}end`]);
  assertEquals(push("\n"), []);
  assertEquals(push("\n"), ["next"]);
});

Deno.test("ChatAssembler.acceptEvent() refuses an event that is nested too deep to be handled", () => {
  const assembler = new ChatAssembler(CONTEXT);
  assembler.acceptEvent(`{"choices":${"[".repeat(20_000)}${"]".repeat(20_000)}}`);
  const failure = fold(assembler.finish()).failure;
  assertMatch(JSON.stringify(failure), /nested deeper than 512 levels/);
});
