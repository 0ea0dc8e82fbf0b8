/**
 * Whether what is measured under a steady load stays flat: memory, open files and the time of a turn. The first third
 * is warm-up. Judged by medians and by the median of all slopes, so that a few odd samples decide nothing, and the time
 * of a turn beside that of a young program at the same time, so that a machine that gets slower is no finding.
 */
import type { Judge } from "./judge.ts";

/** One look at a process: milliseconds of the harness's clock, MiB, open files. */
export interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly files: number;
}

/** How long something took that began at `at`; both in milliseconds. */
export interface Timed {
  readonly at: number;
  readonly took: number;
}

export interface Measured {
  readonly name: string;
  readonly samples: readonly Sample[];
  readonly turns: readonly Timed[];
}

/** Open files that may come and go. */
const FILES_SLACK = 12;
/**
 * Memory may grow by so many MiB over the whole time. The collector lets it rise for minutes before it takes it back,
 * so that over a few of them only a coarse leak can be told; over an hour a fine one.
 */
const MEMORY_SLACK = 120;
/** A turn may become so many times as long, beside a young program's, and that much longer in any case. */
const TIME_RATIO = 2.5;
const TIME_SLACK_MS = 40;
const FEWEST = 12;

/** Reports what is not flat, with the figure and its bound; returns one line of figures, or that there are too few. */
export function judgeFlat({ name, samples, turns }: Measured, young: readonly Timed[], judge: Judge): string {
  const flat = samples.slice(Math.ceil(samples.length / 3));
  if (flat.length < FEWEST || turns.length < FEWEST) {
    return `${name}: ${turns.length} turns, too short to measure`;
  }
  const [from, to] = [flat[0]!.at, flat.at(-1)!.at];
  const minutes = (to - from) / 60_000;
  const half = flat.length >> 1;
  const [before, after] = [flat.slice(0, half), flat.slice(half)];

  const rss = medianOf(flat.map((sample) => sample.rss));
  const slope = slopeOf(flat.map(({ at, rss }) => [at / 60_000, rss]));
  const grown = slope * minutes;
  if (grown > MEMORY_SLACK) {
    judge.report(
      `${name}: memory grew by ${grown.toFixed(1)} MiB in ${minutes.toFixed(1)} minutes (${
        slope.toFixed(2)
      } MiB a minute, median ${rss.toFixed(0)} MiB); at most ${MEMORY_SLACK} MiB`,
    );
  }

  const files = [before, after].map((part) => medianOf(part.map((sample) => sample.files)));
  if (files[1]! > files[0]! + FILES_SLACK) {
    judge.report(
      `${name}: open files grew from ${files[0]} to ${files[1]} (medians); at most ${FILES_SLACK} more`,
    );
  }

  const [early, late] = halves(turns, from, to);
  const [youngEarly, youngLate] = halves(young, from, to);
  const slower = Math.max(1, youngLate / youngEarly);
  if (late > early * slower * TIME_RATIO && late - early * slower > TIME_SLACK_MS) {
    judge.report(
      `${name}: a turn took ${early.toFixed(0)} ms, later ${
        late.toFixed(0)
      } ms (medians), in a young program ${youngEarly.toFixed(0)} and ${
        youngLate.toFixed(0)
      } ms; at most ${TIME_RATIO} times as long beside it`,
    );
  }
  return `${name}: ${turns.length} turns, memory ${rss.toFixed(0)} MiB (${
    slope.toFixed(2)
  } MiB a minute over ${minutes.toFixed(1)} minutes), ${files[0]} → ${files[1]} open files, a turn ${
    early.toFixed(0)
  } → ${late.toFixed(0)} ms`;
}

/** The median times of the first and the second half between two moments; of all where a half is empty. */
function halves(timed: readonly Timed[], from: number, to: number): [number, number] {
  const middle = (from + to) / 2;
  const of = (a: number, b: number) => {
    const part = timed.filter(({ at }) => at >= a && at < b);
    return medianOf((part.length > 0 ? part : timed).map(({ took }) => took));
  };
  return [of(from, middle), of(middle, to)];
}

/** The median of the slopes between all pairs (Theil and Sen): what a third of bad samples cannot move far. */
export function slopeOf(points: readonly (readonly [number, number])[]): number {
  const slopes: number[] = [];
  const step = Math.max(1, Math.floor(points.length / 400));
  for (let i = 0; i < points.length; i += step) {
    for (let j = i + step; j < points.length; j += step) {
      const [[x, y], [later, z]] = [points[i]!, points[j]!];
      if (later > x) slopes.push((z - y) / (later - x));
    }
  }
  return slopes.length === 0 ? 0 : medianOf(slopes);
}

export function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}
