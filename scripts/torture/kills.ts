/**
 * SIGKILL at seeded moments of turns with tools and approvals, again and again on one home. After each: the database
 * is sound, what the client saw finished is stored, the session goes on, and a strict model accepts its history.
 */
import { patient } from "../../tests/support/patience.ts";
import { startApi } from "../../tests/support/api_driver.ts";
import { makeRig, type Rig } from "../../tests/support/program.ts";
import { type Judge, openDatabase } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import type { Random } from "./random.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";

/** What a client has been told about one session. */
interface Told {
  /** Prompts whose turn was seen to begin. */
  readonly begun: string[];
  /** Final answers of turns that were seen to end. */
  readonly answers: string[];
}

interface Scene {
  readonly rig: Rig;
  readonly judge: Judge;
  readonly random: Random;
  readonly told: Told;
}

/** The moment of a kill: so many frames or milliseconds after the prompt, whichever comes first. */
interface Moment {
  readonly frames: number;
  readonly ms: number;
}

const LONGEST_MS = 900;
const MOST_FRAMES = 45;

export async function tryKills(door: string, kills: number, judge: Judge, random: Random): Promise<number> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig({ config: tortureConfig(model.url) });
  const scene: Scene = { rig, judge, random, told: { begun: [], answers: [] } };
  const session = door === "api" ? "kill-session" : await firstSession(door, scene);
  for (let n = 0; n < kills; n++) {
    const moment = { frames: 1 + random.below(MOST_FRAMES), ms: random.below(LONGEST_MS) };
    if (door === "api") await killServer(session, n, moment, scene);
    else await killStdio(door, session, n, moment, scene);
    judge.database(rig);
    judgeStore(scene, `kill ${n}`);
  }
  if (door === "api") await lastRequest(session, scene);
  else await lastTurn(door, session, scene);
  judgeStore(scene, "the end");
  judge.database(rig);
  await judge.processes(rig);
  return kills;
}

/** Everything the client was told is in the store. */
function judgeStore({ rig, judge, told }: Scene, when: string): void {
  const db = openDatabase(rig);
  if (!db) return told.begun.length === 0 ? undefined : judge.report(`${when}: no database`);
  const texts = db.prepare("SELECT role, content FROM messages").all() as {
    role: string;
    content: string | null;
  }[];
  db.close();
  const of = (role: string) => texts.filter((row) => row.role === role).map((row) => row.content ?? "");
  const [users, assistants] = [of("user"), of("assistant")];
  for (const prompt of told.begun) {
    const count = users.filter((text) => text.includes(prompt)).length;
    if (count !== 1) judge.report(`${when}: ${count} rows of the prompt "${prompt}"`);
  }
  for (const answer of told.answers) {
    if (!assistants.some((text) => text.includes(answer))) {
      judge.report(`${when}: the answer "${answer}" is lost`);
    }
  }
}

// ── stdio ───────────────────────────────────────────────────────────────────────────────────────────────────

async function firstSession(door: string, scene: Scene): Promise<string> {
  const program = await start(door, scene);
  const params = { cwd: scene.rig.workspace, mcpServers: [] };
  const frame = await program.ask("new", door === "acp" ? "session/new" : "session.create", params);
  const id: string = frame?.result?.sessionId ?? frame?.result?.session_id;
  await turn(door, program, id, "prompt-first hello", scene);
  await program.end();
  return door === "acp" ? id : frame.result.stored_session_id;
}

