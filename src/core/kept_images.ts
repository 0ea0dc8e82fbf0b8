/**
 * The smaller images of late, by what they were made from: clients of the HTTP API send a conversation with all of its
 * images again for each turn.
 */
import type { ImageLimits } from "@/lib/image_head.ts";
import type { FittedImage } from "./image_fitting.ts";

const MAX_BYTES = 24 << 20;

export class KeptImages {
  /** The one that was used last stands last. */
  readonly #images = new Map<string, FittedImage>();
  #size = 0;

  get(key: string): FittedImage | null {
    const found = this.#images.get(key);
    if (!found) return null;
    this.#images.delete(key);
    this.#images.set(key, found);
    return found;
  }

  set(key: string, image: FittedImage): void {
    if (this.get(key)) return;
    this.#images.set(key, image);
    this.#size += image.bytes.length;
    for (const [oldest, { bytes }] of this.#images) {
      if (this.#size <= MAX_BYTES) return;
      this.#images.delete(oldest);
      this.#size -= bytes.length;
    }
  }
}

/** The same for the same bytes and limits only. */
export async function keyOf(image: Uint8Array, { maxSide, maxBytes }: ImageLimits): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", image as Uint8Array<ArrayBuffer>));
  return `${digest.join()}:${maxSide}:${maxBytes}`;
}
