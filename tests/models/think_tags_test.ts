import { separateThoughts, ThinkSplitter } from "@/models/providers/think_tags.ts";
import { assertEquals } from "../support/assert.ts";

const CASES: readonly (readonly [input: string, text: string, reasoning: string])[] = [
  ["plain text", "plain text", ""],
  ["<think>x</think>y", "y", "x"],
  ["<think>\nlong\nthought\n</think>\n\nAnswer", "Answer", "\nlong\nthought\n"],
  ["  <THINKING>x</THINKING> y", "y", "x"],
  ["<REASONING_SCRATCHPAD>x</REASONING_SCRATCHPAD>y", "y", "x"],
  ["<thought >x</thought>y", "y", "x"],
  ["a <reasoning>b</reasoning> c", "a  c", "b"],
  ["a\n<think>never closed", "a\n", "never closed"],
  ["a <think> in a sentence", "a <think> in a sentence", ""],
  ["use the `<think>` tag", "use the `<think>` tag", ""],
  ["stray </think> end", "stray  end", ""],
  ["<thinker>x</thinker>", "<thinker>x</thinker>", ""],
  ["1 < 2 and a<b", "1 < 2 and a<b", ""],
  ["<think>a<b</think>c", "c", "a<b"],
  ["<think>x</thinking></think>y", "y", "x</thinking>"],
  ['<tool_call>{"name":"x"}</tool_call>\nok', "ok", ""],
  ["text\n<function_calls>x</function_calls>\nmore", "text\n\nmore", ""],
  ['<function name="f">x</function>done', "done", ""],
  ["<tool_call>cut off", "<tool_call>cut off", ""],
  ["say <tool_call> to me", "say <tool_call> to me", ""],
  ["ends with <thi", "ends with <thi", ""],
  ["<", "<", ""],
  ["\n\n<think>x</think>\n\ny\n", "y\n", "x"],
  ["    indented code", "    indented code", ""],
];

Deno.test("core 14: think tags leave the text and become reasoning", () => {
  for (const [input, text, reasoning] of CASES) {
    const got = separateThoughts(input);
    assertEquals([got.text, got.reasoning], [text, reasoning], input);
  }
});

Deno.test("ThinkSplitter.push() gives the same result for every split of the text", () => {
  for (const [input] of CASES) {
    const whole = separateThoughts(input);
    for (let size = 1; size <= input.length; size++) {
      const splitter = new ThinkSplitter();
      const parts = [];
      for (let at = 0; at < input.length; at += size) parts.push(splitter.push(input.slice(at, at + size)));
      parts.push(splitter.end());
      const joined = {
        text: parts.map((p) => p.text).join(""),
        reasoning: parts.map((p) => p.reasoning).join(""),
      };
      assertEquals(joined, whole, `${JSON.stringify(input)} in pieces of ${size}`);
    }
  }
});

Deno.test("ThinkSplitter.push() shows a thought while it is still open", () => {
  const splitter = new ThinkSplitter();
  assertEquals(splitter.push("<think>one "), { text: "", reasoning: "one " });
  assertEquals(splitter.push("two"), { text: "", reasoning: "two" });
  assertEquals(splitter.push("</th"), { text: "", reasoning: "" });
  assertEquals(splitter.push("ink>answer"), { text: "answer", reasoning: "" });
});
