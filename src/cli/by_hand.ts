/**
 * A word to somebody who has typed the command of a stdio server into a terminal and would see it wait for ever.
 * Looks at stdin itself, because the commands that use it load nothing else before their first frame.
 */
import { isQuiet } from "@/lib/quiet.ts";
import type { Platform } from "@/platform/mod.ts";

/** On stderr, and only where stdin is a terminal. */
export function tellIfByHand(platform: Platform, command: string, speaks: string): void {
  if (!Deno.stdin.isTerminal() || isQuiet(platform.env())) return;
  platform.stderr(
    `${command} waits for ${speaks} on stdin; Ctrl-D ends it. To talk to the agent: hermes chat`,
  );
}
