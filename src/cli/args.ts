/**
 * Command-line arguments, by written tables: one table per command gives the parser, the `--help` text and the
 * shell completions, so the three cannot disagree. The only file that knows `node:util`'s parser.
 * Knows nothing of what the commands do.
 */
import { parseArgs } from "node:util";
import { closest } from "./suggest.ts";

export interface OptionSpec {
  readonly name: string;
  /** One letter. */
  readonly short?: string;
  /** Placeholder of its value (`<id>`); a switch without. */
  readonly value?: string;
  readonly summary: string;
  /** The values it takes, for completions and checks. */
  readonly choices?: readonly string[];
}

export interface SubcommandSpec {
  readonly name: string;
  /** `<key> <value>`; empty when it takes nothing. */
  readonly args: string;
  readonly summary: string;
}

export interface CommandSpec {
  /** After `hermes <name>`, one per form. */
  readonly usage: readonly string[];
  /** Sentences that teach; paragraphs are split by an empty line. */
  readonly about: string;
  readonly options: readonly OptionSpec[];
  readonly subcommands?: readonly SubcommandSpec[];
  readonly examples?: readonly (readonly [command: string, meaning: string])[];
  /** Further tables of the help: what a field, a line or a value means. */
  readonly tables?: readonly { title: string; rows: readonly (readonly [string, string])[] }[];
  /** Exit codes are listed in the help of commands that run turns. */
  readonly listsExitCodes?: boolean;
}

/** The user wrote something that cannot be meant: exit 2, with the way to the right usage. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

export interface ParsedArgs {
  readonly positionals: readonly string[];
  has(name: string): boolean;
  value(name: string): string | undefined;
  /** Throws `UsageError` unless the value is a number > 0. */
  positive(name: string): number | undefined;
}

export const HELP_OPTION: OptionSpec = { name: "help", short: "h", summary: "Show this help" };

/** Throws `UsageError` on unknown options, missing values and values outside `choices`. */
export function parseCommandLine(spec: CommandSpec, args: readonly string[]): ParsedArgs {
  const known = [...spec.options, HELP_OPTION];
  const { values, positionals } = parseStrictly(known, args);
  for (const option of known) {
    const value = values[option.name];
    if (option.choices && typeof value === "string" && !option.choices.includes(value)) {
      throw new UsageError(`--${option.name} takes ${option.choices.join(", ")}; got "${value}"`);
    }
  }
  return {
    positionals,
    has: (name) => values[name] === true,
    value: (name) => typeof values[name] === "string" ? values[name] : undefined,
    positive: (name) => parsePositive(name, values[name]),
  };
}

function parsePositive(name: string, value: unknown): number | undefined {
  if (typeof value !== "string") return undefined;
  const number = Number(value);
  if (value.trim() === "" || !Number.isFinite(number) || number <= 0) {
    throw new UsageError(`--${name} takes a number above 0; got "${value}"`);
  }
  return number;
}

type Values = Record<string, string | boolean | undefined>;

function parseStrictly(
  known: readonly OptionSpec[],
  args: readonly string[],
): { values: Values; positionals: string[] } {
  const options: Record<string, { type: "string" | "boolean"; short?: string }> = {};
  for (const option of known) {
    options[option.name] = {
      type: option.value ? "string" : "boolean",
      ...(option.short ? { short: option.short } : {}),
    };
  }
  // Lone "-" means "read stdin" and is a positional; the parser agrees.
  const parsed = parseArgs({
    args: [...args],
    options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of parsed.tokens) {
    if (token.kind === "option") checkOption(token, known);
  }
  return { values: parsed.values as Values, positionals: parsed.positionals };
}

function checkOption(
  token: { name: string; rawName: string; value?: string | undefined },
  known: readonly OptionSpec[],
): void {
  const option = known.find((candidate) => candidate.name === token.name);
  if (!option) {
    const near = closest(token.name, known.map((candidate) => candidate.name));
    throw new UsageError(
      `unknown option ${token.rawName}` + (near ? `; did you mean --${near}?` : "") +
        " (text that starts with a dash goes after --)",
    );
  }
  if (option.value && token.value === undefined) {
    throw new UsageError(`${token.rawName} needs a value: ${token.rawName} ${option.value}`);
  }
  if (!option.value && token.value !== undefined) {
    throw new UsageError(`${token.rawName} takes no value; got "${token.value}"`);
  }
}
