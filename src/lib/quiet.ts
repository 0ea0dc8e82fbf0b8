import { isYes } from "./yes.ts";

/**
 * `HERMES_QUIET` (core.md E.5): on stderr stand errors, warnings and what is told only once, and no progress, notice
 * or banner.
 */
export function isQuiet(env: Readonly<Record<string, string | undefined>>): boolean {
  return isYes(env["HERMES_QUIET"]);
}
