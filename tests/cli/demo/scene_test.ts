import { assertEquals } from "../../support/assert.ts";
import { abridge, Scene } from "@/cli/demo/scene.ts";
import { createPaint } from "@/cli/paint.ts";
import type { Terminal } from "@/cli/terminal.ts";
import { widthOf } from "@/cli/text_layout.ts";

function record(columns: number): { terminal: Terminal; lines: string[] } {
  const lines: string[] = [];
  const paint = createPaint(false);
  const terminal = { columns, paint, line: (text = "") => lines.push(text) } as unknown as Terminal;
  return { terminal, lines };
}

Deno.test("Scene gathers the frames of a stream into one row", () => {
  const { terminal, lines } = record(80);
  const scene = new Scene(terminal);
  scene.stream("hermes", "Hello ", { sent: false, at: 10, name: "message.delta" });
  scene.stream("hermes", "there", { sent: false, at: 25, name: "message.delta" });
  scene.flush();
  assertEquals(lines.map((line) => line.replace(/ +/g, " ")), [
    " Hello there │ 10 ← message.delta ×2, 15 ms",
  ]);
  assertEquals(scene.frames, 2);
});

Deno.test("Scene never draws over the width of the terminal", () => {
  for (const columns of [60, 80, 110]) {
    const { terminal, lines } = record(columns);
    const scene = new Scene(terminal);
    scene.title(1, "hermes acp", "what your editor speaks");
    scene.show(
      [{ who: "you", text: "x".repeat(200) }, { who: "added", text: "y".repeat(200) }],
      { sent: true, at: 123_456, name: "n".repeat(99), detail: { a: "z".repeat(300) } },
    );
    assertEquals(lines.filter((line) => widthOf(line) > columns), []);
  }
});

Deno.test("abridge() shortens long texts and deep parts, and takes control characters out", () => {
  assertEquals(abridge({ id: 1, text: "a".repeat(40) }, 60, 1), [`{id: 1, text: "${"a".repeat(27)}…"}`]);
  assertEquals(abridge({ a: { b: { c: { d: 1 } } } }, 60, 1), ['{a: {b: {c: "…"}}}']);
  assertEquals(abridge("x\x1b[2Jy", 60, 1), ["xy"]);
});

Deno.test("abridge() fills as many lines as it may and marks what is left out", () => {
  assertEquals(abridge({ one: "aaaa", two: "bbbb", three: "cccc" }, 14, 2), [
    '{one: "aaaa",',
    'two: "bbbb", …',
  ]);
});
