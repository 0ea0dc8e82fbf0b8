/** Globs as regular expressions: `*`, `?`, `[…]`, `{a,b}`, `**`. Paths have `/` as separator. */

function escapeChar(char: string): string {
  return /[\\^$.|+()[\]{}*?]/.test(char) ? `\\${char}` : char;
}

/** Without a slash the glob is for the file's name, with one for the path below the searched directory. */
export function globToRegExp(glob: string): RegExp {
  let pattern = "";
  let depth = 0;
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]!;
    if (char === "*" && glob[i + 1] === "*") {
      const slash = glob[i + 2] === "/";
      pattern += slash ? "(?:.*/)?" : ".*";
      i += slash ? 2 : 1;
    } else if (char === "*") pattern += "[^/]*";
    else if (char === "?") pattern += "[^/]";
    else if (char === "[" && glob.indexOf("]", i + 2) > 0) {
      const end = glob.indexOf("]", i + 2);
      const body = glob.slice(i + 1, end).replace(/\\/g, "\\\\").replace(/^[!^]/, "^");
      pattern += `[${body}]`;
      i = end;
    } else if (char === "{" && glob.includes("}", i)) {
      pattern += "(?:";
      depth++;
    } else if (char === "}" && depth > 0) {
      pattern += ")";
      depth--;
    } else if (char === "," && depth > 0) pattern += "|";
    else pattern += escapeChar(char);
  }
  return new RegExp(`^${pattern}${")".repeat(depth)}$`);
}

/** A test for paths relative to the searched directory; a leading `!` turns it round. */
export function globTest(glob: string): (relativePath: string) => boolean {
  const negated = glob.startsWith("!");
  const body = (negated ? glob.slice(1) : glob).replace(/^\.?\//, "");
  const pattern = globToRegExp(body);
  const byName = !body.includes("/");
  return (path) => pattern.test(byName ? path.slice(path.lastIndexOf("/") + 1) : path) !== negated;
}

export function hasGlob(text: string): boolean {
  return /[*?[{]/.test(text);
}
