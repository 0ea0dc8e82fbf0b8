/**
 * Where a caller's own words stand in the system prompt (core.md A.4): in the context layer, before the project's
 * instructions. The stored prompt is the session's and holds none of them; they are put into it for each request.
 */
import { HELP } from "./prompt_guidance.ts";
import { PROJECT_HEADING } from "./prompt_project.ts";
import { MEMORY_HEADINGS } from "./prompt_memory.ts";

const FACTS = "\n\nConversation started: ";

/** `prompt` with `text` in its context layer; at its end where it has no such layer. */
export function withCallersText(prompt: string, text: string): string {
  if (text === "") return prompt;
  if (prompt === "") return text;
  const at = endOfStable(prompt);
  return `${prompt.slice(0, at)}\n\n${text}${prompt.slice(at)}`;
}

/**
 * The first block that follows the caller's: project, memories, facts of the day. What stands before the fixed line of
 * the stable layer is the user's own `SOUL.md`, where a heading means nothing.
 */
function endOfStable(prompt: string): number {
  const facts = prompt.lastIndexOf(FACTS);
  if (facts === -1) return prompt.length;
  const from = Math.max(0, prompt.indexOf(`\n\n${HELP}`));
  const places = [PROJECT_HEADING, ...MEMORY_HEADINGS].map((heading) =>
    prompt.indexOf(`\n\n${heading}`, from)
  );
  return Math.min(facts, ...places.filter((place) => place !== -1));
}
