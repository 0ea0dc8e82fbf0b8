/**
 * Attack on the two stdio doors: conversations with faults in their frames, bytes and order. A few hundred frames per
 * process, so that state builds up; then the program must still answer, end with code 0 and leave nothing behind.
 */
import { patient } from "../../tests/support/patience.ts";
import { makeRig } from "../../tests/support/program.ts";
import { acpRequest } from "./acp_frames.ts";
import { type GatewayMethod, gatewayMethods, type Known, paramsOf } from "./gateway_frames.ts";
import { difference, fingerprint, type Judge } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import { damage, encode, mutate, split } from "./mutate.ts";
import type { Random } from "./random.ts";
import { type Json, StdioProgram } from "./stdio_program.ts";

export type StdioDoor = "acp" | "gateway";

interface Attack {
  readonly door: StdioDoor;
  readonly program: StdioProgram;
  readonly known: Known;
  readonly methods: readonly GatewayMethod[];
  readonly judge: Judge;
  readonly random: Random;
}

const FRAMES_PER_PROCESS = 250;

export async function fuzzStdio(
  door: StdioDoor,
  frames: number,
  judge: Judge,
  random: Random,
): Promise<number> {
  let sent = 0;
  while (sent < frames) {
    const count = Math.min(FRAMES_PER_PROCESS, frames - sent);
    await oneProcess(door, count, judge, random.fork());
    sent += count;
  }
  return sent;
}

async function oneProcess(door: StdioDoor, frames: number, judge: Judge, random: Random): Promise<void> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig({ config: tortureConfig(model.url) });
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "a\n");
  const methods = door === "gateway" ? await gatewayMethods(rig) : [];
  const program = new StdioProgram([door], rig, judge);
  const known: Known = { rig, sessions: [], stored: [], asked: [] };
  const attack: Attack = { door, program, known, methods, judge, random };
  program.onFrame = (frame) => learn(attack, frame);
  await open(attack);
  let n = 0;
  // As long as no turn runs that writes by itself.
  while (n < frames / 5 && await refusedLeavesStore(attack, `s${n}`)) n++;
  for (; n < frames && !program.ended; n++) await oneFrame(attack, `f${n}`);
  await stillWorks(attack);
  const isCut = random.chance(0.3);
  if (isCut) await program.write(encode({ jsonrpc: "2.0", id: "cut", method: "ping" }).slice(0, 12));
  await program.end();
  program.judgeAnswers();
  judge.database(rig);
  await judge.processes(rig);
}

/** Three sessions to begin with. */
async function open({ door, program, known, judge }: Attack): Promise<void> {
  if (door === "acp") {
    await program.ask("init", "initialize", { protocolVersion: 1, clientCapabilities: {} });
  }
  for (let n = 0; n < 3; n++) {
    const params = { cwd: known.rig.workspace, mcpServers: [] };
    const frame = await program.ask(`open${n}`, door === "acp" ? "session/new" : "session.create", params);
    if (!frame?.result) judge.report(`no session: ${JSON.stringify(frame)}`);
  }
}

/** Takes in ids, answers what the program asks. */
function learn({ door, program, known, random }: Attack, frame: Json): void {
  const { sessionId, session_id, stored_session_id } = frame.result ?? {};
  remember(known.sessions, door === "acp" ? sessionId : session_id);
  remember(known.stored, stored_session_id);
  const asked = frame.params?.payload?.request_id ?? (frame.method !== undefined ? frame.id : undefined);
  remember(known.asked, asked);
  if (frame.method === undefined || frame.id === undefined) return;
  // A request of the agent: answered well, badly, twice or not at all.
  const good = { outcome: { outcome: "selected", optionId: random.pick(["allow_once", "deny", "nope"]) } };
  const answer = random.chance(0.6) ? { result: good } : { result: mutate(good, random) };
  const line = `${encode({ jsonrpc: "2.0", id: frame.id, ...answer })}\n`;
  if (random.chance(0.9)) void program.write(random.chance(0.1) ? line + line : line);
}

function remember(list: unknown[], value: unknown): void {
  if (typeof value !== "string" && typeof value !== "number") return;
  if (list.includes(value)) return;
  list.push(value);
  if (list.length > 12) list.shift();
}

interface Request {
  readonly method: string;
  readonly params: unknown;
}

function request({ door, known, methods, random }: Attack): Request {
  if (door === "acp") return acpRequest(known, random);
  const method = random.chance(0.15)
    ? methods.find((m) => m.name === "prompt.submit")!
    : random.pick(methods);
  return { method: method.name, params: paramsOf(method, known, random) };
}

