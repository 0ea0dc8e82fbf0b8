/**
 * Plays every fault of the model on a door: the turn must end in a bounded time, as an answer or as an error that says
 * so; the turn after it must work, and the process must still end well.
 */
import { type ApiServer, startApi } from "../../tests/support/api_driver.ts";
import { makeRig, type Rig } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";
import type { ModelFault } from "./faults.ts";
import { type FaultyModel, startFaultyModel } from "./faulty_model.ts";
import { tortureConfig } from "./model.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";

/** Where a turn can be started. */
export const SURFACES = ["acp", "gateway", "chat", "chat stream", "runs"] as const;
export type Surface = typeof SURFACES[number];

/** Seconds a model call may take in these attacks; a local model has no other limit. */
const CALL_SECONDS = 3;
/** What a turn with a failing model may take: two tries and their pauses, and as much again for a slow machine. */
const TURN_MS = 30_000;

/** How a turn ended, and what a person would read. */
interface Ended {
  readonly type: "complete" | "error" | "late";
  readonly text: string;
}

/** One door with the faulty model behind it. */
interface Bench extends AsyncDisposable {
  /** A turn in the session of this fault. */
  turn(text: string): Promise<Ended>;
  /** A fresh session. */
  renew(): Promise<void>;
}

export async function tryFaults(
  surface: Surface,
  faults: readonly ModelFault[],
  judge: Judge,
): Promise<number> {
  await using model = await startFaultyModel();
  await using rig = await makeRig({
    config: tortureConfig(model.url),
    env: { HERMES_API_TIMEOUT: `${CALL_SECONDS}` },
  });
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "a\n");
  {
    await using bench = await BENCHES[surface](rig, judge);
    for (const fault of faults) await oneFault(fault, bench, model, judge);
  }
  judge.database(rig);
  await judge.processes(rig);
  return faults.length;
}

async function oneFault(fault: ModelFault, bench: Bench, model: FaultyModel, judge: Judge): Promise<void> {
  await bench.renew();
  model.break(fault.play, fault.times ?? 1);
  const started = performance.now();
  const ended = await bench.turn("hello");
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  model.left = 0;
  const tell = (what: string) =>
    judge.report(`${fault.name}: ${what} (${seconds} s): ${ended.text.slice(0, 300)}`);
  judge.text(`the end of the turn after "${fault.name}"`, ended.text.slice(0, 50_000));
  if (ended.type === "late") tell(`the turn did not end within ${TURN_MS} ms`);
  else if (fault.end !== undefined && ended.type !== fault.end) tell(`ended as ${ended.type}`);
  if (ended.type === "error" && ended.text.trim() === "") tell("an error without a word");
  const next = await bench.turn("again");
  if (next.type !== "complete" || !next.text.includes("Fine.")) {
    judge.report(`${fault.name}: the next turn ended as ${next.type}: ${next.text.slice(0, 400)}`);
  }
}

type Open = (rig: Rig, judge: Judge) => Bench | Promise<Bench>;

