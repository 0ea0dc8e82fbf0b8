/** What other profiles have learned and planned is theirs: a change of it has to be meant (core.md C.8). */
import { profileOf, profileRoot } from "@/lib/profile.ts";
import { type Args, readBoolean, ToolError } from "./args.ts";
import type { ResolvedPath } from "./paths.ts";

const OWNED = ["skills", "plugins", "cron", "memories"];

/** The profile whose own files a path is among; `null` for everything else, this profile's own files included. */
export function foreignProfile(path: string, home: string): string | null {
  const root = profileRoot(home);
  if (!path.startsWith(`${root}/`)) return null;
  const parts = path.slice(root.length + 1).split("/");
  const owner = parts[0] === "profiles" ? profileOf(`${root}/profiles/${parts[1] ?? ""}`) : "default";
  const folder = parts[0] === "profiles" ? parts[2] : parts[0];
  return owner !== profileOf(home) && OWNED.includes(folder ?? "") ? owner : null;
}

/** Throws `ToolError` unless the call says `cross_profile`. */
export function refuseOtherProfile(target: ResolvedPath, args: Args, home: string): void {
  if (readBoolean(args, "cross_profile")) return;
  for (const path of [target.path, target.real]) {
    const owner = foreignProfile(path, home);
    if (owner === null) continue;
    throw new ToolError(
      `'${path}' belongs to the profile "${owner}". Nothing was written. If the user wants exactly that, ` +
        "call again with cross_profile=true",
    );
  }
}
