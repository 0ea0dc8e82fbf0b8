/**
 * What HOME is for commands that run for the model (core.md E.4 `terminal.home_mode`): the user's own, or a directory
 * of the data home, so that what commands leave there (caches, settings of tools) stays apart.
 */
import { join } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import type { Settings } from "./settings.ts";

export interface CommandHomeFacts {
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly settings: Pick<Settings, "terminal">;
}

/** `null`: the user's own. In `profile` mode it may have to be made (`makeCommandHome`). */
export function commandHome({ platform, home, settings }: CommandHomeFacts): string | null {
  const mode = settings.terminal.home_mode ?? "auto";
  if (mode === "real") return null;
  const own = join(home, "home");
  if (mode === "profile") return own;
  try {
    return platform.files.statSync(own)?.isDirectory ? own : null;
  } catch {
    return null; // not ours to look at
  }
}

/** The environment of children with the HOME of commands. */
export function withCommandHome(
  childEnv: Readonly<Record<string, string>>,
  facts: CommandHomeFacts,
): Readonly<Record<string, string>> {
  const own = commandHome(facts);
  return own === null ? childEnv : { ...childEnv, HOME: own };
}

/** Before a command runs in `childEnv`; rejects where its HOME is to be made and cannot be. */
export async function makeCommandHome(
  { files }: Platform,
  { terminal }: CommandHomeFacts["settings"],
  { HOME }: Readonly<Record<string, string>>,
): Promise<void> {
  if (terminal.home_mode !== "profile" || !HOME || files.statSync(HOME) !== null) return;
  await files.mkdir(HOME, { mode: 0o700 });
}
