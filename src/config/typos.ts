/** Names in a config file that are no settings but nearly are: most likely typing errors. Only run for people. */
import { ALIASES, listKeys } from "./keys.ts";
import { applyAliases } from "./load.ts";
import { isTree, type Tree } from "./tree.ts";

const MAX_REPORTED = 20;

function squeeze(text: string): string {
  return text.toLowerCase().replace(/[-_]/g, "");
}

/** One character added, left out, changed, or two swapped. */
function isNear(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1) return false;
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const x = a.slice(at);
  const y = b.slice(at);
  return x.slice(1) === y.slice(1) || x.slice(1) === y || x === y.slice(1) ||
    (x[0] === y[1] && x[1] === y[0] && x.slice(2) === y.slice(2));
}

interface Names {
  /** Settings: what is below them is the user's own. */
  readonly settings: ReadonlySet<string>;
  /** Settings, their sections and the old spellings. */
  readonly all: ReadonlySet<string>;
}

function knownNames(): Names {
  const settings = new Set<string>();
  const all = new Set(ALIASES.map(([from]) => from));
  for (const spec of listKeys()) {
    settings.add(spec.key);
    for (let length = 1; length <= spec.path.length; length++) all.add(spec.path.slice(0, length).join("."));
  }
  return { settings, all };
}

function unknownKeys(value: unknown, path: readonly string[], names: Names): string[] {
  const key = path.join(".");
  if (names.settings.has(key)) return [];
  if (path.length > 0 && !names.all.has(key)) return [key];
  if (!isTree(value)) return [];
  return Object.entries(value).flatMap(([name, item]) => unknownKeys(item, [...path, name], names));
}

/** One sentence for each suspicious key. */
export function findTypos(file: Tree): string[] {
  if (Object.keys(file).length === 0) return [];
  const names = knownNames();
  const found = unknownKeys(applyAliases(file), [], names).flatMap((key) => {
    const meant = [...names.all].find((name) => isNear(squeeze(name), squeeze(key)));
    return meant ? [`config.jsonc: unknown key ${key}; did you mean ${meant}?`] : [];
  });
  return found.slice(0, MAX_REPORTED);
}
