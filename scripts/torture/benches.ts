/** The surfaces on which a turn can be started, each as a bench that plays one and says how it ended. */
import { type ApiServer, startApi } from "../../tests/support/api_driver.ts";
import { patient } from "../../tests/support/patience.ts";
import type { Rig } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";

/** Where a turn can be started. */
export const SURFACES = ["acp", "gateway", "chat", "chat stream", "runs"] as const;
export type Surface = typeof SURFACES[number];

/** What a turn with a failing model may take: two tries and their pauses, and as much again for a slow machine. */
export const TURN_MS = 30_000;

/** How a turn ended, and what a person would read. */
export interface Ended {
  readonly type: "complete" | "error" | "late";
  readonly text: string;
}

/** One door, in a home with something wrong behind or below it. */
export interface Bench extends AsyncDisposable {
  /** A turn in the session that was opened last. */
  turn(text: string): Promise<Ended>;
  /** A fresh session. */
  renew(): Promise<void>;
}

export interface BenchOptions {
  /** Words about a damaged database on stderr are no finding. */
  readonly knowsDamage?: boolean;
  /** Longest turn on an idle machine, in milliseconds. */
  readonly turnMs?: number;
}

type Open = (rig: Rig, judge: Judge, options: BenchOptions) => Bench | Promise<Bench>;

const acpBench: Open = async (rig, judge, options) => {
  const program = new StdioProgram(["acp"], rig, judge, options);
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
      const frame = await program.ask(`p${count++}`, "session/prompt", params, options.turnMs ?? TURN_MS);
      if (frame === null) return { type: "late", text };
      if (frame.error) return { type: "error", text: frame.error.message };
      // A refusal is how this protocol says that a turn went wrong.
      const failed = frame.result.stopReason === "refusal" || /failed|error/i.test(text);
      return { type: failed && !text.includes("Fine.") ? "error" : "complete", text };
    },
    [Symbol.asyncDispose]: () => program.end(),
  };
};

const gatewayBench: Open = (rig, judge, options) => {
  const program = new StdioProgram(["gateway"], rig, judge, options);
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
      const timer = setTimeout(
        () => resolve({ type: "late", text: "" }),
        patient(options.turnMs ?? TURN_MS),
      );
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
  return async (rig, judge, options) => {
    const api = await startApi({ rig, keepConfig: true });
    let count = 0;
    let session = "";
    return {
      renew: () => {
        session = `fault-${count++}`;
        return Promise.resolve();
      },
      turn: async (text) => {
        const signal = AbortSignal.timeout(patient(options.turnMs ?? TURN_MS));
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
        judge.text(
          "stderr",
          options.knowsDamage ? api.stderr().replaceAll(/SQLITE_\w+|constraint failed/g, "") : api.stderr(),
        );
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

export async function openBench(
  surface: Surface,
  rig: Rig,
  judge: Judge,
  options: BenchOptions = {},
): Promise<Bench> {
  return await BENCHES[surface](rig, judge, options);
}
