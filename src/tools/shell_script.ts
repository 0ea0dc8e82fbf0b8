/**
 * The bash texts around a command. One run of bash does everything: (first time) read the login files, run the
 * command, report directory and exported environment. The report goes over the stderr pipe, which the command itself
 * does not have: its own stderr is its stdout. Records end with NUL.
 *
 *   \0hermes:begin\0                                    the login files are done, the command starts
 *   \0hermes:state\0<cwd>\0NAME=value\0…hermes:end\0    after the command
 */

const RUNNER = `exec 9>&2 2>&1
__hermes_report() {
  set +eu
  { builtin printf '\\0hermes:state\\0%s\\0' "$(builtin pwd -P)"
    builtin compgen -e | while IFS= builtin read -r __hermes_name; do
      builtin printf '%s=%s\\0' "$__hermes_name" "\${!__hermes_name}"
    done
    builtin printf 'hermes:end\\0'; } 2>/dev/null >&9
}
trap '__hermes_code=$?; __hermes_report; exit $__hermes_code' EXIT
builtin printf '\\0hermes:begin\\0' >&9
eval "set --;$1" 9>&-
__hermes_code=$?
__hermes_report
exit $__hermes_code`;

/** Puts shell text in front of the command; `input` is what the command may read. */
function withPrelude(runner: string, prelude: string, input: string): string {
  return runner.replace(/^eval /m, () => `${prelude}\n${input}eval `);
}

const BACKGROUND_RUNNER = `exec 2>&1
eval "set --;$1"`;

/** One argument of an exec call; longer ones are refused by the system. */
const MAX_ARGUMENT = 100_000;

export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface LoginSetup {
  /** Files to source, in order; absent ones are passed over. */
  readonly files: readonly string[];
  /** Names (with `*`) to take out of the environment again. */
  readonly scrub: readonly string[];
}

/**
 * Many an /etc/profile sets PATH anew, which would hide the programs of whoever started us. What the login files have
 * added stays where they put it, in front or behind; what was there before stays too, in its order.
 */
const KEEP_PATH = `if [ "$PATH" != "$__hermes_path" ]; then
  __front= __back= __known=
  IFS=:; set -f
  for __entry in $PATH; do
    case ":$__hermes_path:" in
      *":$__entry:"*) __known=1;;
      *) if [ -z "$__known" ]; then __front="$__front$__entry:"; else __back="$__back:$__entry"; fi;;
    esac
  done
  set +f; unset IFS
  PATH="$__front$__hermes_path$__back"
fi`;

function loginPrelude(setup: LoginSetup): string {
  const sources = setup.files.map((file) => `[ -r ${quote(file)} ] && . ${quote(file)}`).join("\n");
  const patterns = setup.scrub.filter((name) => /^[A-Za-z_*][A-Za-z0-9_*]*$/.test(name)).join("|");
  const scrub = patterns === ""
    ? ""
    : `unset IFS; for __n in $(compgen -e); do case $__n in ${patterns}) unset "$__n";; esac; done 2>/dev/null; unset __n`;
  return `__hermes_bash=$BASH __hermes_dir=$PWD __hermes_path=$PATH
{ set --
${sources}
} </dev/null >/dev/null 2>&1
set +aeu; trap - EXIT ERR DEBUG; builtin cd -- "$__hermes_dir"
${KEEP_PATH}
${scrub}`;
}

/**
 * Arguments of bash. `login` is done first, then a fresh bash without its functions and options takes over. `prelude`
 * may read from stdin before the command does.
 */
export function bashArguments(
  command: string,
  options: { login: LoginSetup | null; background: boolean; prelude?: string | undefined },
): string[] {
  const { background, prelude } = options;
  const bare = background ? BACKGROUND_RUNNER : RUNNER;
  const runner = prelude === undefined
    ? bare
    : withPrelude(bare, prelude, background ? "" : "exec 0</dev/null\n");
  const plain = ["--norc", "--noprofile", "-c", runner, "bash", command];
  if (!options.login) return plain;
  const words = plain.map(quote).join(" ");
  return ["--norc", "--noprofile", "-c", `${loginPrelude(options.login)}\nexec "$__hermes_bash" ${words}`];
}

/** True when the command does not fit on a command line and must be run from a file. */
export function isTooLong(command: string): boolean {
  return quote(quote(command)).length > MAX_ARGUMENT ||
    new TextEncoder().encode(command).length > MAX_ARGUMENT / 2;
}

export interface ShellReport {
  /** The command was started. */
  readonly began: boolean;
  /** `null` when the shell ended without a report (killed, replaced by exec). */
  readonly state: { readonly cwd: string; readonly env: Record<string, string> } | null;
}

/** Variables of bash itself that mean nothing to the next run. */
const OWN = new Set(["_", "SHLVL", "OLDPWD", "PWD"]);

export function parseReport(text: string): ShellReport {
  const tokens = text.split("\0");
  const began = tokens.includes("hermes:begin");
  const at = tokens.lastIndexOf("hermes:state");
  const end = tokens.indexOf("hermes:end", at);
  if (at < 0 || end < 0) return { began, state: null };
  const env: Record<string, string> = {};
  for (const token of tokens.slice(at + 2, end)) {
    const equals = token.indexOf("=");
    const name = token.slice(0, equals);
    if (equals > 0 && !OWN.has(name) && !name.startsWith("__hermes_")) env[name] = token.slice(equals + 1);
  }
  const cwd = tokens[at + 1]!;
  return { began, state: cwd.startsWith("/") || /^[A-Za-z]:/.test(cwd) ? { cwd, env } : null };
}
