/**
 * The text of a skill made ready for a model (core.md B.11): the skill's folder and the session's id filled in
 * (`skills.template_vars`), and `` !`command` `` replaced by what the command prints, only with `skills.inline_shell`.
 */
import { within } from "@/lib/abort.ts";
import { makeCommandHome, type Settings } from "@/core/contract.ts";
import type { Child, Platform } from "@/platform/mod.ts";

const MAX_OUTPUT = 4_000;
const MAX_SNIPPETS = 20;
const SNIPPET = /!`([^`\n]+)`/g;
const VARIABLE = /\$\{(HERMES_SKILL_DIR|HERMES_SESSION_ID)\}/g;

export interface RenderContext {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly childEnv: Readonly<Record<string, string>>;
}

export async function renderSkill(text: string, dir: string, context: RenderContext): Promise<string> {
  const { template_vars, inline_shell } = context.settings.skills;
  const values = template_vars ? { HERMES_SKILL_DIR: dir, HERMES_SESSION_ID: context.sessionId } : {};
  if (!inline_shell) return fill(text, values);
  const childEnv = { ...context.childEnv, ...values };
  return await runSnippets(text, dir, { ...context, childEnv, fill: (part) => fill(part, values) });
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(VARIABLE, (whole, name: string) => values[name] ?? whole);
}

/** Whether `skills.inline_shell` would run something. */
export function hasSnippet(text: string): boolean {
  return text.search(SNIPPET) !== -1;
}

/**
 * Only what the skill itself says is run, with the variables in its environment: a session's id is a client's choice
 * and never part of a command.
 */
async function runSnippets(
  text: string,
  dir: string,
  context: RenderContext & { fill(part: string): string },
): Promise<string> {
  const parts: string[] = [];
  let from = 0, ran = 0;
  for (const match of text.matchAll(SNIPPET)) {
    parts.push(context.fill(text.slice(from, match.index)));
    parts.push(ran++ < MAX_SNIPPETS ? await runSnippet(match[1]!, dir, context) : context.fill(match[0]));
    from = match.index + match[0].length;
  }
  return parts.join("") + context.fill(text.slice(from));
}

async function runSnippet(command: string, dir: string, context: RenderContext): Promise<string> {
  const { platform, settings, signal, childEnv } = context;
  const decoder = new TextDecoder();
  const seconds = settings.skills.inline_shell_timeout;
  let output = "";
  let child: Child;
  const take = (chunk: Uint8Array) => {
    if (output.length < MAX_OUTPUT) output += decoder.decode(chunk, { stream: true });
  };
  try {
    await makeCommandHome(platform, settings, childEnv);
    child = platform.spawn("/bin/sh", ["-c", command], {
      cwd: dir,
      env: { ...childEnv },
      stdin: "null",
      onStdout: take,
      onStderr: take,
    });
  } catch (error) {
    return `[could not run: ${error instanceof Error ? error.message : String(error)}]`;
  }
  const stop = () => child.kill("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  const exit = await within(child.exited.catch(() => null), seconds * 1000);
  signal.removeEventListener("abort", stop);
  if (exit === undefined) stop();
  const shown = output.slice(0, MAX_OUTPUT).trim();
  if (exit?.code === 0) return shown;
  return `${shown}[${
    exit === undefined ? `stopped after ${seconds} s` : `exit ${exit?.code ?? "?"}`
  }: ${command}]`;
}
