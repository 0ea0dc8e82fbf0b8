/**
 * Tool calls put together from a stream (core.md A.5): wherever the arguments are cut into deltas and wherever the
 * network cuts the bytes, the calls, the text and the thought are the same, on each of the three wires.
 */
import type { ModelChunk } from "@/core/mod.ts";
import type { Assembler } from "@/models/providers/assembler.ts";
import { ChatAssembler } from "@/models/providers/chat_assembler.ts";
import { MessagesAssembler } from "@/models/providers/messages_assembler.ts";
import { ResponsesAssembler } from "@/models/providers/responses_assembler.ts";
import { SseParser } from "@/models/providers/sse.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { cutAt, cuts, fc, holds, pieces, place } from "./support.ts";

const CONTEXT = { provider: "box", model: "m", redact: (text: string) => text, now: () => 0 };

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

interface Answer {
  readonly thought: string;
  readonly text: string;
  readonly calls: readonly Call[];
  /** Where texts are cut into deltas. */
  readonly at: readonly number[];
}

const plainText = fc.string({
  unit: fc.constantFrom("a", " ", "é", "😀", "\n", '"', "\\", "\u2028", "data: "),
  maxLength: 30,
});
const answer: fc.Arbitrary<Answer> = fc.record({
  thought: plainText,
  // White space at the start of an answer may be taken off.
  text: plainText.map((text) => `T${text}`),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom("read_file", "terminal", "x"),
      arguments: fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), {
        minKeys: 1,
        maxKeys: 3,
      })
        .map((args) => JSON.stringify(args)),
    }),
    { maxLength: 4 },
  ).map((calls) => calls.map((call, i) => ({ ...call, id: `call_${i}` }))),
  at: cuts(),
});

type Event = Record<string, unknown>;

