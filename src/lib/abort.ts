/**
 * Small verbs for waiting: every wait in the program takes a signal and ends when it fires.
 * `AbortError` here means "told to stop", never "failed".
 */

export class AbortError extends Error {
  constructor(message = "The operation was aborted") {
    super(message);
    this.name = "AbortError";
  }
}

/** True for our own and the platform's abort errors. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Throws `AbortError` when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new AbortError();
}

/** Settles like `promise`, or rejects with `AbortError` as soon as the signal fires. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  if (signal.aborted) {
    promise.catch(() => {/* the caller has left */});
    return Promise.reject(new AbortError());
  }
  return new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(new AbortError());
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Milliseconds: the longest time a timer takes; it fires at once for a longer one. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Resolves after `ms`, or rejects with `AbortError`; the timer never outlives the wait. */
export function delay(ms: number, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
  const { signal } = options;
  if (signal?.aborted) return Promise.reject(new AbortError());
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(new AbortError());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, Math.min(ms, LONGEST_TIMER_MS));
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** Waits for `promise` at most `ms`; returns `undefined` when the time is up. The promise itself is not cancelled. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(ms, LONGEST_TIMER_MS));
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
