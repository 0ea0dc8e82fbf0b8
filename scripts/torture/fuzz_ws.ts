/**
 * Attack on the gateway's sockets: bad frames in good messages, good frames in bad messages, and bytes that are no
 * WebSocket at all. Another connection with a session of its own must not notice any of it.
 */
import { makeRig } from "../../tests/support/program.ts";
import { type GatewayMethod, gatewayMethods, type Known, paramsOf } from "./gateway_frames.ts";
import { safe } from "./fuzz_stdio.ts";
import type { Judge } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import { encode, mutate } from "./mutate.ts";
import type { Random } from "./random.ts";
import { TOKEN, WsClient, WsServer } from "./ws_server.ts";

const FRAMES_PER_CONNECTION = 40;
/** A connection that says nothing sensible is kept for so long. */
const RAW_MS = 300;
const encoder = new TextEncoder();

export async function fuzzWebSocket(frames: number, judge: Judge, random: Random): Promise<number> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig({ config: tortureConfig(model.url) });
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "a\n");
  const methods = await gatewayMethods(rig);
  const known: Known = { rig, sessions: [], stored: [], asked: [] };
  {
    await using server = await new WsServer(rig, judge).ready();
    const witness = await server.connect();
    const opened = await witness.ask("open", "session.create", { cwd: rig.workspace });
    const own: string = opened?.result?.session_id;
    for (let sent = 0, n = 0; sent < frames; sent += FRAMES_PER_CONNECTION, n++) {
      const count = Math.min(FRAMES_PER_CONNECTION, frames - sent);
      await oneConnection(server, methods, known, count, judge, random.fork());
      await rawConnection(server, random.fork());
      if (n % 5 === 0) await judgeWitness(witness, own, n, judge);
    }
    await judgeWitness(witness, own, -1, judge);
    await witness.close();
  }
  judge.database(rig);
  await judge.processes(rig);
  return frames;
}

async function judgeWitness(witness: WsClient, session: string, n: number, judge: Judge): Promise<void> {
  const end = await witness.turn(session, `witness${n} hello`);
  if (end?.status !== "complete") judge.report(`the witness's turn ${n}: ${JSON.stringify(end)}`);
}

/** A client whose messages are good as WebSocket and mostly bad as frames. */
async function oneConnection(
  server: WsServer,
  methods: readonly GatewayMethod[],
  known: Known,
  frames: number,
  judge: Judge,
  random: Random,
): Promise<void> {
  const client = await server.connect();
  const session = await client.ask("open", "session.create", { cwd: known.rig.workspace });
  if (!session?.result) judge.report(`no session: ${JSON.stringify(session)}`);
  const mine: Known = { ...known, sessions: [session?.result?.session_id], stored: [], asked: [] };
  const expected: string[] = [];
  for (let n = 0; n < frames && client.isOpen; n++) {
    const method = random.pick(methods);
    const params = safe(method.name, mutate(paramsOf(method, mine, random), random));
    const frame = { jsonrpc: "2.0", id: `f${n}`, method: method.name, params };
    const line = encode(frame);
    const kind = random.next();
    if (kind < 0.75) {
      client.send(line);
      if (params !== null && typeof params === "object" && !Array.isArray(params) && line.length < 100_000) {
        expected.push(`f${n}`);
      }
    } else client.send(oddMessage(line, random));
  }
  const leaves = random.next();
  // Some leave without waiting for anything.
  if (leaves < 0.3) return await client.close();
  if (!(await client.ask("last", "session.list", {})) && client.isOpen) {
    judge.report("no answer at the end of the connection");
  }
  for (const id of client.isOpen ? expected : []) {
    const count = client.answersTo(id).length;
    if (count > 1) judge.report(`${count} answers to ${id}`);
  }
  await client.close();
}

function oddMessage(line: string, random: Random): string | Uint8Array<ArrayBuffer> {
  return random.pick<() => string | Uint8Array<ArrayBuffer>>([
    () => "",
    () => "\n",
    () => line.slice(0, random.below(line.length)),
    () => `${line}\n${line}`,
    () => `[${line}]`,
    () => encoder.encode(line),
    () => new Uint8Array([0xff, 0xfe, 0x00]),
    () => new Uint8Array(0),
    () => "[".repeat(20_000),
    () => "null",
  ])();
}

/** A handshake by hand, well or badly, and then bytes that a WebSocket does not send. */
async function rawConnection(server: WsServer, random: Random): Promise<void> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const { promise, resolve } = Promise.withResolvers<void>();
  // Half a handshake is waited for longer than this attack takes.
  const timer = setTimeout(resolve, RAW_MS);
  // Whatever breaks here: the server has closed the connection, as it should.
  const exchange = writeOddly(connection, server.port, random).catch(() => {});
  await Promise.race([exchange, promise]);
  clearTimeout(timer);
  close(connection);
}

async function writeOddly(connection: Deno.TcpConn, port: number, random: Random): Promise<void> {
  await connection.write(encoder.encode(oddHandshake(port, random)));
  for (let n = 0; n < 1 + random.below(4); n++) await connection.write(oddBytes(random));
  if (random.chance(0.5)) await connection.closeWrite();
  if (random.chance(0.5)) await connection.read(new Uint8Array(2_000));
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}

function oddHandshake(port: number, random: Random): string {
  const path = random.pick([
    `/api/ws?token=${TOKEN}`,
    "/api/ws",
    "/api/ws?token=",
    "/",
    "/api/ws?ticket=x",
    "/%00",
  ]);
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${random.pick([`127.0.0.1:${port}`, "evil.example", ""])}`,
    "Connection: Upgrade",
    `Upgrade: ${random.pick(["websocket", "h2c"])}`,
    `Sec-WebSocket-Version: ${random.pick(["13", "7", "x"])}`,
    `Sec-WebSocket-Key: ${random.pick(["dGhlIHNhbXBsZSBub25jZQ==", "short", ""])}`,
    ...random.pick([[], ["Origin: https://evil.example"], ["Sec-WebSocket-Protocol: a,b, c"]]),
  ];
  return `${lines.slice(0, 1 + random.below(lines.length)).join("\r\n")}\r\n${
    random.chance(0.85) ? "\r\n" : ""
  }`;
}

/** Heads of frames: not masked, of a reserved kind, with a length that never comes, cut, too long a control frame. */
function oddBytes(random: Random): Uint8Array {
  return Uint8Array.from(random.pick([
    [0x81, 0x05, 1, 2, 3, 4, 5],
    [0x83, 0x80, 0, 0, 0, 0],
    [0xf1, 0x80, 0, 0, 0, 0],
    [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
    [0x81, 0xfe, 0xff, 0xff, 0, 0, 0, 0, 0x7b],
    [0x01, 0x82, 0, 0, 0, 0, 0x7b, 0x22],
    [0x80, 0x81, 0, 0, 0, 0, 0x7d],
    [0x81, 0x82, 0, 0, 0, 0, 0xc3, 0x28],
    [0x89, 0xfe, 0x00, 0x80, 0, 0, 0, 0],
    [0x88, 0x82, 0, 0, 0, 0, 0x00, 0x01],
    [0x88, 0x80, 0, 0, 0, 0],
    Array.from({ length: 64 }, () => random.below(256)),
  ]));
}
