/**
 * One question of a command, such as a key or a yes. stdout belongs to what the command prints: where that goes to a
 * file or a pipe, the question stands on stderr, and a hidden answer stays hidden there too.
 */
import type { Platform } from "@/platform/mod.ts";
import { EXIT } from "./exit_codes.ts";
import { type Answer, type AskOptions, type LineInput, openLineInput } from "./line_input.ts";
import { type Terminal, writeToStderr } from "./terminal.ts";
import { TtyInput } from "./tty_input.ts";

export async function askOnce(
  prompt: string,
  options: AskOptions,
  terminal: Terminal,
  platform: Platform,
): Promise<Answer> {
  const input = open(terminal, platform);
  try {
    return await input.ask(prompt, options);
  } finally {
    input.close();
  }
}

/** `null` for a yes, else the exit code; `otherwise` is told then: what has not happened. */
export async function refusal(
  prompt: string,
  otherwise: string,
  terminal: Terminal,
  platform: Platform,
): Promise<number | null> {
  const answer = await askOnce(`${prompt} [y/N] `, {}, terminal, platform);
  if (answer.type === "line" && /^y(es)?$/i.test(answer.text.trim())) return null;
  terminal.note(`hermes: ${otherwise}`);
  return answer.type === "interrupt" ? EXIT.interrupted : EXIT.failed;
}

/** A line about what is asked: beside the question. */
export function besideQuestion(terminal: Terminal): (text: string) => void {
  return terminal.stdoutIsTty ? (text) => terminal.line(text) : (text) => terminal.note(text);
}

function open(terminal: Terminal, platform: Platform): LineInput {
  if (!terminal.stdinIsTty || terminal.stdoutIsTty) return openLineInput(terminal, platform);
  const onStderr: Terminal = {
    ...terminal,
    write: writeToStderr,
    line: (text = "") => writeToStderr(`${text}\n`),
  };
  return new TtyInput(onStderr, platform);
}
