import { FrameWriter } from "@/lib/frame_writer.ts";
import { decodeLine, encodeFrame, LineSplitter } from "@/lib/jsonl.ts";
import { lineJson } from "@/lib/line_json.ts";
import { WholeCharacters } from "@/lib/whole_characters.ts";
import { assertEquals } from "../support/assert.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("FC-01: LineSplitter cuts at LF only, wherever the stream is split", () => {
  const text = 'one\r\ntwo\u2028x\u0085y\n\n{"a":1}\nrest';
  const whole = bytes(text);
  for (let cut = 0; cut <= whole.length; cut++) {
    const splitter = new LineSplitter(1_000);
    const lines = [
      ...splitter.push(whole.slice(0, cut)),
      ...splitter.push(whole.slice(cut)),
      ...splitter.end(),
    ].map((line) => line.type === "line" ? decodeLine(line.bytes) : "too long");
    assertEquals(lines, ["one", "two\u2028x\u0085y", "", '{"a":1}', "rest"]);
  }
});

Deno.test("LineSplitter reports a line over the limit once and goes on after it", () => {
  const splitter = new LineSplitter(5);
  const lines = [
    ...splitter.push(bytes("123")),
    ...splitter.push(bytes("456789")),
    ...splitter.push(bytes("0\nok\n")),
  ];
  assertEquals(lines.map((line) => line.type), ["too_long", "line"]);
  const last = lines[1]!;
  assertEquals(last.type === "line" && decodeLine(last.bytes), "ok");
});

Deno.test("decodeLine() refuses bytes that are not UTF-8", () => {
  assertEquals(decodeLine(new Uint8Array([0xff, 0xfe, 0x7b])), null);
});

Deno.test("FC-01: encodeFrame() leaves no raw line break of any kind", () => {
  const frame = encodeFrame({ text: "a\nb\r\u2028\u2029\u0085é" });
  assertEquals(frame, '{"text":"a\\nb\\r\\u2028\\u2029\\u0085é"}\n');
  assertEquals(JSON.parse(frame).text, "a\nb\r\u2028\u2029\u0085é");
});

Deno.test("FC-01: lineJson() writes half a character as U+FFFD and leaves every other escape as it is", () => {
  for (
    const [value, json] of [
      ["a\ud83d…", '"a\\ufffd…"'],
      ["\ude00\ud83d", '"\\ufffd\\ufffd"'],
      ["\u{1F600} \\ud83d \u0001\n", '"\u{1F600} \\\\ud83d \\u0001\\n"'],
      [{ "k\udfff": ["\\\\\udbff", "\\"] }, '{"k\\ufffd":["\\\\\\\\\\ufffd","\\\\"]}'],
    ] as const
  ) assertEquals(lineJson(value), json);
});

Deno.test("WholeCharacters keeps half a character for the next piece", () => {
  const whole = new WholeCharacters();
  assertEquals(["a\ud83d", "", "\ude00b", "\ud83d", "\ude00\ud83d", "x"].map((piece) => whole.push(piece)), [
    "a",
    "",
    "\u{1F600}b",
    "",
    "\u{1F600}",
    "\ud83dx",
  ]);
});

Deno.test("FrameWriter joins the frames of one tick and keeps their order", async () => {
  const writes: string[] = [];
  const writer = new FrameWriter({
    write: (chunk) => {
      writes.push(new TextDecoder().decode(chunk));
      return Promise.resolve();
    },
  });
  writer.write("a\n");
  writer.write("b\n");
  await writer.idle();
  writer.write("c\n");
  await writer.idle();
  assertEquals(writes, ["a\nb\n", "c\n"]);
});

Deno.test("FrameWriter.room() waits while the peer does not read, and a broken sink frees everyone", async () => {
  let fail: (error: Error) => void = () => {};
  const errors: unknown[] = [];
  const writer = new FrameWriter(
    { write: () => new Promise((_, reject) => fail = reject) },
    { highWater: 4, onError: (error) => errors.push(error) },
  );
  writer.write("123456789\n");
  const room = writer.room();
  assertEquals(room === null, false);
  await Promise.resolve();
  fail(new Error("EPIPE"));
  await room;
  await writer.idle();
  writer.write("dropped");
  assertEquals([writer.broken, writer.queued, errors.length], [true, 0, 1]);
});
