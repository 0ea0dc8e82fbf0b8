/**
 * How deep JSON is nested, told from its text. What comes from a model or a server may be nested so deep that
 * `JSON.parse` takes it and everything after it (`JSON.stringify`, any walk over it) runs out of stack.
 */

/** No honest value is nested deeper. */
export const MAX_JSON_DEPTH = 512;

/** Position behind the string that opens at `at`; jumps from quote to quote, so long strings cost little. */
function skipString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

/** True for text that is nested deeper than `MAX_JSON_DEPTH`; the text need not be whole JSON. */
export function isTooDeep(text: string): boolean {
  if (text.length <= 2 * MAX_JSON_DEPTH) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x22) at = skipString(text, at);
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return false;
}