const frame = (event: Event | string) =>
  `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;

/** Deltas of all calls, taken in turns as some servers send them. */
function interleave<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: longest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
}

function chatStream({ thought, text, calls, at }: Answer): string {
  const delta = (delta: Event, finish: string | null = null): Event => ({
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const open = calls.map(({ id, name }, index) =>
    delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] })
  );
  const grow = calls.map(({ arguments: args }, index) =>
    pieces(args, at).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] }))
  );
  return [
    ...pieces(thought, at).map((reasoning_content) => delta({ reasoning_content })),
    ...pieces(text, at).map((content) => delta({ content })),
    ...open,
    ...interleave(grow),
    delta({}, calls.length > 0 ? "tool_calls" : "stop"),
    "[DONE]",
  ].map(frame).join("");
}

function messagesStream({ thought, text, calls, at }: Answer): string {
  const block = (index: number, content_block: Event, deltas: Event[]): Event[] => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  return [
    { type: "message_start", message: { usage: { input_tokens: 1 } } },
    ...block(
      0,
      { type: "thinking", thinking: "" },
      pieces(thought, at).map((thinking) => ({ type: "thinking_delta", thinking })),
    ),
    ...block(1, { type: "text", text: "" }, pieces(text, at).map((text) => ({ type: "text_delta", text }))),
    ...calls.flatMap(({ id, name, arguments: args }, i) =>
      block(
        i + 2,
        { type: "tool_use", id, name, input: {} },
        pieces(args, at).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      )
    ),
    { type: "message_delta", delta: { stop_reason: calls.length > 0 ? "tool_use" : "end_turn" }, usage: {} },
    { type: "message_stop" },
  ].map(frame).join("");
}

function responsesStream({ thought, text, calls, at }: Answer): string {
  const item = (output_index: number, item: Event, deltas: Event[]): Event[] => [
    { type: "response.output_item.added", output_index, item },
    ...deltas.map((delta) => ({ output_index, ...delta })),
  ];
  return [
    ...item(
      0,
      { type: "reasoning" },
      pieces(thought, at).map((delta) => ({ type: "response.reasoning_text.delta", delta })),
    ),
    ...item(
      1,
      { type: "message" },
      pieces(text, at).map((delta) => ({ type: "response.output_text.delta", delta })),
    ),
    ...interleave(calls.map(({ id, name, arguments: args }, i) =>
      item(
        i + 2,
        { type: "function_call", call_id: id, name, arguments: "" },
        pieces(args, at).map((delta) => ({ type: "response.function_call_arguments.delta", delta })),
      )
    )),
    { type: "response.completed", response: { status: "completed", output: [] } },
  ].map(frame).join("");
}

function read(assembler: Assembler, parts: readonly Uint8Array[]): readonly ModelChunk[] {
  const parser = new SseParser();
  const chunks: ModelChunk[] = [];
  for (const part of parts) {
    for (const data of parser.push(part)) assembler.acceptEvent(data);
    chunks.push(...assembler.takeBatch());
  }
  for (const data of parser.end()) assembler.acceptTail(data);
  return [...chunks, ...assembler.finish()];
}

function summary(chunks: readonly ModelChunk[]) {
  const joined = (type: "text" | "reasoning") =>
    chunks.flatMap((chunk) => chunk.type === type ? [chunk.text] : []).join("");
  const last = chunks.at(-1)!;
  assert(last.type === "done", `ended with ${JSON.stringify(last)}`);
  return {
    thought: joined("reasoning"),
    text: joined("text"),
    calls: last.toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
    finish: last.finish,
  };
}

const WIRES = [
  { name: "Chat Completions", stream: chatStream, open: () => new ChatAssembler(CONTEXT) },
  { name: "Messages", stream: messagesStream, open: () => new MessagesAssembler(CONTEXT) },
  { name: "Responses", stream: responsesStream, open: () => new ResponsesAssembler(CONTEXT) },
] as const;

for (const { name, stream, open } of WIRES) {
  Deno.test(`${name}: calls, text and thought are whole for any split of deltas and bytes`, async () => {
    await holds(
      fc.property(answer, cuts(), (answer, at) => {
        const bytes = new TextEncoder().encode(stream(answer));
        assertEquals(summary(read(open(), cutAt(bytes, at))), {
          thought: answer.thought,
          text: answer.text,
          calls: answer.calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })),
          finish: answer.calls.length > 0 ? "tool_calls" : "stop",
        });
      }),
      2,
    );
  });

  Deno.test(`FC-04: ${name}: an answer that is cut off anywhere never passes for a whole one with other calls`, async () => {
    await holds(
      fc.property(answer, place(), (answer, share) => {
        const bytes = new TextEncoder().encode(stream(answer));
        const last = read(open(), [bytes.slice(0, Math.floor(bytes.length * share))]).at(-1)!;
        if (last.type !== "done") return assertEquals(last.type, "error");
        if (last.finish === "length") return;
        // What claims to be complete has only calls that the answer has, each with arguments as they were.
        for (const call of last.toolCalls) {
          const real = answer.calls.find(({ id }) => id === call.id);
          assertEquals(call.arguments, real?.arguments);
        }
      }),
      2,
    );
  });

  Deno.test(`${name}: no event makes the assembler throw`, async () => {
    const event = fc.oneof(
      fc.jsonValue(),
      fc.record({
        type: fc.constantFrom(
          "content_block_start",
          "content_block_delta",
          "message_delta",
          "message_start",
          "error",
          "response.output_item.added",
          "response.output_item.done",
          "response.function_call_arguments.delta",
          "response.completed",
          "constructor",
        ),
        index: fc.jsonValue(),
        output_index: fc.jsonValue(),
        delta: fc.jsonValue(),
        item: fc.jsonValue(),
        content_block: fc.jsonValue(),
        message: fc.jsonValue(),
        response: fc.jsonValue(),
        choices: fc.oneof(
          fc.jsonValue(),
          fc.tuple(fc.record({ delta: fc.jsonValue(), message: fc.jsonValue() })),
        ),
        usage: fc.jsonValue(),
        error: fc.jsonValue(),
      }, { requiredKeys: [] }),
    );
    await holds(
      fc.property(fc.array(event, { maxLength: 4 }), (events) => {
        const assembler = open();
        for (const event of events) assembler.acceptEvent(JSON.stringify(event));
        const whole = open();
        for (const event of events) {
          if (typeof event === "object" && event !== null) whole.acceptWhole(event as Event);
        }
        for (const chunks of [assembler.finish(), whole.finish()]) {
          assert(["done", "error"].includes(chunks.at(-1)!.type));
        }
      }),
      4,
    );
  });
}
