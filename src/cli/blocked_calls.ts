/**
 * Why a tool call did not run, from its end: by the core's word, and where a safety rule blocked it, by the
 * `outcome` of its result (core.md C.5), which tells a rule from a question that nobody could answer. Pure.
 */
import type { CoreEvent } from "@/core/contract.ts";
import type { BlockReason } from "./exit_codes.ts";

export type ToolEnd = Extract<CoreEvent, { type: "tool.end" }>;

/** `null` for a call that ran, and for an edit that could not even be prepared: that is the model's mistake. */
export function blockReasonOf(event: ToolEnd): BlockReason | null {
  if (event.refused !== "policy") return event.refused;
  const { status, outcome } = resultFields(event.result);
  if (status !== "blocked") return null;
  return outcome === "unattended" ? "unattended" : "policy";
}

function resultFields(result: string): { status?: unknown; outcome?: unknown } {
  try {
    const value: unknown = JSON.parse(result);
    return value !== null && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}
