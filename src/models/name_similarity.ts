/** How alike two model names are, for corrections and suggestions. */

/** 1 = equal, 0 = nothing in common: edit distance over the longer length, any case. */
export function similarity(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  const longest = Math.max(left.length, right.length);
  return longest === 0 ? 1 : 1 - editDistance(left, right) / longest;
}

function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let at = 1; at <= b.length; at++) {
      const same = a[row - 1] === b[at - 1] ? 0 : 1;
      current.push(Math.min(above[at]! + 1, current[at - 1]! + 1, above[at - 1]! + same));
    }
    above = current;
  }
  return above[b.length]!;
}

/** The closest names, best first. */
export function closest(name: string, names: readonly string[], count: number): string[] {
  return names.map((id) => ({
    id,
    score: Math.max(similarity(name, id), similarity(name, id.slice(id.lastIndexOf("/") + 1))),
  }))
    .filter(({ score }) => score >= 0.4)
    .sort((a, b) => b.score - a.score).slice(0, count).map(({ id }) => id);
}
