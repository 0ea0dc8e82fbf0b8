/**
 * What is to be summarised, made cheap first (core.md A.16 phase 1): long results become a line, repeated ones a
 * reference, arguments are cut, images are named. Also the summary of last resort, made of nothing but these lines.
 */
import type { Content, Message, ToolMessage } from "./messages.ts";
import { textOf } from "./messages.ts";

const LONG_RESULT = 200;
const LONG_ARGUMENTS = 500;
const LONG_TEXT = 4_000;
const LAST_RESORT = 8_000;

/** One text per message, in order. */
export function outlineOf(messages: readonly Message[]): string[] {
  const seen = new Map<string, number>();
  return messages.map((message, at) => {
    if (message.role === "tool") return result(message, seen, at);
    const text = shorten(withImages(message.content), LONG_TEXT);
    if (message.role === "user") return `user: ${text}`;
    const calls = (message.toolCalls ?? []).map((call) =>
      `\n→ ${call.name} ${shorten(call.arguments, LONG_ARGUMENTS)}`
    );
    return `assistant: ${text}${calls.join("")}`;
  });
}

function result(message: ToolMessage, seen: Map<string, number>, at: number): string {
  const text = withImages(message.content);
  const name = `tool ${message.toolName}`;
  if (text.length < LONG_RESULT) return `${name}: ${text}`;
  if (seen.has(text)) return `${name}: [same result as before, ${text.length} characters]`;
  seen.set(text, at);
  if (text.length === LONG_RESULT) return `${name}: ${text}`;
  const line = (part: string) => part.replace(/\s+/g, " ").trim();
  return `${name}: ${line(text.slice(0, 300))} […] ${line(text.slice(-100))} [${text.length} characters]`
    .toWellFormed();
}

function withImages(content: Content | null): string {
  const text = textOf(content);
  if (content === null || typeof content === "string") return text;
  return [text, ...content.flatMap((part) => part.type === "text" ? [] : ["[image]"])].join("\n").trim();
}

function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  return `${text.slice(0, Math.floor(max * 0.75))}\n[…]\n${text.slice(-Math.floor(max * 0.2))}`
    .toWellFormed();
}

/** The newest lines that fit; a single one that does not is cut. */
export function newestWithin(lines: readonly string[], characters: number): string {
  const kept: string[] = [];
  let size = 0;
  for (let i = lines.length - 1; i >= 0 && size < characters; i--) {
    const line = shorten(lines[i]!, characters - size);
    kept.unshift(line);
    size += line.length + 2;
  }
  return kept.join("\n\n");
}

/** At most 8,000 characters, without any model: what was asked, and the latest steps. */
export function summaryOfLastResort(messages: readonly Message[], previous: string | null): string {
  const asked = messages.flatMap((message) =>
    message.role === "user" && message.displayKind === undefined
      ? [`- ${shorten(withImages(message.content).replace(/\s+/g, " "), 300)}`]
      : []
  );
  const parts = [
    "No model could write this summary; it holds the requests and the latest steps in short.",
    ...(previous === null ? [] : [`Earlier summary:\n${shorten(previous, 2_500)}`]),
    `Requests of the user:\n${newestWithin(asked, 2_000)}`,
  ].join("\n\n");
  const room = LAST_RESORT - parts.length - 40;
  const steps = newestWithin(outlineOf(messages).map((line) => shorten(line, 400)), room - 40);
  return `${parts}\n\nLatest steps:\n${steps}`.slice(0, LAST_RESORT).toWellFormed();
}
