/** One turn after the other through each door, as `soak.ts` plays them: `complete`, or how it ended instead. */
import { type ApiServer, readSse, startApi } from "../../tests/support/api_driver.ts";
import type { Rig } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";
import { turnOn } from "./turns.ts";
import { WsServer } from "./ws_server.ts";

/** A door under load. */
export interface SoakDoor {
  readonly name: string;
  readonly pid: number;
  turn(n: number): Promise<string>;
  end(): Promise<void>;
}

/** A new session for so many turns, each fourth of which works with tools; its question is refused. */
const PER_SESSION = 16;
const TURN_MS = 60_000;
const textOf = (n: number) => `${n} ${n % 4 === 3 ? "work" : "hello"}`;

export async function openDoors(rig: Rig, judge: Judge): Promise<readonly SoakDoor[]> {
  return [openGateway(rig, judge), await acp(rig, judge), await sockets(rig, judge), await serve(rig, judge)];
}

export function openGateway(rig: Rig, judge: Judge): SoakDoor {
  const program = new StdioProgram(["gateway"], rig, judge);
  let session = "";
  return {
    name: "gateway",
    pid: program.child.pid,
    turn: async (n) => {
      if (n % PER_SESSION === 0) {
        if (session !== "") await program.ask(`close${n}`, "session.close", { session_id: session });
        const opened = await program.ask(`new${n}`, "session.create", { cwd: rig.workspace });
        session = opened?.result?.session_id ?? "";
      }
      const status = await turnOn(program, session, textOf(n), TURN_MS);
      program.forget();
      return status;
    },
    end: () => program.end(),
  };
}

async function acp(rig: Rig, judge: Judge): Promise<SoakDoor> {
  const program = new StdioProgram(["acp"], rig, judge);
  await program.ask("init", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  program.onFrame = (frame: Json) => {
    if (frame.method !== "session/request_permission") return;
    const result = { outcome: { outcome: "selected", optionId: "deny" } };
    void program.write(`${JSON.stringify({ jsonrpc: "2.0", id: frame.id, result })}\n`);
  };
  let session = "";
  return {
    name: "acp",
    pid: program.child.pid,
    turn: async (n) => {
      if (n % PER_SESSION === 0) {
        if (session !== "") await program.ask(`close${n}`, "session/close", { sessionId: session });
        const opened = await program.ask(`new${n}`, "session/new", { cwd: rig.workspace, mcpServers: [] });
        session = opened?.result?.sessionId ?? "";
      }
      const prompt = [{ type: "text", text: textOf(n) }];
      const frame = await program.ask(`p${n}`, "session/prompt", { sessionId: session, prompt }, TURN_MS);
      program.forget();
      return frame?.result?.stopReason === "end_turn" ? "complete" : JSON.stringify(frame);
    },
    end: () => program.end(),
  };
}

/** Each session has a connection of its own. */
async function sockets(rig: Rig, judge: Judge): Promise<SoakDoor> {
  const server = await new WsServer(rig, judge).ready();
  let client = await server.connect();
  let session = "";
  return {
    name: "gateway --ws",
    pid: server.child.pid,
    turn: async (n) => {
      if (n % PER_SESSION === 0) {
        if (session !== "") await client.ask(`close${n}`, "session.close", { session_id: session });
        await client.close();
        client = await server.connect();
        const opened = await client.ask(`new${n}`, "session.create", { cwd: rig.workspace });
        session = opened?.result?.session_id ?? "";
        const [live, now] = [session, client];
        now.onFrame = ({ params }: Json) => {
          if (params?.type !== "approval.request") return;
          const answer = { session_id: live, request_id: params.payload.request_id, choice: "deny" };
          const id = `d${answer.request_id}`;
          now.send(JSON.stringify({ jsonrpc: "2.0", id, method: "approval.respond", params: answer }));
        };
      }
      const end = await client.turn(session, textOf(n), TURN_MS);
      client.forget();
      return end?.status ?? JSON.stringify(end ?? "late");
    },
    end: async () => {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

async function serve(rig: Rig, judge: Judge): Promise<SoakDoor> {
  const api = await startApi({ rig, keepConfig: true });
  return {
    name: "serve",
    pid: api.process.pid,
    turn: (n) => request(api, n),
    end: async () => {
      const { code } = await api.stop();
      if (code !== 0) judge.report(`serve ended with ${code}: ${api.stderr().slice(-400)}`);
      judge.text("stderr", api.stderr());
    },
  };
}

/** In turn: a chat, its stream, a response, and a run with tools, of which the events are read. */
async function request(api: ApiServer, n: number): Promise<string> {
  const session = `soak-${Math.floor(n / PER_SESSION)}`;
  const signal = AbortSignal.timeout(TURN_MS);
  const options = { headers: { "X-Hermes-Session-Id": session }, signal };
  const messages = [{ role: "user", content: `${n} hello` }];
  if (n % 4 < 2) {
    const response = await api.chat({ messages, stream: n % 2 === 1 }, options);
    return wholeIf(response, await response.text(), "number");
  }
  if (n % 4 === 2) {
    const response = await api.call("/v1/responses", { ...options, body: { input: `${n} hello` } });
    return wholeIf(response, await response.text(), "number");
  }
  const started = await api.call("/v1/runs", { body: { input: `${n} work`, session_id: session }, signal });
  const text = await started.text();
  if (!started.ok) return `${started.status} ${text.slice(0, 300)}`;
  const path = `/v1/runs/${JSON.parse(text).run_id}`;
  const events = await api.call(`${path}/events`, { signal });
  for await (const { json } of readSse(events)) {
    if (json?.event !== "approval.request") continue;
    const answer = await api.call(`${path}/approval`, { body: { choice: "deny" }, signal });
    await answer.body?.cancel();
  }
  const run = await (await api.call(path, { signal })).json();
  return run.status === "completed" ? "complete" : JSON.stringify(run).slice(0, 300);
}

function wholeIf(response: Response, text: string, part: string): string {
  return response.ok && text.includes(part) ? "complete" : `${response.status} ${text.slice(0, 300)}`;
}
