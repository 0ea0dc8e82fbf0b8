/**
 * Just enough of shell syntax to look at a command before it runs: which of its words are commands, what is quoted.
 * For advice and explanations only; what is dangerous is judged by the guard, not here.
 */

/** The command with quoted text, heredoc bodies and comments blanked out (same words, other content). */
export function maskQuoted(command: string): string {
  return maskHeredocs(command)
    .replace(/\\[\s\S]/g, "__")
    .replace(/\$\{[^}]*\}/g, "_")
    .replace(/'[^']*'|"[^"]*"|`[^`]*`/g, (quoted) => "_".repeat(Math.min(quoted.length, 8)))
    .replace(/(^|[\s;&|(])#[^\n]*/g, "$1");
}

function maskHeredocs(command: string): string {
  return command.replace(
    /<<-?\s*(['"]?)(\w+)\1([^\n]*)\n[\s\S]*?\n[ \t]*\2(?=\s*(?:\n|$))/g,
    (_all, _quote, _word, rest) => `__${rest}\n`,
  );
}

const WRAPPERS = new Set([
  "sudo",
  "exec",
  "command",
  "time",
  "env",
  "builtin",
  "nice",
  "npx",
  "bunx",
  "pnpx",
  "then",
  "do",
  "else",
  "!",
]);

/** Words of each simple command of a masked command line, without assignments and wrappers in front. */
export function simpleCommands(masked: string): string[][] {
  return masked
    .split(/\|\||&&|[;\n|(){}]|(?<![>&])&(?![>&])/)
    .map((part) => {
      const words = part.trim().split(/\s+/).filter((word) => word !== "");
      while (words.length > 0 && (/^\w+=/.test(words[0]!) || (WRAPPERS.has(words[0]!) && words.length > 1))) {
        words.shift();
      }
      return words;
    })
    .filter((words) => words.length > 0);
}

/** The program's name without its directory. */
export function nameOf(word: string | undefined): string {
  return word?.slice(word.lastIndexOf("/") + 1) ?? "";
}
