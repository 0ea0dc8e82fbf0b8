/**
 * Images that are larger than models take are made smaller (core.md B.10), by a process of its own: decoding blocks for
 * seconds and takes hundreds of megabytes. One at a time, so that many of them take no more. This half is light; the
 * other one is loaded for the first image that needs it.
 */
import { abortable } from "@/lib/abort.ts";
import type { ImageLimits } from "@/lib/image_head.ts";
import type { Platform } from "@/platform/mod.ts";
import type { KeptImages } from "./kept_images.ts";

/** Sent to any model: base64 of 20 MB, 7,900 pixels a side. */
export const SENDABLE: ImageLimits = { maxSide: 7_900, maxBytes: 15 << 20 };

export interface FittedImage {
  readonly bytes: Uint8Array;
  /** Before and after. */
  readonly from: readonly [width: number, height: number];
  readonly to: readonly [width: number, height: number];
}

/**
 * A smaller copy of an image that is beyond `limits`. Rejects with `AbortError` when the signal fires, else with
 * `ImageRefusal`.
 */
export type FitImage = (image: Uint8Array, limits: ImageLimits, signal: AbortSignal) => Promise<FittedImage>;

/** Why an image cannot be made smaller; the message says what to do. */
export class ImageRefusal extends Error {
  readonly reason: "too_many_pixels" | "unreadable" | "timeout" | "failed";

  constructor(reason: ImageRefusal["reason"], message: string) {
    super(message);
    this.name = "ImageRefusal";
    this.reason = reason;
  }
}

export interface FitDeps {
  readonly platform: Platform;
  /** A directory that is there. */
  readonly home: string;
  env(): Readonly<Record<string, string>>;
}

/** One for the whole process. */
export function createFitImage(deps: FitDeps): FitImage {
  let last: Promise<unknown> = Promise.resolve();
  let kept: KeptImages | null = null;

  async function fitAfter(before: Promise<unknown>, ...[image, limits, signal]: Parameters<FitImage>) {
    const [{ fitInChild }, { KeptImages, keyOf }] = await Promise.all([
      import("./image_child.ts"),
      import("./kept_images.ts"),
    ]);
    const key = await keyOf(image, limits);
    await abortable(before, signal);
    kept ??= new KeptImages();
    const fitted = kept.get(key) ?? await fitInChild(image, limits, signal, deps);
    kept.set(key, fitted);
    return fitted;
  }

  return (...given) => {
    const before = last;
    const mine = fitAfter(before, ...given);
    // One that gave up waiting lets the next one wait for the same.
    last = Promise.allSettled([before, mine]).then(() => {});
    return mine;
  };
}
