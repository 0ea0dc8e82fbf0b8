import { coerceArguments, parseArguments, storableArguments } from "@/core/arguments.ts";
import { SortedArguments, sortedArguments } from "@/core/sorted_arguments.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("parseArguments() tells whole, empty, cut, broken and foreign JSON apart", () => {
  assertEquals(parseArguments('{"a":1}'), { type: "ok", args: { a: 1 } });
  assertEquals(parseArguments("  "), { type: "ok", args: {} });
  assertEquals(parseArguments('{"path":"a.t').type, "truncated");
  assertEquals(parseArguments('{"path":}').type, "invalid");
  assertEquals(parseArguments("[1]").type, "not_object");
});

Deno.test("core 9: coerceArguments() gives the handler the types of the schema", () => {
  const schema = {
    type: "object",
    properties: {
      limit: { type: "integer" },
      ratio: { type: "number" },
      all: { type: "boolean" },
      maybe: { type: ["string", "null"] },
      none: { type: ["integer", "null"] },
      list: { type: "array", items: { type: "integer" } },
      object: { type: "object", properties: { n: { type: "integer" } } },
    },
  } as const;
  assertEquals(
    coerceArguments({
      limit: "5",
      ratio: "1.5",
      all: "TRUE",
      maybe: "null",
      none: "null",
      list: '["1", 2]',
      object: '{"n":"3"}',
    }, schema),
    { limit: 5, ratio: 1.5, all: true, maybe: "null", none: null, list: [1, 2], object: { n: 3 } },
  );
  assertEquals(coerceArguments({ list: "7" }, schema), { list: [7] });
});

Deno.test("coerceArguments() keeps what cannot be converted", () => {
  const schema = { properties: { limit: { type: "integer" }, all: { type: "boolean" } } } as const;
  const args = { limit: "inf", all: "yes", extra: "1" };
  assertEquals(coerceArguments(args, schema), args);
  assertEquals(coerceArguments({ limit: "1.5" }, schema), { limit: "1.5" });
});

Deno.test("parseArguments() refuses what is nested too deep to be handled, and takes the deepest that is not", () => {
  const nested = (depth: number) => `{"a":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}`;
  assertEquals(parseArguments(nested(512)).type, "ok");
  assertEquals(parseArguments(nested(513)), {
    type: "invalid",
    message: "The arguments are nested deeper than 512 levels",
  });
  assertEquals(parseArguments(`{"a":"${"[".repeat(5_000)}\\"${"{".repeat(5_000)}"}`).type, "ok");
  const text = "[".repeat(20_000) + "]".repeat(20_000);
  const schema = { type: "object", properties: { list: { type: "array" } } } as const;
  assertEquals(coerceArguments({ list: text }, schema), { list: [text] });
});

Deno.test("FC-18: arguments of many megabytes are refused before anything looks at them, and are not kept", () => {
  const text = (size: number) => JSON.stringify({ path: "x".repeat(size) });
  assertEquals(parseArguments(text(4_000_000)).type, "ok");
  const parsed = parseArguments(text(10_000_000));
  assertEquals(parsed, { type: "invalid", message: "The arguments are longer than 4194304 characters" });
  assertEquals(storableArguments(text(10_000_000)), "{}");
});

Deno.test("core A.1: sortedArguments() is compact, with keys in order at every depth, and without half characters", () => {
  assertEquals(
    sortedArguments(' { "b" : [ {"d":1, "c":"x y"} ], "a": null }\n'),
    '{"a":null,"b":[{"c":"x y","d":1}]}',
  );
  assertEquals(
    sortedArguments('{"a":"\\ud800","__proto__":{"z":1,"y":2}}'),
    '{"__proto__":{"y":2,"z":1},"a":"\ufffd"}',
  );
  for (const same of ["", "{}", '{"a":', "[1]", '{"b":12345678901234567890,"a":1}', '{"b":1e400,"a":1}']) {
    assertEquals(sortedArguments(same), same);
  }
  assertEquals(
    sortedArguments('{"b":"12345678901234567890","a":0.5}'),
    '{"a":0.5,"b":"12345678901234567890"}',
  );
});

Deno.test("core A.1: SortedArguments gives the list itself when it is in order, else the same copy each time", () => {
  const sorted = new SortedArguments();
  const inOrder = [{ id: "1", name: "t", arguments: '{"a":1}' }];
  const other = [{ id: "1", name: "t", arguments: '{"b":1, "a":2}' }, inOrder[0]!];
  assert(sorted.of(inOrder) === inOrder);
  assertEquals(sorted.of(other).map((call) => call.arguments), ['{"a":2,"b":1}', '{"a":1}']);
  assert(sorted.of(other) === sorted.of(other));
  assertEquals(other[0]!.arguments, '{"b":1, "a":2}');
});
