/**
 * Many clients at once on `hermes serve`: paced streams, whole answers, and a light route under fire, each against
 * the raw model in the same run, since a shared machine has no absolute times. Part of `deno task bench`; alone:
 *
 *   deno run -A scripts/bench/streams.ts [--binary FILE] [--quick]
 */
import { connect, type Socket } from "node:net";
import { parseArgs } from "node:util";
import { Child, median, memoryOf } from "./child.ts";
import type { Place } from "./doors.ts";
import { tokenAt } from "./paced_model.ts";
import { type Row, table } from "./table.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const KEY = "bench-key-0123456789-0123456789-";
const TOKENS = 300;
const EVERY_MS = 10;
const IDEAL_MS = TOKENS * EVERY_MS;

interface Target {
  readonly port: number;
  readonly key: string | null;
}

interface Taken {
  /** Milliseconds since the request. */
  readonly firstMs: number;
  readonly endMs: number;
  readonly raw: string;
}

function requestText(method: string, path: string, key: string | null, body = ""): string {
  const auth = key === null ? "" : `Authorization: Bearer ${key}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${auth}Content-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** A kept connection on which one request at a time is asked; by hand, so that the client costs little. */
class Line {
  readonly #socket: Socket;
  #text = "";
  #look: () => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: "127.0.0.1", noDelay: true });
    this.#socket.setEncoding("utf8");
    this.#socket.on("data", (piece) => {
      this.#text += piece;
      this.#look();
    });
    this.#socket.on("error", () => this.#socket.destroy());
    this.#socket.on("close", () => {
      this.#text += "\r\n(closed)";
      this.#look();
    });
  }

  /** `first`: what the first thing of interest looks like. */
  ask(text: string, first: string): Promise<Taken> {
    this.#text = "";
    const start = performance.now();
    let firstMs = 0;
    return new Promise((resolve) => {
      this.#look = () => {
        if (firstMs === 0 && this.#text.includes(first)) firstMs = performance.now() - start;
        if (isWhole(this.#text)) resolve({ firstMs, endMs: performance.now() - start, raw: this.#text });
      };
      this.#socket.write(text);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

function isWhole(text: string): boolean {
  if (text.endsWith("\r\n0\r\n\r\n") || text.endsWith("(closed)")) return true;
  const end = text.indexOf("\r\n\r\n");
  const length = /^content-length: (\d+)/im.exec(text.slice(0, Math.max(0, end)))?.[1];
  return length !== undefined && text.length >= end + 4 + Number(length);
}

function textOf(raw: string): string {
  return [...raw.matchAll(/"delta":\{"content":"([^"]*)"/g)].map((match) => match[1]).join("");
}

const WANTED = Array.from({ length: TOKENS }, (_, i) => tokenAt(i)).join("");

function chat({ key }: Target, content: string, stream: boolean): string {
  const body = JSON.stringify({ model: "hermes-agent", stream, messages: [{ role: "user", content }] });
  return requestText("POST", "/v1/chat/completions", key, body);
}

interface Storm {
  readonly ms: number;
  readonly firstP95: number;
  readonly broken: number;
}

async function storm(target: Target, count: number): Promise<Storm> {
  const lines = Array.from({ length: count }, () => new Line(target.port));
  const start = performance.now();
  const taken = await Promise.all(
    lines.map((line, i) => line.ask(chat(target, `${i} paced ${TOKENS} ${EVERY_MS}`, true), `"content":"t0`)),
  );
  const ms = performance.now() - start;
  for (const line of lines) line.close();
  const firsts = taken.map(({ firstMs }) => firstMs).sort((a, b) => a - b);
  return {
    ms,
    firstP95: firsts[Math.floor(count * 0.95) - 1]!,
    broken: taken.filter(({ raw }) => textOf(raw) !== WANTED || !raw.includes("data: [DONE]")).length,
  };
}

/** Medians of one-word answers, asked one after the other on one connection. */
async function single(
  target: Target,
  times: number,
): Promise<{ firstMs: number; endMs: number; wholeMs: number }> {
  const line = new Line(target.port);
  const streams: Taken[] = [];
  const wholes: number[] = [];
  for (let i = 0; i < times; i++) {
    streams.push(await line.ask(chat(target, `${i} s`, true), `"content":"ok`));
    wholes.push((await line.ask(chat(target, `${i} w`, false), `"content":"ok`)).endMs);
  }
  line.close();
  return {
    firstMs: median(streams.map(({ firstMs }) => firstMs)),
    endMs: median(streams.map(({ endMs }) => endMs)),
    wholeMs: median(wholes),
  };
}

