/**
 * Serves one client from its first byte to the exit (acp.md D5). It reads at once; `initialize` is answered from
 * the foundation (configuration and model choice), and only then are the sessions loaded, while the client reads that
 * answer; messages wait in their order meanwhile. Tools and commands come behind the first session, or with the
 * first prompt.
 *
 *   read ─► end of input │ signal │ broken stdout
 *             grace (eof_grace_s │ 0 │ 0) ─► cancel all ─► shutdown ─► flush      together at most grace + 2 s
 */
import type { Hermes, HermesStart } from "@/app/mod.ts";
import { abortable, AbortError, LONGEST_TIMER_MS, within } from "@/lib/abort.ts";
import { type ByteSink, FrameWriter } from "@/lib/frame_writer.ts";
import type { Handshake } from "./connection.ts";
import type { Params } from "./envelope.ts";
import { AcpError, INVALID_REQUEST, METHOD_NOT_FOUND, type RpcError, toRpcError } from "./errors.ts";
import { initialize, manifestMismatch } from "./initialize.ts";
import type { Methods } from "./methods.ts";
import { Peer, type RequestContext } from "./peer.ts";

export interface AcpIo {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: ByteSink;
  /** Fires on SIGTERM and SIGINT: the grace is 0 then. */
  readonly stop?: AbortSignal;
}

export interface AcpProgram {
  /**
   * What `initialize` needs, asked for while the first bytes are on their way; its `load()` is called after that
   * answer.
   */
  start(): HermesStart;
  /** One line to stderr, for faults before the program is loaded. */
  report(line: string): void;
}

/** When the rest is loaded without anybody asking for it: not while the first session is being opened. */
const FINISH_MS = 25;
const CANCEL_MS = 1_000;
const SHUTDOWN_MS = 600;
const FLUSH_MS = 250;
/** A close that went quickly leaves more time for the flush, so that a busy machine loses no answer. */
const CLOSE_MS = 1_500;

/** The exit code: 0 at the end of input and on signals, 1 when not even the foundation could be loaded. */
export async function serveAcp(program: AcpProgram, io: AcpIo): Promise<number> {
  return await new AcpServer(program, io).run();
}

class AcpServer {
  readonly #program: AcpProgram;
  readonly #io: AcpIo;
  readonly #writer: FrameWriter;
  readonly #peer: Peer;
  /** Told to stop, or stdout is broken: the host is gone. */
  readonly #gone = new AbortController();
  #start: HermesStart | null = null;
  #handshake: Handshake | null = null;
  #hermes: Hermes | null = null;
  /** The other methods; `null` until they are loaded. */
  #methods: Methods | null = null;
  #loadError: unknown = null;
  #stallMs = LONGEST_TIMER_MS;

