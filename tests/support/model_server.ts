/**
 * A scripted model server on loopback, for black-box tests: it plays one script turn per call, in order
 * (docs/scripted-model.md), in the wire that is asked for: `POST …/chat/completions`, `…/responses`, `…/messages`.
 * It speaks HTTP by hand over TCP, so that every delta can be a network write of its own, a connection can be torn
 * for real, and a client that leaves is seen at once.
 *
 *   await using server = await startModelServer({ turns: ["hello", { steps: [{ tool: "read_file", args: {…} }] }] });
 *   … point the program at server.url …; server.requests[0].body.messages; server.requests[0].aborted
 */
import { type AddressInfo, createServer, type Server as NetServer } from "node:net";
import { SCRIPT_EXHAUSTED, type ScriptTurn } from "../../src/models/builtin/script_format.ts";
import { Answer, Connection } from "./model_connection.ts";
import { chatVoice } from "./model_wire_chat.ts";
import { messagesVoice } from "./model_wire_messages.ts";
import { responsesVoice } from "./model_wire_responses.ts";
import { errorBody, playStream, playWhole, type VoiceOf } from "./model_wires.ts";

export type { ScriptStep, ScriptTurn } from "../../src/models/builtin/script_format.ts";

export interface ModelServerRequest {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; `null` when there was none. */
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  /** The client closed the connection before the answer was complete. */
  aborted: boolean;
  /** The whole answer was written. */
  done: boolean;
}

export interface ModelServerOptions {
  readonly turns?: readonly ScriptTurn[];
  /** Start again from the first turn when all are played; else a used-up script answers "(script exhausted)". */
  readonly loop?: boolean;
  /** Makes the turn from the request instead; `n` counts the calls from 0. Pushed turns come first. */
  readonly respond?: (request: ModelServerRequest, n: number) => ScriptTurn | Promise<ScriptTurn>;
  /** `GET /v1/models`: ids, or whole entries. Default `["scripted"]`. */
  readonly models?: readonly (string | Record<string, unknown>)[];
  /** Other paths, by their ending: a body, or what makes it; `null` is a 404. */
  readonly routes?: Readonly<Record<string, unknown | ((request: ModelServerRequest) => unknown)>>;
  /** When set, any other key (bearer or `x-api-key`) is answered with 401. */
  readonly key?: string;
  /** Default a free port. */
  readonly port?: number;
}

export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string;
  readonly port: number;
  /** Every request, oldest first. */
  readonly requests: ModelServerRequest[];
  /** Only the calls of a model, in any wire. */
  calls(): ModelServerRequest[];
  push(...turns: ScriptTurn[]): void;
  /** Forgets the turns, the position and the requests. */
  reset(): void;
  close(): Promise<void>;
}

/** The wire of a path. */
const VOICES: readonly (readonly [ending: string, voice: VoiceOf])[] = [
  ["/chat/completions", chatVoice],
  ["/responses", responsesVoice],
  ["/messages", messagesVoice],
];

function voiceOf(request: ModelServerRequest): VoiceOf | null {
  if (request.method !== "POST") return null;
  return VOICES.find(([ending]) => request.path.split("?")[0]!.endsWith(ending))?.[1] ?? null;
}

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const listener = createServer({ noDelay: true });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(options.port ?? 0, "127.0.0.1", () => resolve());
  });
  return new Server(listener, options);
}

class Server implements ModelServer {
  readonly url: string;
  readonly port: number;
  readonly requests: ModelServerRequest[] = [];
  readonly #listener: NetServer;
  readonly #options: ModelServerOptions;
  readonly #connections = new Set<Connection>();
  readonly #serving = new Set<Promise<void>>();
  #turns: ScriptTurn[];
  #next = 0;
  #calls = 0;

  constructor(listener: NetServer, options: ModelServerOptions) {
    this.#listener = listener;
    this.#options = options;
    this.#turns = [...options.turns ?? []];
    this.port = (listener.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}/v1`;
    listener.on("connection", (socket) => this.#accept(new Connection(socket)));
  }

  calls(): ModelServerRequest[] {
    return this.requests.filter((request) => voiceOf(request) !== null);
  }

  push(...turns: ScriptTurn[]): void {
    this.#turns.push(...turns);
  }

  reset(): void {
    this.#turns = [];
    this.#next = 0;
    this.#calls = 0;
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    for (const connection of this.#connections) connection.close();
    await Promise.all(this.#serving);
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(connection: Connection): void {
    this.#connections.add(connection);
    const served = this.#serve(connection).finally(() => {
      this.#connections.delete(connection);
      this.#serving.delete(served);
    });
    this.#serving.add(served);
  }

  async #serve(connection: Connection): Promise<void> {
    try {
      for (;;) {
        const head = await connection.readRequest();
        if (!head) break;
        const request: ModelServerRequest = { ...head, aborted: false, done: false };
        this.requests.push(request);
        const onClosed = () => {
          if (!request.done) request.aborted = true;
        };
        connection.onClosed = onClosed;
        await this.#answer(request, connection);
        connection.onClosed = () => {};
        if (connection.closed || head.headers["connection"] === "close") break;
      }
    } catch (error) {
      if (!connection.closed) throw error;
    } finally {
      connection.close();
      await connection.gone;
    }
  }

  async #answer(request: ModelServerRequest, connection: Connection): Promise<void> {
    const { key, models = ["scripted"] } = this.#options;
    const out = new Answer(request, connection);
    const { authorization, "x-api-key": apiKey } = request.headers;
    if (key !== undefined && authorization !== `Bearer ${key}` && apiKey !== key) {
      return await out.json(401, errorBody(401, { message: "Incorrect API key provided" }));
    }
    for (const [ending, answer] of Object.entries(this.#options.routes ?? {})) {
      if (!request.path.endsWith(ending)) continue;
      const body = typeof answer === "function" ? answer(request) : answer;
      return await out.json(body === null ? 404 : 200, body);
    }
    if (request.method === "GET" && request.path.endsWith("/models")) {
      const data = models.map((m) =>
        typeof m === "string" ? { id: m, object: "model", owned_by: "test" } : m
      );
      return await out.json(200, { object: "list", data });
    }
    const voice = voiceOf(request);
    if (voice) {
      const turn = await this.#turn(request);
      const said = voice(request, out);
      if (request.body?.stream) await playStream(turn, said, out);
      else await playWhole(turn, said, out);
      return;
    }
    await out.json(404, errorBody(404, { message: `No route ${request.method} ${request.path}` }));
  }

  async #turn(request: ModelServerRequest): Promise<ScriptTurn> {
    const n = this.#calls++;
    if (this.#options.loop && this.#next >= this.#turns.length) this.#next = 0;
    const turn = this.#turns[this.#next];
    if (turn !== undefined) {
      this.#next++;
      return turn;
    }
    if (this.#options.respond) return await this.#options.respond(request, n);
    return SCRIPT_EXHAUSTED;
  }
}