/** Requests per second of a light route over some kept connections, and how many were not 200. */
async function fire(target: Target, total: number): Promise<{ perSecond: number; failed: number }> {
  const text = requestText("GET", "/v1/models", target.key);
  let left = total;
  let failed = 0;
  const start = performance.now();
  await Promise.all(Array.from({ length: 16 }, async () => {
    const line = new Line(target.port);
    while (left-- > 0) {
      if (!(await line.ask(text, "HTTP")).raw.startsWith("HTTP/1.1 200")) failed++;
    }
    line.close();
  }));
  return { perSecond: total * 1000 / (performance.now() - start), failed };
}

/** Opens a model and a server of its own; adds its rows to `rows`. */
export async function measureStreams(
  rows: Row[],
  makePlace: (modelUrl: string, config: Record<string, unknown>) => Promise<Place>,
  quick = false,
): Promise<void> {
  const record = (
    measure: string,
    value: number,
    unit: string,
    must: number | null,
    sense: Row["sense"] = "max",
  ) => rows.push({ measure: `serve: ${measure}`, value, unit, must, aim: null, sense });
  await using model = new Child(
    [Deno.execPath(), "run", "-A", "--no-check", `${ROOT}scripts/bench/paced_model.ts`],
    { env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/" }, cwd: ROOT },
  );
  const raw: Target = { port: Number((await model.line((line) => /^\d+$/.test(line))).text), key: null };
  const place = await makePlace(`http://127.0.0.1:${raw.port}/v1`, {
    gateway: { api_server: { max_concurrent_runs: 0 } },
  });
  await using child = new Child([place.binary, "serve", "--port", "0"], {
    ...place,
    env: { ...place.env, API_SERVER_KEY: KEY },
  });
  const ready = await child.line((line) => line.includes("listening on http://"));
  const serve: Target = { port: Number(/:(\d+) /.exec(ready.text)![1]), key: KEY };
  const times = quick ? 20 : 100;
  await single(serve, 10);
  const [m, s] = [await single(raw, times), await single(serve, times)];
  record("first delta over the model (median)", s.firstMs - m.firstMs, "ms", 6);
  record("streamed answer over the model (median)", s.endMs - m.endMs, "ms", null);
  record("whole answer over the model (median)", s.wholeMs - m.wholeMs, "ms", 5);
  const shot = await fire(serve, quick ? 2_000 : 10_000);
  record("GET /v1/models", shot.perSecond, "/s", 1000, "min");
  record("GET /v1/models, not 200", shot.failed, "", 0);
  for (const [count, bar] of [[50, 1.05], [200, 1.4]] as const) {
    const before = await memoryOf(child.pid);
    const best: { raw: Storm[]; serve: Storm[] } = { raw: [], serve: [] };
    // Taken by turns, so that both meet the same neighbours.
    for (let i = 0; i < (quick ? 1 : 3); i++) {
      best.raw.push(await storm(raw, count));
      best.serve.push(await storm(serve, count));
    }
    const [direct, through] = [median(best.raw.map(({ ms }) => ms)), median(best.serve.map(({ ms }) => ms))];
    const what = `${count} streams of ${TOKENS} tokens, ${EVERY_MS} ms apart`;
    record(`${what}, over the raw model`, through / direct, "× M", bar);
    record(`${what}, over the ideal (M: ${(direct / IDEAL_MS).toFixed(2)})`, through / IDEAL_MS, "×", null);
    record(`${what}, first delta p95`, median(best.serve.map(({ firstP95 }) => firstP95)), "ms", 350);
    record(`${what}, broken texts`, best.serve.reduce((sum, { broken }) => sum + broken, 0), "", 0);
    const peak = (await memoryOf(child.pid)).peak;
    record(`${what}, memory per stream`, Math.max(0, peak - before.rss) / count, "KiB", null);
  }
  child.signal("SIGTERM");
  await child.end();
}

async function ownPlace(binary: string, modelUrl: string, config: Record<string, unknown>): Promise<Place> {
  const base = await Deno.makeTempDir({ prefix: "hermes-bench-" });
  for (const name of ["home", "work", "tmp", "user"]) await Deno.mkdir(`${base}/${name}`);
  const model = { default: "bench", provider: "custom", base_url: modelUrl, context_length: 1_000_000 };
  const auxiliary = { title_generation: { provider: "none" } };
  await Deno.writeTextFile(`${base}/home/config.jsonc`, JSON.stringify({ model, auxiliary, ...config }));
  return {
    binary,
    cwd: `${base}/work`,
    env: {
      PATH: Deno.env.get("PATH") ?? "",
      HOME: `${base}/user`,
      TMPDIR: `${base}/tmp`,
      HERMES_HOME: `${base}/home`,
    },
  };
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { binary: { type: "string" }, quick: { type: "boolean" } },
  });
  const rows: Row[] = [];
  const binary = values.binary ?? `${ROOT}dist/hermes`;
  await measureStreams(rows, (url, config) => ownPlace(binary, url, config), values.quick);
  Deno.stdout.writeSync(new TextEncoder().encode(table(rows) + "\n"));
  Deno.exit(0);
}
