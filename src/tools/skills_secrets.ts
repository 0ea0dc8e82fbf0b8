/**
 * Values that a skill needs and that are not there (core.md C.7): the person is asked for each, once per session. A
 * value goes into `.env` of the data home and is taken out of every text from then on; the model learns `stored` or
 * `skipped` and nothing else. Names that steer this program or the system are never asked for.
 */
import type { SessionScope, ToolContext } from "@/core/contract.ts";
import type { RequiredVariable } from "./skills_document.ts";

/** What the program has for this room. */
export interface SecretHost {
  /** Puts it into `.env`; from then on it is masked. */
  store(name: string, value: string): Promise<void>;
  /** Keys and addresses of model providers and the program's own. */
  isReserved(name: string): boolean;
  warn(message: string): void;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const STEERING =
  /^(?:_?HERMES_|API_SERVER_|LD_|DYLD_|BASH_|GIT_|NODE_|NPM_CONFIG_|DENO_|PYTHON|SSH_|SUDO_)|^(?:PATH|HOME|SHELL|IFS|ENV|USER|LOGNAME|TMPDIR|LANG|EDITOR|PAGER|[A-Z]*_PROXY)$/i;
const LONGEST = 32_768;

export function mayBeAskedFor(name: string, host: SecretHost): boolean {
  return NAME.test(name) && !STEERING.test(name) && !host.isReserved(name);
}

/** Names that the person has passed over in this session. */
function skippedIn(scope: SessionScope): Set<string> {
  return scope.state("tools.secrets", () => new Set<string>());
}

/** One after the other; the first question that nobody answers is the last one. */
export async function askForValues(
  skill: string,
  missing: readonly RequiredVariable[],
  context: ToolContext,
  host: SecretHost,
): Promise<Record<string, "stored" | "skipped">> {
  const told: Record<string, "stored" | "skipped"> = {};
  const skipped = skippedIn(context.scope);
  for (const { name, prompt } of missing) {
    if (!mayBeAskedFor(name, host) || skipped.has(name)) continue;
    const outcome = await context.ask({
      kind: "secret",
      envVar: name,
      prompt: prompt || `${name} for the skill ${skill}`,
      metadata: { skill },
    });
    if (outcome.type !== "answered") break;
    const value = outcome.answer.type === "text" ? outcome.answer.text.trim() : "";
    const isStored = await keep(name, value, host);
    told[name] = isStored ? "stored" : "skipped";
    if (!isStored) skipped.add(name);
  }
  return told;
}

async function keep(name: string, value: string, host: SecretHost): Promise<boolean> {
  if (value === "" || value.length > LONGEST || value.includes("\0")) return false;
  try {
    await host.store(name, value);
    return true;
  } catch (error) {
    host.warn(`Cannot store ${name}: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  }
}
