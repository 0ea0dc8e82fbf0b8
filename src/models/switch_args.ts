/** The words after `/model` (core.md F.4): a name and flags. Long dashes that editors make count as `--`. */
import { HermesError } from "@/core/contract.ts";

export interface SwitchArgs {
  /** Empty when only a provider is named. */
  readonly name: string;
  readonly provider: string | null;
  /** `null` when neither `--global` nor `--session` was given. */
  readonly global: boolean | null;
  /** Ask the endpoint again instead of using a kept list. */
  readonly refresh: boolean;
}

const USAGE = "/model <name> [--provider <provider>] [--global|--session] [--refresh]";

/** Throws `invalid_argument` with the usage. */
export function parseSwitchArgs(argument: string): SwitchArgs {
  const words = argument.trim().split(/\s+/).filter(Boolean)
    .map((word) => word.replace(/^(?:[\u2010-\u2015\u2212]|--)(?=[a-z])/i, "--"));
  const names: string[] = [];
  let provider: string | null = null;
  let global: boolean | null = null;
  let refresh = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--global") global = true;
    else if (word === "--session") global = false;
    else if (word === "--refresh") refresh = true;
    else if (word === "--provider" || word.startsWith("--provider=")) {
      provider = word === "--provider" ? words[++at] ?? "" : word.slice("--provider=".length);
      if (provider === "") throw usage("--provider needs a name");
    } else if (word.startsWith("--")) throw usage(`unknown option ${word}`);
    else names.push(word);
  }
  if (names.length > 1) throw usage(`a model name has no blanks: "${names.join(" ").slice(0, 100)}"`);
  const name = names[0] ?? "";
  if (name === "" && provider === null) throw usage("no model is named");
  return { name, provider, global, refresh };
}

function usage(problem: string): HermesError {
  return new HermesError("invalid_argument", `Cannot switch the model: ${problem}. Usage: ${USAGE}`);
}
