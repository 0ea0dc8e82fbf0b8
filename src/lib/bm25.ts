/**
 * Which of a few hundred short texts fit some words best: BM25 (Robertson and others), in memory. Words are cut at
 * case changes too, so that `createIssue` and `create_issue` are two words; Chinese and the like count by character.
 */

export interface Bm25Document<T> {
  readonly value: T;
  /** Texts with how much a word of them counts. */
  readonly fields: readonly (readonly [text: string, weight: number])[];
}

/** How soon more of the same word counts no more, and how much a long text is worth less. */
const K1 = 1.2;
const B = 0.75;

const WORD = /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}+|[\p{L}\p{N}]+/gu;

/** Lower case, without the plural's s. */
export function wordsOf(text: string): string[] {
  const cut = text.replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2").toLowerCase();
  return (cut.match(WORD) ?? []).map((word) =>
    word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word
  );
}

interface Entry<T> {
  readonly value: T;
  readonly counts: ReadonlyMap<string, number>;
  readonly length: number;
}

export class Bm25<T> {
  readonly #entries: readonly Entry<T>[];
  /** In how many texts a word stands. */
  readonly #spread = new Map<string, number>();
  readonly #meanLength: number;

  constructor(documents: readonly Bm25Document<T>[]) {
    this.#entries = documents.map(toEntry);
    let total = 0;
    for (const { counts, length } of this.#entries) {
      total += length;
      for (const word of counts.keys()) this.#spread.set(word, (this.#spread.get(word) ?? 0) + 1);
    }
    this.#meanLength = total / Math.max(1, documents.length);
  }

  /** The best first, equals in the order they came in; only what holds one of the words at least. */
  search(query: string, limit: number): T[] {
    const words = [...new Set(wordsOf(query))].filter((word) => this.#spread.has(word));
    const found = this.#entries.map((entry) => ({ value: entry.value, score: this.#score(entry, words) }));
    return found.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score).slice(0, limit)
      .map(({ value }) => value);
  }

  #score({ counts, length }: Entry<T>, words: readonly string[]): number {
    const total = this.#entries.length;
    let score = 0;
    for (const word of words) {
      const count = counts.get(word) ?? 0;
      if (count === 0) continue;
      const spread = this.#spread.get(word)!;
      const rarity = Math.log(1 + (total - spread + 0.5) / (spread + 0.5));
      score += rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * length / this.#meanLength));
    }
    return score;
  }
}

function toEntry<T>({ value, fields }: Bm25Document<T>): Entry<T> {
  const counts = new Map<string, number>();
  let length = 0;
  for (const [text, weight] of fields) {
    for (const word of wordsOf(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += weight;
    }
  }
  return { value, counts, length };
}
