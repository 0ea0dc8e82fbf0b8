/**
 * Where a thought stood among the text and the calls of its answer. Providers want theirs back in the same order; the
 * core keeps text and calls apart, so the place is kept with the thought.
 */

type Json = Record<string, unknown>;

/** What stands before a thought; nothing when it comes first. */
export function placeAfter(text: boolean, calls: number): { place?: { text: boolean; calls: number } } {
  return text || calls > 0 ? { place: { text, calls } } : {};
}

/** A stored thought and the form in which it goes out. */
export interface PlacedThought {
  readonly stored: Json;
  readonly wire: Json;
}

/** Thoughts, text and calls in the order in which they came. */
export function inOrder(
  thoughts: readonly PlacedThought[],
  text: Json | null,
  calls: readonly Json[],
): Json[] {
  const at = (afterText: boolean | null, count: number) =>
    thoughts.flatMap(({ stored, wire }) => {
      const place = (stored["place"] ?? {}) as Json;
      const fits = Number(place["calls"] ?? 0) === count &&
        (afterText === null || (place["text"] === true) === afterText);
      return fits ? [wire] : [];
    });
  const out = [...at(false, 0), ...(text ? [text] : []), ...at(true, 0)];
  calls.forEach((call, n) => out.push(call, ...at(null, n + 1)));
  return out;
}
