/**
 * What a simple command prints, where its words alone tell: for substitutions and pipes that feed a shell. A judge's
 * guess: where two shells differ, both texts count.
 */
import { decodeAnsiC, UNKNOWN } from "./shell_words.ts";

/** Keywords that another command may follow. */
export const OPENING = /^(?:if|then|elif|else|do|while|until|!|\{|coproc|time)$/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/**
 * What a command of plain words may print where that is known: `echo`, which some shells take literally and some do
 * not, `printf`, programs that print nothing, and `command -v rm` and the like, which print a path of it.
 */
export function plainOutputs({ words }: { readonly words: readonly string[] }): readonly string[] {
  const at = words.findIndex((word) => !OPENING.test(word) && !ASSIGNMENT.test(word));
  const [name, ...rest] = at === -1 ? [] : words.slice(at);
  if (rest.some((word) => word.includes(UNKNOWN))) return [];
  if (name === ":" || name === "true") return [""];
  const texts = rest.filter((word) => !/^-[neE]+$/.test(word));
  if (name === "echo") return [...new Set([decodeAnsiC(texts.join(" ")), texts.join(" ")])];
  if (name === "printf") return [printed(texts[0] ?? "", texts.slice(1))];
  const asked = rest.filter((word) => !word.startsWith("-"));
  const isPath = name === "which" ||
    ((name === "command" || name === "type") && /^-[vVpP]$/.test(rest[0] ?? ""));
  return isPath && asked.length === 1 ? asked : [];
}

/** The format is used again until no value is left. */
function printed(format: string, values: readonly string[]): string {
  const left = [...values];
  let out = "";
  do {
    const before = left.length;
    out += decodeAnsiC(format).replace(/%[sb]/g, () => left.shift() ?? "");
    if (left.length === before) break;
  } while (left.length > 0);
  return out;
}
