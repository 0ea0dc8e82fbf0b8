/** Repairs a tool name the model got slightly wrong (core.md A.9); `null` when nothing is close enough. */

function normalise(name: string): string {
  let text = name.split(/["'<>]/)[0]!.trim();
  text = text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().replace(/[-\s]+/g, "_");
  for (let i = 0; i < 2; i++) text = text.replace(/_?tool$/, "");
  return text.replace(/^_+|_+$/g, "");
}

/** Ratcliff/Obershelp similarity: twice the matching characters over the sum of lengths. */
export function similarity(a: string, b: string): number {
  if (a.length + b.length === 0) return 1;
  return 2 * matching(a, b) / (a.length + b.length);
}

function matching(a: string, b: string): number {
  if (!a || !b) return 0;
  let best = 0, endA = 0, endB = 0;
  let row = new Array<number>(b.length + 1).fill(0);
  for (let i = 1; i <= a.length; i++) {
    const next = new Array<number>(b.length + 1).fill(0);
    for (let j = 1; j <= b.length; j++) {
      if (a[i - 1] !== b[j - 1]) continue;
      const length = row[j - 1]! + 1;
      next[j] = length;
      if (length > best) [best, endA, endB] = [length, i, j];
    }
    row = next;
  }
  if (best === 0) return 0;
  return best + matching(a.slice(0, endA - best), b.slice(0, endB - best)) +
    matching(a.slice(endA), b.slice(endB));
}

export function repairToolName(name: string, known: readonly string[]): string | null {
  if (known.includes(name)) return name;
  if (name.length > 200) return null;
  const text = normalise(name);
  if (!text) return null;
  if (known.includes(text)) return text;
  const mcp = text.replace(/^mcp_([^_]+)_/, "mcp__$1__");
  if (known.includes(mcp)) return mcp;
  let best: string | null = null;
  let score = 0.7;
  for (const candidate of known) {
    const s = similarity(text, candidate);
    if (s >= score) [best, score] = [candidate, s];
  }
  return best;
}
