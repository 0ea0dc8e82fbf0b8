/**
 * The compiled program's code cache. The runtime shows the embedded files in `<temp>/deno-compile-<program>/` and keeps
 * the compiled code in `<temp>/deno-compile-<program>.cache`: written by the first process of a program, with what it
 * had loaded by the time nothing more was being loaded, and only read by all later ones.
 */
import { accessSync, constants, lutimesSync } from "node:fs";
import { dirname } from "node:path";
import { delay } from "@/lib/abort.ts";

/**
 * Every start looks here before anything else, so it asks the runtime itself: the same by way of `node:fs` takes a
 * millisecond of a start of thirty.
 */
function look(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Where this process is to leave a cache; `null` when it is there, cannot be, or this is not the compiled program. */
export function missingCodeCache(embedded = import.meta.dirname): string | null {
  const root = Deno.build.standalone ? /^.*?[\\/]deno-compile-[^\\/]*/.exec(embedded ?? "")?.[0] : undefined;
  if (root === undefined) return null;
  try {
    const path = `${root}.cache`;
    const cache = look(path);
    // In a folder that many write to, what lies there may be another user's, or lead elsewhere: it is left alone.
    if (cache && (!cache.isFile || cache.uid !== (Deno.uid() ?? cache.uid))) return null;
    // An older one belongs to the program that was here before.
    if (cache && timeOf(cache.mtime) >= programTime()) return null;
    // Where nothing can be written each start would be a first one.
    accessSync(cache ? path : dirname(root), constants.W_OK);
    return path;
  } catch {
    // No place for it, or the program's file has gone already: no reason not to start.
    return null;
  }
}

function timeOf(date: Date | null): number {
  return date?.getTime() ?? 0;
}

/** When the program came to its place, in milliseconds; unpacking and moving keep other times, but not this one. */
function programTime(): number {
  const { ctime, mtime } = Deno.statSync(Deno.execPath());
  return timeOf(ctime ?? mtime);
}

/** The runtime writes in the turns of the event loop that follow a loading; one that is good already stays. */
export async function codeCacheWritten(path: string): Promise<void> {
  const begun = Date.now();
  const isNew = () => timeOf(look(path)?.mtime ?? null) >= begun;
  try {
    for (let turn = 0; turn < 20 && !isNew(); turn++) await delay(1);
    // Not before the program, also where the clock was put back since that came.
    const now = Math.max(Date.now(), programTime() + 1) / 1000;
    lutimesSync(path, now, now);
  } catch {
    // There is none: the next start tries again.
  }
}
