/** Members of an entry by type. Each throws `BadEntry`, whose text names the member and what it must be. Pure. */

export type Tree = Readonly<Record<string, unknown>>;

/** What is wrong with an entry, for people. */
export class BadEntry extends Error {}

export function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function text(tree: Tree, key: string): string | null {
  const value = tree[key];
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") throw new BadEntry(`${key} must be a text`);
  return value;
}

export function texts(tree: Tree, key: string): readonly string[] {
  const value = tree[key] ?? [];
  if (!Array.isArray(value)) throw new BadEntry(`${key} must be a list of texts`);
  return value.map((item) => {
    if (typeof item === "string") return item;
    if (typeof item === "number" || typeof item === "boolean") return String(item);
    throw new BadEntry(`${key} must be a list of texts`);
  });
}

export function textMap(tree: Tree, key: string): Record<string, string> {
  const value = tree[key] ?? {};
  if (!isTree(value)) throw new BadEntry(`${key} must be an object of texts`);
  const map: Record<string, string> = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === null || item === undefined) continue;
    if (typeof item === "object") throw new BadEntry(`${key}.${name} must be a text`);
    map[name] = String(item);
  }
  return map;
}

export function flag(tree: Tree, key: string, fallback: boolean): boolean {
  const value = tree[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value === "boolean") return value;
  if (typeof value === "string" && /^(true|yes|on|1)$/i.test(value)) return true;
  if (typeof value === "string" && /^(false|no|off|0)$/i.test(value)) return false;
  throw new BadEntry(`${key} must be true or false`);
}

export function milliseconds(tree: Tree, key: string, fallback: number, least: number): number {
  const value = tree[key];
  if (value === undefined || value === null) return fallback * 1000;
  const seconds = typeof value === "string" ? Number(value) : value;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds <= 0) {
    throw new BadEntry(`${key} must be a number of seconds above 0`);
  }
  return Math.max(least, seconds) * 1000;
}

export function whole(
  tree: Tree,
  key: string,
  fallback: number,
  range: { least: number; most: number },
): number {
  const value = tree[key];
  if (value === undefined || value === null || value === "") return fallback;
  const number = typeof value === "string" ? Number(value) : value;
  const { least, most } = range;
  if (typeof number !== "number" || !Number.isInteger(number) || number < least || number > most) {
    throw new BadEntry(`${key} must be a whole number from ${least} to ${most}`);
  }
  return number;
}

/** 0, `null` or nothing: no limit. The longer names are taken too. */
export function limit(tree: Tree, key: string): number | null {
  const name = tree[key] === undefined ? `${key}_seconds` : key;
  const value = tree[name];
  if (value === undefined || value === null || Number(value) === 0) return null;
  return milliseconds(tree, name, 0, 0.05);
}
