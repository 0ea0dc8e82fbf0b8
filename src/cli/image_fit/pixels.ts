/** Images as pixels: red, green, blue, opacity, a byte each, rows from the top. */

export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array<ArrayBuffer>;
  /** No pixel lets anything through. */
  readonly opaque: boolean;
}

/** An image that is being read. */
export interface PixelSource {
  readonly width: number;
  readonly height: number;
  /** Four bytes a pixel; a row is good until the next one is asked for. Throws `Unreadable`. */
  rows(): AsyncIterable<Uint8Array>;
}

/** The image is damaged, or of a kind that cannot be opened. */
export class Unreadable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Unreadable";
  }
}
