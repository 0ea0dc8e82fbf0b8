/** Which images of a request are too large for a server that has said so (core.md A.11 `image_too_large`). */
import { type ImageLimits, isBeyond } from "@/lib/image_head.ts";

const LIMITS: ImageLimits = { maxSide: 8_000, maxBytes: 5 << 20 };

/** True for an image of more than 5 MB or more than 8,000 pixels a side; addresses and unknown forms count as fine. */
export function isOversized(url: string): boolean {
  return isBeyond(url, LIMITS);
}
