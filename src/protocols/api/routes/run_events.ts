/**
 * `GET /v1/runs/{id}/events` (api-server.md B4.4, E1, E2): the journal from where the reader stands, then live. Each
 * reader goes at its own pace; one that falls too far behind is let go and may come back with its cursor.
 */
import { ApiError } from "../errors.ts";
import type { LiveRun } from "../live_run.ts";
import type { JournalEvent } from "../run_journal.ts";
import { runNotFound } from "../runs.ts";
import type { ApiService } from "../service.ts";
import { SSE_HEADERS, SseStream } from "../sse.ts";

/** A client may subscribe before its run has registered. */
const WAIT_TRIES = 20;
const WAIT_MS = 50;
/** How often the store is asked about a run of another server. */
const POLL_MS = 250;
const BATCH = 100;
/** Events that a reader may be behind, beyond what it was replayed. */
const MAX_LAG = 256;

export async function getRunEvents(api: ApiService, request: Request, id: string): Promise<Response> {
  const cursor = readCursor(request);
  const live = await waitForRun(api, request, id);
  if (!live) await requireEvents(api, id);
  const stream = new SseStream({
    clock: api.hermes.platform.clock,
    onGone: () => {/* the run goes on without this reader */},
    ...(api.options.keepaliveMs === undefined ? {} : { keepaliveMs: api.options.keepaliveMs }),
  });
  void stream.write(": open\n\n");
  const work = live ? follow(live, cursor, stream, api) : tail(id, cursor, stream, api);
  void work.catch((error) => {
    api.hermes.log.error(`api: the events of run ${id} broke off: ${String(error)}`);
    stream.end();
  });
  return new Response(stream.body, { headers: SSE_HEADERS });
}

async function waitForRun(api: ApiService, request: Request, id: string): Promise<LiveRun | null> {
  for (let attempt = 1;; attempt++) {
    const live = api.runs.getLive(id);
    if (live) return live;
    if (await api.runs.stored(id)) return api.runs.getLive(id) ?? null;
    if (attempt === WAIT_TRIES || request.signal.aborted) throw runNotFound(id);
    await api.hermes.platform.clock.delay(WAIT_MS);
  }
}

/** Only the status of an ended run is left (E2). */
async function requireEvents(api: ApiService, id: string): Promise<void> {
  if (api.runs.events(id, -1).length > 0 || (await api.runs.stored(id))?.terminal === false) return;
  throw new ApiError(404, "run_events_expired", `The events of run ${id} are no longer kept`);
}

async function follow(run: LiveRun, cursor: number, stream: SseStream, api: ApiService): Promise<void> {
  const { journal } = run;
  void stream.gone.then(() => journal.poke());
  const caughtUp = journal.lastSeq;
  // Of a run that is over there is always its end to tell.
  let at = Math.min(
    cursor,
    cursor > journal.lastSeq && journal.ended ? journal.lastSeq - 1 : journal.lastSeq,
  );
  let first = true;
  while (!stream.closed) {
    const events = journal.after(at, BATCH);
    const missing = events.length > 0 && events[0]!.seq > at + 1;
    const late = at > caughtUp && journal.lastSeq - at > MAX_LAG;
    if ((missing && !first) || late) return stream.end();
    const notice = missing ? truncated(api, run.id, events[0]!.seq, cursor) : "";
    first = false;
    if (events.length > 0) {
      at = events.at(-1)!.seq;
      await stream.write(notice + framesOf(events));
    } else if (journal.ended) return stream.end(": stream closed\n\n");
    else await journal.changed();
  }
}

/** From the store: a run that has ended, or one that another server on the same store is at. */
async function tail(id: string, cursor: number, stream: SseStream, api: ApiService): Promise<void> {
  const oldest = api.runs.events(id, -1)[0]?.seq ?? 0;
  if (oldest > cursor + 1) await stream.write(truncated(api, id, oldest, cursor));
  let sent = false;
  for (let at = cursor; !stream.closed;) {
    // Looked at first: what comes with the end is then among the events.
    const isOver = (await api.runs.stored(id))?.terminal !== false;
    const events = api.runs.events(id, at);
    for (let from = 0; from < events.length && !stream.closed; from += BATCH) {
      await stream.write(framesOf(events.slice(from, from + BATCH)));
    }
    at = events.at(-1)?.seq ?? at;
    sent ||= events.length > 0;
    if (isOver) {
      return stream.end((sent ? "" : endFor(cursor, api.runs.events(id, -1))) + ": stream closed\n\n");
    }
    await Promise.race([api.hermes.platform.clock.delay(POLL_MS), stream.gone]);
  }
}

/**
 * The end of a run for a reader who says that it has read so far already. A server that was killed has told more than
 * it had saved, so the number of `run.interrupted` may have been that of another event before.
 */
function endFor(cursor: number, events: readonly JournalEvent[]): string {
  const end = events.at(-1);
  if (!end) return "";
  const isReused = cursor === end.seq && end.data.startsWith('{"event":"run.interrupted"');
  return cursor > end.seq || isReused ? framesOf([end]) : "";
}

function framesOf(events: readonly JournalEvent[]): string {
  return events.map(({ seq, data }) => `id: ${seq}\ndata: ${oneLine(data)}\n\n`).join("");
}

/** For readers that take U+2028 and the like for line ends. */
function oneLine(json: string): string {
  return json.replace(/[\u2028\u2029\u0085]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/** Without id and number: it is about the gap, not part of the run. */
function truncated(api: ApiService, id: string, oldest: number, requested: number): string {
  const event = {
    event: "replay.truncated",
    run_id: id,
    timestamp: api.hermes.platform.clock.now() / 1000,
    oldest_retained_seq: oldest,
    requested_seq: requested,
  };
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** `Last-Event-ID` before `last_seq`; −1 = from the start. */
function readCursor(request: Request): number {
  const text = request.headers.get("Last-Event-ID") ?? new URL(request.url).searchParams.get("last_seq") ??
    "";
  // However long it is: a number beyond the end is not one that cannot be read.
  return /^\d+$/.test(text.trim()) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER - 1) : -1;
}
