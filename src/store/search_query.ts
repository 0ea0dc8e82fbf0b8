/**
 * From what a person types to what the index understands (core.md D.9), so that no input is a syntax error.
 * Words are joined by AND; "quoted phrases", a trailing `*` and the words AND, OR, NOT keep their meaning.
 */
import { hasCjk } from "./message_rows.ts";

const MAX_QUERY = 2_048;

export type SearchPlan =
  /** MATCH on the word index. */
  | { readonly type: "words"; readonly match: string; readonly terms: readonly string[] }
  /** MATCH on the trigram index: scripts that write no spaces. */
  | { readonly type: "trigrams"; readonly match: string; readonly terms: readonly string[] }
  /** Too short for trigrams: each term must be contained. */
  | { readonly type: "contains"; readonly terms: readonly string[] };

interface Token {
  readonly text: string;
  readonly quoted: boolean;
  readonly prefix: boolean;
}

/** `null` when the query holds nothing to look for. */
export function planSearch(query: string): SearchPlan | null {
  const tokens = tokenize(query.slice(0, MAX_QUERY).toWellFormed().replaceAll("\u0000", " "));
  const match = toMatch(tokens);
  if (match === "") return null;
  const terms = tokens.filter((token) => !isOperator(token)).map((token) => token.text);
  if (!hasCjk(query)) return { type: "words", match, terms };
  if (terms.every((term) => [...term].length >= 3)) return { type: "trigrams", match, terms };
  return { type: "contains", terms };
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  // A quote without its partner is dropped with the other syntax characters.
  for (const part of text.matchAll(/"([^"]*)"(\*?)|([^\s"]+)|"/g)) {
    const [, phrase, star, word] = part;
    if (phrase !== undefined) {
      push(tokens, phrase.replace(/\s+/g, " ").trim(), true, star === "*");
    } else if (word !== undefined) {
      for (const piece of word.replace(/[+{}():^]/g, " ").split(" ")) {
        const prefix = piece.endsWith("*");
        push(tokens, piece.replaceAll("*", ""), false, prefix);
      }
    }
  }
  return tokens;
}

/** A term without a letter or a digit matches nothing and would only confuse the rest. */
function push(tokens: Token[], text: string, quoted: boolean, prefix: boolean): void {
  if (/[\p{L}\p{N}]/u.test(text)) tokens.push({ text, quoted, prefix });
}

function isOperator(token: Token): boolean {
  return !token.quoted && !token.prefix && /^(AND|OR|NOT)$/.test(token.text);
}

/** An operator stays only between two terms; of several in a row the last one counts. */
function toMatch(tokens: readonly Token[]): string {
  const parts: string[] = [];
  let operator: string | null = null;
  for (const token of tokens) {
    if (isOperator(token)) {
      operator = token.text;
      continue;
    }
    if (parts.length > 0) parts.push(operator ?? "AND");
    parts.push(`"${token.text}"${token.prefix ? "*" : ""}`);
    operator = null;
  }
  return parts.join(" ");
}
