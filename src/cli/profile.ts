/**
 * `hermes -p <name> …` and `HERMES_PROFILE` (core.md D.1): the data home of a profile for this start and for all that
 * it starts. Loaded only where somebody speaks of profiles.
 */
import { resolveHome } from "@/config/mod.ts";
import { DEFAULT_PROFILE, profileHome, profileNameFault, profileOf, profileRoot } from "@/lib/profile.ts";
import type { Platform } from "@/platform/mod.ts";
import { UsageError } from "./args.ts";

/** Commands that may begin a profile; any other one would only hide a slip of the pen. */
const BEGINS: ReadonlySet<string> = new Set(["setup", "config"]);

/** The platform as the profile sees it. Throws `UsageError`. */
export function enterProfile(name: string, command: string | undefined, platform: Platform): Platform {
  const env = platform.env();
  const fault = profileNameFault(name);
  if (fault !== null) throw new UsageError(`"${name}" is no profile: ${fault}`);
  const root = profileRoot(resolveHome(platform, env));
  const home = profileHome(root, name);
  if (name !== DEFAULT_PROFILE && !BEGINS.has(command ?? "") && platform.files.statSync(home) === null) {
    throw new UsageError(`there is no profile "${name}" (${home}); hermes -p ${name} setup makes one`);
  }
  return { ...platform, env: () => ({ ...platform.env(), HERMES_HOME: home, HERMES_PROFILE: name }) };
}

/** Another program's `active_profile` does not count here, and whoever relies on it is told so. */
export function warnOfSticky(sticky: string, platform: Platform): void {
  const name = sticky.trim();
  if (name === "" || name === DEFAULT_PROFILE || profileNameFault(name) !== null) return;
  const root = resolveHome(platform, platform.env());
  if (profileOf(root) !== DEFAULT_PROFILE) return;
  platform.stderr(
    `hermes: the profile "${name}" is marked as active, but the default one is used; hermes -p ${name} uses it`,
  );
}
