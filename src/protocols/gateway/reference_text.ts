/**
 * References in what a user writes (tui-gateway.md B.11): `@file:`, `@folder:`, `@git:`, `@url:` with a value, `@diff`
 * and `@staged` alone. Pure: what they stand for is read elsewhere.
 */

export interface Reference {
  readonly kind: "file" | "folder" | "git" | "url" | "diff" | "staged";
  /** As it stands in the text. */
  readonly shown: string;
  /** Empty for `diff` and `staged`. */
  readonly value: string;
  /** `@file:a.ts:10-20`; both ends count, from 1. */
  readonly lines?: readonly [from: number, to: number];
}

const PATTERN =
  /(?<![\w/@])@(?:(diff|staged)(?![\w:/-])|(file|folder|git|url):(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`|([^\s"'`]\S*)))/g;

/** Cheap enough for every prompt. */
export function mayRefer(text: string): boolean {
  return /@(?:diff|staged|file:|folder:|git:|url:)/.test(text);
}

/** In the order of the text, each only once. */
export function findReferences(text: string): Reference[] {
  const found = new Map<string, Reference>();
  for (const match of text.matchAll(PATTERN)) {
    const reference = referenceOf(match);
    if (reference && !found.has(reference.shown)) found.set(reference.shown, reference);
  }
  return [...found.values()];
}

function referenceOf(match: RegExpMatchArray): Reference | null {
  const [shown, alone, kind, ...values] = match;
  if (alone !== undefined) return { kind: alone as "diff" | "staged", shown, value: "" };
  const quoted = values.slice(0, 3).find((value) => value !== undefined);
  const bare = quoted === undefined ? withoutPunctuation(values[3]!) : quoted;
  if (bare === "") return null;
  const whole = quoted === undefined ? `@${kind}:${bare}` : shown;
  return kind === "file" ? fileReference(whole, bare) : { kind: kind as "folder", shown: whole, value: bare };
}

/** What ends a sentence is not part of a bare name; `..` is. */
function withoutPunctuation(name: string): string {
  const bare = name.replace(/[.,;!?)\]}]+$/, "");
  const dots = /^\.{1,2}(?=[^.]|$)/.exec(name.slice(bare.length))?.[0] ?? "";
  return bare === "" || bare.endsWith("/") ? bare + dots : bare;
}

function fileReference(shown: string, value: string): Reference {
  const range = /^(.+?):(\d{1,7})(?:-(\d{1,7}))?$/.exec(value);
  if (!range) return { kind: "file", shown, value };
  const from = Math.max(1, Number(range[2]));
  const to = range[3] === undefined ? from : Number(range[3]);
  return { kind: "file", shown, value: range[1]!, lines: [from, Math.max(from, to)] };
}

/** The value as it has to be written behind `@file:` or `@folder:` so that `findReferences` reads all of it. */
export function quoteValue(value: string): string {
  const isPlain = !/[\s"'`]/.test(value) &&
    withoutPunctuation(value) === value;
  if (isPlain) return value;
  const quote = ['"', "'", "`"].find((one) => !value.includes(one));
  return quote === undefined ? value : `${quote}${value}${quote}`;
}

/** A fenced block that its own content cannot end. */
export function fenced(content: string, language = ""): string {
  const longest = [...content.matchAll(/`{3,}/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content.replace(/\n$/, "")}\n${fence}`;
}
