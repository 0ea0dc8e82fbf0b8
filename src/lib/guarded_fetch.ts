/**
 * `fetch` for URLs that a model or a stranger gave (core.md C.11): every hop is judged by `url_safety.ts` and
 * connected to at the addresses that were judged; time, size and number of redirects are bounded; what belongs to
 * one origin (keys, cookies) is not carried to the next. The answer is read whole. Knows no settings.
 */
import { abortable, AbortError, isAbort } from "./abort.ts";
import { readBounded } from "./bounded_body.ts";
import { checkPublicUrl } from "./url_safety.ts";

/** The network as the guard needs it; a `Platform` is one. */
export interface GuardedNet {
  /** Every address of a name, without using it. */
  resolve(host: string): Promise<readonly string[]>;
  /** One request to one of these addresses, redirects not followed. */
  fetchAt(url: string, init: RequestInit, addresses: readonly string[]): Promise<Response>;
}

export interface GuardedOptions {
  readonly net: GuardedNet;
  readonly signal?: AbortSignal;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly allowPrivate?: boolean;
  readonly allowHosts?: readonly string[];
  /** Another reason to refuse a hop (a blocklist, a secret in the URL); `null` = none. */
  check?(url: URL): string | null;
  /** Milliseconds for everything, redirects included; default 30,000. */
  readonly timeoutMs?: number;
  /** Bytes of the body after decompression; default 10 MB. */
  readonly maxBytes?: number;
  /** What happens with more bytes: an error (default), or the first `maxBytes` of them. */
  readonly overflow?: "fail" | "cut";
  /** Default 5. */
  readonly maxRedirects?: number;
}

export type GuardedResult =
  | {
    readonly ok: true;
    /** Of the last hop. */
    readonly url: string;
    readonly status: number;
    readonly headers: Headers;
    readonly body: Uint8Array;
    readonly truncated: boolean;
  }
  | {
    readonly ok: false;
    /** `refused`: by a rule, nothing was sent to the address in question. */
    readonly kind: "refused" | "failed" | "timeout" | "too_large";
    readonly reason: string;
  };

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** All that another origin may see of the caller's headers. */
const CARRIED: ReadonlySet<string> = new Set(["accept", "accept-language", "user-agent", "content-type"]);

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** Never throws but `AbortError`, when `options.signal` has fired. */
export async function guardedFetch(input: string | URL, options: GuardedOptions): Promise<GuardedResult> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), options.timeoutMs ?? 30_000);
  const signal = options.signal ? AbortSignal.any([options.signal, limit.signal]) : limit.signal;
  try {
    // A lookup of a name cannot be stopped; it is left behind.
    return await abortable(follow(input, options, signal), signal);
  } catch (error) {
    if (options.signal?.aborted) throw new AbortError();
    if (limit.signal.aborted) {
      return {
        ok: false,
        kind: "timeout",
        reason: `no complete answer in ${(options.timeoutMs ?? 30_000) / 1000} s`,
      };
    }
    if (isAbort(error)) throw error;
    return failed(error);
  } finally {
    clearTimeout(timer);
  }
}

async function follow(
  input: string | URL,
  options: GuardedOptions,
  signal: AbortSignal,
): Promise<GuardedResult> {
  const { net, allowPrivate = false, allowHosts = [], maxRedirects = 5 } = options;
  const { method = "GET", headers = {}, body } = options;
  let target: string | URL = input;
  let hop: Omit<Hop, "url"> = { method, headers, body };
  for (let redirects = 0;; redirects++) {
    const verdict = await checkPublicUrl(target, {
      resolve: (host) => net.resolve(host),
      allowPrivate,
      allowHosts,
    });
    if (signal.aborted) throw new AbortError();
    const where = redirects === 0 ? "" : "it redirects to a place that is refused: ";
    if (!verdict.ok) return refused(where + verdict.reason);
    const reason = options.check?.(verdict.url);
    if (reason) return refused(where + reason);
    const response = await request({ ...hop, url: verdict.url }, verdict.addresses, net, signal);
    const next = locationOf(response, verdict.url);
    if (next === null) return await readAnswer(response, verdict.url, options, signal);
    await response.body?.cancel();
    if (next === "invalid") return failed("it redirects to an address that is not valid");
    if (redirects >= maxRedirects) return failed(`it redirects more than ${maxRedirects} times`);
    hop = nextHop({ ...hop, url: verdict.url }, next, response.status);
    target = next;
  }
}

function request(
  hop: Hop,
  addresses: readonly string[],
  net: GuardedNet,
  signal: AbortSignal,
): Promise<Response> {
  const init: RequestInit = { method: hop.method, headers: { ...hop.headers }, redirect: "manual", signal };
  if (hop.body !== undefined) init.body = hop.body;
  const url = new URL(hop.url);
  url.hash = "";
  return net.fetchAt(url.href, init, addresses);
}

function locationOf(response: Response, base: URL): URL | "invalid" | null {
  const location = REDIRECTS.has(response.status) ? response.headers.get("location") : null;
  if (location === null) return null;
  return URL.canParse(location, base.href) ? new URL(location, base.href) : "invalid";
}

function nextHop(hop: Hop, next: URL, status: number): Omit<Hop, "url"> {
  const headers = next.origin === hop.url.origin
    ? hop.headers
    : Object.fromEntries(Object.entries(hop.headers).filter(([name]) => CARRIED.has(name.toLowerCase())));
  const becomesGet = status === 303 || ((status === 301 || status === 302) && hop.method === "POST");
  return becomesGet && hop.method !== "HEAD"
    ? { method: "GET", headers, body: undefined }
    : { method: hop.method, headers, body: hop.body };
}

async function readAnswer(
  response: Response,
  url: URL,
  options: GuardedOptions,
  signal: AbortSignal,
): Promise<GuardedResult> {
  const max = options.maxBytes ?? 10 << 20;
  const read = await readBounded(response, max, signal);
  if (read.truncated && options.overflow !== "cut") {
    return { ok: false, kind: "too_large", reason: `it is larger than ${max} bytes` };
  }
  const { status, headers } = response;
  return { ok: true, url: url.href, status, headers, ...read };
}

function refused(reason: string): GuardedResult {
  return { ok: false, kind: "refused", reason };
}

function failed(error: unknown): GuardedResult {
  const text = error instanceof Error ? error.message : String(error);
  return { ok: false, kind: "failed", reason: text };
}
