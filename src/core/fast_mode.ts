/** The fast mode (core.md F.10) in a session's row and in `agent.service_tier`: `priority`, or whatever else. */

const FAST: ReadonlySet<string> = new Set(["priority", "fast", "on"]);

export function isFastTier(tier: string): boolean {
  return FAST.has(tier.trim().toLowerCase());
}

export function tierOf(fast: boolean): string {
  return fast ? "priority" : "default";
}
