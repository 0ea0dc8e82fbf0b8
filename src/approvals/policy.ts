/**
 * The rules a person has written in `policy.rules`, applied without judgement: deny wins over everything, else the
 * first rule that matches decides, else nobody and the built-in rules do. A rule that allows is read narrowly (one
 * plain command; every path, also behind links), one that asks or forbids is read widely (every command of the
 * line and what it starts; any path). Pure: knows neither commands nor files, only what it is told of a call.
 */
import type { PolicyRule } from "@/core/contract.ts";
import { isPlainCommand, matchesGlob } from "./allow_list.ts";
import { matchesPath, type PathBase } from "./path_glob.ts";

export interface Subject {
  readonly tool: string;
  readonly mcpServer: string | null;
  readonly surface: string | null;
  /** The command line as it would run, and every text it or a part of it comes to; `null` for other tools. */
  readonly command: { readonly text: string; readonly forms: readonly string[] } | null;
  /** Absolute; as given and as it really is. */
  readonly paths: readonly { readonly given: string; readonly real: string; readonly broken: boolean }[];
  /** The paths were read out of a command's text: enough to forbid, never enough to allow. */
  readonly guessed: boolean;
}

export interface PolicyMoment {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly base: PathBase;
}

export interface Decision {
  readonly effect: PolicyRule["effect"];
  readonly rule: PolicyRule;
  /** Every rule that matches, in order. */
  readonly matching: readonly PolicyRule[];
}

function isInForce(rule: PolicyRule, now: number): boolean {
  return typeof rule.scope === "string" || now < Date.parse(rule.scope.until);
}

function matchesCommand(glob: string, allows: boolean, { command }: Subject): boolean {
  if (command === null) return false;
  if (allows) return isPlainCommand(command.text) && matchesGlob(glob, command.text);
  return command.forms.some((form) => matchesGlob(glob, form));
}

function matchesPaths(glob: string, allows: boolean, subject: Subject, base: PathBase): boolean {
  const named = (path: string) => matchesPath(glob, path, allows, base);
  const { paths } = subject;
  if (!allows) return paths.some(({ given, real }) => named(given) || named(real));
  if (subject.guessed || paths.length === 0) return false;
  return paths.every(({ given, real, broken }) => !broken && named(given) && named(real));
}

function matches(rule: PolicyRule, subject: Subject, { now, base }: PolicyMoment): boolean {
  const allows = rule.effect === "allow";
  if (!isInForce(rule, now)) return false;
  if (rule.surface !== undefined && !matchesGlob(rule.surface, subject.surface ?? "")) return false;
  if (rule.tool !== undefined && !matchesGlob(rule.tool, subject.tool)) return false;
  if (rule.mcp_server !== undefined && !matchesGlob(rule.mcp_server, subject.mcpServer ?? "")) return false;
  if (rule.mcp_server !== undefined && subject.mcpServer === null) return false;
  if (rule.command !== undefined && !matchesCommand(rule.command, allows, subject)) return false;
  return rule.path === undefined || matchesPaths(rule.path, allows, subject, base);
}

/** `null` when no rule speaks of this call. */
export function decide(
  rules: readonly PolicyRule[],
  subject: Subject,
  moment: PolicyMoment,
): Decision | null {
  const matching = rules.filter((rule) => matches(rule, subject, moment));
  const rule = matching.find(({ effect }) => effect === "deny") ?? matching[0];
  return rule === undefined ? null : { effect: rule.effect, rule, matching };
}

/** What a rule says, on one line: `deny command "git push*"`. */
export function ruleText(rule: PolicyRule): string {
  const parts: string[] = [rule.effect];
  for (const name of ["tool", "command", "path", "mcp_server", "surface"] as const) {
    if (rule[name] !== undefined) parts.push(`${name} ${JSON.stringify(rule[name])}`);
  }
  if (rule.scope === "session") parts.push("for the session once allowed");
  else if (rule.scope !== "always") parts.push(`until ${rule.scope.until}`);
  return parts.join(" ");
}

/** How a rule is named to people and models: its number, what it says and why. */
export function ruleName(rule: PolicyRule): string {
  return `policy rule ${rule.number} (${ruleText(rule)})${
    rule.reason === undefined ? "" : `: ${rule.reason}`
  }`;
}

/** The rule that asks; one that allows for the session does so after the first consent. `null`: nothing is asked. */
export function askingRule(decision: Decision | null): PolicyRule | null {
  if (decision === null || decision.effect === "deny") return null;
  const { effect, rule } = decision;
  return effect === "ask" || rule.scope === "session" ? rule : null;
}
