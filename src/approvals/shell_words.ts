/**
 * The small parts of reading shell text: quotes, `$'…'`, `${…}`, braces, finding the end of a bracket.
 * Pure text in, text out. Values that nobody can know stand as `UNKNOWN`.
 */

/** Stands for a value that is only known when the command runs. */
export const UNKNOWN = "\uE000";
/** Unquoted `{`, `,`, `}` inside a word, until braces are expanded. */
export const BRACE_OPEN = "\uE001";
export const BRACE_COMMA = "\uE002";
export const BRACE_CLOSE = "\uE003";

const MAX_BRACE_WORDS = 64;
/** Patterns are tried on the first characters of a value only. */
const MAX_VALUE = 200;

/** Index after the quote that closes the one at `start`; the text's end when it never closes. */
export function skipQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\" && quote !== "'") at++;
    else if (text[at] === quote) return at + 1;
  }
  return text.length;
}

/** `case word in`, whose patterns end in brackets that nobody opens, and its end. */
const CASE = /\bcase[ \t]+[^\n;]{1,200}?[ \t\n]in\b|\besac\b/y;

/** `${x:-…}` and its kin: inside double quotes a `'` in it is a letter like any other. */
const FALLBACK = /(?:[A-Za-z_]\w*|[@*#?$!0-9]):?[-=+?]/y;

function isFallback(text: string, start: number): boolean {
  FALLBACK.lastIndex = start;
  return FALLBACK.test(text);
}

/** A `#` that begins a comment: the first letter of a word. */
function startsComment(text: string, at: number, start: number): boolean {
  return text[at] === "#" && (at === start || /[\s;&|()]/.test(text[at - 1] as string));
}

/**
 * Index of the bracket that closes the one opened just before `start`; quotes and nesting are minded, inside `(…)`
 * comments and here-documents too. `inDouble`: the whole stands in double quotes.
 */
export function findClose(
  text: string,
  start: number,
  open: string,
  close: string,
  inDouble = false,
): number {
  let depth = 1;
  let cases = 0;
  let escaped = -1;
  const isCode = open === "(" && text[start] !== "(";
  const isPlainQuote = inDouble && open === "{" && isFallback(text, start);
  const pending: Delimiter[] = [];
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") escaped = ++at;
    else if (char === '"' || (char === "'" && !isPlainQuote)) at = skipQuoted(text, at) - 1;
    else if (open === "(" && startsComment(text, at, start)) at = lineEnd(text, at) - 1;
    else if (isCode && char === "<" && text[at + 1] === "<") {
      if (text[at + 2] === "<") at += 2;
      else {
        const found = readDelimiter(text, at + 2);
        pending.push(found);
        at = found.next - 1;
      }
    } else if (char === "\n" && pending.length > 0) {
      let next = at + 1;
      for (const one of pending.splice(0)) next = readBody(text, next, one).next;
      at = next - 1;
    } else if (char === open && (open !== "{" || (text[at - 1] === "$" && escaped !== at - 1))) depth++;
    else if (char === close && (depth > 1 || cases === 0)) {
      if (--depth === 0) return at;
    } else if (open === "(" && (char === "c" || char === "e")) {
      CASE.lastIndex = at;
      if (CASE.test(text)) cases = Math.max(0, cases + (char === "c" ? 1 : -1));
    }
  }
  return text.length;
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

/** The word that ends a here-document. */
export interface Delimiter {
  readonly end: string;
  readonly stripTabs: boolean;
  /** The text is taken as it stands: no substitutions, no joined lines. */
  readonly quoted: boolean;
  /** Index behind it. */
  readonly next: number;
}

/** Reads the word behind `<<`: quotes are taken away, nothing in it is expanded. */
export function readDelimiter(text: string, start: number): Delimiter {
  let at = start;
  const stripTabs = text[at] === "-";
  if (stripTabs) at++;
  while (text[at] === " " || text[at] === "\t") at++;
  let end = "";
  let quoted = false;
  while (at < text.length && !/[\s;&|<>()]/.test(text[at] as string)) {
    const char = text[at] as string;
    const next = text[at + 1] ?? "";
    if (char === "\\") {
      if (next !== "\n") [end, quoted] = [end + next, true];
      at += 2;
    } else if (char === "'" || char === '"' || (char === "$" && /['"]/.test(next))) {
      const open = char === "$" ? at + 1 : at;
      const stop = skipQuoted(text, open);
      const body = text.slice(open + 1, text[stop - 1] === text[open] && stop - 1 > open ? stop - 1 : stop);
      end += char === "$" && next === "'" ? decodeAnsiC(body) : body;
      [quoted, at] = [true, stop];
    } else if (char === "$" && /[({]/.test(next)) {
      const stop = findClose(text, at + 2, next, next === "(" ? ")" : "}") + 1;
      end += text.slice(at, stop);
      at = stop;
    } else {
      end += char;
      at++;
    }
  }
  return { end, stripTabs, quoted, next: at };
}

/** The text of a here-document that begins at `start`, and the index behind its last line. */
export function readBody(text: string, start: number, delimiter: Delimiter): { body: string; next: number } {
  const lines: string[] = [];
  let at = start;
  while (at < text.length) {
    let stop = lineEnd(text, at);
    let line = text.slice(at, stop);
    while (!delimiter.quoted && stop < text.length && /(?:^|[^\\])(?:\\\\)*\\$/.test(line.slice(-200))) {
      const begin = stop + 1;
      stop = lineEnd(text, begin);
      line = line.slice(0, -1) + text.slice(begin, stop);
    }
    at = Math.min(text.length, stop + 1);
    if ((delimiter.stripTabs ? line.replace(/^\t+/, "") : line) === delimiter.end) break;
    lines.push(line);
  }
  return { body: lines.join("\n"), next: at };
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  v: "\v",
};

function fromCode(digits: string, base: number): string {
  const code = parseInt(digits, base);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : "";
}

/** The body of `$'…'`. */
export function decodeAnsiC(body: string): string {
  return body.replace(
    /\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|([^]))/g,
    (_, x?: string, u?: string, long?: string, octal?: string, char?: string) => {
      const hex = x ?? u ?? long;
      if (hex !== undefined) return fromCode(hex, 16);
      if (octal !== undefined) return fromCode(octal, 8);
      return SIMPLE_ESCAPES[char ?? ""] ?? char ?? "";
    },
  );
}

function replaceLiteral(value: string, operator: string, rest: string): string {
  const cut = rest.indexOf("/");
  const pattern = cut === -1 ? rest : rest.slice(0, cut);
  const by = cut === -1 ? "" : rest.slice(cut + 1);
  if (pattern === "") return value;
  const glob = globOf(pattern, true);
  if (glob) return value.replace(new RegExp(glob, operator === "//" ? "g" : ""), () => by);
  if (operator === "//") return value.replaceAll(pattern, () => by);
  return value.replace(pattern, () => by);
}

/** A pattern with wildcards as the source of an expression; `null` for plain text and for what would be slow. */
function globOf(pattern: string, greedy: boolean): string | null {
  if (!/[*?[]/.test(pattern) || pattern.length > 100 || (pattern.match(/\*/g)?.length ?? 0) > 3) return null;
  const source = pattern.replace(/\[[!^]?[^\]\\]{1,40}\]|[^]/g, (part) => {
    if (part === "*") return greedy ? "[^]*" : "[^]*?";
    if (part === "?") return "[^]";
    return part.length > 1 ? part.replace("[!", "[^") : part.replace(/[.+^${}()|\\[\]\/]/g, "\\$&");
  });
  try {
    new RegExp(source);
    return source;
  } catch {
    return null;
  }
}

function stripLiteral(given: string, operator: string, pattern: string): string {
  const value = given.slice(0, MAX_VALUE);
  const glob = globOf(pattern, operator.length === 2);
  if (glob && operator.startsWith("#")) return value.replace(new RegExp(`^${glob}`), "");
  if (glob) {
    const starts = [...value].map((_, at) => operator.length === 2 ? at : value.length - at);
    const whole = new RegExp(`^${glob}$`);
    const cut = starts.find((at) => whole.test(value.slice(at)));
    return cut === undefined ? value : value.slice(0, cut);
  }
  if (operator.startsWith("#")) return value.startsWith(pattern) ? value.slice(pattern.length) : value;
  return value.endsWith(pattern) ? value.slice(0, value.length - pattern.length) : value;
}

function substring(value: string, rest: string): string {
  const found = /^\s*(-?\d+)(?:\s*:\s*(-?\d+))?\s*$/.exec(rest);
  if (!found) return UNKNOWN;
  const from = Number(found[1]);
  const start = from < 0 ? Math.max(0, value.length + from) : from;
  if (found[2] === undefined) return value.slice(start);
  const size = Number(found[2]);
  return size < 0 ? value.slice(start, size) : value.slice(start, start + size);
}

/** The inside of `${…}` (nested expansions done). `lookup` gives known values, `hint` those good for one letter. */
export function expandParameter(
  inner: string,
  lookup: (name: string) => string | undefined,
  hint: (name: string) => string | undefined,
): string {
  const found = /^([A-Za-z_]\w*(?:\[[\w@*-]{1,40}\])?|[@*#?$!0-9])([^]*)$/.exec(inner);
  if (!found) return UNKNOWN;
  const name = found[1] as string;
  const rest = found[2] as string;
  const value = lookup(name);
  if (rest === "") return value ?? (/^[@*0-9]$/.test(name) ? "" : UNKNOWN);
  const fallback = /^:?([-=+?])([^]*)$/.exec(rest);
  if (fallback) {
    const word = fallback[2] as string;
    if (fallback[1] === "+") return word;
    return value !== undefined && value !== "" ? value : fallback[1] === "?" ? UNKNOWN : word;
  }
  if (rest.startsWith(":")) {
    const whole = value ?? hint(name);
    return whole === undefined ? UNKNOWN : substring(whole, rest.slice(1));
  }
  if (value === undefined) return UNKNOWN;
  const replacing = /^(\/\/|\/)([^]*)$/.exec(rest);
  if (replacing) {
    return replaceLiteral(value.slice(0, MAX_VALUE), replacing[1] as string, replacing[2] as string);
  }
  const stripping = /^(##?|%%?)([^]*)$/.exec(rest);
  if (stripping) return stripLiteral(value, stripping[1] as string, stripping[2] as string);
  if (/^(?:,,?|@[Ll])$/.test(rest)) return value.toLowerCase();
  if (/^(?:@[A-Za-z]|~~?)$/.test(rest)) return value;
  if (/^\^\^?$/.test(rest)) return value.toUpperCase();
  return UNKNOWN;
}

/** Unquoted braces become several words: `{rm,-rf,/}`. At most 64 of them. */
export function expandBraces(word: string): string[] {
  const open = word.lastIndexOf(BRACE_OPEN);
  const close = open === -1 ? -1 : word.indexOf(BRACE_CLOSE, open);
  if (close === -1) return [restoreBraces(word)];
  const body = word.slice(open + 1, close);
  const [head, tail] = [word.slice(0, open), word.slice(close + 1)];
  if (!body.includes(BRACE_COMMA)) return expandBraces(`${head}{${body}}${tail}`);
  const words: string[] = [];
  for (const part of body.split(BRACE_COMMA)) {
    for (const expanded of expandBraces(head + part + tail)) {
      if (words.length < MAX_BRACE_WORDS) words.push(expanded);
    }
  }
  return words;
}

function restoreBraces(word: string): string {
  return word.replaceAll(BRACE_OPEN, "{").replaceAll(BRACE_COMMA, ",").replaceAll(BRACE_CLOSE, "}");
}

const COLOURS =
  // deno-lint-ignore no-control-regex
  /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u009b[0-9;?]*[@-~]/g;
// deno-lint-ignore no-control-regex
const INVISIBLE = /[\u0000\u00ad\u200b-\u200f\u2060\ufeff\ue000-\ue003]/g;

/** Text as the shell reads it. */
export function plainSource(command: string): string {
  // deno-lint-ignore no-control-regex
  return command.replace(/\u0000/g, "").replace(/[\ue000-\ue003]/g, "\ufffd");
}

/** Text as the patterns shall see it: no colour codes, no NUL, compatibility forms folded, lines joined. */
export function cleanSource(command: string): string {
  return command.replace(COLOURS, "").replace(INVISIBLE, "").normalize("NFKC")
    .replace(/\\\r?\n/g, "").replace(/\r\n?/g, "\n");
}