  constructor(program: AcpProgram, io: AcpIo) {
    this.#program = program;
    this.#io = io;
    const stallMs = () => this.#stallMs;
    this.#writer = new FrameWriter(io.output, {
      // Asked for at each write: the configuration comes later than the writer.
      get stallMs() {
        return stallMs();
      },
      onStall: () => this.#warn(`the client has not read our output for ${stallMs() / 1000} s`),
      onError: () => this.#gone.abort(),
    });
    this.#peer = new Peer(this.#writer, {
      request: (method, params, context) => this.#onRequest(method, params, context),
      notification: (method, params) => this.#methods?.notifications[method]?.(params),
      toRpcError: (error) => this.#toRpcError(error),
    });
  }

  async run(): Promise<number> {
    const stop = this.#gone.signal;
    const end = () => this.#gone.abort();
    if (this.#io.stop?.aborted) end();
    // Not with `AbortSignal.any`: a start would wait for it to be made ready.
    this.#io.stop?.addEventListener("abort", end, { once: true });
    const reading = abortable(this.#peer.read(this.#io.input), stop);
    reading.catch(() => {/* looked at below */});
    try {
      this.#start = this.#program.start();
      this.#stallMs = this.#start.settings().acp.write_stall_s * 1000 || LONGEST_TIMER_MS;
    } catch (error) {
      this.#program.report(`hermes acp: cannot start: ${this.#toRpcError(error).message}`);
      return 1;
    }
    await reading.catch(() => {/* told to stop: no more input counts */});
    this.#peer.endInput();
    if (!stop.aborted) {
      const grace = this.#start.settings().acp.eof_grace_s * 1000;
      await abortable(within(this.#peer.quiet(), grace), stop).catch(() => {/* the grace ends at once */});
    }
    await this.#close();
    return 0;
  }

  async #close(): Promise<void> {
    const begun = performance.now();
    this.#methods?.cancelAll();
    await within(this.#peer.quiet(), CANCEL_MS);
    if (this.#hermes) {
      const shutdown = this.#hermes.shutdown("agent_close", { deadlineMs: SHUTDOWN_MS });
      await within(shutdown, SHUTDOWN_MS + 100);
    }
    // A turn that did not end in time has its answer all the same (FC-01).
    this.#peer.finish((context) =>
      context.method === "session/prompt"
        ? context.respond({ stopReason: "cancelled" })
        : context.fail(new AbortError())
    );
    await within(this.#writer.idle(), Math.max(FLUSH_MS, CLOSE_MS - (performance.now() - begun)));
  }

  #onRequest(method: string, params: Params, context: RequestContext): unknown {
    if (method === "initialize") return this.#onInitialize(params, context);
    const run = this.#methods?.requests[method];
    if (run) return run(params, context);
    if (!this.#handshake) throw new AcpError(INVALID_REQUEST, "Invalid request: initialize comes first");
    if (this.#loadError) throw this.#loadError;
    throw new AcpError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`, {
      method: method.slice(0, 100),
    });
  }

  #onInitialize(params: Params, context: RequestContext): void {
    try {
      const { result, handshake } = initialize(this.#start!, params);
      context.respond(result);
      this.#handshake = handshake;
    } catch (error) {
      context.fail(error);
    }
    if (!this.#handshake || this.#methods) return this.#goOn();
    this.#warnAboutManifest();
    void this.#load();
  }

  /** The latest handshake counts from here on; what was held back goes on. */
  #goOn(): void {
    if (this.#handshake) this.#methods?.shakeHands(this.#handshake);
    this.#peer.release();
  }

  /** Loads what sessions need while the client reads our answer. */
  async #load(): Promise<void> {
    try {
      const [hermes, { createMethods }] = await Promise.all([this.#start!.open(), import("./methods.ts")]);
      this.#hermes = hermes;
      this.#methods = createMethods(hermes, this.#peer);
      setTimeout(() => void this.#loadRest(hermes), FINISH_MS);
    } catch (error) {
      this.#failLoading(error);
    }
    this.#goOn();
  }

  /** A failure is the answer to the requests that need it. */
  async #loadRest(hermes: Hermes): Promise<void> {
    await this.#peer.quiet();
    await hermes.ready().catch((error) => this.#tellLoadError(error));
  }

  #failLoading(error: unknown): void {
    this.#loadError = error;
    this.#methods = null;
    this.#tellLoadError(error);
  }

  #tellLoadError(error: unknown): void {
    this.#program.report(`hermes acp: cannot load: ${this.#toRpcError(error).message}`);
  }

  #warn(message: string): void {
    if (this.#start) this.#start.log.warn(`acp: ${message}`);
    else this.#program.report(`hermes acp: ${message}`);
  }

  #warnAboutManifest(): void {
    const mismatch = manifestMismatch(this.#start!);
    if (!mismatch) return;
    this.#warn(
      `the client's manifest names version ${mismatch.manifest}, this program is ${mismatch.binary}`,
    );
  }

  #toRpcError(error: unknown): RpcError {
    return toRpcError(error, (text) => this.#start?.redact(text) ?? text);
  }
}
