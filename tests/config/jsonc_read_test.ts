/** Our small reader against the parser package, on everything that could tell them apart. */
import { parse, type ParseError } from "@std/jsonc";
import { blankComments, parseJsonc } from "@/config/jsonc_read.ts";
import { assertEquals } from "../support/assert.ts";

const TEXTS = [
  "{}",
  '{"a":1}',
  '{"a":1,}',
  "[1,2,]",
  '[[1,],{"a":[1,],},]',
  '{ // c\n "a": 1 }',
  '{ /* c */ "a": /* d */ 1 /* e */ }',
  '{"a":"// no comment"}',
  '{"a":"/* none */"}',
  '{"a":"x\\" // y"}',
  '{"a":"\\\\"} // end',
  '{"a":"\\\\\\""} /* end */',
  '{"url":"https://x.y/z"} // https://a',
  '{"a":1 /* , */ , /* x */ }',
  '{"a":[1, // one\n 2, // two\n]}',
  '{"a":1}\n// last line without end',
  '// first\r\n{\r\n"a": 1, // crlf\r\n}\r\n',
  '{"a":",}"}',
  '{"a":",]",}',
  '{"a":1/**/}',
  '{"a":1//\n}',
  '{"a":"é\\u00e9 \\n"}',
  '{"a":/* multi\nline */1}',
  '/* a */ /* b */ {"a":true,"b":null,"c":-1.5e3}',
  '{"a":{"b":{"c":[]}}}',
  '{"a":1,"a":2}',
  '{"a": 1\n,\n}',
  '{"*/": 1, "/*": 2}',
];

const BROKEN = [
  "{",
  "{]",
  "[,]",
  "{,}",
  "[1,,]",
  '{"a":}',
  '{"a" 1}',
  "{a:1}",
  "{'a':1}",
  '{"a":1} x',
  "/* open",
  '{"a":"x}',
  "nope",
  '{"a":1 /* open }',
];

Deno.test("parseJsonc() gives what the parser package gives", () => {
  for (const text of TEXTS) {
    const errors: ParseError[] = [];
    const expected = parse(text, errors, { allowTrailingComma: true });
    assertEquals(errors, [], text);
    assertEquals(parseJsonc(text), { ok: true, value: expected }, text);
  }
});

Deno.test("parseJsonc() refuses what the parser package refuses", () => {
  for (const text of BROKEN) {
    const errors: ParseError[] = [];
    parse(text, errors, { allowTrailingComma: true });
    assertEquals([parseJsonc(text).ok, errors.length > 0], [false, true], text);
  }
});

Deno.test("parseJsonc() takes a BOM, and a file of blanks and comments as an empty object", () => {
  assertEquals(parseJsonc('\uFEFF{"a":1}'), { ok: true, value: { a: 1 } });
  for (const text of ["", " \n", "// nothing yet\n", "\uFEFF/* x */"]) {
    assertEquals(parseJsonc(text), { ok: true, value: {} });
  }
});

Deno.test("blankComments() keeps every position, so errors point into the real file", () => {
  for (const text of TEXTS) assertEquals(blankComments(text).length, text.length);
  const failed = parseJsonc('{\n  // comment\n  "a": 1,\n  "b": oops\n}');
  assertEquals(failed.ok ? null : [failed.line, failed.column], [4, 8]);
});
