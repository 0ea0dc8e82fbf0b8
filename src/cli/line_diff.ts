/**
 * A line diff for people to look at: common head and tail cut off, the middle by longest common subsequence while
 * it is small, else as one block. Never used to change a file. Pure.
 */

export interface DiffLine {
  readonly kind: " " | "+" | "-";
  readonly text: string;
}

/** Above this many cells the middle is shown as removed and added whole. */
const MAX_CELLS = 1_000_000;

function splitLines(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

export function diffLines(oldText: string, newText: string): DiffLine[] {
  const a = splitLines(oldText);
  const b = splitLines(newText);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (lines: string[]) => lines.map((text): DiffLine => ({ kind: " ", text }));
  return [
    ...same(a.slice(0, head)),
    ...diffMiddle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...same(tail === 0 ? [] : a.slice(-tail)),
  ];
}

function diffMiddle(a: string[], b: string[]): DiffLine[] {
  if (a.length === 0 || b.length === 0 || a.length * b.length > MAX_CELLS) {
    return [
      ...a.map((text): DiffLine => ({ kind: "-", text })),
      ...b.map((text): DiffLine => ({ kind: "+", text })),
    ];
  }
  const width = b.length + 1;
  // common[i * width + j] = length of the longest common subsequence of a[i…] and b[j…]
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1]! + 1
        : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
    }
  }
  return walk(a, b, common, width);
}

function walk(a: string[], b: string[], common: Uint32Array, width: number): DiffLine[] {
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ kind: " ", text: a[i]! });
      i++;
      j++;
    } else if (common[(i + 1) * width + j]! >= common[i * width + j + 1]!) {
      lines.push({ kind: "-", text: a[i++]! });
    } else lines.push({ kind: "+", text: b[j++]! });
  }
  for (; i < a.length; i++) lines.push({ kind: "-", text: a[i]! });
  for (; j < b.length; j++) lines.push({ kind: "+", text: b[j]! });
  return lines;
}
