/** The filters of the lines of a PNG: what a byte is told by is the one to the left, above, or both. */
import { Unreadable } from "./pixels.ts";

/** `step`: bytes from one pixel to the next. */
export function unfilter(filter: number, line: Uint8Array, above: Uint8Array, step: number): void {
  switch (filter) {
    case 0:
      return;
    case 1:
      for (let i = step; i < line.length; i++) line[i] = line[i]! + line[i - step]!;
      return;
    case 2:
      for (let i = 0; i < line.length; i++) line[i] = line[i]! + above[i]!;
      return;
    case 3:
      for (let i = 0; i < line.length; i++) {
        line[i] = line[i]! + (((i < step ? 0 : line[i - step]!) + above[i]!) >> 1);
      }
      return;
    case 4:
      for (let i = 0; i < line.length; i++) {
        const [left, corner] = i < step ? [0, 0] : [line[i - step]!, above[i - step]!];
        line[i] = line[i]! + paeth(left, above[i]!, corner);
      }
      return;
    default:
      throw new Unreadable("The PNG has an unknown filter");
  }
}

/** Which of the three is closest to left + above − corner. */
export function paeth(left: number, above: number, corner: number): number {
  const a = Math.abs(above - corner);
  const b = Math.abs(left - corner);
  const c = Math.abs(left + above - 2 * corner);
  return a <= b && a <= c ? left : b <= c ? above : corner;
}
