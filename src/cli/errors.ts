/**
 * What went wrong, told to a person on stderr: one line with what failed, then what to do about it.
 * One table from error codes to advice; the exit code comes from `exit_codes.ts`.
 */
import { HermesError, type HermesErrorCode } from "@/core/contract.ts";
import { createRedactor } from "@/lib/redact.ts";
import { UsageError } from "./args.ts";
import { EXIT, exitCodeOfError } from "./exit_codes.ts";

/** Advice where the message itself cannot know the command line. */
const ADVICE: Partial<Record<HermesErrorCode, string>> = {
  session_not_found: "hermes sessions list shows what is stored",
  config_unknown_key: "hermes config schema lists all keys",
  config_invalid: "hermes config path names the file; hermes doctor says what is wrong with it",
  invalid_model: "hermes model list shows the models that can be used",
  model_ambiguous: "name the provider too: --model provider:model",
  store_newer: "use the newer hermes that wrote it, or another HERMES_HOME",
  store_failed: "hermes doctor checks the database",
  store_locked: "another process holds the database; try again",
};

export interface Told {
  readonly lines: readonly string[];
  readonly exitCode: number;
  /** For `--json` results. */
  readonly code: string;
  readonly message: string;
}

export function describeError(error: unknown, command: string): Told {
  if (error instanceof UsageError) {
    return {
      lines: [`hermes: ${error.message}`, `  see: hermes ${command} --help`],
      exitCode: EXIT.usage,
      code: "usage",
      message: error.message,
    };
  }
  if (error instanceof HermesError) {
    const advice = ADVICE[error.code];
    return {
      lines: [`hermes: ${error.message}`, ...(advice ? [`  try: ${advice}`] : [])],
      exitCode: exitCodeOfError(error.code),
      code: error.code,
      message: error.message,
    };
  }
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const message = createRedactor({ knownSecrets: () => [], enabled: true })(text, "full");
  return {
    lines: [`hermes: unexpected error: ${message}`, "  try: hermes doctor"],
    exitCode: EXIT.failed,
    code: "internal",
    message,
  };
}
