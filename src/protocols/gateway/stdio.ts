/**
 * The gateway on stdin and stdout (tui-gateway.md A.1): one client for the life of the process. Promises:
 * `gateway.ready` before anything heavy is done, every request that was read is answered, and the process ends
 * soon after its host: at the end of input, when stdout is closed, or on SIGTERM and SIGHUP, with its sessions
 * put away. SIGINT is the terminal's business and ignored.
 */
import { within } from "@/lib/abort.ts";
import type { ByteSink } from "@/lib/frame_writer.ts";
import { FrameWriter } from "@/lib/frame_writer.ts";
import { decodeLine, LineSplitter } from "@/lib/jsonl.ts";
import { isQuiet } from "@/lib/quiet.ts";
import { createCrashTrail } from "./crash_trail.ts";
import type { Client } from "./peer.ts";
import { Peer, TOO_LARGE } from "./peer.ts";
import type { GatewayOptions, Program } from "./program.ts";
import { graceMs, loadProgram, onCrash, onStopSignal, poolSize } from "./program.ts";
import { readyFrame } from "./ready.ts";

const MAX_LINE_BYTES = 96 << 20;
const READ_BYTES = 64 << 10;
/** Reading pauses while this much was received and not yet looked at. */
const MAX_BACKLOG = 128 << 20;

/** The process as the transport sees it; `processIo` is the real one. */
export interface StdioIo {
  /** `null` at the end of input. */
  read(buffer: Uint8Array): Promise<number | null>;
  readonly stdout: ByteSink;
  /** Signals that end the process. Returns the function that stops listening. */
  onStop(handler: (signal: string) => void): () => void;
  /** Errors nobody caught. Returns the function that stops listening. */
  onCrash(handler: (error: unknown) => void): () => void;
}

/** Why serving ended; `code` is the exit code. */
interface End {
  readonly line: string;
  readonly code: number;
  /** The host still reads: open requests are answered first. */
  readonly answers: boolean;
}

/** Serves until the host leaves; the result is the exit code. */
export async function serveGatewayStdio(options: GatewayOptions, io: StdioIo = processIo()): Promise<number> {
  const { platform } = options;
  const epoch = platform.ids.hex(32);
  const ended = Promise.withResolvers<End>();
  const writer = new FrameWriter(io.stdout, { onError: (error) => ended.resolve(brokenOutput(error)) });
  writer.write(readyFrame(epoch));
  const stopSignals = io.onStop((signal) =>
    ended.resolve({ line: `[gateway-signal] ${signal}`, code: 0, answers: false })
  );
  await writer.idle();

  const trail = createCrashTrail(platform);
  const onFault = (where: string, error: unknown) => trail.report(where, error);
  const stopCrash = io.onCrash((error) => onFault("process", error));
  const client: Client = { send: (frame) => writer.write(frame), room: () => writer.room() };
  const program = loadProgram(options, { epoch, trail });
  const peer = new Peer({
    client,
    methods: () => program.methods,
    workers: poolSize(platform),
    onFault,
    mask: (raw) => trail.mask(raw),
  });
  void readLines(io, peer).then(
    () => ended.resolve({ line: "[gateway-exit] stdin EOF", code: 0, answers: true }),
    (error) =>
      ended.resolve({ line: `[gateway-exit] cannot read stdin: ${text(error)}`, code: 1, answers: true }),
  );
  const end = await ended.promise;
  if (end.code !== 0 || !isQuiet(platform.env())) platform.stderr(end.line);
  await finish({ end, peer, program, writer, graceMs: graceMs(platform) })
    .catch((error) => onFault("shutdown", error));
  stopSignals();
  stopCrash();
  await within(trail.flush(), 200);
  return end.code;
}

// ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────────

async function readLines(io: StdioIo, peer: Peer): Promise<void> {
  const splitter = new LineSplitter(MAX_LINE_BYTES);
  const buffer = new Uint8Array(READ_BYTES);
  for (;;) {
    const n = await io.read(buffer);
    if (n === null) break;
    deliver(splitter.push(buffer.subarray(0, n)), peer);
    if (peer.backlog > MAX_BACKLOG) await peer.caughtUp();
  }
  deliver(splitter.end(), peer);
}

function deliver(lines: ReturnType<LineSplitter["push"]>, peer: Peer): void {
  for (const line of lines) {
    if (line.type === "too_long") {
      peer.receive(TOO_LARGE);
      continue;
    }
    const frame = decodeLine(line.bytes);
    if (frame !== "") peer.receive(frame);
  }
}

// ── End ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** A host that has gone is no fault; anything else that keeps stdout from being written is. */
function brokenOutput(error: unknown): End {
  const gone = ["BrokenPipe", "ConnectionReset", "ConnectionAborted", "BadResource", "NotConnected"];
  const left = error instanceof Error && gone.includes(error.name);
  return left
    ? { line: `[gateway-exit] stdout closed: ${text(error)}`, code: 0, answers: false }
    : { line: `[gateway-exit] cannot write stdout: ${text(error)}`, code: 1, answers: false };
}

async function finish(
  at: { end: End; peer: Peer; program: Program; writer: FrameWriter; graceMs: number },
): Promise<void> {
  const { end, peer, program, writer } = at;
  if (end.answers) await within(peer.idle(), at.graceMs);
  peer.abandon("the gateway is shutting down");
  await program.gateway()?.hermes.shutdown("tui_shutdown", { deadlineMs: at.graceMs });
  await within(writer.idle(), 500);
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// ── The real process ────────────────────────────────────────────────────────────────────────────────────────

export function processIo(): StdioIo {
  return {
    read: (buffer) => Deno.stdin.read(buffer),
    stdout: Deno.stdout,
    onStop: (handler) => onStopSignal(handler, { interruptStops: false }),
    onCrash,
  };
}
