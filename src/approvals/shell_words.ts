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

/** Index of the bracket that closes the one opened just before `start`; quotes and nesting are minded. */
export function findClose(text: string, start: number, open: string, close: string): number {
  let depth = 1;
  let cases = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "'" || char === '"') at = skipQuoted(text, at) - 1;
    else if (char === open) depth++;
    else if (char === close && (depth > 1 || cases === 0)) {
      if (--depth === 0) return at;
    } else if (open === "(" && (char === "c" || char === "e")) {
      CASE.lastIndex = at;
      if (CASE.test(text)) cases = Math.max(0, cases + (char === "c" ? 1 : -1));
    }
  }
  return text.length;
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
  if (operator === "//") return value.replaceAll(pattern, () => by);
  return value.replace(pattern, () => by);
}

function stripLiteral(value: string, operator: string, pattern: string): string {
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
  const found = /^([A-Za-z_]\w*|[@*#?$!0-9])([^]*)$/.exec(inner);
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
  if (replacing) return replaceLiteral(value, replacing[1] as string, replacing[2] as string);
  const stripping = /^(##?|%%?)([^]*)$/.exec(rest);
  if (stripping) return stripLiteral(value, stripping[1] as string, stripping[2] as string);
  if (/^,,?$/.test(rest)) return value.toLowerCase();
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

/** Text as the patterns shall see it: no colour codes, no NUL, compatibility forms folded, lines joined. */
export function cleanSource(command: string): string {
  return command.replace(COLOURS, "").replace(INVISIBLE, "").normalize("NFKC")
    .replace(/\\\r?\n/g, "").replace(/\r\n?/g, "\n");
}
