/**
 * The environment of child processes (core.md C.12, FC-26): everything the program has, less what unlocks a
 * provider or another service. `terminal.env_passthrough` gives single names back, never a provider's key;
 * `_HERMES_FORCE_<NAME>` forces one through.
 */
import type { Settings } from "@/core/contract.ts";

const ALSO_REMOVED = [
  "API_SERVER_KEY",
  "SUDO_PASSWORD",
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
  "HERMES_DASHBOARD_SESSION_TOKEN",
];
const REMOVED_SHAPES = [/^AUXILIARY_.*_(API_KEY|BASE_URL)$/, /^GATEWAY_RELAY_/, /^_HERMES_FORCE_/];
const FORCE = "_HERMES_FORCE_";

export function scrubEnvironment(
  env: Readonly<Record<string, string>>,
  secretNames: readonly string[],
  settings: Settings,
): Record<string, string> {
  const secret = new Set(secretNames);
  const removed = new Set([...secretNames, ...ALSO_REMOVED]);
  for (const name of settings.terminal.env_passthrough) if (!secret.has(name)) removed.delete(name);
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (removed.has(name) || REMOVED_SHAPES.some((shape) => shape.test(name))) continue;
    child[name] = value;
  }
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(FORCE)) child[name.slice(FORCE.length)] = value;
  }
  return child;
}
