/**
 * How alike two short texts are, 0 to 1: twice the matched characters over all characters, where matches are the
 * longest common block and, left and right of it, again the longest ones (Ratcliff and Obershelp).
 */

/** Longer texts are alike only when they are equal: lines of code are shorter, and the work grows with the square. */
const MAX_CHARS = 500;

export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  if (a.length === 0 || b.length === 0 || a.length > MAX_CHARS || b.length > MAX_CHARS) return 0;
  return (2 * matched(a, b)) / (a.length + b.length);
}

/** False when the lengths or the letters alone rule out `threshold`; cheap. */
export function mayReach(a: string, b: string, threshold: number): boolean {
  const sum = a.length + b.length;
  if (sum === 0) return true;
  if ((2 * Math.min(a.length, b.length)) / sum < threshold) return false;
  const counts = new Map<number, number>();
  for (let i = 0; i < a.length; i++) counts.set(a.charCodeAt(i), (counts.get(a.charCodeAt(i)) ?? 0) + 1);
  let common = 0;
  for (let i = 0; i < b.length; i++) {
    const left = counts.get(b.charCodeAt(i)) ?? 0;
    if (left > 0) {
      common++;
      counts.set(b.charCodeAt(i), left - 1);
    }
  }
  return (2 * common) / sum >= threshold;
}

function matched(a: string, b: string): number {
  let total = 0;
  const open: [number, number, number, number][] = [[0, a.length, 0, b.length]];
  while (open.length > 0) {
    const [aFrom, aTo, bFrom, bTo] = open.pop()!;
    const block = longestBlock(a, b, aFrom, aTo, bFrom, bTo);
    if (block.size === 0) continue;
    total += block.size;
    open.push([aFrom, block.a, bFrom, block.b], [block.a + block.size, aTo, block.b + block.size, bTo]);
  }
  return total;
}

function longestBlock(a: string, b: string, aFrom: number, aTo: number, bFrom: number, bTo: number) {
  const best = { a: aFrom, b: bFrom, size: 0 };
  if (aFrom >= aTo || bFrom >= bTo) return best;
  let row = new Uint16Array(bTo - bFrom + 1);
  let next = new Uint16Array(bTo - bFrom + 1);
  for (let i = aFrom; i < aTo; i++) {
    const code = a.charCodeAt(i);
    for (let j = bFrom; j < bTo; j++) {
      const size = b.charCodeAt(j) === code ? row[j - bFrom]! + 1 : 0;
      next[j - bFrom + 1] = size;
      if (size > best.size) {
        best.size = size;
        best.a = i - size + 1;
        best.b = j - size + 1;
      }
    }
    [row, next] = [next, row];
  }
  return best;
}
