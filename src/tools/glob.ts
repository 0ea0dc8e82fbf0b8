/**
 * Globs: `*`, `?`, `[…]`, `{a,b}`, `**`. Paths have `/` as separator. Matching never takes longer than pattern × path,
 * whatever a pattern looks like, because patterns come from a model.
 */

/** More alternatives than this of one pattern are left out. */
const MAX_ALTERNATIVES = 64;

type Token = string | { readonly kind: "any" | "one" } | { readonly kind: "set"; readonly set: RegExp };

/** `a{b,c}` as `ab` and `ac`, innermost braces first. */
function expandBraces(glob: string): string[] {
  const done: string[] = [];
  const waiting = [glob];
  while (waiting.length > 0 && done.length < MAX_ALTERNATIVES) {
    const one = waiting.pop()!;
    const open = one.slice(0, one.indexOf("}")).lastIndexOf("{");
    const close = one.indexOf("}");
    if (open === -1 || close === -1) done.push(one);
    else {
      const parts = one.slice(open + 1, close).split(",").slice(0, MAX_ALTERNATIVES);
      if (waiting.length < MAX_ALTERNATIVES) {
        waiting.push(...parts.map((part) => one.slice(0, open) + part + one.slice(close + 1)));
      }
    }
  }
  return done;
}

function setOf(body: string): RegExp | null {
  try {
    return new RegExp(`^[${body.replace(/\\/g, "\\\\").replace(/^[!^]/, "^")}]$`, "u");
  } catch {
    return null; // A range that is none: the brackets are letters.
  }
}

function tokensOf(segment: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < segment.length; at++) {
    const char = segment[at]!;
    const end = char === "[" ? segment.indexOf("]", at + 2) : -1;
    const set = end > 0 ? setOf(segment.slice(at + 1, end)) : null;
    if (set) {
      tokens.push({ kind: "set", set });
      at = end;
    } else if (char === "*") tokens.push({ kind: "any" });
    else tokens.push(char === "?" ? { kind: "one" } : char);
  }
  return tokens;
}

function fits(token: Token | undefined, char: string): boolean {
  if (token === undefined) return false;
  if (typeof token === "string") return token === char;
  return token.kind === "one" || (token.kind === "set" && token.set.test(char));
}

/** Goes back to the last star alone: enough, since an earlier one could take nothing that the last cannot. */
function matchesAll<P, S>(
  pattern: readonly P[],
  subject: ArrayLike<S>,
  isStar: (part: P) => boolean,
  test: (part: P | undefined, one: S) => boolean,
): boolean {
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let s = 0; s < subject.length;) {
    const part = pattern[p];
    if (part !== undefined && isStar(part)) {
      star = p++;
      resume = s;
    } else if (test(part, subject[s]!)) {
      p++;
      s++;
    } else if (star !== -1) {
      p = star + 1;
      s = ++resume;
    } else return false;
  }
  while (p < pattern.length && isStar(pattern[p]!)) p++;
  return p === pattern.length;
}

const isAny = (token: Token) => typeof token !== "string" && token.kind === "any";

/** A segment; `null` is `**`. */
type Segment = readonly Token[] | null;

function matcherOf(glob: string): (path: string) => boolean {
  // `**` beside other letters of one name is a star like any other.
  const segments: Segment[] = glob.split("/").map((part) => part === "**" ? null : tokensOf(part));
  const endsDeep = segments.at(-1) === null;
  return (path) => {
    const parts = path.split("/");
    // A `**` at the end is at least one name.
    const pattern: Segment[] = endsDeep ? [...segments, [{ kind: "any" }]] : segments;
    return matchesAll(
      pattern,
      parts,
      (segment) => segment === null,
      (segment, part) => segment !== undefined && segment !== null && matchesAll(segment, part, isAny, fits),
    );
  };
}

/**
 * A test for paths relative to the searched directory; a leading `!` turns it round. Without a slash the glob is for
 * the file's name, with one for the path.
 */
export function globTest(glob: string): (relativePath: string) => boolean {
  const negated = glob.startsWith("!");
  const body = (negated ? glob.slice(1) : glob).replace(/^\.?\//, "");
  const matchers = expandBraces(body).map(matcherOf);
  const byName = !body.includes("/");
  return (path) => {
    const subject = byName ? path.slice(path.lastIndexOf("/") + 1) : path;
    return matchers.some((matches) => matches(subject)) !== negated;
  };
}

export function hasGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}
