/** Modes of a session and the edit policy each stands for (acp.md C7). */
import { PLAN_MODE } from "./plan_mode.ts";
import type { EditPolicy } from "./ports.ts";

const POLICIES: Readonly<Record<string, Exclude<EditPolicy, null>>> = {
  default: "ask",
  accept_edits: "workspace_session",
  dont_ask: "session",
  [PLAN_MODE]: "ask",
};

/** The mode itself when it is known, else `default`. */
export function modeOf(mode: string | undefined): string {
  return mode !== undefined && Object.hasOwn(POLICIES, mode) ? mode : "default";
}

export function policyOf(mode: string): Exclude<EditPolicy, null> {
  return POLICIES[modeOf(mode)]!;
}
