/**
 * How long tests wait. The times of the contracts are upper bounds on an idle machine; a machine that runs tests side
 * by side is not idle, so every bound is stretched here, in one place. A wait that succeeds costs nothing more. What
 * a bound tells apart (a cancel from a tool that runs to its end) has to differ by more than this factor.
 */
export const PATIENCE = 6;

/** Milliseconds to allow for what takes at most `ms` on an idle machine. */
export function patient(ms: number): number {
  return ms * PATIENCE;
}
