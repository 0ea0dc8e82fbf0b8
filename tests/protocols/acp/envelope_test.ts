/** Proves src/protocols/acp/envelope.ts: acp.md A1, row 4, FC-02.1. */
import { assertEquals } from "../../support/assert.ts";
import { readEnvelope } from "../../../src/protocols/acp/envelope.ts";

function verdict(text: string | null): string {
  const message = readEnvelope(text);
  if (message.type === "invalid") return `${message.code} ${JSON.stringify(message.id)}`;
  return message.type;
}

const TABLE: readonly (readonly [string | null, string])[] = [
  ["not json", "-32700 null"],
  ["{bad", "-32700 null"],
  [null, "-32700 null"],
  ["[]", "-32600 null"],
  ['[{"jsonrpc":"2.0","id":1,"method":"x"}]', "-32600 null"],
  ['"x"', "-32600 null"],
  ["42", "-32600 null"],
  ["null", "-32600 null"],
  ["", "ignore"],
  ['{"jsonrpc":"2.0","id":7,"method":42}', "-32600 7"],
  ['{"jsonrpc":"2.0","id":"a"}', '-32600 "a"'],
  ['{"id":3,"method":"x"}', "-32600 3"],
  ['{"jsonrpc":"1.0","id":3,"method":"x"}', "-32600 3"],
  ['{"jsonrpc":"2.0","id":{},"method":"x"}', "-32600 null"],
  ['{"jsonrpc":"2.0","id":true,"method":"x"}', "-32600 null"],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":[1]}', "-32602 1"],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":"p"}', "-32602 1"],
  ['{"jsonrpc":"2.0","method":"x","params":[1]}', "ignore"],
  ['{"jsonrpc":"2.0","id":null,"method":"x"}', "request"],
  ['{"jsonrpc":"2.0","id":1,"method":"x"}', "request"],
  ['{"jsonrpc":"2.0","method":"x"}', "notification"],
  ['{"jsonrpc":"2.0","id":1,"result":{}}', "response"],
  ['{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}', "response"],
  ['{"id":1,"result":{}}', "-32600 null"],
];

for (const [text, wanted] of TABLE) {
  Deno.test(`acp 4: readEnvelope() of ${text === null ? "bytes that are not UTF-8" : text} is ${wanted}`, () => {
    assertEquals(verdict(text), wanted);
  });
}

Deno.test("readEnvelope() gives missing and null params as an empty object", () => {
  for (const tail of ["", ',"params":null']) {
    assertEquals(readEnvelope(`{"jsonrpc":"2.0","id":1,"method":"m"${tail}}`), {
      type: "request",
      id: 1,
      method: "m",
      params: {},
    });
  }
});

Deno.test("acp A1: an id is echoed digit for digit, also one that no number here can hold", () => {
  for (
    const id of ["9007199254740993", "-123456789012345678901234567890", "1.25", "1e21", "7", '"x"', "null"]
  ) {
    const message = readEnvelope(`{"jsonrpc":"2.0","params":{"id":1},"method":"m", "id" : ${id} }`);
    if (message.type !== "request") throw new Error(JSON.stringify(message));
    assertEquals(JSON.stringify({ id: message.id }), `{"id":${id}}`);
  }
});

Deno.test("acp A1: an id that is no finite number is refused", () => {
  const message = readEnvelope('{"jsonrpc":"2.0","id":1e400,"method":"m"}');
  assertEquals([message.type, "code" in message && message.code, "id" in message && message.id], [
    "invalid",
    -32600,
    null,
  ]);
});
