/**
 * Makes an image smaller while its rows come in: each new pixel is the mean of the area it covers, colours weighed by
 * their opacity. Holds the smaller image and two of its rows, whatever the size of the source.
 */
import type { Pixels } from "./pixels.ts";

export class Shrinker {
  readonly #from: readonly [number, number];
  readonly #to: readonly [number, number];
  readonly #data: Uint8Array<ArrayBuffer>;
  /** For each column of the source: where it goes, and how much of it goes there; the rest goes one further. */
  readonly #column: Uint32Array;
  readonly #share: Float64Array;
  /** Sums of the row of the source, and of the row that is being made: red, green, blue by opacity, opacity. */
  readonly #across: Float64Array;
  readonly #down: Float64Array;
  #row = 0;
  #made = 0;
  #opaque = true;

  /** Neither side of `to` is longer than that of `from`, nor below 1. */
  constructor(from: readonly [number, number], to: readonly [number, number]) {
    this.#from = from;
    this.#to = to;
    this.#data = new Uint8Array(to[0] * to[1] * 4);
    this.#column = new Uint32Array(from[0]);
    this.#share = new Float64Array(from[0]);
    // One cell more on the right takes the nothing that is left of the last column.
    this.#across = new Float64Array((to[0] + 1) * 4);
    this.#down = new Float64Array(to[0] * 4);
    for (let x = 0; x < from[0]; x++) {
      const { cell, share } = placeOf(x, from[0], to[0]);
      [this.#column[x], this.#share[x]] = [cell, share];
    }
  }

  /** One row of the source, four bytes a pixel, from the top. */
  push(row: Uint8Array): void {
    this.#sumAcross(row);
    const { share, completes } = placeOf(this.#row++, this.#from[1], this.#to[1]);
    this.#addDown(share);
    if (completes) this.#emit();
    if (share < 1) this.#addDown(1 - share);
  }

  /** Once every row is in. */
  result(): Pixels {
    const [width, height] = this.#to;
    return { width, height, data: this.#data, opaque: this.#opaque };
  }

  #sumAcross(row: Uint8Array): void {
    const sums = this.#across.fill(0);
    const [columns, shares] = [this.#column, this.#share];
    for (let x = 0, at = 0; x < columns.length; x++, at += 4) {
      const alpha = row[at + 3]!;
      if (alpha === 0) {
        this.#opaque = false;
        continue;
      }
      if (alpha !== 255) this.#opaque = false;
      const share = shares[x]!;
      const cell = columns[x]! * 4;
      const weight = alpha * share;
      sums[cell] = sums[cell]! + row[at]! * weight;
      sums[cell + 1] = sums[cell + 1]! + row[at + 1]! * weight;
      sums[cell + 2] = sums[cell + 2]! + row[at + 2]! * weight;
      sums[cell + 3] = sums[cell + 3]! + weight;
      if (share === 1) continue;
      const rest = alpha - weight;
      sums[cell + 4] = sums[cell + 4]! + row[at]! * rest;
      sums[cell + 5] = sums[cell + 5]! + row[at + 1]! * rest;
      sums[cell + 6] = sums[cell + 6]! + row[at + 2]! * rest;
      sums[cell + 7] = sums[cell + 7]! + rest;
    }
  }

  #addDown(share: number): void {
    const [down, across] = [this.#down, this.#across];
    for (let at = 0; at < down.length; at++) down[at] = down[at]! + across[at]! * share;
  }

  #emit(): void {
    const [width, height] = this.#to;
    const area = (this.#from[0] / width) * (this.#from[1] / height);
    const [down, data] = [this.#down, this.#data];
    let out = this.#made++ * width * 4;
    for (let at = 0; at < down.length; at += 4, out += 4) {
      const opacity = down[at + 3]!;
      if (opacity > 0) {
        data[out] = Math.round(down[at]! / opacity);
        data[out + 1] = Math.round(down[at + 1]! / opacity);
        data[out + 2] = Math.round(down[at + 2]! / opacity);
        data[out + 3] = Math.round(opacity / area);
      }
    }
    down.fill(0);
  }
}

interface Place {
  /** Which of the new cells takes it. */
  readonly cell: number;
  /** How much of it goes there; the rest goes to the next one. */
  readonly share: number;
  /** Nothing more goes into that cell. */
  readonly completes: boolean;
}

/** Where cell `at` of `from` goes among `to`; in whole numbers, so that borders which meet do so exactly. */
function placeOf(at: number, from: number, to: number): Place {
  const cell = Math.floor(at * to / from);
  const border = (cell + 1) * from;
  const end = (at + 1) * to;
  return { cell, share: end <= border ? 1 : (border - at * to) / to, completes: end >= border };
}
