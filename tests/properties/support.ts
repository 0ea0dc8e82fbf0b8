/**
 * How a property is tried here: a fixed seed and a fixed number of inputs, so that a run is the same on every machine
 * and a failure can be played again. `PROPERTY_SEED` and `PROPERTY_RUNS` change them for a search by hand.
 */
import fc from "fast-check";

export { fc };

const SEED = 20_260_131;
const RUNS = 300;

/** Throws with the smallest failing input. `share` scales the number of inputs of a dear property. */
export async function holds<T>(property: fc.IRawProperty<T>, share = 1): Promise<void> {
  const runs = Number(Deno.env.get("PROPERTY_RUNS") ?? RUNS);
  await fc.assert(property, {
    seed: Number(Deno.env.get("PROPERTY_SEED") ?? SEED),
    numRuns: Math.max(10, Math.round(runs * share)),
    verbose: 1,
  });
}

/** The same bytes in pieces, cut where `cuts` say (fractions of the whole). */
export function cutAt(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => Math.floor(cut * (bytes.length + 1))))].sort((a, b) => a - b);
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const place of [...places, bytes.length]) {
    pieces.push(bytes.slice(from, place));
    from = place;
  }
  return pieces;
}

/** A place in a stream, as a fraction of it; evenly spread, which doubles are not. */
export function place(): fc.Arbitrary<number> {
  return fc.nat({ max: 9_999 }).map((n) => n / 10_000);
}

/** Places to cut a stream. */
export function cuts(): fc.Arbitrary<number[]> {
  return fc.array(place(), { maxLength: 12 });
}

/** A text cut into pieces at places that need not be borders of characters. */
export function pieces(text: string, at: readonly number[]): string[] {
  const places = [...new Set(at.map((cut) => Math.floor(cut * (text.length + 1))))].sort((a, b) => a - b);
  const out: string[] = [];
  let from = 0;
  for (const place of [...places, text.length]) {
    out.push(text.slice(from, place));
    from = place;
  }
  return out;
}
