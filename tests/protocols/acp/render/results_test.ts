/** Proves src/protocols/acp/render/results.ts and text.ts: acp.md C11. */
import { assert, assertEquals } from "../../../support/assert.ts";
import { hasFailed, resultText } from "../../../../src/protocols/acp/render/results.ts";
import { cut, fence, oneLine } from "../../../../src/protocols/acp/render/text.ts";

function text(name: string, result: unknown, args: Record<string, unknown> = {}): string {
  return resultText(name, typeof result === "string" ? result : JSON.stringify(result), args);
}

Deno.test("hasFailed() follows the executor, then the fields of the result, never words", () => {
  const failed = (result: unknown, isError = false, builtin = true) =>
    hasFailed(typeof result === "string" ? result : JSON.stringify(result), isError, builtin);
  assertEquals(failed({}, true), true);
  assertEquals(failed({ success: false }), true);
  assertEquals(failed({ ok: false }, false, false), true);
  assertEquals(failed({ exit_code: 1 }), true);
  assertEquals(failed({ returncode: 2 }), true);
  assertEquals(failed({ exit_code: 0, error: null }), false);
  assertEquals(failed({ error: "x" }), true);
  assertEquals(failed({ error: "x" }, false, false), false);
  assertEquals(failed({ error: "x", content: "y" }), false);
  assertEquals(failed("Error executing tool 'x': timed out after 1s"), true);
  assertEquals(failed("an error happened in the text"), false);
});

Deno.test("resultText() of terminal is its output, and the code when it is not 0", () => {
  assertEquals(text("terminal", { output: "hi\n", exit_code: 0, error: null }), "hi\n");
  assertEquals(text("terminal", { output: "", exit_code: 0, error: null }), "Done, no output (exit code 0).");
  assertEquals(text("terminal", { output: "x", exit_code: 2, error: null }), "x\nexit code 2");
  assertEquals(
    text("terminal", {
      output: "",
      exit_code: -1,
      status: "blocked",
      error: "e",
      message: "The user denied it.",
    }),
    "The user denied it.",
  );
});

Deno.test("resultText() of read_file has path, range, total and a safe fence", () => {
  const shown = text("read_file", { content: "3|a\n4|```b", total_lines: 9 }, { path: "x.ts" });
  assertEquals(shown, "x.ts lines 3–4 of 9\n````\n3|a\n4|```b\n````");
  assertEquals(text("read_file", { error: "Not found" }, { path: "x" }), "Not found");
});

Deno.test("resultText() of edits is one line, or the failure", () => {
  assertEquals(
    text("write_file", { bytes_written: 3, files_modified: ["/w/a.txt"] }),
    "Changed /w/a.txt (3 bytes)",
  );
  assertEquals(text("patch", { success: false, error: "No match" }), "No match");
});

Deno.test("resultText() of search_files shows twelve matches at most", () => {
  const matches = Array.from(
    { length: 20 },
    (_, i) => ({ path: "a.ts", line: i + 1, content: "x".repeat(400) }),
  );
  const lines = text("search_files", { total_count: 20, matches, truncated: true }).split("\n");
  assertEquals(lines[0], "20 matches (more exist)");
  assertEquals(lines.length, 13);
  assertEquals(lines[1]!.length, "a.ts:1 ".length + 300);
});

Deno.test("resultText() of todo is a checklist with its progress", () => {
  const todos = [{ id: "1", content: "a", status: "completed" }, {
    id: "2",
    content: "b",
    status: "cancelled",
  }];
  assertEquals(text("todo", { todos }), "1 of 2 items done\n[x] a\n[-] b");
});

Deno.test("resultText() of an unknown tool is bullets for JSON and the text as it is", () => {
  assertEquals(text("mcp__x__y", { a: 1, b: { c: ["d"] } }), "- a: 1\n- b:\n  - c:\n    - 1: d");
  assertEquals(text("mcp__x__y", "plain"), "plain");
  assertEquals(text("__proto__", { a: 1 }), "- a: 1");
  assertEquals(text("toString", "[1"), "[1");
});

Deno.test("resultText() survives results of any shape", () => {
  for (const result of ["{", "{}", "[]", "null", '{"matches":3,"files":{}}', '{"todos":[1,null]}']) {
    for (const name of ["terminal", "read_file", "patch", "search_files", "process", "todo", "clarify"]) {
      assert(typeof resultText(name, result, {}) === "string");
    }
  }
});

Deno.test("cut() tells the full length and never splits a pair", () => {
  assertEquals(cut("abc", 3), "abc");
  assertEquals(cut("abcdef", 3), "abc\n… (cut, 6 characters in all)");
  assertEquals(cut("ab😀def", 3), "ab\n… (cut, 7 characters in all)");
});

Deno.test("fence() is longer than any run inside", () => {
  assertEquals(fence("a"), "```\na\n```");
  assertEquals(fence("````"), "`````\n````\n`````");
});

Deno.test("oneLine() folds white space and marks the cut", () => {
  assertEquals(oneLine(" a\n b ", 10), "a b");
  assertEquals(oneLine("abcdef", 4), "abc…");
});