/** One frame, good or bad; an answer is expected when the envelope is a sound request. */
async function oneFrame(attack: Attack, id: string): Promise<void> {
  const { program, random } = attack;
  const { method, params } = request(attack);
  const good = { jsonrpc: "2.0", id, method, params };
  const kind = random.next();
  if (kind < 0.12) return await send(attack, damage(encode(good), random));
  const frame = kind < 0.35
    ? good
    : kind < 0.8
    ? { ...good, params: safe(method, mutate(params, random)) }
    : mutateEnvelope(good, random);
  const line = encode(frame);
  program.note(id, line);
  if (isSoundRequest(frame, id) && !isTooDeep(line)) program.expect(id, line);
  await send(attack, new TextEncoder().encode(line));
}

/** Commands of the machine stay as they are, whatever is mutated around them. */
export function safe(method: string, params: unknown): unknown {
  if (method !== "shell.exec" && method !== "cli.exec") return params;
  if (typeof params !== "object" || params === null) return params;
  const { command, argv, ...rest } = params as Record<string, unknown>;
  return {
    ...rest,
    ...(typeof command === "string" ? { command: "echo torture" } : { command }),
    ...(Array.isArray(argv) ? { argv: ["--version"] } : { argv }),
  };
}

function mutateEnvelope(frame: Record<string, unknown>, random: Random): Record<string, unknown> {
  const { params, ...envelope } = frame;
  const changed = mutate(envelope, random);
  return typeof changed === "object" && !Array.isArray(changed) ? { ...changed, params } : { params };
}

function isSoundRequest(frame: Record<string, unknown>, id: string): boolean {
  const { params } = frame;
  const hasParams = params === undefined || (typeof params === "object" && params !== null) ||
    typeof params === "string";
  return frame["jsonrpc"] === "2.0" && frame["id"] === id && typeof frame["method"] === "string" && hasParams;
}

/** Deeper than the gateway reads: its answer is a parse error without an id. */
function isTooDeep(line: string): boolean {
  return line.includes("[".repeat(513)) || line.includes('{"a":'.repeat(513));
}

async function send({ program, random }: Attack, bytes: Uint8Array): Promise<void> {
  const line = new Uint8Array(bytes.length + 1);
  line.set(bytes);
  line[bytes.length] = 0x0a;
  const isSplit = bytes.length < 2_000 && random.chance(0.2);
  await program.writePieces(isSplit ? [...split(line, random)] : [line]);
}

/** A request that is refused must not have changed sessions or messages. False when it has started something. */
async function refusedLeavesStore(attack: Attack, id: string): Promise<boolean> {
  const { program, known, judge, random } = attack;
  const { method, params } = request(attack);
  const line = encode({ jsonrpc: "2.0", id, method, params: safe(method, mutate(params, random)) });
  if (isTooDeep(line)) return true;
  const before = fingerprint(known.rig);
  program.expect(id, line);
  await program.write(`${line}\n`);
  const answer = await program.answer(id);
  if (!answer?.error) return !/prompt|steer|command|slash|compress|shell|cli/.test(method);
  const after = fingerprint(known.rig);
  if (after !== before) {
    const changes = difference(before, after);
    judge.report(
      `the store has changed (${changes}) although it was refused: ${JSON.stringify(answer.error)}`,
      line,
    );
  }
  return true;
}

async function stillWorks({ door, program, known, judge }: Attack): Promise<void> {
  const params = { cwd: known.rig.workspace, mcpServers: [] };
  const opened = await program.ask("last", door === "acp" ? "session/new" : "session.create", params);
  const session = opened?.result?.sessionId ?? opened?.result?.session_id;
  if (session === undefined) {
    return judge.report(`no session any more: ${JSON.stringify(opened)}${program.stderr.slice(-1_000)}`);
  }
  if (door === "acp") {
    const turn = await program.ask("turn", "session/prompt", {
      sessionId: session,
      prompt: [{ type: "text", text: "hello" }],
    });
    if (turn?.result?.stopReason !== "end_turn") judge.report(`the last turn: ${JSON.stringify(turn)}`);
    return;
  }
  const complete = Promise.withResolvers<Json>();
  const before = program.onFrame;
  program.onFrame = (frame) => {
    before(frame);
    if (frame.params?.type === "message.complete" && frame.params.session_id === session) {
      complete.resolve(frame);
    }
  };
  await program.ask("turn", "prompt.submit", { session_id: session, text: "hello" });
  const timer = setTimeout(() => complete.resolve(null), patient(15_000));
  const frame = await complete.promise;
  clearTimeout(timer);
  const status = frame?.params.payload.status;
  if (status !== "complete") judge.report(`the last turn: ${JSON.stringify(frame)}`);
}
