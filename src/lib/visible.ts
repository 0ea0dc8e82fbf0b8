/**
 * Text that a person is to judge, with everything in it that cannot be seen made visible: what is hidden, removed or
 * turned around on a screen could make a command look like another one. Line ends and tabs stay. Knows no screen.
 */

// deno-lint-ignore no-control-regex -- that is what it is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Formatting, fillers, odd blanks and tags; not the joiners and selectors that emoji are made of. */
const INVISIBLE =
  /[\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200c\u200e\u200f\u2028-\u202f\u205f-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** Control characters as `\x1b`, other invisible ones as `\u{202e}`; other text as it is. */
export function showInvisible(text: string): string {
  return text
    .replace(CONTROL, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, "0")}`)
    .replace(INVISIBLE, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
}

/** The same on one line: line ends and tabs are shown too. */
export function showInvisibleLine(text: string): string {
  return showInvisible(text.replaceAll("\n", "\\n").replaceAll("\t", "\\t"));
}
