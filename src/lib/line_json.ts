/**
 * JSON on one line that every kind of reader takes (FC-01): readers that know more line ends than LF, and strict ones
 * that refuse half a surrogate pair.
 */

/** What `JSON.stringify` leaves in: raw line breaks, and `\udXXX`, which it writes for halves only. */
const HARD = /[\u2028\u2029\u0085]|\\ud[89a-f]/;
const HARD_PARTS = /[\u2028\u2029\u0085]|\\u(d[89a-f][0-9a-f]{2})|\\./g;

/** Compact JSON without raw line breaks; half a surrogate pair becomes U+FFFD. Throws as `JSON.stringify` does. */
export function lineJson(value: unknown): string {
  const text = JSON.stringify(value);
  return HARD.test(text) ? text.replace(HARD_PARTS, mend) : text;
}

function mend(part: string, half: string | undefined): string {
  if (half !== undefined) return "\\ufffd";
  // An escape of another kind: read as a whole, so that an escaped backslash begins nothing.
  if (part.startsWith("\\")) return part;
  return "\\u" + part.charCodeAt(0).toString(16).padStart(4, "0");
}
