/**
 * Tells the end of a run to the address its client has named: only to addresses on the list of the configuration,
 * signed as Standard Webhooks are, tried again with growing pauses, and at most so often. What is owed stands in the
 * store, so that a restart forgets nothing; a receiver may hear one end twice and tells by `webhook-id`.
 */
import type { Hermes } from "@/app/mod.ts";
import type { RunCallback } from "@/core/contract.ts";
import { within } from "@/lib/abort.ts";
import { checkPublicUrl } from "@/lib/url_safety.ts";
import { badRequest } from "./errors.ts";
import type { Kept } from "./kept/mod.ts";
import type { Metrics } from "./metrics.ts";
import { viewOf } from "./runs.ts";

/** Seconds between the tries; after the last one it is given up. All of it fits into the time a status is kept. */
const PAUSES = [1, 5, 30, 120, 600, 1800];
const TRY_MS = 10_000;
const LONGEST_SLEEP_MS = 60_000;
const LONGEST_PAUSE = Math.max(...PAUSES);
/** Deliveries at once. */
const BATCH = 8;
const MIN_SECRET = 16;
const MAX_URL = 2000;

export class Callbacks {
  readonly #hermes: Hermes;
  readonly #kept: Kept;
  readonly #metrics: Metrics | null;
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(hermes: Hermes, kept: Kept, metrics: Metrics | null) {
    this.#hermes = hermes;
    this.#kept = kept;
    this.#metrics = metrics;
  }

  /** The address in its normal form. Throws 400 unless it is on the list and there is a secret to sign with. */
  check(value: unknown): string {
    if (typeof value !== "string") throw badRequest("'callback_url' must be a string", null, "callback_url");
    const url = value.length <= MAX_URL && URL.canParse(value) ? new URL(value) : null;
    if (!url || url.username !== "" || url.password !== "" || !this.#isListed(url)) {
      throw badRequest(
        "'callback_url' is not among gateway.api_server.callback_urls",
        "callback_not_allowed",
        "callback_url",
      );
    }
    if (this.#secret() === null) {
      throw badRequest(
        `Callbacks need API_SERVER_CALLBACK_SECRET, of at least ${MIN_SECRET} characters`,
        "callback_not_configured",
        "callback_url",
      );
    }
    url.hash = "";
    return url.href;
  }

  /** To be called at the start, for what an earlier server owes, and whenever a run has ended. */
  wake(): void {
    if (this.#stop.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#work = this.#work.then(() => this.#deliver()).catch((error) =>
      this.#hermes.log.warn(`api: callbacks could not be looked through: ${String(error)}`)
    );
  }

  /** Waits for the tries under way, at most `ms`; the rest is owed. */
  async close(ms: number): Promise<void> {
    clearTimeout(this.#timer);
    await within(this.#work, ms);
    this.#stop.abort();
  }

  #isListed(url: URL): boolean {
    return this.#entryOf(url) !== undefined;
  }

  #entryOf(url: URL): string | undefined {
    const list = this.#hermes.settings().gateway.api_server.callback_urls ?? [];
    return list.find((entry) => fits(url, entry.trim()));
  }

