/** What an exit code says where it is no failure, or has a name of its own (core.md B.3 `exit_code_meaning`). */
import { maskQuoted, nameOf, simpleCommands } from "./shell_words.ts";

interface Meaning {
  readonly text: string;
  /** The command did what it should. */
  readonly harmless: boolean;
}

const NO_MATCH: Meaning = { text: "No matches found (not an error)", harmless: true };
const DIFFERENT: Meaning = { text: "The files differ (not an error)", harmless: true };
const FALSE: Meaning = { text: "The condition is false (not an error)", harmless: true };

function failure(text: string): Meaning {
  return { text, harmless: false };
}

const CURL: Readonly<Record<number, string>> = {
  3: "Malformed URL",
  5: "Could not resolve the proxy",
  6: "Could not resolve the host",
  7: "Could not connect to the host",
  22: "The server answered with an HTTP error (400 or above)",
  23: "Could not write what was received",
  28: "The operation timed out",
  35: "The TLS handshake failed",
  47: "Too many redirects",
  52: "The server sent nothing",
  56: "The connection broke while receiving",
  60: "The server's certificate could not be verified",
};

function meaningFor(words: readonly string[], code: number): Meaning | null {
  const name = nameOf(words[0]);
  switch (name) {
    case "grep":
    case "egrep":
    case "fgrep":
    case "rg":
    case "ag":
    case "ack":
      return code === 1
        ? NO_MATCH
        : code === 2
        ? failure("The search failed (bad pattern or unreadable file)")
        : null;
    case "diff":
    case "cmp":
    case "colordiff":
      return code === 1 ? DIFFERENT : code === 2 ? failure("The comparison failed") : null;
    case "test":
    case "[":
    case "[[":
      return code === 1 ? FALSE : null;
    case "find":
      return code === 1 ? failure("Some directories could not be read; the results may be incomplete") : null;
    case "curl":
      return CURL[code] ? failure(CURL[code]) : null;
    case "git":
      return gitMeaning(words, code);
    default:
      return null;
  }
}

function gitMeaning(words: readonly string[], code: number): Meaning | null {
  const verb = words.slice(1).find((word) => !word.startsWith("-"));
  if (code === 1 && (verb === "diff" || verb === "grep")) return verb === "diff" ? DIFFERENT : NO_MATCH;
  if (code === 1 && (verb === "merge" || verb === "rebase" || verb === "cherry-pick")) {
    return failure("There are conflicts, or nothing to do");
  }
  if (code === 128) return failure("Fatal git error (not a repository, unknown revision or bad argument)");
  return code === 1 ? failure("git reports a failed or empty operation; see its output") : null;
}

/** By the last simple command, whose code the shell returns. */
export function exitMeaning(command: string, code: number): Meaning | null {
  if (code === 0) return null;
  const last = simpleCommands(maskQuoted(command)).at(-1);
  const own = last ? meaningFor(last, code) : null;
  if (own) return own;
  if (code === 126) return failure("The command was found but is not executable");
  if (code === 127) return failure("Command not found");
  if (code === 137) return failure("Killed (SIGKILL), perhaps for lack of memory");
  if (code === 139) return failure("Segmentation fault");
  if (code === 143) return failure("Terminated (SIGTERM)");
  return null;
}
