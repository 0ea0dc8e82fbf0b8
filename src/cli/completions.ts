/**
 * `hermes completions bash|zsh|fish`: scripts generated from the option tables. The scripts hold words only and
 * never call the program, so that a Tab costs nothing.
 */
import type { Platform } from "@/platform/mod.ts";
import { type CommandSpec, HELP_OPTION, type OptionSpec, parseCommandLine, UsageError } from "./args.ts";
import { COMMANDS } from "./mod.ts";
import { COMPLETIONS as SPEC, SPECS } from "./specs.ts";
import { withTerminal } from "./terminal.ts";

interface Entry {
  readonly name: string;
  readonly summary: string;
  readonly spec: CommandSpec;
}

const GLOBAL_WORDS = ["--help", "--version", "--setup"];

function entries(): Entry[] {
  return COMMANDS.map((command) => ({
    name: command.name,
    summary: command.summary,
    spec: SPECS[command.name]!,
  }));
}

function optionsOf(entry: Entry): OptionSpec[] {
  return [...entry.spec.options, HELP_OPTION];
}

function wordsOf(entry: Entry): string {
  const subs = (entry.spec.subcommands ?? []).map((sub) => sub.name);
  return [...subs, ...optionsOf(entry).map((option) => `--${option.name}`)].join(" ");
}

/** In single quotes of any of the three shells. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function bashScript(): string {
  const cases = entries().map((entry) => `    ${entry.name}) words=${quote(wordsOf(entry))} ;;`);
  return `# bash completion for hermes
_hermes() {
  local current=\${COMP_WORDS[COMP_CWORD]} words
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words=${quote([...COMMANDS.map((c) => c.name), ...GLOBAL_WORDS].join(" "))}
  else
    case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words='' ;;
    esac
  fi
  case "\${COMP_WORDS[COMP_CWORD-1]}" in
    --cwd|-C) COMPREPLY=( $(compgen -d -- "$current") ); return ;;
  esac
  COMPREPLY=( $(compgen -W "$words" -- "$current") )
}
complete -o default -F _hermes hermes`;
}

function zshOption(option: OptionSpec): string {
  const text = option.summary.replace(/[[\]:]/g, "\\$&");
  const names = option.short
    ? `'(-${option.short} --${option.name})'{-${option.short},--${option.name}}`
    : "";
  const value = option.value
    ? `:${option.value.replace(/[<>]/g, "")}:${option.name === "cwd" ? "_files -/" : ""}`
    : "";
  const rest = quote(`[${text}]${value}`);
  return names ? names + rest : quote(`--${option.name}[${text}]${value}`);
}

function zshCase(entry: Entry): string {
  const options = optionsOf(entry).map((option) => `        ${zshOption(option)}`).join(" \\\n");
  const subs = (entry.spec.subcommands ?? []).map((sub) => sub.name).join(" ");
  const first = subs ? ` \\\n        ${quote(`1:subcommand:(${subs})`)}` : "";
  return `      ${entry.name}) _arguments \\\n${options}${first} \\\n        '*:: :_files' ;;`;
}

export function zshScript(): string {
  const commands = entries().map((entry) =>
    `    ${quote(`${entry.name}:${entry.summary.replaceAll(":", "\\:")}`)}`
  );
  return `#compdef hermes
_hermes() {
  local -a commands
  commands=(
${commands.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe 'command' commands
    return
  fi
  local command=\${words[2]}
  shift words
  (( CURRENT-- ))
  case $command in
${entries().map(zshCase).join("\n")}
  esac
}
compdef _hermes hermes`;
}

export function fishScript(): string {
  const lines = ["# fish completion for hermes", "complete -c hermes -f"];
  for (const entry of entries()) {
    lines.push(
      `complete -c hermes -n __fish_use_subcommand -a ${entry.name} -d ${fishQuote(entry.summary)}`,
    );
    const when = `-n '__fish_seen_subcommand_from ${entry.name}'`;
    for (const sub of entry.spec.subcommands ?? []) {
      lines.push(`complete -c hermes ${when} -a ${sub.name} -d ${fishQuote(sub.summary)}`);
    }
    for (const option of optionsOf(entry)) {
      const short = option.short ? ` -s ${option.short}` : "";
      const value = option.value ? " -r" : "";
      lines.push(
        `complete -c hermes ${when} -l ${option.name}${short}${value} -d ${fishQuote(option.summary)}`,
      );
    }
  }
  return lines.join("\n");
}

function fishQuote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

const SCRIPTS: Readonly<Record<string, () => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

export function run(args: readonly string[], platform: Platform): Promise<number> {
  const [shell, ...more] = parseCommandLine(SPEC, args).positionals;
  const script = shell === undefined ? undefined : SCRIPTS[shell];
  if (!script || more.length > 0) throw new UsageError("name one shell: bash, zsh or fish");
  return withTerminal(platform, (terminal) => {
    terminal.line(script());
    return Promise.resolve(0);
  });
}
