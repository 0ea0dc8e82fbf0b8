/** What `config set <key> <text>` means (core.md E.3): which path, which value, or why not. Pure. */
import { HermesError } from "@/core/contract.ts";
import { canonicalKey, type KeySpec, listKeys } from "./keys.ts";
import { describeKind, guessValue, parseText } from "./kinds.ts";
import { applyAliases } from "./load.ts";
import { isTree, type Tree, valueAt } from "./tree.ts";

export interface Assignment {
  readonly path: readonly string[];
  readonly value: unknown;
}

function refuse(key: string, why: string): HermesError {
  return new HermesError("config_invalid", `Cannot set ${key}: ${why}`, { key });
}

function parseKey(key: string): string[] {
  const path = canonicalKey(key.trim()).split(".");
  if (path.some((segment) => segment === "" || segment === "__proto__")) {
    throw new HermesError(
      "config_unknown_key",
      `Unknown key ${JSON.stringify(key)}: write it like approvals.mode`,
      {
        key,
      },
    );
  }
  return path;
}

function typedValue(spec: KeySpec, text: string): unknown {
  const parsed = parseText(spec.kind, text);
  if (parsed.ok) return parsed.value;
  if (/^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(text.trim())) return text.trim();
  const hint = spec.kind.type === "list" ? ', as JSON like \'["a", "b"]\', or one item by its number' : "";
  throw refuse(spec.key, `wanted ${describeKind(spec.kind)}${hint}, got ${JSON.stringify(text)}`);
}

/** A key below a list or map setting, or one that no setting knows: the value's own type is guessed. */
function looseValue(path: readonly string[], tree: Tree, text: string): unknown {
  const current = valueAt(tree, path);
  const key = path.join(".");
  if (Array.isArray(current)) return listOf(text);
  if (isTree(current)) throw refuse(key, "it is an object; set one of its keys");
  const parent = listKeys().find((spec) => spec.key === path.slice(0, -1).join("."));
  if (parent?.kind.type === "list" || typeof current === "string") return text;
  return guessValue(text);
}

/** Works out one assignment against the file as it is. Throws `config_invalid`, `config_unknown_key`. */
export function planAssignment(key: string, text: string, file: Tree): Assignment {
  const path = parseKey(key);
  const tree = applyAliases(file);
  const spec = listKeys().find((candidate) => candidate.key === path.join("."));
  if (!spec && listKeys().some((candidate) => candidate.key.startsWith(`${path.join(".")}.`))) {
    throw refuse(key, `it is a section; set one of its keys, like ${firstKeyOf(path)}`);
  }
  checkLists(path, tree);
  refuseLostList(path, tree, text);
  const value = spec ? typedValue(spec, text) : looseValue(path, tree, text);
  return { path, value };
}

function firstKeyOf(path: readonly string[]): string {
  return listKeys().find((spec) => spec.key.startsWith(`${path.join(".")}.`))?.key ?? path.join(".");
}

/** The list that a text is JSON of; `null` when it is none. */
function listOf(text: string): readonly unknown[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    // Plain text.
    return null;
  }
}

/** A list is replaced by a list that is written as one, and by nothing else: its items are not to vanish. */
function refuseLostList(path: readonly string[], tree: Tree, text: string): void {
  const current = valueAt(tree, path);
  if (!Array.isArray(current) || current.length === 0 || listOf(text) !== null) return;
  throw refuse(
    path.join("."),
    `it is a list of ${current.length}; set one item by its number (${
      path.join(".")
    }.0), or give the whole list as ` +
      `JSON like '["a", "b"]'; got ${JSON.stringify(text)}`,
  );
}

function checkLists(path: readonly string[], tree: Tree): void {
  for (let at = 1; at < path.length; at++) {
    const parent = valueAt(tree, path.slice(0, at));
    const segment = path[at] as string;
    if (!Array.isArray(parent)) continue;
    if (!/^\d+$/.test(segment) || Number(segment) >= parent.length) {
      throw refuse(
        path.join("."),
        `${path.slice(0, at).join(".")} is a list of ${parent.length}; ${segment} is none of its items`,
      );
    }
  }
}
