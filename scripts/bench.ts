/**
 * `deno task bench`: what the program costs, against two yardsticks taken in the same run: H, a compiled
 * hello-world, and M, the scripted model streamed straight to a client. A table on stderr, JSON on stdout.
 * `--quick` takes fewer samples; `--json FILE` writes the JSON there as well. Times are told, never asserted.
 */
import { parseArgs } from "node:util";
import { Child, median, memoryOf } from "./bench/child.ts";
import { type Door, openAcp, openGateway, openServe, type Place } from "./bench/doors.ts";
import { fillSessions } from "./bench/fill.ts";
import { measureStreams } from "./bench/streams.ts";
import { type Row, table } from "./bench/table.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const { values } = parseArgs({
  args: Deno.args,
  options: { quick: { type: "boolean" }, json: { type: "string" }, binary: { type: "string" } },
});
const BINARY = values.binary ?? `${ROOT}dist/hermes`;
const SAMPLES = values.quick ? 5 : 15;
const TURNS = values.quick ? 20 : 60;
const CANCELS = values.quick ? 20 : 200;
const DELTAS = 20_000;

function say(text: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
}

async function buildHello(): Promise<string> {
  const output = `${ROOT}dist/bench-hello`;
  const base = Deno.env.get("DENORT_BIN") ??
    `${
      Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`
    }/hermes-build/denort-2.6.10-x86_64-linux`;
  const known = await Deno.stat(base).catch(() => null);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["compile", "--quiet", "-A", "--no-check", "--output", output, `${ROOT}scripts/bench/hello.ts`],
    env: known ? { DENORT_BIN: base } : {},
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return output;
}

async function makePlace(modelUrl: string, config: Record<string, unknown> = {}): Promise<Place> {
  const base = await Deno.makeTempDir({ prefix: "hermes-bench-" });
  for (const name of ["home", "work", "tmp", "user"]) await Deno.mkdir(`${base}/${name}`);
  const model = { default: "bench", provider: "custom", base_url: modelUrl, context_length: 1_000_000 };
  const auxiliary = { title_generation: { provider: "none" } };
  await Deno.writeTextFile(`${base}/home/config.jsonc`, JSON.stringify({ model, auxiliary, ...config }));
  return {
    binary: BINARY,
    cwd: `${base}/work`,
    env: {
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      HOME: `${base}/user`,
      TMPDIR: `${base}/tmp`,
      HERMES_HOME: `${base}/home`,
    },
  };
}

const rows: Row[] = [];
function record(
  measure: string,
  value: number,
  unit: string,
  must: number | null,
  aim: number | null,
  sense: "max" | "min" = "max",
): void {
  rows.push({ measure, value, unit, must, aim, sense });
}

/** The model streamed straight to a client: first byte and end of an instant turn, and the long stream. */
async function direct(url: string): Promise<{ firstMs: number; endMs: number; streamMs: number }> {
  const ask = (content: string) =>
    fetch(`${url}/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content }] }),
    });
  const first: number[] = [];
  const end: number[] = [];
  for (let i = 0; i < TURNS; i++) {
    const start = performance.now();
    const reader = (await ask("hi")).body!.getReader();
    await reader.read();
    first.push(performance.now() - start);
    while (!(await reader.read()).done);
    end.push(performance.now() - start);
  }
  const long: number[] = [];
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    for await (const _ of (await ask(`stream ${DELTAS}`)).body!);
    long.push(performance.now() - start);
  }
  return { firstMs: median(first), endMs: median(end), streamMs: median(long) };
}

/** Milliseconds of one run of hello-world. */
async function timeHello(binary: string): Promise<number> {
  const start = performance.now();
  await new Deno.Command(binary, { stdin: "null", stdout: "piped" }).output();
  return performance.now() - start;
}

