/** `hermes config show|get|set|unset|path|schema|init`: the settings file and `.env`, secrets always masked. */
import type { Hermes } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { withHermes } from "./hermes_session.ts";
import { CONFIG } from "./specs.ts";
import { closest } from "./suggest.ts";
import { type Terminal, withTerminal } from "./terminal.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

/** Number of words each subcommand takes; `set` joins what follows its key. */
const WORDS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  show: [0, 0],
  get: [1, 1],
  set: [2, Infinity],
  unset: [1, 1],
  path: [0, 0],
  schema: [0, 0],
  init: [0, 0],
};

const SUBCOMMANDS: Readonly<Record<string, (context: Context) => Promise<number> | number>> = {
  show: ({ hermes, terminal }) => printJson(terminal, hermes.config.shown()),
  get,
  set,
  unset,
  path: ({ hermes, terminal }) => printLine(terminal, hermes.config.path),
  schema: ({ hermes, terminal }) => printJson(terminal, hermes.config.schema()),
  init,
};

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(CONFIG, optionsFirst(args));
  const [name = "show", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) {
    const near = closest(name, Object.keys(SUBCOMMANDS));
    throw new UsageError(`unknown subcommand "${name}"` + (near ? `; did you mean "config ${near}"?` : ""));
  }
  const [least, most] = WORDS[name]!;
  if (words.length < least || words.length > most) {
    throw new UsageError(`config ${name} takes ${describeWords(name)}; got ${words.length} argument(s)`);
  }
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(platform, { surface: "cli" }, async (hermes) => {
        for (const warning of hermes.config.warnings()) terminal.note(`hermes: warning: ${warning}`);
        return await subcommand({ hermes, terminal, parsed, words });
      }),
  );
}

/** The value of `config set KEY VALUE` may begin with a dash (`-1`): what follows the key is never an option. */
function optionsFirst(args: readonly string[]): readonly string[] {
  const at = args.indexOf("set");
  if (at === -1 || args.includes("--") || args.length < at + 3) return args;
  return [...args.slice(0, at), "--", ...args.slice(at)];
}

function describeWords(name: string): string {
  const sub = CONFIG.subcommands?.find((candidate) => candidate.name === name);
  return sub?.args ? sub.args : "no arguments";
}

function printLine(terminal: Terminal, text: string): number {
  terminal.line(text);
  return 0;
}

function printJson(terminal: Terminal, value: unknown): number {
  return printLine(terminal, JSON.stringify(value, null, 2));
}

function get({ hermes, terminal, parsed, words }: Context): number {
  const value = hermes.config.get(words[0]!);
  if (parsed.has("json") || (typeof value === "object" && value !== null)) {
    return printJson(terminal, value ?? null);
  }
  return printLine(terminal, value === undefined || value === null ? "" : String(value));
}

async function set({ hermes, terminal, parsed, words }: Context): Promise<number> {
  const [key, ...value] = words;
  if (/^[A-Z][A-Z0-9_]*_API_KEY$/.test(key!) && !/^\S+$/.test(value.join(" ").trim())) {
    throw new UsageError(
      `${key} takes a key, which is one word without spaces; hermes config unset ${key} takes it out`,
    );
  }
  if (isTurnedRound(hermes, key!, value)) {
    throw new UsageError(`"${key}" is no setting; did you mean "hermes config set ${value[0]} ${key}"?`);
  }
  const known = new Set(hermes.config.warnings());
  const done = await hermes.config.set(key!, value.join(" "));
  // A name with a spelling mistake is written all the same, and does nothing: say so at once.
  for (const warning of hermes.config.warnings()) {
    if (!known.has(warning)) terminal.note(`hermes: warning: ${warning}`);
  }
  if (!isKnown(hermes, done.key)) {
    terminal.note(`hermes: warning: hermes knows no key ${done.key}; hermes config schema lists them`);
  }
  const { config } = hermes;
  if (config.ignoredBy !== null && done.file === config.path) {
    terminal.note(`hermes: warning: ${config.path} is not read now: ${config.ignoredBy} is set`);
  }
  if (parsed.has("json")) return printJson(terminal, { key: done.key, value: done.shown, file: done.file });
  return printLine(terminal, `${done.key} = ${done.shown}  (${done.file})`);
}

/** The value stands first, and what follows it is a setting. */
function isTurnedRound(hermes: Hermes, key: string, [name = "", ...more]: readonly string[]): boolean {
  return more.length === 0 && name.includes(".") && isKnown(hermes, name) && !isKnown(hermes, key);
}

/** Names of this form stand in `.env`. */
function isEnvName(key: string): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(key);
}

/** By its first part: below one, the warnings of the configuration tell. */
function isKnown(hermes: Hermes, key: string): boolean {
  const known = hermes.config.schema().properties as Record<string, unknown> | undefined;
  return isEnvName(key) || known === undefined || Object.hasOwn(known, key.split(".")[0]!);
}

async function unset({ hermes, terminal, words }: Context): Promise<number> {
  const key = words[0]!;
  // Throws for a key that does not exist.
  hermes.config.get(key);
  if (isEnvName(key)) {
    await hermes.config.setEnv(key, "");
    const left = hermes.config.env(key) === undefined ? "" : "; the environment still has it";
    return printLine(terminal, `${key} removed from ${hermes.config.envPath}${left}`);
  }
  const path = key.split(".").map((part) => /^\d+$/.test(part) ? Number(part) : part);
  await hermes.config.write(path, undefined);
  return printLine(terminal, `${key} removed${inForce(hermes, key)}`);
}

/** Nothing is in force for a key that only the file knew. */
function inForce(hermes: Hermes, key: string): string {
  try {
    return `; in force now: ${JSON.stringify(hermes.config.get(key) ?? null)}`;
  } catch {
    return "";
  }
}

async function init({ hermes, terminal }: Context): Promise<number> {
  const made = await hermes.config.init();
  terminal.note(made ? "written:" : "there is one already, left as it is:");
  return printLine(terminal, hermes.config.path);
}
