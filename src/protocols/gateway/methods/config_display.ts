/**
 * The keys of `config.get` and `config.set` that only hosts act on (tui-gateway.md B.14): kept in the configuration
 * under `display.host`, so that every host of this home shows the same. A value that is none is 4002.
 */
import type { Hermes } from "@/app/mod.ts";
import { RpcError } from "../errors.ts";

interface HostKey {
  readonly values: readonly string[];
  readonly fallback: string;
  /** Other words for a value. */
  readonly same?: Readonly<Record<string, string>>;
  /** An empty value takes the other one instead of reading. */
  readonly toggles?: boolean;
}

const DETAILS = ["hidden", "collapsed", "expanded"];
const SECTIONS = ["thinking", "tools", "subagents", "activity"];
const SECTION_PREFIX = "details_mode.";

const KEYS: Readonly<Record<string, HostKey>> = {
  skin: { values: ["default"], fallback: "default" },
  details_mode: { values: DETAILS, fallback: "collapsed" },
  thinking_mode: { values: ["collapsed", "truncated", "full"], fallback: "collapsed" },
  compact: { values: ["on", "off"], fallback: "off", toggles: true },
  statusbar: { values: ["off", "top", "bottom"], fallback: "top", same: { on: "top" } },
  mouse: { values: ["off", "wheel", "buttons", "all"], fallback: "all", same: { on: "all" } },
  indicator: { values: ["ascii", "emoji", "kaomoji", "unicode"], fallback: "unicode" },
};

export function isHostKey(key: string): boolean {
  return Object.hasOwn(KEYS, key) || sectionOf(key) !== null;
}

function sectionOf(key: string): string | null {
  if (!key.startsWith(SECTION_PREFIX)) return null;
  const section = key.slice(SECTION_PREFIX.length);
  return SECTIONS.includes(section) ? section : null;
}

/** What is kept, as long as it is still a value; else the default. A section without its own has that of all. */
export function readHostKey(hermes: Hermes, key: string): string {
  const section = sectionOf(key);
  const known = KEYS[section === null ? key : "details_mode"]!;
  const host = mapOf(hermes.config.get("display.host"));
  const kept = section === null ? host[key] : mapOf(host["sections"])[section];
  if (typeof kept === "string" && known.values.includes(kept)) return kept;
  return section === null ? known.fallback : readHostKey(hermes, "details_mode");
}

/** The value in force afterwards. Throws 4002. */
export async function writeHostKey(hermes: Hermes, key: string, value: string): Promise<string> {
  const section = sectionOf(key);
  const known = KEYS[section === null ? key : "details_mode"]!;
  const path = section === null ? ["display", "host", key] : ["display", "host", "sections", section];
  const word = known.same?.[value.toLowerCase()] ?? value.toLowerCase();
  const toggles = known.toggles === true && (word === "" || word === "toggle");
  if (word === "" && section === null && !toggles) return readHostKey(hermes, key);
  const wanted = toggles ? known.values.find((one) => one !== readHostKey(hermes, key))! : word;
  if (wanted !== "" && !known.values.includes(wanted)) {
    throw new RpcError(4002, `unknown value for ${key}: "${value}"; use ${known.values.join(", ")}`);
  }
  await hermes.config.write(path, wanted === "" ? undefined : wanted);
  return readHostKey(hermes, key);
}

function mapOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}