const acpBench: Open = async (rig, judge) => {
  const program = new StdioProgram(["acp"], rig, judge);
  await program.ask("init", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  let count = 0;
  let sessionId = "";
  let text = "";
  program.onFrame = (frame: Json) => {
    const update = frame.params?.update;
    if (update?.sessionUpdate === "agent_message_chunk") text += update.content.text ?? "";
    if (frame.method === "session/request_permission") {
      void program.write(
        `${
          JSON.stringify({ jsonrpc: "2.0", id: frame.id, result: { outcome: { outcome: "cancelled" } } })
        }\n`,
      );
    }
  };
  return {
    renew: async () => {
      const frame = await program.ask(`n${count++}`, "session/new", { cwd: rig.workspace, mcpServers: [] });
      sessionId = frame?.result?.sessionId ?? "";
    },
    turn: async (prompt) => {
      text = "";
      const params = { sessionId, prompt: [{ type: "text", text: prompt }] };
      const frame = await program.ask(`p${count++}`, "session/prompt", params, TURN_MS);
      if (frame === null) return { type: "late", text };
      if (frame.error) return { type: "error", text: frame.error.message };
      // A refusal is how this protocol says that a turn went wrong.
      const failed = frame.result.stopReason === "refusal" || /failed|error/i.test(text);
      return { type: failed && !text.includes("Fine.") ? "error" : "complete", text };
    },
    [Symbol.asyncDispose]: () => program.end(),
  };
};

const gatewayBench: Open = (rig, judge) => {
  const program = new StdioProgram(["gateway"], rig, judge);
  let count = 0;
  let session = "";
  let ended: (ended: Ended) => void = () => {};
  program.onFrame = ({ params }: Json) => {
    if (params?.type !== "message.complete" || params.session_id !== session) return;
    const { status, text = "", error, warning } = params.payload;
    ended({
      type: status === "complete" ? "complete" : "error",
      text: [text, error, warning].filter(Boolean).join(" "),
    });
  };
  return {
    renew: async () => {
      const frame = await program.ask(`n${count++}`, "session.create", { cwd: rig.workspace });
      session = frame?.result?.session_id ?? "";
    },
    turn: async (text) => {
      const { promise, resolve } = Promise.withResolvers<Ended>();
      ended = resolve;
      const timer = setTimeout(() => resolve({ type: "late", text: "" }), TURN_MS);
      const answer = await program.ask(`p${count++}`, "prompt.submit", { session_id: session, text });
      if (answer?.error) resolve({ type: "error", text: answer.error.message });
      const end = await promise;
      clearTimeout(timer);
      return end;
    },
    [Symbol.asyncDispose]: () => program.end(),
  };
};

/** The server, and one turn over it. */
interface Served {
  readonly api: ApiServer;
  readonly session: string;
  readonly judge: Judge;
  readonly signal: AbortSignal;
}

function apiBench(turn: (text: string, served: Served) => Promise<Ended>): Open {
  return async (rig, judge) => {
    const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
    const api = await startApi({ rig, config });
    let count = 0;
    let session = "";
    return {
      renew: () => {
        session = `fault-${count++}`;
        return Promise.resolve();
      },
      turn: async (text) => {
        const signal = AbortSignal.timeout(TURN_MS);
        try {
          return await turn(text, { api, session, judge, signal });
        } catch (error) {
          return signal.aborted
            ? { type: "late", text: "" }
            : { type: "error", text: `the connection broke: ${error}` };
        }
      },
      [Symbol.asyncDispose]: async () => {
        const status = await api.stop();
        if (status.code !== 0) {
          judge.report(`ended with ${status.signal ?? status.code}: ${api.stderr().slice(-800)}`);
        }
        judge.text("stderr", api.stderr());
      },
    };
  };
}

function chatTurn(stream: boolean) {
  return async (content: string, { api, session, judge, signal }: Served): Promise<Ended> => {
    const body = { messages: [{ role: "user", content }], stream };
    const response = await api.chat(body, { headers: { "X-Hermes-Session-Id": session }, signal });
    const text = await response.text();
    if (response.status === 500) judge.report(`500: ${text.slice(0, 600)}`);
    if (stream && response.ok && !text.includes("[DONE]")) {
      judge.report(`the stream has no end: ${text.slice(-400)}`);
    }
    const failed = !response.ok || /"finish_reason":\s*"error"|"error":\s*\{|event: error/.test(text);
    return { type: failed ? "error" : "complete", text };
  };
}

/** The events are read to their end; then the status says the same as the last of them. */
async function runTurn(input: string, { api, session, judge, signal }: Served): Promise<Ended> {
  const started = await api.call("/v1/runs", { body: { input, session_id: session }, signal });
  const text = await started.text();
  if (!started.ok) return { type: "error", text };
  const { run_id } = JSON.parse(text);
  const events = await (await api.call(`/v1/runs/${run_id}/events`, { signal })).text();
  const run = await (await api.call(`/v1/runs/${run_id}`, { signal })).json();
  const last = [...events.matchAll(/"run\.(completed|failed|cancelled|interrupted)"/g)].at(-1)?.[1];
  if (last !== run.status) judge.report(`the events end with ${last}, the run is ${run.status}`);
  const said = run.status === "completed" ? run.output : run.error?.message ?? run.error;
  const shown = typeof said === "string" ? said : JSON.stringify(said ?? "");
  return { type: run.status === "completed" ? "complete" : "error", text: shown };
}

const BENCHES: Readonly<Record<Surface, Open>> = {
  acp: acpBench,
  gateway: gatewayBench,
  chat: apiBench(chatTurn(false)),
  "chat stream": apiBench(chatTurn(true)),
  runs: apiBench(runTurn),
};
