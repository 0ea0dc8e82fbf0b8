/**
 * A lock between processes made of an ordinary file, and whole-file replacement under it.
 * Contenders append a line; who stands first in the linked file holds the lock; the holder removes the file. A lost
 * append (the file was removed in between) is noticed and repeated. A holder that died is passed over after 10 s.
 */

/** What the lock needs of the outside world; a `Platform` is one. */
export interface LockWorld {
  readonly os: string;
  readonly pid: number;
  readonly clock: { now(): number; monotonic(): number; delay(ms: number): Promise<void> };
  readonly ids: { hex(digits: number): string };
  readonly files: {
    append(path: string, data: Uint8Array, options?: { mode?: number }): Promise<void>;
    write(path: string, data: Uint8Array, options?: { mode?: number }): Promise<void>;
    rename(from: string, to: string): Promise<void>;
    remove(path: string): Promise<void>;
    chmod(path: string, mode: number): Promise<void>;
    readTextSync(path: string): string | null;
    realPathSync(path: string): string | null;
    statSync(path: string): { readonly mtimeMs: number } | null;
  };
}

const STALE_MS = 10_000;
const GIVE_UP_MS = 15_000;
const STEP_MS = 15;

/** Another process held the lock all the time. */
export class FileLockError extends Error {
  /** Path of the lock. */
  readonly lock: string;

  constructor(lock: string) {
    super(`Cannot change the file: ${lock} is held by another process`);
    this.name = "FileLockError";
    this.lock = lock;
  }
}

async function removeQuietly(world: LockWorld, path: string): Promise<void> {
  try {
    await world.files.remove(path);
  } catch (error) {
    // Somebody else removed it, or still has it open (Windows): the next round sees what is there.
    if ((error as Error).name !== "NotFound" && world.os !== "windows") throw error;
  }
}

/** The first ticket is the holder's, and its time is when it began to hold: losers write new tickets. */
async function passOver(world: LockWorld, lock: string, seen: string): Promise<void> {
  const since = Number(seen.split("\n")[0]?.split(":")[2]);
  const begun = Number.isFinite(since) ? since : world.files.statSync(lock)?.mtimeMs ?? Infinity;
  // A time that is yet to come is of a clock that has been put back since.
  if (Math.abs(world.clock.now() - begun) < STALE_MS) return;
  if (world.files.readTextSync(lock) === seen) await removeQuietly(world, lock);
}

async function acquire(world: LockWorld, lock: string): Promise<void> {
  const encoder = new TextEncoder();
  let ticket = "";
  const start = world.clock.monotonic();
  while (world.clock.monotonic() - start < GIVE_UP_MS) {
    const seen = world.files.readTextSync(lock) ?? "";
    const tickets = seen.split("\n");
    if (ticket !== "" && tickets[0] === ticket) return;
    if (ticket === "" || !tickets.includes(ticket)) {
      ticket = `${world.pid}:${world.ids.hex(16)}:${world.clock.now()}`;
      await world.files.append(lock, encoder.encode(`${ticket}\n`), { mode: 0o600 });
    } else {
      await passOver(world, lock, seen);
      await world.clock.delay(STEP_MS);
    }
  }
  throw new FileLockError(lock);
}

/** Runs `work` while nobody else is inside for the same `path`. Throws `FileLockError` after 15 s. */
export async function withFileLock<T>(world: LockWorld, path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  await acquire(world, lock);
  try {
    return await work();
  } finally {
    await removeQuietly(world, lock);
  }
}

/** Replaces a file as a whole: a private temporary file beside it, then a rename. Links are followed first. */
export async function replaceFile(
  world: LockWorld,
  path: string,
  text: string,
  mode = 0o600,
): Promise<void> {
  const { files } = world;
  const target = files.realPathSync(path) ?? path;
  const temporary = `${target}.tmp-${world.ids.hex(12)}`;
  try {
    await files.write(temporary, new TextEncoder().encode(text), { mode });
    await files.chmod(temporary, mode);
    await files.rename(temporary, target);
  } catch (error) {
    await removeQuietly(world, temporary);
    throw error;
  }
}
