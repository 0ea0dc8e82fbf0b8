/**
 * What was allowed: for a scope (a session, a run) in memory, for ever in `command_allowlist` of the config
 * (core.md C.4). Two scopes never share a grant; a scope's grants die with it.
 */
import type { ConfigService, Settings } from "@/core/contract.ts";

/** An entry with any of these could smuggle in a second command. */
const OPERATORS = /[\n;&|<>`]|\$\(/;

/** `*` is any text, `?` any character; ignores case; the whole text must match. Never slower than length × length. */
export function matchesGlob(glob: string, text: string): boolean {
  return matchesExactly(glob.trim().toLowerCase(), text.trim().toLowerCase());
}

/** The same, case and blanks counting. */
export function matchesExactly(pattern: string, subject: string): boolean {
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let s = 0; s < subject.length;) {
    if (p < pattern.length && pattern[p] === "*") {
      star = p++;
      resume = s;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === subject[s])) {
      p++;
      s++;
    } else if (star !== -1) {
      p = star + 1;
      s = ++resume;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/** One command and nothing that could start a second one. */
export function isPlainCommand(command: string): boolean {
  return !OPERATORS.test(command.trim());
}

/** A plain command that stands on the list itself, exactly or by a pattern. */
export function isListedCommand(command: string, settings: Settings): boolean {
  if (!isPlainCommand(command)) return false;
  return settings.command_allowlist.some((entry) => matchesGlob(entry, command));
}

export class AllowList {
  readonly #config: ConfigService;
  readonly #scopes = new Map<string, Set<string>>();
  readonly #permanent = new Set<string>();

  constructor(config: ConfigService) {
    this.#config = config;
  }

  /** Those of `keys` that nobody has allowed yet. */
  missing(keys: readonly string[], scope: string, settings: Settings): string[] {
    const granted = this.#scopes.get(scope);
    return keys.filter((key) =>
      !granted?.has(key) && !this.#permanent.has(key) && !settings.command_allowlist.includes(key)
    );
  }

  grantScope(keys: readonly string[], scope: string): void {
    const granted = this.#scopes.get(scope) ?? new Set();
    for (const key of keys) granted.add(key);
    this.#scopes.set(scope, granted);
  }

  /** Counts at once; throws when the config could not be written (then it counts for this process only). */
  async grantForEver(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#permanent.add(key);
    for (const key of keys) await this.#config.append(["command_allowlist"], key);
  }

  dropScope(scope: string): void {
    this.#scopes.delete(scope);
  }
}
