/**
 * Profiles (core.md D.1): a data home beside others, at `<root>/profiles/<name>`; the root itself is `default`. Pure
 * text: whether a home exists is not known here.
 */

export const DEFAULT_PROFILE = "default";

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const RESERVED: ReadonlySet<string> = new Set(["hermes", "test", "tmp", "root", "sudo"]);
const INSIDE = /^(.*)[/\\]profiles[/\\]([^/\\]+)[/\\]?$/s;

/** Why a name cannot be one; `null` when it can. */
export function profileNameFault(name: string): string | null {
  if (!NAME.test(name)) {
    return "a profile's name is made of lower-case letters, digits, - and _ and begins with a letter or digit, 64 at most";
  }
  return RESERVED.has(name) ? `"${name}" is reserved` : null;
}

/** The profile whose home this is. */
export function profileOf(home: string): string {
  const name = INSIDE.exec(home)?.[2];
  return name !== undefined && profileNameFault(name) === null ? name : DEFAULT_PROFILE;
}

/** The home of all profiles: of a profile's own home the one that it is in. */
export function profileRoot(home: string): string {
  return profileOf(home) === DEFAULT_PROFILE ? home : INSIDE.exec(home)![1]!;
}

export function profileHome(root: string, name: string): string {
  if (name === DEFAULT_PROFILE) return root;
  const separator = root.includes("\\") && !root.includes("/") ? "\\" : "/";
  return [root, "profiles", name].join(separator);
}
