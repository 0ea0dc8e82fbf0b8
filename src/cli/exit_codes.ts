/**
 * The exit codes of `hermes`, stable for scripts: how a turn, an error or a usage mistake ends the process.
 * Only a turn that completed and in which nothing was blocked is 0.
 */
import { HermesError, type HermesErrorCode, type TurnResult } from "@/core/contract.ts";

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
  [EXIT.usage, "wrong usage: an option, or a name, value or directory that is none"],
  [EXIT.needsApproval, "something needed an approval and nobody was there to give it"],
  [EXIT.refused, "refused, by the provider's filter or by a safety rule"],
  [EXIT.limit, "a limit ended it (agent.max_turns, budgets, output cap, --timeout)"],
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

/** A name, a value or a directory that only an argument can have given. */
const ARGUMENT_FAULTS: ReadonlySet<HermesErrorCode> = new Set([
  "invalid_argument",
  "invalid_cwd",
  "session_not_found",
  "config_invalid",
  "config_unknown_key",
]);
/** The command line may have named the model, or the configuration. */
const MODEL_FAULTS: ReadonlySet<HermesErrorCode> = new Set([
  "invalid_provider",
  "invalid_model",
  "model_ambiguous",
]);

/** The settings in a file are meant, which the message names then: broken, the machine's, `.env`. */
export function isAboutFile({ code, data }: HermesError): boolean {
  return code.startsWith("config_") && Object.hasOwn(data, "path");
}

/** The same error; where a model of the command line is wrong, it is known for wrong usage. */
export function asArgument(error: unknown): unknown {
  if (!(error instanceof HermesError) || !MODEL_FAULTS.has(error.code)) return error;
  return new HermesError(error.code, error.message, { ...error.data, argument: true });
}

/** The code of an error that was thrown before or beside a turn. */
export function exitCodeOfError(error: HermesError): number {
  const isUsage = error.data["argument"] === true || (ARGUMENT_FAULTS.has(error.code) && !isAboutFile(error));
  return isUsage ? EXIT.usage : EXIT.failed;
}
