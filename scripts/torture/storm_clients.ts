/**
 * The bad clients of a storm and the model that serves them, on a thread of their own. Says first where the model is;
 * then started by an order, ended by `null`; answers `null` when all clients have begun, and at the end what a patient
 * one among them found.
 */
import { type ModelServer, startModelServer } from "../../tests/support/model_server.ts";
import { Judge } from "./judge.ts";
import { Random } from "./random.ts";
import type { Json } from "./stdio_program.ts";
import { connectTo, TOKEN, type WsClient } from "./ws_server.ts";

const encoder = new TextEncoder();

export interface StormOrder {
  readonly port: number;
  readonly workspace: string;
  readonly clients: number;
  readonly seed: number;
}

type Bad = (order: StormOrder, judge: Judge, random: Random, signal: AbortSignal) => Promise<void>;

const KINDS: readonly Bad[] = [unread, silent, leaving, flooding, forOthers, slow];

async function badClient(
  order: StormOrder,
  judge: Judge,
  n: number,
  random: Random,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await KINDS[n % KINDS.length]!(order, judge, random, signal).catch(() => {/* it was thrown out */});
    await pause(20);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function withSession(
  { port, workspace }: StormOrder,
  judge: Judge,
): Promise<{ client: WsClient; session: string }> {
  const client = await connectTo(port, judge);
  const opened = await client.ask("open", "session.create", { cwd: workspace });
  return { client, session: opened?.result?.session_id };
}

function request(id: string, method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** A masked text frame, as a browser would send it. */
function textFrame(text: string): Uint8Array {
  const body = encoder.encode(text);
  const head = body.length < 126
    ? [0x81, 0x80 | body.length]
    : [0x81, 0xfe, body.length >> 8, body.length & 0xff];
  return Uint8Array.from([...head, 0, 0, 0, 0, ...body]);
}

/** A raw socket that asks for much and reads nothing. */
async function unread(
  { port, workspace }: StormOrder,
  _: Judge,
  __: Random,
  signal: AbortSignal,
): Promise<void> {
  using socket = await Deno.connect({ hostname: "127.0.0.1", port });
  const head = [
    `GET /api/ws?token=${TOKEN} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  await socket.write(encoder.encode(`${head.join("\r\n")}\r\n\r\n`));
  await socket.write(textFrame(request("a", "session.create", { cwd: workspace })));
  let text = "";
  const buffer = new Uint8Array(4_096);
  for (let n = 0; n < 40 && !/"session_id":"(\w+)"/.test(text); n++) {
    const size = await socket.read(buffer);
    if (size === null) return;
    text += new TextDecoder().decode(buffer.subarray(0, size));
  }
  const session_id = /"session_id":"(\w+)"/.exec(text)?.[1];
  await socket.write(textFrame(request("b", "prompt.submit", { session_id, text: "flood" })));
  for (let n = 0; n < 20 && !signal.aborted; n++) await pause(100);
}

/** Never answers what it is asked. */
async function silent(order: StormOrder, judge: Judge, _: Random, signal: AbortSignal): Promise<void> {
  const { client, session } = await withSession(order, judge);
  client.send(request("p", "prompt.submit", { session_id: session, text: "risky" }));
  for (let n = 0; n < 20 && !signal.aborted; n++) await pause(100);
  await client.close();
}

/** Leaves in the middle and comes back at once, again and again. */
async function leaving(order: StormOrder, judge: Judge, random: Random): Promise<void> {
  const { client, session } = await withSession(order, judge);
  client.send(request("p", "prompt.submit", { session_id: session, text: "flood" }));
  await pause(random.below(60));
  await client.close();
  await Promise.all(Array.from({ length: 5 }, async () => (await connectTo(order.port, judge)).close()));
}

async function flooding(order: StormOrder, judge: Judge): Promise<void> {
  const { client, session } = await withSession(order, judge);
  for (let n = 0; n < 300; n++) client.send(request(`s${n}`, "session.status", { session_id: session }));
  await client.ask("last", "session.list", {});
  await client.close();
}

/** Answers questions of others, of nobody, and its own twice. */
async function forOthers(order: StormOrder, judge: Judge): Promise<void> {
  const { client, session } = await withSession(order, judge);
  client.onFrame = ({ params }: Json) => {
    if (params?.type !== "approval.request") return;
    const answer = { session_id: session, request_id: params.payload.request_id, choice: "deny" };
    for (const id of ["1", "2"]) {
      client.send(request(`${id}${answer.request_id}`, "approval.respond", answer));
    }
  };
  for (let n = 0; n < 20; n++) {
    client.send(
      request(`x${n}`, "approval.respond", { session_id: "ffffffff", request_id: `${n}`, choice: "once" }),
    );
  }
  await client.turn(session, "risky", 3_000);
  await client.close();
}

/** Waits its turn in the middle of the others; it must be served. */
async function slow(order: StormOrder, judge: Judge, _: Random, signal: AbortSignal): Promise<void> {
  const { client, session } = await withSession(order, judge);
  const end = await client.turn(session, "hello", 10_000);
  if (end !== null && end.status !== "complete" && !signal.aborted) {
    judge.report(`a patient client's turn: ${JSON.stringify(end)}`);
  }
  await pause(200);
  await client.close();
}

/** Floods, asks for a dangerous command, or answers in a word. */
function startStormModel(): Promise<ModelServer> {
  const long = Array.from({ length: 2_000 }, (_, n) => ({ text: `${n} ${"x".repeat(200)} ` }));
  return startModelServer({
    respond: ({ body }) => {
      const text = JSON.stringify(body.messages.at(-1));
      if (text.includes("risky")) return { steps: [{ tool: "terminal", args: { command: "rm -rf build" } }] };
      return { steps: text.includes("flood") ? long : [{ text: "Fine." }] };
    },
  });
}

/** What this thread says: where its model is, that the storm has begun, what was found. */
export type StormNews =
  | { readonly model: string }
  | { readonly raging: true }
  | { readonly findings: readonly string[] };

/** This thread's end of the wire to the one that started it. */
const wire = globalThis as unknown as {
  onmessage: (event: MessageEvent<StormOrder | null>) => void;
  postMessage(message: StormNews): void;
};
const stop = new AbortController();

async function rage(order: StormOrder): Promise<void> {
  const judge = new Judge("storm");
  const random = new Random(order.seed);
  const clients = Array.from(
    { length: order.clients },
    (_, n) => badClient(order, judge, n, random.fork(), stop.signal),
  );
  wire.postMessage({ raging: true });
  await Promise.all(clients);
  await model[Symbol.asyncDispose]();
  wire.postMessage({ findings: judge.findings.map(({ what }) => what) });
}

const model = await startStormModel();
wire.onmessage = ({ data }) => {
  if (data === null) stop.abort();
  else void rage(data);
};
wire.postMessage({ model: model.url });
