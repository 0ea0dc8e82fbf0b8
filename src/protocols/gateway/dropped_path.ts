/**
 * A path at the start of what a user has typed or dropped into a terminal: bare, quoted, with escaped blanks, or as a
 * `file://` address, perhaps followed by text. Pure: whether the file is there is not looked at.
 */

export interface Dropped {
  readonly path: string;
  /** What stands behind the path. */
  readonly remainder: string;
}

/** `null` for an empty text. `~` stands for `home`. */
export function splitDropped(text: string, home: string): Dropped | null {
  const line = text.trim();
  if (line === "") return null;
  const quoted = /^(["'])(.+?)\1(?:\s+|$)([\s\S]*)$/.exec(line);
  const found = quoted ? { path: quoted[2]!, remainder: quoted[3]! } : splitBare(line);
  return { path: expand(found.path, home), remainder: found.remainder.trim() };
}

/** Up to the first blank that is not escaped. */
function splitBare(line: string): Dropped {
  const end = /(?<!\\)\s/.exec(line)?.index ?? line.length;
  const raw = line.slice(0, end);
  const path = raw.startsWith("file://") ? raw : raw.replace(/\\(.)/g, "$1");
  return { path, remainder: line.slice(end) };
}

function expand(path: string, home: string): string {
  if (path.startsWith("file://")) {
    try {
      return decodeURIComponent(new URL(path).pathname);
    } catch {
      return path;
    }
  }
  return path === "~" || path.startsWith("~/") ? home + path.slice(1) : path;
}

/** True for what can be nothing but a path: a question mark or a word is no drop. */
export function looksLikePath(text: string): boolean {
  return /^["']?(\/|~\/|\.{1,2}\/|file:\/\/|[A-Za-z]:[\\/])/.test(text.trim());
}
