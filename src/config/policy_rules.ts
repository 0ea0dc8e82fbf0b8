/**
 * `policy.rules` in its one normal form. A rule that cannot be understood whole is left out with a warning that names
 * it: half a rule would allow or forbid more than was written. What the rules mean is the business of the guard.
 */
import type { PolicyRule } from "@/core/contract.ts";
import { isTree, type Tree } from "./tree.ts";

const TEXTS = ["tool", "path", "command", "mcp_server", "surface", "reason"] as const;
const CRITERIA = ["tool", "path", "command", "mcp_server"] as const;
const EFFECTS = ["allow", "ask", "deny"] as const;
/** What people call a surface, and what it is called inside. */
const SURFACES: Readonly<Record<string, string>> = {
  acp: "acp",
  gateway: "tui",
  tui: "tui",
  serve: "api_server",
  api: "api_server",
  api_server: "api_server",
  cli: "cli",
  run: "cli",
  chat: "cli",
};
const FIELDS: readonly string[] = ["effect", "scope", ...TEXTS];
/** A day, or a moment with its zone: a time without one would mean something else on another machine. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))?$/;

type Problem = { readonly problem: string };

function scopeOf(given: unknown): PolicyRule["scope"] | Problem {
  if (given === undefined || given === "always") return "always";
  if (given === "session") return "session";
  const until = isTree(given) && Object.keys(given).length === 1 ? given["until"] : undefined;
  if (typeof until === "string" && MOMENT.test(until) && !Number.isNaN(Date.parse(until))) return { until };
  return { problem: 'scope is "always", "session" or { "until": "2026-12-31T18:00:00Z" }' };
}

function surfaceOf(given: string): string | Problem {
  const name = given.trim().toLowerCase();
  if (/[*?]/.test(name)) return name;
  if (Object.hasOwn(SURFACES, name)) return SURFACES[name] as string;
  return { problem: `there is no surface "${given}"; there are acp, gateway, serve and cli` };
}

function texts(entry: Tree): Record<string, string> | Problem {
  const clean: Record<string, string> = {};
  for (const name of TEXTS) {
    const value = entry[name];
    if (value === undefined) continue;
    if (typeof value !== "string" || value.trim() === "") return { problem: `${name} must be a text` };
    clean[name] = value.trim();
  }
  return clean;
}

function isProblem(value: unknown): value is Problem {
  return isTree(value) && typeof value["problem"] === "string";
}

function readRule(entry: unknown, number: number): PolicyRule | Problem {
  if (!isTree(entry)) return { problem: "it is not an object" };
  const unknown = Object.keys(entry).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) return { problem: `there is no field "${unknown}"` };
  const effect = EFFECTS.find((one) => one === entry["effect"]);
  if (!effect) return { problem: `effect must be ${EFFECTS.map((one) => `"${one}"`).join(", ")}` };
  const scope = scopeOf(entry["scope"]);
  if (isProblem(scope)) return scope;
  const given = texts(entry);
  if (isProblem(given)) return given;
  if (effect === "allow" && !CRITERIA.some((name) => name in given)) {
    return { problem: "an allow rule must say what it allows: tool, path, command or mcp_server" };
  }
  const surface = given["surface"] === undefined ? undefined : surfaceOf(given["surface"]);
  if (isProblem(surface)) return surface;
  return { ...given, ...(surface === undefined ? {} : { surface }), number, effect, scope } as PolicyRule;
}

/** Rules in order, each with its number in the file; never throws. */
export function policyRules(list: unknown, key: string, warn: (text: string) => void): PolicyRule[] {
  return (list as readonly unknown[]).flatMap((entry, at) => {
    const rule = readRule(entry, at + 1);
    if (!isProblem(rule)) return [rule];
    warn(`config.jsonc: ${key}: rule ${at + 1} is ignored: ${rule.problem}`);
    return [];
  });
}
