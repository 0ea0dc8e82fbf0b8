/**
 * A command as a person is asked about it: secrets out, and yet nothing that runs hidden. What looks like a secret to
 * a pattern may hold a second command or the names of files; then the words are masked one by one instead.
 */
import { showInvisible } from "@/lib/visible.ts";

interface Piece {
  readonly text: string;
  /** An operator or a blank; it is never masked. */
  readonly isMark: boolean;
}

const MARK = /[\s;&|<>()`]/;
/** A line of a private key. */
const KEY_LINE = /^[A-Za-z0-9+/=]{40,}$/;

/** Words with their quoted parts, and what stands between them; inside `"…"` only substitutions count. */
function piecesOf(command: string): Piece[] {
  const pieces: Piece[] = [];
  let word = "";
  let quote = "";
  const put = (text: string, isMark: boolean) => {
    if (text !== "") pieces.push({ text, isMark });
  };
  for (let at = 0; at < command.length; at++) {
    const char = command[at] as string;
    const opens = command.startsWith("$(", at) || char === "`";
    if (char === "\\" && quote !== "'") word += char + (command[++at] ?? "");
    else if (quote === "'" ? char !== "'" : quote === '"' ? char !== '"' && !opens : false) word += char;
    else if (opens || (quote === "" && MARK.test(char))) {
      put(word, false);
      word = "";
      put(char === "$" ? "$(" : char, true);
      if (char === "$") at++;
    } else {
      if (char === "'" || char === '"') quote = quote === "" ? char : "";
      word += char;
    }
  }
  put(word, false);
  return pieces;
}

/** Operators and blanks are all there, and a bare word is masked for what it is, not for the word before it. */
function hidesNothing(shown: string, command: string, redact: (text: string) => string): boolean {
  const [were, are] = [piecesOf(command), piecesOf(shown)];
  return were.length === are.length && were.every(({ text, isMark }, at) => {
    const { text: now, isMark: isMarkNow } = are[at] as Piece;
    if (isMark || isMarkNow) return isMark === isMarkNow && text === now;
    return text === now || /['"]/.test(text) || now === redact(text);
  });
}

/** `redact` masks a whole text. */
export function shownCommand(command: string, redact: (text: string) => string): string {
  const whole = redact(command);
  if (whole === command || hidesNothing(whole, command, redact)) return showInvisible(whole);
  const words = piecesOf(command).map(({ text, isMark }) =>
    isMark ? text : KEY_LINE.test(text) ? "***" : redact(text)
  );
  return showInvisible(words.join(""));
}
