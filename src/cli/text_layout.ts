/** Text in columns: widths as a terminal counts them, wrapping, cutting, tables. Pure; knows no colours but skips them. */

// deno-lint-ignore no-control-regex -- the escape sequences that colour text
const ANSI = /\x1b\[[0-9;]*m/g;
// deno-lint-ignore no-control-regex -- escape sequences of every kind: CSI, OSC with its end, two-byte ones
const ESCAPES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])/g;
// deno-lint-ignore no-control-regex -- what must not reach a terminal from foreign text; the last turn lines around
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** Takes out control characters (escape sequences of a tool's output among them); tabs and line ends stay. */
export function withoutControls(text: string): string {
  return text.replace(ESCAPES, "").replace(/\r\n/g, "\n").replace(CONTROL, "");
}

function isWide(code: number): boolean {
  return code >= 0x1100 &&
    (code <= 0x115f || (code >= 0x2e80 && code <= 0xa4cf) || (code >= 0xac00 && code <= 0xd7a3) ||
      (code >= 0xf900 && code <= 0xfaff) || (code >= 0xfe30 && code <= 0xfe6f) ||
      (code >= 0xff00 && code <= 0xff60) || (code >= 0x1f300 && code <= 0x1faff) || code >= 0x20000);
}

/** Columns on a terminal; colour sequences and combining marks take none, East Asian wide characters two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const char of text.replace(ANSI, "")) {
    const code = char.codePointAt(0)!;
    if ((code >= 0x300 && code <= 0x36f) || (code >= 0x200b && code <= 0x200f) || code === 0xfe0f) continue;
    width += isWide(code) ? 2 : 1;
  }
  return width;
}

/** One line of plain text, at most `width` columns, the end marked with `…`. */
export function cut(text: string, width: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  if (widthOf(line) <= width) return line;
  let out = "";
  let used = 0;
  for (const char of line) {
    const w = widthOf(char);
    if (used + w > width - 1) break;
    out += char;
    used += w;
  }
  return out + "…";
}

/** Spaces on the right up to `width` columns; longer text stays. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Plain text in lines of at most `width` columns, broken at spaces; words longer than a line are split. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split("\n")) {
    let line = "";
    for (let word of paragraph.split(" ")) {
      if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
        lines.push(line);
        line = "";
      }
      while (widthOf(word) > width) {
        const head = cut(word, width + 1).slice(0, -1);
        if (head === "") break;
        lines.push(head);
        word = word.slice(head.length);
      }
      line = line === "" ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines;
}

/** Every line wrapped; where it goes on it stands as far in as it began, and `hang` further. */
export function wrapIndented(text: string, width: number, hang = 0): string {
  return text.split("\n").flatMap((line) => {
    const indent = /^ */.exec(line)![0];
    const deeper = indent + " ".repeat(hang);
    if (widthOf(line) <= width || deeper.length > width / 2) return [line];
    const text = line.slice(indent.length);
    const first = wrap(text, width - indent.length)[0]!;
    const rest = wrap(text.slice(first.length).trimStart(), width - deeper.length);
    return [indent + first, ...rest.map((part) => deeper + part)];
  }).join("\n");
}

/** Rows under each other in columns; the last column is cut so that a row fits into `width`. */
export function table(rows: readonly (readonly string[])[], width: number, gap = 2): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from(
    { length: columns },
    (_, i) => Math.max(0, ...rows.map((row) => widthOf(row[i] ?? ""))),
  );
  return rows.map((row) => {
    let line = "";
    row.forEach((cell, i) => {
      const isLast = i === row.length - 1;
      if (!isLast) line += pad(cell, widths[i]!) + " ".repeat(gap);
      else line += cut(cell, Math.max(8, width - widthOf(line)));
    });
    return line.trimEnd();
  });
}
