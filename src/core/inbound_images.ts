/**
 * Images that a user sends (core.md B.10). A model that sees gets them as they are; for one that does not, another
 * model describes them first and the words stand before the image. The image stays in the conversation, so a front end
 * can show it again and a model that sees can be switched to; requests to a model that does not see leave it out.
 */
import { isAbort } from "@/lib/abort.ts";
import { withTrueType } from "@/lib/image_type.ts";
import type { Eyes } from "./eyes.ts";
import type { Content, ContentPart, Message } from "./messages.ts";
import { textOf } from "./messages.ts";

const MARK = "[Attached image";
const LEFT_OUT = "[An image was left out: this model takes no images]";
/** More images of one message are not described. */
const MAX_DESCRIBED = 8;
const QUESTION_CHARS = 1_000;

export function hasImages(content: Content | null): boolean {
  return content !== null && typeof content !== "string" && content.some((part) => part.type === "image_url");
}

/** Images under the types that their bytes have; the same object when nothing changes. */
export function withTrueTypes(content: Content): Content {
  if (typeof content === "string" || !hasImages(content)) return content;
  return content.map((part) =>
    part.type === "image_url"
      ? { ...part, image_url: { ...part.image_url, url: withTrueType(part.image_url.url) } }
      : part
  );
}

export interface Described {
  readonly content: Content;
  /** What went wrong, for people; empty when every image was described. */
  readonly problems: readonly string[];
}

/**
 * The content with words before each image. An image that cannot be looked at says so in its words. Rejects with
 * `AbortError` only.
 */
export async function describeImages(content: Content, eyes: Eyes, signal: AbortSignal): Promise<Described> {
  if (typeof content === "string") return { content, problems: [] };
  const asked = textOf(content).slice(0, QUESTION_CHARS).toWellFormed();
  const question = "Describe this image." +
    (asked.trim() ? ` It came with this message, whose question matters most:\n\n${asked}` : "");
  const problems: string[] = [];
  let count = 0;
  const parts = await Promise.all(content.map(async (part): Promise<readonly ContentPart[]> => {
    if (part.type !== "image_url") return [part];
    const number = ++count;
    const words = await wordsFor(part.image_url.url, number, question, eyes, signal, problems);
    return [{ type: "text", text: words }, part];
  }));
  return { content: parts.flat(), problems: [...new Set(problems)] };
}

async function wordsFor(
  url: string,
  number: number,
  question: string,
  eyes: Eyes,
  signal: AbortSignal,
  problems: string[],
): Promise<string> {
  const fail = (why: string) => {
    problems.push(`An image was not seen: ${why}`);
    return `${MARK} ${number}: it was not seen, because ${why}. Nothing is known about what it shows.]`;
  };
  if (number > MAX_DESCRIBED) return fail(`only ${MAX_DESCRIBED} images of a message are described`);
  if (eyes.describer === null) {
    return fail("the model takes no images and no other one is set up (auxiliary.vision)");
  }
  try {
    const text = await eyes.look(url, question, signal);
    return `${MARK} ${number}, described by ${eyes.describer}:\n${text}\n]`;
  } catch (error) {
    if (isAbort(error)) throw error;
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** For a model that does not see: words instead of images. The same list when there is no image. */
export function withoutImages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some((message) => hasImages(message.content))) return messages;
  return messages.map((message) => {
    const { content } = message;
    if (message.role === "assistant" || typeof content === "string" || !hasImages(content)) return message;
    return { ...message, content: inWords(content as readonly ContentPart[]) };
  });
}

/** One text: servers of such models often take nothing else. */
function inWords(parts: readonly ContentPart[]): string {
  return parts.flatMap((part, at) => {
    if (part.type === "text") return [part.text];
    const before = parts[at - 1];
    return before?.type === "text" && before.text.startsWith(MARK) ? [] : [LEFT_OUT];
  }).join("\n");
}
