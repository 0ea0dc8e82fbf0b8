import { replaceText } from "@/tools/replace.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "../support/assert.ts";

const CASES: readonly { strategy: string; file: string; old: string; wanted: string; result: string }[] = [
  {
    strategy: "exact",
    file: "a\nfoo bar\nb\n",
    old: "foo bar",
    wanted: "foo baz",
    result: "a\nfoo baz\nb\n",
  },
  {
    strategy: "line_trimmed",
    file: "class A:\n    def f(self):\n        return 1\n\nend\n",
    old: "def f(self):\n    return 1",
    wanted: "def f(self):\n    x = 1\n    return x",
    result: "class A:\n    def f(self):\n        x = 1\n        return x\n\nend\n",
  },
  {
    strategy: "whitespace_normalized",
    file: "let  a =\t1; // one\nlet b = 2;\n",
    old: "let a = 1;",
    wanted: "let a = 5;",
    result: "let a = 5; // one\nlet b = 2;\n",
  },
  {
    strategy: "escape_normalized",
    file: "one\ntwo\tx\nthree\n",
    old: "one\\ntwo\\tx",
    wanted: "one\\nTWO\\tx",
    result: "one\nTWO\tx\nthree\n",
  },
  {
    strategy: "unicode_normalized",
    file: "He said \u201cstop\u201d \u2014 and left\u2026 now\n",
    old: 'said "stop" - and left...',
    wanted: 'said "go" - and left...',
    result: "He said \u201cgo\u201d \u2014 and left\u2026 now\n",
  },
  {
    strategy: "block_anchor",
    file: "function f() {\n  const total = compute(1);\n  log(total);\n}\nafter();\n",
    old: "function f() {\n  const total = compute(a);\n  log(tot);\n}",
    wanted: "function f() {\n  const total = compute(2);\n  log(tot);\n}",
    result: "function f() {\n  const total = compute(2);\n  log(total);\n}\nafter();\n",
  },
  {
    strategy: "context_aware",
    file: "const alpha = loadConfiguration('a');\nconst beta = 2;\nconst gamma = combine(alpha, beta);\n",
    old: "const alpha = loadConfiguration('A');\nconst beta = 2;\nconst gamma = combine(alpha, betas);",
    wanted: "const alpha = loadConfiguration('A');\nconst beta = 3;\nconst gamma = combine(alpha, betas);",
    result: "const alpha = loadConfiguration('a');\nconst beta = 3;\nconst gamma = combine(alpha, beta);\n",
  },
];

for (const { strategy, file, old, wanted, result } of CASES) {
  Deno.test(`replaceText() by ${strategy} changes what was asked for and nothing else`, () => {
    const done = replaceText(file, old, wanted);
    assertEquals(done, { text: result, strategy, count: 1 });
  });
}

Deno.test("replaceText() keeps mixed line ends outside and inside the match", () => {
  const file = "a\r\nb\nc\r\nd\ne";
  assertEquals(replaceText(file, "b\nc\nd", "b\nX\nd").text, "a\r\nb\nX\r\nd\ne");
});

Deno.test("replaceText() core 36: counts the matches and changes all of them only when told", () => {
  assertThrows(() => replaceText("x = 1\nx = 1\n", "x = 1", "x = 2"), /Found 2 matches for old_string/);
  assertEquals(replaceText("x = 1\nx = 1\n", "x = 1", "x = 2", { replaceAll: true }).text, "x = 2\nx = 2\n");
});

Deno.test("replaceText() FC-16: two places that merely resemble the old text are never chosen between", () => {
  const one = (name: string) => `function ${name}(list) {\n  const sum = add(list, 0);\n  return sum;\n}\n`;
  const file = one("first") + "\n" + one("third");
  const old = "function thirst(list) {\n  const sum = add(list, 1);\n  return sum;\n}";
  assertThrows(() => replaceText(file, old, "gone"), /Found 2 matches|Could not find/);
  assertThrows(() => replaceText(file, old, "gone", { replaceAll: true }), /Found 2 matches|Could not find/);
});

Deno.test("replaceText() block_anchor names several candidates instead of taking the more alike one", () => {
  const file = "begin\n  alpha beta gamma\nfinish\nbegin\n  something else\nfinish\n";
  assertThrows(() => replaceText(file, "begin\n  alpha beta gamm\nfinish", "x"), /Found 2 matches/);
});

Deno.test("replaceText() refuses an empty old text and one equal to the new text", () => {
  assertThrows(() => replaceText("a", "", "b"), /old_string is empty/);
  assertThrows(() => replaceText("a", "a", "a"), /identical/);
});

Deno.test("replaceText() suggests numbered sections when nothing matches", () => {
  try {
    replaceText("one\nfunction compute(a, b) {\nthree\n", "function komputer(x)  {", "y");
    assert(false, "must throw");
  } catch (error) {
    assertMatch(
      String(error),
      /Could not find old_string[\s\S]*Did you mean one of these sections\?\n1\| one\n2\| function compute/,
    );
  }
});

Deno.test("replaceText() refuses escaped quotes that only the call has", () => {
  const file = 'function greet() {\n  print("hello");\n  done();\n}\n';
  const old = 'function greet() {\n  print(\\"hello\\");\n  done();\n}';
  assertThrows(() => replaceText(file, old, old.replace("hello", "bye")), /Escape drift/);
});

Deno.test("replaceText() turns spaces of the call into the tabs of the file", () => {
  const file = "if a {\n\tif b {\n\t\tc()\n\t}\n}\n";
  const old = "    if b {\n        c()\n    }";
  const wanted = "    if b {\n        c()\n        if d {\n            e()\n        }\n    }";
  assertEquals(
    replaceText(file, old, wanted).text,
    "if a {\n\tif b {\n\t\tc()\n\t\tif d {\n\t\t\te()\n\t\t}\n\t}\n}\n",
  );
});

Deno.test("replaceText() leaves a missing final line end missing", () => {
  assertEquals(replaceText("a\n  last", "last\n", "LAST\n").text, "a\n  LAST");
});

Deno.test("replaceText() writes escapes for tabs as text when the matched region holds none", () => {
  assertEquals(replaceText("a  b\n", "a b", "print('\\t')").text, "print('\\t')\n");
});
