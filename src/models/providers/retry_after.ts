/** `Retry-After` in all its forms, as milliseconds; 10 minutes at most. */

const CAP_MS = 600_000;

export type HeaderReader = (name: string) => string | null | undefined;

/** Seconds, an HTTP date, or `retry-after-ms`; `undefined` when absent or not readable. */
export function retryAfterMs(header: HeaderReader, now: number): number | undefined {
  const exact = header("retry-after-ms")?.trim();
  if (exact && /^\d+(\.\d+)?$/.test(exact)) return Math.min(Number(exact), CAP_MS);
  const text = header("retry-after")?.trim();
  if (!text) return undefined;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Math.min(Math.max(0, Math.ceil(Number(text) * 1000)), CAP_MS);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), CAP_MS);
}
