/** Readers of byte streams: any split of the bytes gives the same frames, and no bytes make them throw (FC-01). */
import { decodeLine, encodeFrame, type Line, LineSplitter } from "@/lib/jsonl.ts";
import { SseParser } from "@/models/providers/sse.ts";
import { ThinkSplitter } from "@/models/providers/think_tags.ts";
import { parseFrame } from "@/protocols/gateway/frame.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { cutAt, cuts, fc, holds, pieces } from "./support.ts";

const LIMIT = 40;

/** Texts with every line break there is, and bytes that are no text. */
const lineBytes = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", '"', "{", "\r", "\u2028", "\u0085", "é", "😀", "\\") }).map((text) =>
    new TextEncoder().encode(text)
  ),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => bytes.filter((byte) => byte !== 0x0a)),
);

function join(lines: readonly Uint8Array[], ended: boolean): Uint8Array {
  const bytes = lines.flatMap((line) => [...line, 0x0a]);
  return Uint8Array.from(ended ? bytes : bytes.slice(0, -1));
}

function readLines(parts: readonly Uint8Array[], limit: number): Line[] {
  const splitter = new LineSplitter(limit);
  const buffer = new Uint8Array(4_096);
  const lines: Line[] = [];
  for (const part of parts) {
    // As the transports do it: one buffer for all reads.
    buffer.set(part);
    lines.push(...splitter.push(buffer.subarray(0, part.length)).map(copy));
    buffer.fill(0x58);
  }
  return [...lines, ...splitter.end()];
}

function copy(line: Line): Line {
  return line.type === "line" ? { type: "line", bytes: line.bytes.slice() } : line;
}

Deno.test("FC-01: LineSplitter gives the same lines for any split, and only LF ends one", async () => {
  await holds(
    fc.property(
      fc.array(lineBytes, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      cuts(),
      (lines, ended, at) => {
        const whole = join(lines, ended);
        const expected = lines.map((line): Line =>
          line.length > LIMIT ? { type: "too_long" } : { type: "line", bytes: line }
        );
        // Nothing is there behind the last LF, and a rest without bytes is no line.
        if (!ended && lines.at(-1)!.length === 0) expected.pop();
        assertEquals(
          readLines(cutAt(whole, at), LIMIT).map(plain),
          expected.map(plain),
        );
      },
    ),
  );
});

function plain(line: Line): string {
  return line.type === "line" ? [...line.bytes].join(" ") : "too long";
}

Deno.test("FC-01: encodeFrame() is one line whatever it holds, and reads back as the same value", async () => {
  await holds(fc.property(fc.jsonValue(), (value) => {
    const frame = encodeFrame(value);
    assertEquals(frame.match(/[\n\r\u2028\u2029\u0085]/g), ["\n"]);
    assertEquals(JSON.parse(frame), JSON.parse(JSON.stringify(value)));
  }));
});

Deno.test("FC-02: parseFrame() answers any bytes with a request, a response or a refusal, and keeps the id", async () => {
  const id = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const envelope = fc.record({
    jsonrpc: fc.oneof(fc.constant("2.0"), fc.jsonValue()),
    id,
    method: fc.oneof(fc.string({ minLength: 1 }), fc.jsonValue()),
    params: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
  }, { requiredKeys: [] });
  await holds(fc.property(fc.oneof(envelope, fc.jsonValue()), (value) => {
    const text = JSON.stringify(value);
    const incoming = parseFrame(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      assertEquals([incoming.type, incoming.id], ["invalid", "null"]);
    } else if ("id" in value) {
      assertEquals(incoming.id, JSON.stringify((value as { id: unknown }).id));
    } else assertEquals(incoming.id, "null");
  }));
  await holds(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    const incoming = parseFrame(decodeLine(bytes));
    assert(["request", "response", "invalid"].includes(incoming.type));
  }));
  await holds(fc.property(fc.string(), (text) => void parseFrame(text)));
});

const event = fc.record({
  data: fc.array(fc.string({ unit: fc.constantFrom("a", ":", " ", "é", "😀", "{", "data:", "\u2028") }), {
    minLength: 1,
    maxLength: 3,
  }),
  noise: fc.constantFrom("", ": ping", "event: x", "id: 7", "retry: 1", "data"),
  eol: fc.constantFrom("\n", "\r\n"),
});

Deno.test("SseParser gives the same events for any split of the bytes", async () => {
  await holds(fc.property(fc.array(event, { maxLength: 5 }), cuts(), (events, at) => {
    const text = events.map(({ data, noise, eol }) =>
      (noise && noise !== "data" ? noise + eol : "") + data.map((line) => `data: ${line}${eol}`).join("") +
      eol
    ).join("");
    const parser = new SseParser();
    const got = cutAt(new TextEncoder().encode(text), at).flatMap((part) => parser.push(part));
    assertEquals([...got, ...parser.end()], events.map(({ data }) => data.join("\n")));
  }));
});

Deno.test("ThinkSplitter gives the same text and thought for any split", async () => {
  const part = fc.constantFrom(
    ...'<think>|</think>|<|>|a|\n| |<thinking >|</THINKING>|<tool_call>|</tool_call>|`|<function name="x">|</function>|<thin|word'
      .split("|"),
  );
  await holds(fc.property(fc.array(part, { maxLength: 14 }), cuts(), (parts, at) => {
    const text = parts.join("");
    assertEquals(separate(pieces(text, at)), separate([text]));
  }));
});

function separate(parts: readonly string[]): { text: string; reasoning: string } {
  const splitter = new ThinkSplitter();
  const all = [...parts.map((part) => splitter.push(part)), splitter.end()];
  return { text: all.map((p) => p.text).join(""), reasoning: all.map((p) => p.reasoning).join("") };
}
