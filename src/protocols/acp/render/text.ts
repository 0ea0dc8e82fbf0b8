/** Small texts of tool cards: cut to a bound and said so, fenced safely, one line. Pure. */

export const MAX_TEXT = 5_000;

/** At most `limit` characters; the note tells the full length. */
export function cut(text: string, limit: number = MAX_TEXT): string {
  if (text.length <= limit) return text;
  // Not through a surrogate pair.
  const end = /[\uD800-\uDBFF]/.test(text[limit - 1]!) ? limit - 1 : limit;
  return `${text.slice(0, end)}\n… (cut, ${text.length} characters in all)`;
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
  return line.length <= limit ? line : `${line.slice(0, limit - 1)}…`;
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}
