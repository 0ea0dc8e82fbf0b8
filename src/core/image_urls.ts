/** Images inside their URLs, made smaller where they are larger than models take (core.md B.10). */
import { Buffer } from "node:buffer";
import { base64Of, type ImageLimits, isBeyond } from "@/lib/image_head.ts";
import { sniffImage } from "@/lib/image_type.ts";
import type { FitImage } from "./image_fitting.ts";
import type { Message } from "./messages.ts";

/** The URL of a smaller copy. Rejects as `FitImage` does. */
export async function fitUrl(
  url: string,
  limits: ImageLimits,
  fit: FitImage,
  signal: AbortSignal,
): Promise<string> {
  const { bytes } = await fit(Buffer.from(base64Of(url)!, "base64"), limits, signal);
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
  return `data:${sniffImage(bytes)};base64,${base64}`;
}

/** The messages with images within the limits; the same list when all of them are. Rejects as `FitImage` does. */
export async function fitMessages(
  messages: readonly Message[],
  limits: ImageLimits,
  fit: FitImage,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  let changed = false;
  const all: Message[] = [];
  for (const message of messages) {
    const { content } = message;
    if (content === null || typeof content === "string") {
      all.push(message);
      continue;
    }
    const parts = [...content];
    for (const [at, part] of parts.entries()) {
      if (part.type !== "image_url" || !isBeyond(part.image_url.url, limits)) continue;
      changed = true;
      parts[at] = {
        ...part,
        image_url: { ...part.image_url, url: await fitUrl(part.image_url.url, limits, fit, signal) },
      };
    }
    all.push({ ...message, content: parts } as Message);
  }
  return changed ? all : messages;
}
