/**
 * The text of a skill made ready for a model (core.md B.11): the skill's folder and the session's id filled in
 * (`skills.template_vars`), and `` !`command` `` replaced by what the command prints, only with `skills.inline_shell`.
 */
import { within } from "@/lib/abort.ts";
import type { Settings } from "@/core/contract.ts";
import type { Child, Platform } from "@/platform/mod.ts";

const MAX_OUTPUT = 4_000;
const MAX_SNIPPETS = 20;
const SNIPPET = /!`([^`\n]+)`/g;

export interface RenderContext {
  readonly platform: Platform;
  readonly settings: Settings;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly childEnv: Readonly<Record<string, string>>;
}

export async function renderSkill(text: string, dir: string, context: RenderContext): Promise<string> {
  const { template_vars, inline_shell } = context.settings.skills;
  const filled = template_vars
    ? text.replaceAll("${HERMES_SKILL_DIR}", () => dir)
      .replaceAll("${HERMES_SESSION_ID}", () => context.sessionId)
    : text;
  return inline_shell ? await runSnippets(filled, dir, context) : filled;
}

/** Whether `skills.inline_shell` would run something. */
export function hasSnippet(text: string): boolean {
  return text.search(SNIPPET) !== -1;
}

async function runSnippets(text: string, dir: string, context: RenderContext): Promise<string> {
  const parts: string[] = [];
  let from = 0, ran = 0;
  for (const match of text.matchAll(SNIPPET)) {
    parts.push(text.slice(from, match.index));
    parts.push(ran++ < MAX_SNIPPETS ? await runSnippet(match[1]!, dir, context) : match[0]);
    from = match.index + match[0].length;
  }
  return parts.join("") + text.slice(from);
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
