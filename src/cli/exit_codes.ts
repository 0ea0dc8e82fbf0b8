/**
 * The exit codes of `hermes`, stable for scripts: how a turn, an error or a usage mistake ends the process.
 * Only a turn that completed and in which nothing was blocked is 0.
 */
import type { HermesErrorCode, TurnResult } from "@/core/contract.ts";

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  needsApproval: 3,
  refused: 4,
  limit: 5,
  interrupted: 130,
} as const;

/** What each code means, in the words of `--help`. */
export const EXIT_HELP: readonly (readonly [number, string])[] = [
  [EXIT.done, "done"],
  [EXIT.failed, "failed"],
  [EXIT.usage, "wrong usage"],
  [EXIT.needsApproval, "something needed an approval and nobody was there to give it"],
  [EXIT.refused, "refused, by the provider's filter or by a safety rule"],
  [EXIT.limit, "a limit ended it (turn budget, output cap, --timeout)"],
  [EXIT.interrupted, "interrupted"],
];

/** Why a tool call of the turn did not run, when that was not the model's doing. */
export type BlockReason = "policy" | "denied" | "timeout" | "unattended" | "cancelled";

/** The code of a finished turn; `blocked` are the reasons of its refused calls. */
export function exitCodeOfTurn(result: TurnResult, blocked: readonly BlockReason[]): number {
  switch (result.outcome) {
    case "cancelled":
      return EXIT.interrupted;
    case "failed":
      return EXIT.failed;
    case "refused":
      return EXIT.refused;
    case "max_tokens":
    case "max_turns":
      return EXIT.limit;
    case "completed":
      if (blocked.includes("unattended") || blocked.includes("timeout")) return EXIT.needsApproval;
      return blocked.includes("policy") ? EXIT.refused : EXIT.done;
  }
}

/** The code of an error that was thrown before or beside a turn. */
export function exitCodeOfError(code: HermesErrorCode): number {
  return code === "invalid_argument" ? EXIT.usage : EXIT.failed;
}