async function measureDoor(
  name: string,
  open: (place: Place) => Promise<Door>,
  place: Place,
  hello: { binary: string; rss: number },
  model: { firstMs: number; endMs: number; streamMs: number },
): Promise<void> {
  say(`… ${name}`);
  const hellos: number[] = [];
  const starts: number[] = [];
  const firsts: number[] = [];
  for (let i = 0; i < SAMPLES; i++) {
    // Taken by turns, so that both meet the same neighbours.
    hellos.push(await timeHello(hello.binary));
    await using door = await open(place);
    starts.push(door.startMs);
    firsts.push(await door.newSession());
  }
  record(`${name}: start → first answer`, median(starts) / median(hellos), "× H", 2, 1.4);
  await using door = await open(place);
  const [, ...later] = [await door.newSession(), await door.newSession(), await door.newSession()];
  if (name !== "serve") {
    record(`${name}: new session, first (median of processes)`, median(firsts), "ms", 20, 10);
    record(`${name}: new session, later`, Math.min(...later), "ms", 4, 2);
  }
  const idle = await memoryOf(door.pid);
  record(`${name}: idle memory (PSS)`, idle.pss / hello.rss, "× H", 1.6, 1.3);
  await door.turn("hi");
  const turns = [];
  for (let i = 0; i < TURNS; i++) turns.push(await door.turn("hi"));
  record(
    `${name}: turn, first chunk over the model`,
    median(turns.map((t) => t.firstMs)) - model.firstMs,
    "ms",
    8,
    5,
  );
  record(`${name}: turn, end over the model`, median(turns.map((t) => t.endMs)) - model.endMs, "ms", 10, 6);
  const before = await memoryOf(door.pid);
  const streams = [];
  for (let i = 0; i < 3; i++) streams.push(await door.stream(DELTAS));
  const ms = median(streams.map((s) => s.ms));
  record(`${name}: ${DELTAS} deltas, share of M`, model.streamMs * 100 / ms, "%", 15, 30, "min");
  record(`${name}: ${DELTAS} deltas, tokens per second`, DELTAS * 1000 / ms, "/s", null, null);
  record(
    `${name}: memory after 60,000 deltas`,
    ((await memoryOf(door.pid)).rss - before.rss) / 1024,
    "MiB more",
    null,
    null,
  );
  const cancels: number[] = [];
  for (let i = 0; i < CANCELS; i++) cancels.push(await door.cancel());
  if (name !== "serve") {
    record(`${name}: cancel → cancelled (${CANCELS}, none lost)`, median(cancels), "ms", 15, 6);
  }
  record(`${name}: peak memory`, (await memoryOf(door.pid)).peak / 1024, "MiB", null, null);
  const end = await door.end();
  if (end.code !== 0) throw new Error(`${name} ended with code ${end.code}`);
  record(`${name}: exit`, end.ms, "ms", 100, 50);
}

async function measureHistory(place: Place): Promise<void> {
  say("… 10,000 stored sessions, a session of 5,000 messages");
  const long = await fillSessions(`${place.env["HERMES_HOME"]}/hermes.db`, {
    sessions: 10_000,
    messages: 5_000,
  });
  await using door = await openAcp(place);
  await door.newSession();
  await door.turn("hi");
  const turns = [];
  for (let i = 0; i < TURNS; i++) turns.push((await door.turn("hi")).endMs);
  record("acp: turn with 10,000 stored sessions", median(turns), "ms", null, null);
  await using child = new Child([place.binary, "acp"], place);
  await child.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } });
  await child.line((line) => line.includes('"id":1,'));
  const start = performance.now();
  await child.send({
    jsonrpc: "2.0",
    id: 2,
    method: "session/resume",
    params: { sessionId: long, cwd: place.cwd, mcpServers: [] },
  });
  const opened = await child.line((line) => line.includes('"id":2,'));
  record("acp: resume of a session of 5,000 messages", opened.at - start, "ms", null, null);
  const own: number[] = [];
  for (let i = 0; i < 10; i++) {
    const began = performance.now();
    await child.send({
      jsonrpc: "2.0",
      id: 3 + i,
      method: "session/prompt",
      params: { sessionId: long, prompt: [{ type: "text", text: "hi" }] },
    });
    own.push((await child.line((line) => line.includes("stopReason"))).at - began);
  }
  record("acp: turn in a session of 5,000 messages", median(own), "ms", null, null);
}

const hello = await buildHello();
const model = new Child(
  [Deno.execPath(), "run", "-A", "--no-check", `${ROOT}scripts/bench/model_process.ts`],
  {
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: Deno.env.get("HOME") ?? "/" },
    cwd: ROOT,
  },
);
try {
  const url = `http://127.0.0.1:${(await model.line((line) => /^\d+$/.test(line))).text}/v1`;
  const times: number[] = [];
  for (let i = 0; i < SAMPLES; i++) times.push(await timeHello(hello));
  const waiting = new Child([hello, "wait"], { env: {}, cwd: ROOT });
  await waiting.line((line) => line === "hi");
  const h = { binary: hello, rss: (await memoryOf(waiting.pid)).rss };
  await waiting.end();
  record("H: compiled hello-world", median(times), "ms", null, null);
  record("H: its memory (RSS)", h.rss / 1024, "MiB", null, null);
  const m = await direct(url);
  record("M: instant turn, first byte", m.firstMs, "ms", null, null);
  record(`M: ${DELTAS} deltas`, m.streamMs, "ms", null, null);
  record("binary", (await Deno.stat(BINARY)).size / 2 ** 20, "MiB", 100, null);
  for (const [name, open] of [["acp", openAcp], ["gateway", openGateway], ["serve", openServe]] as const) {
    await measureDoor(name, open, await makePlace(url), h, m);
  }
  say("… many clients at once");
  await measureStreams(rows, makePlace, values.quick);
  await measureHistory(await makePlace(url));
} finally {
  await model.end();
}
say(table(rows));
const report = JSON.stringify({ deno: Deno.version.deno, rows }, null, 2);
if (values.json) await Deno.writeTextFile(values.json, report);
Deno.stdout.writeSync(new TextEncoder().encode(report + "\n"));
