/** The normal forms of a command that patterns and globs are matched on (core.md C.1). */
import type { Analysis } from "./look_through.ts";
import type { Reading, SimpleCommand } from "./shell.ts";
import { UNKNOWN } from "./shell_words.ts";

export interface Homes {
  /** The user's home directory, absolute. */
  readonly user: string;
  /** The data home, absolute. */
  readonly hermes: string;
}

/** Own home as `~`, the data home as `~/.hermes`, wherever they really are. */
export function foldHome(path: string, homes: Homes): string {
  for (const [real, short] of [[homes.hermes, "~/.hermes"], [homes.user, "~"]] as const) {
    if (real.length > 1 && path === real) return short;
    if (real.length > 1 && path.startsWith(`${real}/`)) return short + path.slice(real.length);
  }
  return path;
}

function foldText(text: string, homes: Homes): string {
  let out = text
    .replace(/\$HERMES_HOME\b|\$\{HERMES_HOME\}/g, "~/.hermes")
    .replace(/\$HOME\b|\$\{HOME\}/g, "~")
    .replace(/\$IFS\b(?:\$[0-9])?|\$\{IFS[^}]{0,20}\}/g, " ");
  if (homes.hermes.length > 1) out = out.replaceAll(homes.hermes, "~/.hermes");
  if (homes.user.length > 1) out = out.replaceAll(`${homes.user}/`, "~/");
  return out;
}

/** One simple command as plain words. */
export function commandText(command: SimpleCommand, homes: Homes): string {
  const words = command.words.map((word, at) =>
    at === 0 ? word.replaceAll(UNKNOWN, "") : foldHome(word.replaceAll(UNKNOWN, "$"), homes)
  );
  const redirects = command.redirects.map(({ operator, target }) =>
    `${operator} ${foldHome(target.replaceAll(UNKNOWN, "$"), homes)}`
  );
  return [...words, ...redirects].filter((part) => part !== "").join(" ");
}

/** A whole reading on one line. */
export function readingText(reading: Reading, homes: Homes): string {
  let text = "";
  for (const command of reading.commands) {
    text += (text === "" ? "" : command.piped ? " | " : " ; ") + commandText(command, homes);
  }
  return text;
}

/** `source` is the cleaned text; the rest are the readings with quotes, escapes and known values resolved. */
export function normalForms(source: string, analysis: Analysis, homes: Homes): string[] {
  const forms = new Set([source, foldText(source, homes)]);
  for (const reading of analysis.readings) forms.add(readingText(reading, homes));
  return [...forms];
}
