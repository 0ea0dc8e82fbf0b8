/**
 * From the parsed file and the environment to `Settings` (core.md E.1, D2): aliases, `${VAR}`, environment over
 * file over default. A value of the wrong type never stops the program: its default is used and a warning says so.
 */
import type { Settings } from "@/core/contract.ts";
import { expandTree, hasTemplate } from "./expand.ts";
import { ALIASES, isRow, type Row, TABLE, type Table } from "./keys.ts";
import { checkValue, describeKind, type Kind, parseText } from "./kinds.ts";
import { isSecretKey } from "./secrets.ts";
import { cloneTree, isTree, overlay, putAt, type Tree, valueAt } from "./tree.ts";

export interface Loaded {
  readonly settings: Settings;
  /** Effective tree: the settings plus everything of the file that no setting knows. */
  readonly tree: Tree;
  readonly warnings: readonly string[];
}

export type Lookup = (name: string) => string | undefined;

/** The file with old spellings moved to the real keys; the input is not changed. */
export function applyAliases(file: Tree): Tree {
  const tree = cloneTree(file) as Tree;
  if (Object.keys(tree).length === 0) return tree;
  if (typeof tree["model"] === "string") tree["model"] = { default: tree["model"] };
  for (const [from, to] of ALIASES) {
    const path = from.split(".");
    const value = valueAt(tree, path);
    if (value === undefined || value === null) continue;
    if (valueAt(tree, to.split(".")) === undefined) putAt(tree, to.split("."), value);
    if (path.length === 1) delete tree[from];
  }
  for (const place of [["gateway", "platforms", "api_server"], ["platforms", "api_server"]]) {
    const block = valueAt(tree, place);
    if (!isTree(block)) continue;
    for (const [name, value] of Object.entries(block)) {
      const target = ["gateway", "api_server", name];
      if (valueAt(tree, target) === undefined) putAt(tree, target, value);
    }
  }
  return tree;
}

function shownValue(key: string, value: unknown): string {
  if (isSecretKey(key.slice(key.lastIndexOf(".") + 1))) return "its value";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

type Warn = (text: string) => void;

interface Reading {
  readonly lookup: Lookup;
  readonly warn: Warn;
  /** What the administrator has settled: no environment counts there. */
  readonly settled: Tree;
}

interface Wrong {
  readonly source: string;
  readonly key: string;
  readonly kind: Kind;
  readonly value: unknown;
  readonly used: unknown;
}

function describeWrong({ source, key, kind, value, used }: Wrong): string {
  return `${source}: ${key} is ${shownValue(key, value)}, wanted ${describeKind(kind)}; using ${
    shownValue(key, used)
  }`;
}

/** What the file says for one setting; the default where it says nothing usable. */
function fromFile([kind, fallback]: Row, key: string, source: Source, warn: Warn): unknown {
  const { raw, expanded: value } = source;
  const nullable = "nullable" in kind && kind.nullable;
  if (value === undefined || (value === null && !nullable)) return fallback;
  const templated = typeof value === "string" && hasTemplate(raw);
  const checked = templated ? parseText(kind, value) : checkValue(kind, value);
  if (checked.ok) return "clean" in kind && kind.clean ? kind.clean(checked.value, key, warn) : checked.value;
  warn(describeWrong({ source: "config.jsonc", key, kind, value, used: fallback }));
  return fallback;
}

/** The environment outranks the file (core.md D2). */
function fromEnv([kind, , , env]: Row, key: string, used: unknown, reading: Reading): unknown {
  const { lookup, warn, settled } = reading;
  const text = env === undefined ? undefined : lookup(env);
  if (text === undefined || valueAt(settled, key.split(".")) !== undefined) return used;
  const checked = parseText(kind, text);
  if (checked.ok) return checked.value;
  warn(describeWrong({ source: `environment ${env}`, key, kind, value: text, used }));
  return used;
}

/** One place of the file: as written, and with templates expanded. */
interface Source {
  readonly raw: unknown;
  readonly expanded: unknown;
}

const NOTHING: Source = { raw: undefined, expanded: undefined };

function below(source: Source, name: string): Source {
  if (source === NOTHING || !isTree(source.expanded) || !Object.hasOwn(source.expanded, name)) return NOTHING;
  return { raw: isTree(source.raw) ? source.raw[name] : undefined, expanded: source.expanded[name] };
}

/** One section: every setting of the table, and whatever else the file has there. */
function fillSection(table: Table, prefix: string, source: Source, reading: Reading): Tree {
  const given = source.expanded;
  if (given !== undefined && given !== null && !isTree(given)) {
    reading.warn(`config.jsonc: ${prefix.slice(0, -1)} must be an object; ignored`);
  }
  const out: Tree = isTree(given) ? { ...given } : {};
  for (const name in table) {
    const node = table[name] as Row | Table;
    const here = below(source, name);
    if (!isRow(node)) out[name] = fillSection(node, `${prefix}${name}.`, here, reading);
    else if (here === NOTHING && node.length === 3) out[name] = node[1];
    else {
      const key = prefix + name;
      out[name] = fromEnv(node, key, fromFile(node, key, here, reading.warn), reading);
    }
  }
  return out;
}

/** A copy of `root` that differs at `path` only. */
function withValue(root: Tree, path: readonly string[], value: unknown, at = 0): Tree {
  const name = path[at] as string;
  const inner = root[name];
  const next = at === path.length - 1 ? value : withValue(isTree(inner) ? inner : {}, path, value, at + 1);
  return { ...root, [name]: next };
}

const API_REASONING = ["gateway", "api_server", "show_reasoning"];

/** The API shows reasoning only where a file says so (api-server.md A2, D5). */
function apiReasoning(expanded: Tree): boolean {
  const places = [["display", "platforms", "api_server", "show_reasoning"], API_REASONING, [
    "display",
    "show_reasoning",
  ]];
  const told = places.map((path) => valueAt(expanded, path)).find((value) => typeof value === "boolean");
  return told === true;
}

const API_INTERIM = ["gateway", "api_server", "interim_assistant_messages"];

/** The place that other installs have for it counts first (api-server.md A2). */
function withInterim(tree: Tree, expanded: Tree): Tree {
  const told = valueAt(expanded, ["display", "platforms", "api_server", "interim_assistant_messages"]);
  return typeof told === "boolean" ? withValue(tree, API_INTERIM, told) : tree;
}

/** Builds the settings; `admin` wins over all else. Pure and total: any files give complete settings. */
export function loadSettings(file: Tree, lookup: Lookup, admin: Tree = {}): Loaded {
  const warnings: string[] = [];
  const warn: Warn = (text) => void warnings.push(text);
  const settled = applyAliases(admin);
  const raw = overlay(applyAliases(file), settled);
  const expanded = expandTree(raw, lookup) as Tree;
  const filled = fillSection(TABLE, "", { raw, expanded }, { lookup, warn, settled });
  const shown = apiReasoning(expanded) ? withValue(filled, API_REASONING, true) : filled;
  const tree = withInterim(shown, expanded);
  return { settings: tree as unknown as Settings, tree, warnings };
}
