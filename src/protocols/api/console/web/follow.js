/**
 * Stays with a run until it ends: reads its events, and comes back with its cursor when the connection is lost, each
 * time a little later. Knows neither page nor session.
 */
import { ApiFailure } from "./api.js";

const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 8_000;

const ENDS = new Set(["run.completed", "run.failed", "run.cancelled", "run.interrupted"]);

/** @param {{ event: string }} event */
export function isEnd(event) {
  return ENDS.has(event.event);
}

/**
 * @typedef {object} Watcher
 * @property {(event: any) => void} onEvent
 * @property {(pauseMs: number) => void} onLost the connection is gone; the next try comes after the pause
 * @property {() => void} onBack
 * @property {(ms: number, signal: AbortSignal) => Promise<void>} [wait] for tests
 */

/**
 * @param {import("./api.js").Api} api @param {string} runId @param {AbortSignal} signal @param {Watcher} watcher
 * @returns {Promise<"ended" | "gone" | "left">} `gone`: the server has no events of it any more; `left`: aborted
 */
export async function followRun(api, runId, signal, { onEvent, onLost, onBack, wait = pause }) {
  let last = -1;
  let pauseMs = FIRST_PAUSE_MS;
  let lost = false;
  for (;;) {
    try {
      const onOpen = () => {
        if (lost) onBack();
        lost = false;
      };
      for await (const event of api.events(runId, last, signal, onOpen)) {
        if (signal.aborted) return "left";
        pauseMs = FIRST_PAUSE_MS;
        if (typeof event.seq === "number") last = event.seq;
        onEvent(event);
        if (isEnd(event)) return "ended";
      }
      const end = await endOf(api, runId, signal);
      if (end) {
        onEvent(end);
        return "ended";
      }
    } catch (error) {
      if (signal.aborted) return "left";
      if (error instanceof ApiFailure && error.status === 404) return "gone";
      if (error instanceof ApiFailure && error.status === 401) return "left";
    }
    if (signal.aborted) return "left";
    lost = true;
    onLost(pauseMs);
    await wait(pauseMs, signal);
    if (signal.aborted) return "left";
    pauseMs = Math.min(pauseMs * 2, LAST_PAUSE_MS);
  }
}

/**
 * The stream was closed and the end was not among its events: a server that died may have told more than it could
 * still save, and the cursor is then beyond what is left. The status knows; `null` while the run goes on.
 * @param {import("./api.js").Api} api @param {string} runId @param {AbortSignal} signal
 */
async function endOf(api, runId, signal) {
  const run = await api.json(`/v1/runs/${encodeURIComponent(runId)}`, { signal });
  const event = `run.${run.status}`;
  return ENDS.has(event) ? { ...run, event, timestamp: run.updated_at } : null;
}

/** Ends early when the browser finds the network again, or the tab is looked at. @param {number} ms @param {AbortSignal} signal */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const controller = new AbortController();
    const done = () => {
      clearTimeout(timer);
      controller.abort();
      resolve(undefined);
    };
    const timer = setTimeout(done, ms);
    const once = { signal: controller.signal };
    signal.addEventListener("abort", done, once);
    globalThis.addEventListener?.("online", done, once);
    globalThis.addEventListener?.("hermes-retry", done, once);
  });
}
