/** Four programs of different doors on one home, turn by turn at the same time: everything is stored, once. */
import { startApi } from "../../tests/support/api_driver.ts";
import type { Rig } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";
import { StdioProgram } from "./stdio_program.ts";
import { turnOn } from "./turns.ts";
import { WsServer } from "./ws_server.ts";

const TURNS = 5;
/** How many prompts are stored when all of them are. */
export const PROMPTS = 4 * TURNS;

type Turn = (text: string) => Promise<string>;

export async function fourDoors(rig: Rig, judge: Judge): Promise<void> {
  const doors = { gateway, acp, api, sockets };
  await Promise.all(
    Object.entries(doors).map(([name, door]) =>
      door(rig, judge, async (turn) => {
        for (let n = 0; n < TURNS; n++) {
          const status = await turn(`${name}-${n} hello`);
          if (status !== "complete") judge.report(`turn ${n} of ${name} is ${status}`);
        }
      })
    ),
  );
}

type Door = (rig: Rig, judge: Judge, work: (turn: Turn) => Promise<void>) => Promise<void>;

const gateway: Door = async (rig, judge, work) => {
  const program = new StdioProgram(["gateway"], rig, judge);
  const opened = await program.ask("new", "session.create", { cwd: rig.workspace });
  await work((text) => turnOn(program, opened?.result?.session_id, text));
  await program.end();
};

const acp: Door = async (rig, judge, work) => {
  const program = new StdioProgram(["acp"], rig, judge);
  await program.ask("init", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  const opened = await program.ask("new", "session/new", { cwd: rig.workspace, mcpServers: [] });
  await work(async (text) => {
    const params = { sessionId: opened?.result?.sessionId, prompt: [{ type: "text", text }] };
    const frame = await program.ask(text, "session/prompt", params, 20_000);
    return frame?.result?.stopReason === "end_turn" ? "complete" : JSON.stringify(frame);
  });
  await program.end();
};

const api: Door = async (rig, judge, work) => {
  const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const server = await startApi({ rig, config });
  await work(async (content) => {
    const headers = { "X-Hermes-Session-Id": "four-doors" };
    const response = await server.chat({ messages: [{ role: "user", content }] }, { headers });
    const text = await response.text();
    return response.ok && text.includes("Answer number") ? "complete" : `${response.status} ${text}`;
  });
  const status = await server.stop();
  if (status.code !== 0) judge.report(`serve ended with ${status.code}: ${server.stderr().slice(-400)}`);
  judge.text("stderr", server.stderr());
};

const sockets: Door = async (rig, judge, work) => {
  await using server = await new WsServer(rig, judge).ready();
  const client = await server.connect();
  const opened = await client.ask("new", "session.create", { cwd: rig.workspace });
  await work(async (text) => (await client.turn(opened?.result?.session_id, text))?.status ?? "late");
  await client.close();
};
