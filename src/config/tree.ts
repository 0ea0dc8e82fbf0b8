/** Reading and building nested objects by path. Own members only, so names like `constructor` are ordinary. */

export type Tree = Record<string, unknown>;

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at `path`; digits index lists; `undefined` when anything on the way is missing. */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let here = root;
  for (const segment of path) {
    if (Array.isArray(here)) here = here[Number(segment)];
    else if (isTree(here) && Object.hasOwn(here, String(segment))) here = here[String(segment)];
    else return undefined;
  }
  return here;
}

/** Puts a value, building objects on the way. */
export function putAt(root: Tree, path: readonly string[], value: unknown): void {
  let here = root;
  for (const segment of path.slice(0, -1)) {
    const next = Object.hasOwn(here, segment) ? here[segment] : undefined;
    here = isTree(next) ? next : (here[segment] = {}) as Tree;
  }
  here[path.at(-1) as string] = value;
}

export function pathText(path: readonly (string | number)[]): string {
  return path.join(".");
}

/** A deep copy of plain JSON data. */
export function cloneTree(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloneTree);
  if (!isTree(value)) return value;
  const copy: Tree = {};
  for (const [key, item] of Object.entries(value)) copy[key] = cloneTree(item);
  return copy;
}

/** `top` over `base`: maps are merged, all else of `top` replaces; `null` over a map is ignored. Inputs stay as they are. */
export function overlay(base: Tree, top: Tree): Tree {
  const out: Tree = { ...base };
  for (const [key, value] of Object.entries(top)) {
    const below = Object.hasOwn(base, key) ? base[key] : undefined;
    if (isTree(below) && value === null) continue;
    out[key] = isTree(below) && isTree(value) ? overlay(below, value) : value;
  }
  return out;
}
