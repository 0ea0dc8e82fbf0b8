/**
 * `sudo` in commands (core.md C.6): where it needs a password, the person is asked once per session. The password is
 * kept in the session's memory, goes to bash through its stdin and from there to `sudo -S -p ''`: it is in no
 * environment, no argument, no file, and taken out of what the command prints. Without one the command does not run.
 */
import { within } from "@/lib/abort.ts";
import type { AskOutcome, SessionScope, ToolContext, ToolOutcome } from "@/core/contract.ts";
import { maskQuoted } from "./shell_words.ts";

/** What the program has for this room: the configured password, and a way to keep a typed one out of all texts. */
export interface SudoHost {
  configured(): string | undefined;
  keepSecret(value: string): () => void;
}

export type SudoPlan =
  | { readonly type: "plain" }
  | { readonly type: "password"; readonly password: string; readonly isTyped: boolean }
  | { readonly type: "stop"; readonly outcome: ToolOutcome };

const PROBE_MS = 5_000;
const PROBE = "command -v sudo >/dev/null || exit 0; exec sudo -n true";
const PLAIN: SudoPlan = { type: "plain" };

/** Where a command may begin, and `sudo` as its word. */
const AT_COMMAND =
  /(?:^|[;&|\n({`]|\$\(|\b(?:then|do|else|elif|if|while|until|time)\s|!\s)\s{0,80}(?:[A-Za-z_]\w{0,80}=\S{0,400}\s{1,80}){0,20}sudo(?=[\s;&|)]|$)([^;&|\n)]*)/g;
/** Asks for no password, or has a way of its own to it. */
const ASKS_NOTHING = /^\s*(?:-[nAVh]\b|--(?:non-interactive|askpass|version|help)\b|-[kK]\s*$|$)/;
const REFUSED_BY_SUDO =
  /\bSorry, try again|sudo: (?:\d+ incorrect password attempts?|no password was provided|a password is required)/;

/** True when a `sudo` of this command may ask for a password. Quoted text counts only inside `$(…)`. */
export function mayNeedPassword(command: string): boolean {
  const inner = command.replace(/'[^']*'/g, "_").match(/\$\([^()]*\)|`[^`]*`/g) ?? [];
  return [maskQuoted(command), ...inner].some((text) =>
    [...text.matchAll(AT_COMMAND)].some(([, rest]) => !ASKS_NOTHING.test(rest ?? ""))
  );
}

/** The typed password of a session; forgotten when it closes. */
class SudoMemory {
  /** The turn in which the question did not end in a password: it is not put again there. */
  refused: { readonly turnId: string; readonly outcome: AskOutcome } | null = null;
  #password: string | null = null;
  #release: (() => void) | null = null;

  get password(): string | null {
    return this.#password;
  }

  keep(password: string, host: SudoHost): void {
    this.dispose();
    this.#password = password;
    this.#release = host.keepSecret(password);
  }

  dispose(): void {
    this.#password = null;
    this.#release?.();
    this.#release = null;
  }
}

function memoryOf(scope: SessionScope): SudoMemory {
  return scope.state("tools.sudo", () => new SudoMemory());
}

/** What has to be done before the command runs. */
export async function planSudo(
  command: string,
  place: { readonly cwd: string; readonly env: Record<string, string> },
  context: ToolContext,
  host: SudoHost,
): Promise<SudoPlan> {
  if (context.platform.os === "windows" || !mayNeedPassword(command)) return PLAIN;
  if (!await wantsPassword(place, context)) return PLAIN;
  const configured = host.configured();
  if (configured !== undefined) return { type: "password", password: configured, isTyped: false };
  const memory = memoryOf(context.scope);
  if (memory.password !== null) return { type: "password", password: memory.password, isTyped: true };
  if (memory.refused?.turnId === context.turnId) {
    return { type: "stop", outcome: refusal(memory.refused.outcome) };
  }
  const outcome = await context.ask({ kind: "sudo", command: context.redact(command, "full") });
  const password = outcome.type === "answered" && outcome.answer.type === "text" ? outcome.answer.text : "";
  // A line end would be the end of the password for sudo, and the rest would reach the command.
  if (password === "" || /[\0\r\n]/.test(password)) {
    memory.refused = { turnId: context.turnId, outcome };
    return { type: "stop", outcome: refusal(outcome) };
  }
  memory.keep(password, host);
  return { type: "password", password, isTyped: true };
}

/** `sudo -n true` fails: a password is needed. Where there is no sudo the command says so itself. */
async function wantsPassword(
  place: { readonly cwd: string; readonly env: Record<string, string> },
  { platform }: ToolContext,
): Promise<boolean> {
  try {
    const none = () => {};
    const child = platform.spawn("bash", ["--norc", "--noprofile", "-c", PROBE], {
      ...place,
      stdin: "null",
      onStdout: none,
      onStderr: none,
    });
    const exit = await within(child.exited, PROBE_MS);
    if (!exit) child.kill("SIGKILL");
    return exit?.code !== 0;
  } catch {
    return false;
  }
}

type Refusal = NonNullable<ToolOutcome["refused"]>;

const WHY: Readonly<Record<Refusal, string>> = {
  denied:
    "The user did not give the password for sudo, so the command did not run. Do not retry it and do not " +
    "look for another way to the same rights; ask what to do instead.",
  timeout:
    "Nobody typed the password for sudo in time, so the command did not run. That is neither consent nor a " +
    "refusal. Do not retry it now; go on without it or say what is needed.",
  unattended:
    "sudo needs a password, and it cannot be asked for here, so the command did not run. Do not retry " +
    "it; say what the user should run, or that SUDO_PASSWORD can be set.",
  cancelled: "The turn was cancelled while sudo waited for the password. The command did not run.",
};

function refusal(outcome: AskOutcome): ToolOutcome {
  const refused: Refusal = outcome.type === "answered" ? "denied" : outcome.type;
  const body = {
    output: "",
    exit_code: -1,
    error: WHY[refused],
    status: "blocked",
    outcome: refused,
    user_consent: false,
  };
  return { content: JSON.stringify(body), isError: true, effect: "none", refused };
}

/** Takes the password out of what a command printed, however short it is. */
export function withoutPassword(text: string, plan: SudoPlan): string {
  return plan.type === "password" ? text.replaceAll(plan.password, "***") : text;
}

/** True when sudo did not take the password; a typed one is forgotten, so that the next command asks again. */
export function passwordFailed(output: string, plan: SudoPlan, scope: SessionScope): boolean {
  if (plan.type !== "password" || !REFUSED_BY_SUDO.test(output)) return false;
  if (plan.isTyped) memoryOf(scope).dispose();
  return true;
}

/**
 * Shell text in front of a command: reads the password from stdin into a variable that is not exported, and defines
 * `sudo`. The password goes in front of what the command itself would read, and only where sudo will take it: a sudo
 * that asks for nothing would leave it to the command. Where some commands need none (`sudo -n -l` answers) each is
 * tried without it first; what such a command says on stderr then comes at its end.
 */
export const SUDO_PRELUDE = `IFS= builtin read -r __hermes_sudo
sudo() {
  case \${1-} in
    -n|-A|-V|-h|-K|--non-interactive|--askpass|--version|--help) command sudo "$@"; return;;
    -k) if [ $# -eq 1 ]; then command sudo "$@"; return; fi;;
  esac
  if command sudo -n true </dev/null >/dev/null 2>&1; then
    command sudo "$@"
  elif command sudo -n -l </dev/null >/dev/null 2>&1; then
    __hermes_sudo_some "$@"
  else
    __hermes_sudo_fed "$@"
  fi
}
__hermes_sudo_fed() {
  { command sudo -S -p '' "$@" \
    < <(builtin printf '%s\\n' "$__hermes_sudo"; exec cat <&7 2>/dev/null); } 7<&0
}
__hermes_sudo_some() {
  local said code=0
  { said=$(command sudo -n "$@" 2>&1 >&8 8>&- <&7 7<&-) || code=$?; } 7<&0 8>&1
  if [ $code -eq 1 ] && [[ \${said##*$'\\n'} == 'sudo: '* ]]; then
    __hermes_sudo_fed "$@"
  else
    if [ -n "$said" ]; then builtin printf '%s\\n' "$said" >&2; fi
    return $code
  fi
}`;
