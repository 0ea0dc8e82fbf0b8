/**
 * What went wrong, told to a person on stderr: one line with what failed, then what to do about it.
 * One table from error codes to advice; the exit code comes from `exit_codes.ts`.
 */
import { HermesError, type HermesErrorCode } from "@/core/contract.ts";
import { createRedactor } from "@/lib/redact.ts";
import { UsageError } from "./args.ts";
import { EXIT, exitCodeOfError, isAboutFile } from "./exit_codes.ts";
import { withoutControls } from "./text_layout.ts";

/** Advice where the message itself cannot know the command line. */
const ADVICE: Partial<Record<HermesErrorCode, string>> = {
  session_not_found: "hermes sessions list shows what is stored",
  config_unknown_key: "hermes config schema lists the keys",
  config_invalid: "hermes config schema says what each key takes",
  invalid_model: "hermes model list shows the models that can be used",
  model_ambiguous: "name the provider too: --model provider:model",
  store_newer: "use the newer hermes that wrote it, or another HERMES_HOME",
  store_failed: "hermes doctor checks the database",
  store_locked: "another process holds the database; try again",
};

/** The schema helps with a key and its value; not with a file. */
function adviceOf(error: HermesError): string | undefined {
  return isAboutFile(error) ? undefined : ADVICE[error.code];
}

/** Names of the runtime's errors. */
const SYSTEM_ERRORS: ReadonlySet<string> = new Set([
  "PermissionDenied",
  "NotADirectory",
  "IsADirectory",
  "FilesystemLoop",
]);

export interface Told {
  readonly lines: readonly string[];
  readonly exitCode: number;
  /** For `--json` results. */
  readonly code: string;
  readonly message: string;
}

export function describeError(error: unknown, command: string): Told {
  const told = toldOf(error, command);
  // An error may quote what a server or a file said, and what was typed: a key in the wrong place, say.
  const redact = createRedactor({ knownSecrets: () => [], enabled: true });
  // What nobody foresaw may hold anything; elsewhere `api_key: wanted a text` is no secret.
  const mode = told.code === "internal" || told.code === "io" ? "full" : "terminal";
  const clean = (line: string) => redact(withoutControls(line), mode);
  return { ...told, lines: told.lines.map(clean), message: clean(told.message) };
}

function toldOf(error: unknown, command: string): Told {
  if (error instanceof UsageError) {
    return {
      lines: [`hermes: ${error.message}`, `  see: hermes ${command === "" ? "" : `${command} `}--help`],
      exitCode: EXIT.usage,
      code: "usage",
      message: error.message,
    };
  }
  if (error instanceof HermesError) {
    const advice = adviceOf(error);
    return {
      lines: [`hermes: ${error.message}`, ...(advice ? [`  try: ${advice}`] : [])],
      exitCode: exitCodeOfError(error),
      code: error.code,
      message: error.message,
    };
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // The system has refused a file: nothing unexpected, and the text says which.
  if (error instanceof Error && SYSTEM_ERRORS.has(error.name)) {
    const told = message.slice(error.name.length + 2);
    return {
      lines: [`hermes: ${told}`, "  try: hermes doctor looks at the data home"],
      exitCode: EXIT.failed,
      code: "io",
      message: told,
    };
  }
  return {
    lines: [`hermes: unexpected error: ${message}`, "  try: hermes doctor"],
    exitCode: EXIT.failed,
    code: "internal",
    message,
  };
}
