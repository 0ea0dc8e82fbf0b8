/**
 * The server's public API as the console uses it: JSON calls with the key, and run events read from a stream that
 * `EventSource` cannot open, because it sends no key. Knows nothing of the page, so it runs in tests as it is.
 */

/** An answer that is a refusal; `status` 0 = the server was not reached. */
export class ApiFailure extends Error {
  /** @param {number} status @param {string | null} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
  }
}

const CALL_MS = 30_000;
/** Keep-alives come every 10 s; a stream that is silent for longer than three of them is dead. */
const SILENCE_MS = 35_000;

export class Api {
  /** @param {string} key @param {{ onRefused?: () => void, base?: string }} [options] */
  constructor(key, options = {}) {
    this.key = key;
    this.base = options.base ?? "";
    this.onRefused = options.onRefused ?? (() => {});
  }

  /**
   * @param {string} path
   * @param {{ method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} [options]
   * @returns {Promise<any>} the JSON of the answer; throws `ApiFailure`
   */
  async json(path, options = {}) {
    const response = await this.fetch(path, {
      ...options,
      signal: anySignal([options.signal, AbortSignal.timeout(CALL_MS)]),
    });
    try {
      return await response.json();
    } catch (error) {
      if (options.signal?.aborted) throw error;
      throw new ApiFailure(0, null, "The server's answer could not be read");
    }
  }

  /**
   * @param {string} path
   * @param {{ method?: string, body?: unknown, headers?: Record<string, string>, signal?: AbortSignal }} options
   */
  async fetch(path, { method, body, headers = {}, signal }) {
    let response;
    try {
      response = await fetch(this.base + path, {
        method: method ?? (body === undefined ? "GET" : "POST"),
        headers: {
          Authorization: `Bearer ${this.key}`,
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        cache: "no-store",
        credentials: "omit",
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted && signal.reason?.name !== "TimeoutError") throw error;
      throw new ApiFailure(0, null, "The server cannot be reached");
    }
    if (response.ok) return response;
    const failure = await failureOf(response);
    if (failure.status === 401) this.onRefused();
    throw failure;
  }

  /**
   * The events of a run after `lastSeq` (−1 = all), until the server closes the stream or `signal` aborts.
   * @param {string} runId @param {number} lastSeq @param {AbortSignal} signal
   * @param {() => void} [onOpen] the server has answered
   */
  async *events(runId, lastSeq, signal, onOpen) {
    const watch = new AbortController();
    const both = anySignal([signal, watch.signal]);
    let timer = setTimeout(() => watch.abort(), SILENCE_MS);
    try {
      const response = await this.fetch(`/v1/runs/${encodeURIComponent(runId)}/events`, {
        headers: lastSeq < 0 ? {} : { "Last-Event-ID": String(lastSeq) },
        signal: both,
      });
      onOpen?.();
      const reader = new SseReader();
      const decoder = new TextDecoder();
      const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      try {
        for (;;) {
          const { value, done } = await body.read();
          if (done) return;
          clearTimeout(timer);
          timer = setTimeout(() => watch.abort(), SILENCE_MS);
          for (const data of reader.push(decoder.decode(value, { stream: true }))) yield JSON.parse(data);
        }
      } finally {
        void body.cancel().catch(() => {});
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Puts server-sent events together from pieces; gives their data. */
export class SseReader {
  #rest = "";
  /** @type {string[]} */
  #data = [];

  /** @param {string} text @returns {string[]} */
  push(text) {
    const done = [];
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line.startsWith("data:")) this.#data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line === "" && this.#data.length > 0) done.push(this.#data.splice(0).join("\n"));
    }
    return done;
  }
}

/** @param {Response} response */
async function failureOf(response) {
  let error;
  try {
    error = (await response.json()).error;
  } catch {
    // A proxy's own page, for example.
  }
  const message = typeof error === "string" ? error : error?.message;
  return new ApiFailure(
    response.status,
    error?.code ?? null,
    message ?? `The server answered ${response.status}`,
  );
}

/** @param {(AbortSignal | undefined)[]} signals */
function anySignal(signals) {
  return AbortSignal.any(/** @type {AbortSignal[]} */ (signals.filter((signal) => signal !== undefined)));
}