async function start(door: string, { rig, judge }: Scene): Promise<StdioProgram> {
  const program = new StdioProgram([door], rig, judge);
  if (door === "acp") await program.ask("init", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  return program;
}

/** Opens the stored session again; its id in this process. */
async function reopen(door: string, program: StdioProgram, session: string, scene: Scene): Promise<string> {
  const { rig, judge } = scene;
  const frame = door === "acp"
    ? await program.ask("load", "session/load", { sessionId: session, cwd: rig.workspace, mcpServers: [] })
    : await program.ask("load", "session.resume", { session_id: session });
  if (!frame?.result) judge.report(`cannot be opened again: ${JSON.stringify(frame)}`);
  return door === "acp" ? session : frame?.result?.session_id;
}

function promptFrame(door: string, id: string, session: string, text: string): string {
  const [method, params] = door === "acp"
    ? ["session/prompt", { sessionId: session, prompt: [{ type: "text", text }] }]
    : ["prompt.submit", { session_id: session, text }];
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

/** Sends the prompt; resolves at the end of the turn, the end of the program or `moment`. True when it ended. */
async function turn(
  door: string,
  program: StdioProgram,
  session: string,
  text: string,
  scene: Scene,
  moment: Moment = { frames: Infinity, ms: patient(20_000) },
): Promise<boolean> {
  const { told, random } = scene;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const [mark] = text.split(" ") as [string];
  let frames = 0;
  let answer = "";
  program.onFrame = (frame: Json) => {
    const { type, payload } = frame.params ?? {};
    const update = frame.params?.update;
    if ((type === "message.start" || update !== undefined) && !told.begun.includes(mark)) {
      if (type === "message.start" || isOfTurn(update)) told.begun.push(mark);
    }
    if (update?.sessionUpdate === "agent_message_chunk") answer += update.content.text ?? "";
    if (type === "approval.request" && random.chance(0.7)) {
      approve(program, session, payload.request_id, random);
    }
    if (frame.method === "session/request_permission" && random.chance(0.7)) {
      permit(program, frame.id, random);
    }
    const isEnd = type === "message.complete" || frame.id === text;
    const final = /number \d+\./.exec(type === "message.complete" ? payload.text : answer)?.[0];
    if (type === "message.complete" || frame.result?.stopReason === "end_turn") {
      if (final !== undefined) told.answers.push(final);
    }
    if (isEnd && (door === "acp" || type === "message.complete")) resolve(true);
    if (++frames >= moment.frames) resolve(false);
  };
  await program.write(promptFrame(door, text, session, text));
  const timer = setTimeout(() => resolve(false), moment.ms);
  const isOver = await promise;
  clearTimeout(timer);
  return isOver;
}

function isOfTurn(update: Json): boolean {
  return /agent_message_chunk|agent_thought_chunk|tool_call/.test(update.sessionUpdate);
}

function approve(program: StdioProgram, session_id: string, request_id: string, random: Random): void {
  const params = { session_id, request_id, choice: random.pick(["once", "deny"]) };
  void program.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: `a${request_id}`, method: "approval.respond", params })}\n`,
  );
}

function permit(program: StdioProgram, id: unknown, random: Random): void {
  const result = { outcome: { outcome: "selected", optionId: random.pick(["allow_once", "deny"]) } };
  void program.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
}

async function killStdio(
  door: string,
  session: string,
  n: number,
  moment: Moment,
  scene: Scene,
): Promise<void> {
  const program = await start(door, scene);
  const live = await reopen(door, program, session, scene);
  const wish = scene.random.chance(0.75) ? "work" : "hello";
  await turn(door, program, live, `prompt-${n}-of-${door} ${wish}`, scene, moment);
  await program.kill();
}

async function lastTurn(door: string, session: string, scene: Scene): Promise<void> {
  const program = await start(door, scene);
  const live = await reopen(door, program, session, scene);
  const isOver = await turn(door, program, live, "prompt-last hello", scene);
  if (!isOver) scene.judge.report(`the turn after the kills does not end: ${program.stderr.slice(-600)}`);
  const known = scene.told.begun.includes("prompt-last");
  if (!known) {
    scene.judge.report(`the turn after the kills does not begin: ${JSON.stringify(program.frames.at(-1))}`);
  }
  await program.end();
}

// ── HTTP ────────────────────────────────────────────────────────────────────────────────────────────────────

async function killServer(session: string, n: number, moment: Moment, scene: Scene): Promise<void> {
  const { rig, random, judge } = scene;
  const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const api = await startApi({ rig, config });
  const stop = new AbortController();
  const wish = random.chance(0.75) ? "work" : "hello";
  const asks = [
    talk(
      `prompt-${n}-of-chat ${wish}`,
      "/v1/chat/completions",
      (content) => ({ messages: [{ role: "user", content }], stream: true }),
    ),
    talk(`prompt-${n}-of-runs ${wish}`, "/v1/runs", (input) => ({ input })),
  ];
  const timer = setTimeout(() => stop.abort(), moment.ms);
  await new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  clearTimeout(timer);
  await api.stop("SIGKILL");
  await Promise.all(asks);
  judge.text("stderr", api.stderr());

  async function talk(text: string, path: string, body: (text: string) => Json): Promise<void> {
    const headers: Record<string, string> = path.endsWith("runs") ? {} : { "X-Hermes-Session-Id": session };
    try {
      const response = await api.call(path, { body: body(text), headers });
      const answer = await response.text();
      const final = /number \d+\./.exec(answer)?.[0];
      if (final !== undefined && answer.includes("[DONE]")) scene.told.answers.push(final);
    } catch {
      // The server was killed.
    }
  }
}

async function lastRequest(session: string, scene: Scene): Promise<void> {
  const { rig, judge } = scene;
  const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const api = await startApi({ rig, config });
  const body = { messages: [{ role: "user", content: "prompt-last hello" }] };
  const response = await api.chat(body, { headers: { "X-Hermes-Session-Id": session } });
  const text = await response.text();
  if (!text.includes("Answer number")) {
    judge.report(`the request after the kills: ${response.status} ${text.slice(0, 500)}`);
  }
  const { data = [] } = await (await api.call("/v1/runs")).json();
  for (const run of data) {
    if (!["completed", "failed", "cancelled", "interrupted"].includes(run.status)) {
      judge.report(`a run of a killed server is ${run.status}: ${JSON.stringify(run).slice(0, 300)}`);
    }
  }
  const status = await api.stop();
  if (status.code !== 0) {
    judge.report(`ended with ${status.signal ?? status.code}: ${api.stderr().slice(-800)}`);
  }
}