  #secret(): Uint8Array<ArrayBuffer> | null {
    const text = this.#hermes.settings().gateway.api_server.callback_secret?.trim() ?? "";
    return text.length < MIN_SECRET ? null : secretBytes(text);
  }

  async #deliver(): Promise<void> {
    const { callbacks } = this.#kept;
    for (;;) {
      if (this.#stop.signal.aborted) return;
      const now = this.#now();
      const owed = callbacks.owed();
      // Later than any pause is long: the clock was put back since.
      const due = owed.filter(({ nextAt }) => nextAt <= now || nextAt > now + LONGEST_PAUSE).slice(0, BATCH);
      if (due.length === 0) return this.#sleepUntil(owed[0]?.nextAt);
      await Promise.all(due.map((callback) => this.#try(callback)));
    }
  }

  #sleepUntil(at: number | undefined): void {
    if (at === undefined || this.#stop.signal.aborted) return;
    // Looked at again in time when the clock is changed meanwhile.
    const ms = Math.min(LONGEST_SLEEP_MS, Math.max(50, (at - this.#now()) * 1000));
    this.#timer = setTimeout(() => this.wake(), ms);
  }

  async #try(callback: RunCallback): Promise<void> {
    const { callbacks } = this.#kept;
    const pause = PAUSES[callback.attempts] ?? null;
    if (!(await callbacks.take(callback, this.#now() + (pause ?? TRY_MS / 1000)))) return;
    const problem = await this.#send(callback).catch((error) =>
      error instanceof Error ? error.message : String(error)
    );
    this.#metrics?.callbackTried(problem === null);
    if (problem === null || pause === null) await callbacks.settle(callback.runId);
    if (problem === null) return;
    const next = pause === null ? "given up" : `again in ${pause} s`;
    this.#hermes.log.warn(`api: the callback of run ${callback.runId} failed: ${problem}; ${next}`);
  }

  /** `null` when it was taken, else why not. */
  async #send({ runId, url: text }: RunCallback): Promise<string | null> {
    const row = this.#kept.runs.get(runId);
    const url = new URL(text);
    const secret = this.#secret();
    const entry = this.#entryOf(url);
    if (!row) return "the run is no longer kept";
    if (entry === undefined) return "its address is no longer on the list";
    if (secret === null) return "there is no secret to sign it with";
    const { platform, version } = this.#hermes;
    // The owner has listed this very host, so it may be in their own network; metadata services never are.
    const verdict = await checkPublicUrl(url, { resolve: platform.resolve, allowHosts: [url.host] });
    if (!verdict.ok) return verdict.reason;
    const body = JSON.stringify({
      object: "event",
      id: eventId(runId),
      type: `run.${row.status}`,
      created_at: Math.floor(row.updatedAt),
      data: viewOf(row),
    });
    const response = await platform.fetchAt(text, {
      method: "POST",
      redirect: "manual",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": `hermes/${version}`,
        ...await signed(secret, eventId(runId), Math.floor(this.#now()), body),
      },
      body,
      signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TRY_MS)]),
    }, verdict.addresses);
    await response.body?.cancel();
    return response.ok ? null : `the answer was ${response.status}`;
  }

  #now(): number {
    return this.#hermes.platform.clock.now() / 1000;
  }
}

/** The same for every try. */
function eventId(runId: string): string {
  return `evt_${runId.replace(/^run_/, "")}`;
}

/** Scheme, host and port are equal; the path is, or begins so where the entry ends with `*`. */
function fits(url: URL, entry: string): boolean {
  const isPrefix = entry.endsWith("*");
  const text = isPrefix ? entry.slice(0, -1) : entry;
  if (!URL.canParse(text)) return false;
  const listed = new URL(text);
  if (listed.protocol !== "https:" && listed.protocol !== "http:") return false;
  // "https://example.com*" would be any host that begins so.
  if (listed.origin !== url.origin || (isPrefix && !/^https?:\/\/[^/]+\//i.test(text))) return false;
  return isPrefix
    ? url.pathname.startsWith(listed.pathname)
    : url.pathname + url.search === listed.pathname + listed.search;
}

/** `whsec_` and Base64 as other senders have it, else the text itself. */
function secretBytes(text: string): Uint8Array<ArrayBuffer> {
  try {
    if (text.startsWith("whsec_")) return Uint8Array.from(atob(text.slice(6)), (char) => char.charCodeAt(0));
  } catch {
    // Not Base64: then it is a text that begins like one.
  }
  return new TextEncoder().encode(text);
}

async function signed(
  secret: Uint8Array<ArrayBuffer>,
  id: string,
  timestamp: number,
  body: string,
): Promise<Record<string, string>> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ]);
  const text = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, text));
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${btoa(String.fromCharCode(...signature))}`,
  };
}
