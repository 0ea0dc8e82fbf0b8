/**
 * What a model reads of a browser's answer: always wrapped as a stranger's words, a picture as an image where the
 * model takes one in results, else in the words of a model that sees.
 */
import type { ToolContext, ToolOutcome } from "@/core/contract.ts";
import { wrapUntrusted } from "@/lib/untrusted.ts";
import { ToolError } from "./args.ts";

const DEFAULT_QUESTION = "Describe this page of a web browser: what is on it, and where.";
/** Names under which controllers send a picture. */
const IMAGE_KEYS = ["data_url", "image", "screenshot", "data"];

/** The result as JSON text; a browser that has nothing to say has done it. */
export function outcomeOf(tool: string, result: unknown): ToolOutcome {
  return { content: wrapUntrusted(tool, JSON.stringify(result ?? { ok: true })), isError: false };
}

export interface PictureWish {
  readonly question: string | null;
  readonly context: ToolContext;
}

/** Throws `ToolError` when the answer holds no picture that can be looked at. */
export async function pictureOf(tool: string, result: unknown, wish: PictureWish): Promise<ToolOutcome> {
  const { context } = wish;
  const found = findPicture(result);
  if (!found) throw new ToolError("The browser sent no picture");
  const { eyes } = context;
  if (!eyes) throw new ToolError("No model that sees images is set up (auxiliary.vision)");
  const { loadImage } = await import("./vision_image.ts");
  const image = await loadImage(found.dataUrl, context);
  const facts = { ...found.rest, size_bytes: image.bytes };
  if (eyes.native) {
    const text = context.redact(JSON.stringify(facts), "terminal").toWellFormed();
    return {
      content: [
        { type: "text", text: wrapUntrusted(tool, text) },
        { type: "image_url", image_url: { url: image.dataUrl } },
      ],
      isError: false,
    };
  }
  const question = wish.question?.trim() || DEFAULT_QUESTION;
  try {
    const analysis = await eyes.look(image.dataUrl, question, context.signal);
    return outcomeOf(tool, { ...facts, analysis });
  } catch (error) {
    if (context.signal.aborted || !(error instanceof Error)) throw error;
    throw new ToolError(context.redact(error.message, "full"));
  }
}

interface Picture {
  readonly dataUrl: string;
  /** What else the answer says. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** A data URL, or base64 with its type beside it. */
function findPicture(result: unknown): Picture | null {
  if (typeof result === "string") return isDataUrl(result) ? { dataUrl: result, rest: {} } : null;
  if (typeof result !== "object" || result === null) return null;
  const object = result as Record<string, unknown>;
  for (const key of IMAGE_KEYS) {
    const value = object[key];
    if (typeof value !== "string" || value === "") continue;
    const { [key]: _, mime_type: type, ...rest } = object;
    if (isDataUrl(value)) return { dataUrl: value, rest };
    if (typeof type === "string" && /^image\/[\w.+-]+$/.test(type)) {
      return { dataUrl: `data:${type};base64,${value}`, rest };
    }
  }
  return null;
}

function isDataUrl(text: string): boolean {
  return /^data:image\//i.test(text);
}
