import { assertEquals } from "../../support/assert.ts";
import { encodeError, encodeResult, parseFrame, toJson } from "../../../src/protocols/gateway/frame.ts";

/** `[type, id, code]` of what a text is taken for. */
function verdict(text: string | null): [string, string, number | null] {
  const frame = parseFrame(text);
  return [frame.type, frame.id, frame.type === "invalid" ? frame.code : null];
}

Deno.test("parseFrame() refuses what is no request, by the table of A.6", () => {
  const table: [string | null, [string, string, number | null]][] = [
    [null, ["invalid", "null", -32700]],
    ["not json", ["invalid", "null", -32700]],
    ["{bad", ["invalid", "null", -32700]],
    ['{"id":1}\n{"id":2}', ["invalid", "null", -32700]],
    ["[]", ["invalid", "null", -32600]],
    ['[{"id":1,"method":"ping"}]', ["invalid", "null", -32600]],
    ["3", ["invalid", "null", -32600]],
    ['"x"', ["invalid", "null", -32600]],
    ["null", ["invalid", "null", -32600]],
    ['{"id":1}', ["invalid", "1", -32600]],
    ['{"id":1,"method":""}', ["invalid", "1", -32600]],
    ['{"id":7,"method":42}', ["invalid", "7", -32600]],
    ['{"id":1,"method":"x","params":[]}', ["invalid", "1", -32602]],
    ['{"id":1,"method":"x","params":"a"}', ["invalid", "1", -32602]],
    ['{"id":1,"method":"x","params":0}', ["invalid", "1", -32602]],
    ['{"id":1,"method":"x","params":false}', ["invalid", "1", -32602]],
  ];
  for (const [text, expected] of table) assertEquals(verdict(text), expected, String(text));
});

Deno.test("parseFrame() takes absent and null params for none", () => {
  for (const text of ['{"id":1,"method":"x"}', '{"id":1,"method":"x","params":null}']) {
    const frame = parseFrame(text);
    assertEquals(frame, { type: "request", id: "1", method: "x", params: {} });
  }
});

Deno.test("parseFrame() keeps an id as the characters it was sent with", () => {
  const ids = [
    '"é"',
    "0",
    "-0",
    "1.0",
    "1e3",
    "9007199254740993",
    "123456789012345678901234567890.5",
    "null",
    "true",
    '{"a":[1,{"id":2}]}',
    "[1,2,[3]]",
    '"a\\"b,}"',
    '"\\\\"',
    `"${"x".repeat(100_000)}"`,
  ];
  for (const id of ids) {
    assertEquals(parseFrame(`{"id":${id},"method":"x"}`).id, id);
    assertEquals(parseFrame(`{"method":"x","params":{"id":99,"b":[{"id":98}]},"id" : ${id} }`).id, id);
  }
});

Deno.test("parseFrame() takes the last of several ids, also under an escaped name, and none for none", () => {
  assertEquals(parseFrame('{"id":1,"method":"x","id":2}').id, "2");
  assertEquals(parseFrame('{"\\u0069d":5,"method":"x"}').id, "5");
  assertEquals(parseFrame('{"method":"x","params":{"id":3}}').id, "null");
  assertEquals(parseFrame('{"method":"id","x":"id"}').id, "null");
});

Deno.test("parseFrame() keeps a raw line break out of an echoed id", () => {
  assertEquals(parseFrame('{"id":{"a":\r\n1},"method":"x"}').id, '{"a":  1}');
  assertEquals(parseFrame('{"id":"\u2028\u0085","method":"x"}').id, '"\\u2028\\u0085"');
});

Deno.test("parseFrame() refuses more than 512 levels and takes exactly 512", () => {
  const nested = (levels: number) =>
    `{"id":1,"method":"x","params":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}}`;
  assertEquals(verdict(nested(510)), ["request", "1", null]);
  assertEquals(verdict(nested(511)), ["invalid", "null", -32700]);
  assertEquals(verdict("[".repeat(200_000) + "]".repeat(200_000)), ["invalid", "null", -32700]);
  assertEquals(verdict(`{"id":1,"method":"x","params":{"a":"${"[".repeat(5000)}"}}`), ["request", "1", null]);
});

Deno.test("encodeResult() and encodeError() make one line each, with the raw id in place", () => {
  assertEquals(
    encodeResult("9007199254740993", { a: "x\u2028y\u2029z\u0085\n" }),
    '{"jsonrpc":"2.0","id":9007199254740993,"result":{"a":"x\\u2028y\\u2029z\\u0085\\n"}}\n',
  );
  assertEquals(
    encodeError("null", 4018, "stale", { n: 1 }),
    '{"jsonrpc":"2.0","id":null,"error":{"code":4018,"message":"stale","data":{"n":1}}}\n',
  );
});

Deno.test("toJson() writes other characters raw, and half of one as U+FFFD", () => {
  assertEquals(toJson("é 漢 🙂"), '"é 漢 🙂"');
  assertEquals(toJson("\ud800"), '"\\ufffd"');
});

Deno.test("A.3: a message does not repeat what it was sent without end", () => {
  const frame = JSON.parse(encodeError("1", -32601, `unknown method: ${"💥".repeat(100_000)}`));
  assertEquals([frame.error.message.length, frame.error.message.isWellFormed()], [4_001, true]);
  assertEquals([frame.error.message.slice(0, 18), frame.error.message.at(-1)], ["unknown method: 💥", "…"]);
});
