/**
 * Mixed load through all doors for some time: turns with and without tools, sessions that come and go. Told at the
 * end: how memory, open files and the time of a turn have moved since the warm-up. Files that pile up are a finding.
 */
import { startApi } from "../../tests/support/api_driver.ts";
import { makeRig } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";
import { turnOn } from "./turns.ts";

/** Open files that may come and go. */
const FILES_SLACK = 12;
const SAMPLE_MS = 1_000;

interface Sample {
  readonly at: number;
  readonly rss: number;
  readonly files: number;
}

interface Load {
  readonly name: string;
  readonly pid: number;
  readonly samples: Sample[];
  /** Milliseconds of each plain turn. */
  readonly turns: number[];
}

export async function soak(seconds: number, judge: Judge, say: (text: string) => void): Promise<number> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig({ config: tortureConfig(model.url) });
  const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const end = performance.now() + seconds * 1_000;
  const gateway = new StdioProgram(["gateway"], rig, judge);
  const acp = new StdioProgram(["acp"], rig, judge);
  await acp.ask("init", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  const api = await startApi({ rig, config });
  const loads: readonly Load[] = [
    { name: "gateway", pid: gateway.child.pid, samples: [], turns: [] },
    { name: "acp", pid: acp.child.pid, samples: [], turns: [] },
    { name: "serve", pid: api.process.pid, samples: [], turns: [] },
  ];
  const opened: readonly Open[] = [{ session: "" }, { session: "" }];
  const isOver = () => performance.now() > end;
  const timer = setInterval(() => loads.forEach((load) => void sample(load)), SAMPLE_MS);
  await Promise.all([
    forever(loads[0]!, isOver, judge, (n) => gatewayTurn(gateway, opened[0]!, n, rig.workspace)),
    forever(loads[1]!, isOver, judge, (n) => acpTurn(acp, opened[1]!, n, rig.workspace)),
    forever(loads[2]!, isOver, judge, async (n) => {
      const headers = { "X-Hermes-Session-Id": `soak-${n >> 4}` };
      const body = { messages: [{ role: "user", content: "hello" }], stream: n % 2 === 0 };
      const response = await api.chat(body, { headers });
      const text = await response.text();
      return text.includes("number") ? "complete" : `${response.status} ${text.slice(0, 300)}`;
    }),
  ]);
  clearInterval(timer);
  for (const load of loads) judgeLoad(load, judge, say);
  await Promise.all([gateway.end(), acp.end(), api.stop()]);
  judge.text("stderr", api.stderr());
  judge.database(rig);
  await judge.processes(rig);
  return loads.reduce((sum, { turns }) => sum + turns.length, 0);
}

async function forever(
  load: Load,
  isOver: () => boolean,
  judge: Judge,
  turn: (n: number) => Promise<string>,
): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const started = performance.now();
    const status = await turn(n);
    load.turns.push(performance.now() - started);
    if (status !== "complete") {
      judge.report(`${load.name}, turn ${n}: ${status}`);
      if (judge.findings.length > 20) return;
    }
  }
}

/** The session that a door has open. */
interface Open {
  session: string;
}

/** A new session for every sixteen turns; each fourth turn works with tools, its question is refused. */
async function gatewayTurn(program: StdioProgram, open: Open, n: number, cwd: string): Promise<string> {
  if (n % 16 === 0) {
    if (open.session !== "") await program.ask(`close${n}`, "session.close", { session_id: open.session });
    open.session = (await program.ask(`new${n}`, "session.create", { cwd }))?.result?.session_id ?? "";
  }
  const status = await turnOn(program, open.session, `${n} ${n % 4 === 3 ? "work" : "hello"}`, 30_000);
  program.frames.length = 0;
  return status;
}

async function acpTurn(program: StdioProgram, open: Open, n: number, cwd: string): Promise<string> {
  if (n % 16 === 0) {
    if (open.session !== "") await program.ask(`close${n}`, "session/close", { sessionId: open.session });
    open.session =
      (await program.ask(`new${n}`, "session/new", { cwd, mcpServers: [] }))?.result?.sessionId ?? "";
  }
  program.onFrame = (frame: Json) => {
    if (frame.method !== "session/request_permission") return;
    const result = { outcome: { outcome: "selected", optionId: "deny" } };
    void program.write(`${JSON.stringify({ jsonrpc: "2.0", id: frame.id, result })}\n`);
  };
  const prompt = [{ type: "text", text: `${n} ${n % 4 === 3 ? "work" : "hello"}` }];
  const frame = await program.ask(`p${n}`, "session/prompt", { sessionId: open.session, prompt }, 30_000);
  program.frames.length = 0;
  return frame?.result?.stopReason === "end_turn" ? "complete" : JSON.stringify(frame);
}

async function sample({ pid, samples }: Load): Promise<void> {
  try {
    const status = await Deno.readTextFile(`/proc/${pid}/status`);
    const files = [...Deno.readDirSync(`/proc/${pid}/fd`)].length;
    samples.push({ at: performance.now(), rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024, files });
  } catch {
    // No /proc on this system, or the process has ended.
  }
}

function judgeLoad({ name, samples, turns }: Load, judge: Judge, say: (text: string) => void): void {
  // The first third is warm-up.
  const flat = samples.slice(Math.floor(samples.length / 3));
  const [first, last] = [flat[0], flat.at(-1)];
  if (!first || !last || flat.length < 3) {
    return say(`  ${name}: ${turns.length} turns, too short to measure`);
  }
  const minutes = (last.at - first.at) / 60_000;
  const slope = slopeOf(flat.map(({ at, rss }) => [at / 60_000, rss]));
  const third = Math.ceil(turns.length / 3);
  const [early, late] = [medianOf(turns.slice(third, 2 * third)), medianOf(turns.slice(-third))];
  say(
    `  ${name}: ${turns.length} turns, memory ${last.rss.toFixed(0)} MiB (${
      slope.toFixed(2)
    } MiB a minute over ${minutes.toFixed(1)} minutes), ${last.files} open files, a turn ${
      early.toFixed(0)
    } → ${late.toFixed(0)} ms`,
  );
  if (last.files > first.files + FILES_SLACK) {
    judge.report(`${name}: open files grew from ${first.files} to ${last.files}`);
  }
}

/** Least squares. */
function slopeOf(points: readonly (readonly [number, number])[]): number {
  const n = points.length;
  const [x, y] = [0, 1].map((i) => points.reduce((sum, point) => sum + point[i]!, 0) / n) as [number, number];
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return over / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}
