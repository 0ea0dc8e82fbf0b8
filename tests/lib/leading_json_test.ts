import { parseLeadingObject } from "../../src/lib/leading_json.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("parseLeadingObject() reads the object that begins a text, whatever follows it", () => {
  const body = { a: '} ] \\ " {', list: [{ b: [1, {}] }], "k}": null };
  const json = JSON.stringify(body);
  for (
    const rest of ["", "\n\n[warning; count=2]", "\n\n[MESSAGE]\nset it to {x} or }\n[/MESSAGE]", "}", "{}"]
  ) {
    assertEquals(parseLeadingObject(json + rest), body, rest);
  }
  assertEquals(parseLeadingObject("{}tail"), {});
});

Deno.test("parseLeadingObject() gives null for what begins with no whole object", () => {
  for (const text of ["", " {}", "[1]", "text {}", "{", '{"a":"', '{"a":1', "{a}", '{"a":"\\', "{]"]) {
    assertEquals(parseLeadingObject(text), null, text);
  }
});
