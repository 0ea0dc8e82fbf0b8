/**
 * The environment of child processes (core.md C.12, FC-26): everything the program has, less what unlocks a
 * provider or another service. `terminal.env_passthrough` and skills give single names back, never a provider's key;
 * `_HERMES_FORCE_<NAME>` forces one through.
 */
import type { Settings } from "@/core/contract.ts";

const ALSO_REMOVED = [
  "API_SERVER_KEY",
  "API_SERVER_CALLBACK_SECRET",
  "SUDO_PASSWORD",
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "HERMES_DASHBOARD_SESSION_TOKEN",
  // Keys and addresses of web services.
  "TAVILY_API_KEY",
  "EXA_API_KEY",
  "PARALLEL_API_KEY",
  "FIRECRAWL_API_KEY",
  "FIRECRAWL_API_URL",
  "SEARXNG_URL",
  "BRAVE_SEARCH_API_KEY",
];
const REMOVED_SHAPES = [/^AUXILIARY_.*_(API_KEY|BASE_URL)$/, /^GATEWAY_RELAY_/, /^_HERMES_FORCE_/];
const FORCE = "_HERMES_FORCE_";
/** Never a skill's, whatever it declares. */
const OWN: ReadonlySet<string> = new Set([
  "API_SERVER_KEY",
  "API_SERVER_CALLBACK_SECRET",
  "SUDO_PASSWORD",
  "HERMES_DASHBOARD_SESSION_TOKEN",
]);

/** Variables that skills in use have declared. */
export interface SkillVariables {
  readonly names: Iterable<string>;
  value(name: string): string | undefined;
}

export function scrubEnvironment(
  env: Readonly<Record<string, string>>,
  secretNames: readonly string[],
  settings: Settings,
  skills: SkillVariables = { names: [], value: () => undefined },
): Record<string, string> {
  const secret = new Set(secretNames);
  const removed = new Set([...secretNames, ...ALSO_REMOVED]);
  for (const name of settings.terminal.env_passthrough) if (!secret.has(name)) removed.delete(name);
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (removed.has(name) || REMOVED_SHAPES.some((shape) => shape.test(name))) continue;
    child[name] = value;
  }
  for (const name of skills.names) {
    const value = secret.has(name) || OWN.has(name) ? undefined : skills.value(name);
    if (value !== undefined) child[name] = value;
  }
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(FORCE)) child[name.slice(FORCE.length)] = value;
  }
  return child;
}
