/** Small texts of tool cards: cut to a bound and said so, fenced safely, one line. Pure. */

export const MAX_TEXT = 5_000;
const MAX_TITLE = 500;

/** At most `limit` characters; the note tells the full length. */
export function cut(text: string, limit: number = MAX_TEXT): string {
  if (text.length <= limit) return text;
  return `${headOf(text, limit)}\n… (cut, ${text.length} characters in all)`;
}

/** A code fence that is longer than any run of backticks inside. */
export function fence(text: string, language = ""): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map((run) => run[0].length));
  const marks = "`".repeat(Math.max(3, longest + 1));
  return `${marks}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${marks}`;
}

/** One line of at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= limit ? line : `${headOf(line, limit - 1)}…`;
}

/** The first `limit` characters, one less rather than half of one. */
function headOf(text: string, limit: number): string {
  return text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, "");
}

/** A card's title; what it leaves out (a patch over many files, a long command) is in the card's content. */
export function titleLine(text: string): string {
  return oneLine(text, MAX_TITLE);
}
