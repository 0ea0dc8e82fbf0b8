import { assert, assertEquals } from "../support/assert.ts";
import * as s from "../../src/lib/shape.ts";

const server = s.object({ name: s.text, args: s.list(s.text), note: s.optional(s.text) });

Deno.test("object: what fits has no issue, and members that it does not name pass", () => {
  assertEquals(s.findIssues(server, { name: "a", args: ["b"], other: 1 }), []);
  assertEquals(s.findIssues(server, { name: "a", args: [], note: null }), []);
});

Deno.test("object: each wrong member is named by its path", () => {
  assertEquals(s.findIssues(server, { args: ["b", 2], note: 3 }), [
    { path: "name", message: "is missing; a string expected" },
    { path: "args.1", message: "must be a string" },
    { path: "note", message: "must be a string" },
  ]);
  for (const value of [null, [], "text", undefined]) assertEquals(s.findIssues(server, value).length, 1);
});

Deno.test("byType: the member `type` decides which shape counts", () => {
  const block = s.byType({ text: s.object({ text: s.text }), image: s.object({ data: s.optional(s.text) }) });
  assertEquals(s.findIssues(block, { type: "image" }), []);
  assertEquals(s.findIssues(block, { type: "text" })[0]!.path, "text");
  assertEquals(s.findIssues(block, { type: "constructor" }), [
    { path: "type", message: "must be one of text, image" },
  ]);
  assertEquals(s.findIssues(block, 1).length, 1);
});

Deno.test("either: one that fits is enough; else what was meant says what is wrong", () => {
  const value = s.either([s.text, s.flag], () => undefined, "a string or a boolean");
  assertEquals(s.findIssues(value, true), []);
  assertEquals(s.findIssues(value, 1), [{ path: "", message: "must be a string or a boolean" }]);
  const meant = s.either(
    [s.text, s.list(s.text)],
    (it) => Array.isArray(it) ? s.list(s.text) : undefined,
    "text",
  );
  assertEquals(s.findIssues(meant, ["a", 1])[0]!.path, "1");
});

Deno.test("a check never changes its value", () => {
  const value = Object.freeze({ name: "a", args: Object.freeze(["b"]) });
  assert(s.findIssues(server, value).length === 0);
});

Deno.test("json: the same as JSON Schema", () => {
  assertEquals(server.json, {
    type: "object",
    properties: {
      name: { type: "string" },
      args: { type: "array", items: { type: "string" } },
      note: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
    required: ["name", "args"],
  });
  assertEquals(s.byType({ text: s.object({ text: s.text }) }).json, {
    oneOf: [{
      properties: { type: { const: "text" } },
      allOf: [{ type: "object", properties: { text: { type: "string" } }, required: ["text"] }],
    }],
  });
});
