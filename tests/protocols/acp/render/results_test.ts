/** Proves src/protocols/acp/render/results.ts and text.ts: acp.md C11. */
import { assert, assertEquals } from "../../../support/assert.ts";
import { givenBy, hasFailed, resultText } from "../../../../src/protocols/acp/render/results.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";
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

Deno.test("resultText() of a skill is a summary, never its body", () => {
  const result = {
    success: true,
    name: "deploy",
    description: "How we ship",
    content: "secret sauce ".repeat(9),
  };
  assertEquals(text("skill_view", result), "deploy (117 characters)\nHow we ship");
  assertEquals(
    text("skill_view", { ...result, file: "a.sh", description: undefined }),
    "deploy / a.sh (117 characters)",
  );
  assertEquals(text("skill_view", { success: false, error: "no such skill" }), "no such skill");
  const skills = [{ name: "a", description: "first\nline" }, { name: "b" }];
  assertEquals(text("skills_list", { success: true, skills, count: 2 }), "2 skills\n- a: first line\n- b: ");
  assertEquals(
    text("skill_manage", { success: true, message: "Skill 'a' created", path: "/p" }),
    "Skill 'a' created\n/p",
  );
});

Deno.test("resultText() of memory tells what is kept, not the notes", () => {
  const result = { success: true, target: "user", usage: "12% of 2,000", entry_count: 3, message: "Saved." };
  assertEquals(text("memory", result), "Saved.\nuser: 3 notes, 12% of 2,000");
  assertEquals(text("memory", { success: false, error: "full" }), "full");
});

Deno.test("resultText() of session_search is one line or two per conversation, or the messages of one", () => {
  const results = [{ session_id: "1", title: "Old talk", last_active: "May", snippet: ">>>x<<<\ny" }];
  assertEquals(
    text("session_search", { success: true, mode: "discover", results, count: 1 }),
    "1 conversation\n- Old talk (May)\n  >>>x<<< y",
  );
  const messages = [{ role: "user", content: "hi\nthere" }];
  assertEquals(
    text("session_search", { success: true, mode: "read", session_id: "1", session_meta: {}, messages }),
    "1: 1 message\nuser: hi there",
  );
  assertEquals(text("session_search", { success: true, results: "?", messages: null }), "0 conversations");
});

Deno.test("resultText() of the web tools shows hits as links and pages only where they failed, without the wrapper", () => {
  const hit = (n: number) => ({
    title: `T[${n}]`,
    url: `https://a.test/(${n})`,
    description: n === 1 ? "words" : "",
  });
  const found = { success: true, data: { web: Array.from({ length: 12 }, (_, n) => hit(n + 1)) } };
  const shown = text("web_search", givenBy(wrapUntrusted("web_search", JSON.stringify(found)), true).said)
    .split("\n");
  assertEquals(shown.slice(0, 3), [
    "- [T1](https://a.test/%281%29)",
    "  words",
    "- [T2](https://a.test/%282%29)",
  ]);
  assertEquals([shown.length, shown.at(-1)], [12, "… and 2 more"]);
  assertEquals(text("web_search", { success: true, data: { web: [] } }), "Nothing found.");
  assertEquals(text("web_search", { success: false, error: "no key" }), "no key");
  const pages = {
    results: [{ url: "u1", content: "long" }, { url: "u2", content: "", error: "Blocked: x" }],
  };
  assertEquals(
    text("web_extract", givenBy(wrapUntrusted("web_extract", JSON.stringify(pages)), true).said),
    "u2: Blocked: x",
  );
  assertEquals(text("vision_analyze", { success: true, analysis: "a dot" }), "a dot");
});
