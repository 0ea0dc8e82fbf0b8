/**
 * A `Hermes` of a few maps, for tests of the API's app without a port, a store or a model: sessions play the turns
 * they are given and keep texts as the real ones do. Only what the door touches exists.
 */
import type { Hermes } from "@/app/mod.ts";
import {
  type Ask,
  AskBroker,
  type CoreEvent,
  type CoreEventBody,
  type CreateOptions,
  HermesError,
  type Message,
  NO_USAGE,
  type Session,
  type SubmitOptions,
  type TurnHandle,
  type TurnResult,
  type UserInput,
} from "@/core/mod.ts";
import { openStore } from "@/store/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { createApp } from "@/protocols/api/app.ts";
import { type ApiOptions, createService } from "@/protocols/api/service.ts";

export const KEY = "k".repeat(32);

export function resultOf(patch: Partial<TurnResult> = {}): TurnResult {
  return {
    outcome: "completed",
    text: "Hello!",
    reasoning: "",
    exitReason: "text_response(finish_reason=stop)",
    partial: false,
    failure: null,
    usage: { ...NO_USAGE, input: 5, output: 2 },
    apiCalls: 1,
    model: "scripted",
    provider: "custom",
    pendingSteer: null,
    userRowId: 1,
    ...patch,
  };
}

export interface Submitted {
  readonly sessionId: string;
  readonly input: UserInput;
  readonly options: SubmitOptions;
  cancelled: boolean;
}

/** Plays one turn: publishes events and returns the result. */
export type Play = (turn: {
  publish(event: CoreEventBody): void | Promise<void>;
  ask(ask: Ask): Promise<unknown>;
  readonly submitted: Submitted;
  readonly signal: AbortSignal;
  readonly turnId: string;
}) => Promise<TurnResult> | TurnResult;

export interface FakeHermes {
  readonly hermes: Hermes;
  readonly submitted: Submitted[];
  readonly meta: Map<string, string>;
  readonly logged: string[];
  readonly written: Record<string, string>;
  play: Play;
  settings: Record<string, unknown>;
  resolve: Hermes["models"]["resolve"];
}

export const DEFAULT_SETTINGS = {
  host: "",
  port: 8642,
  key: "",
  cors_origins: [],
  allowed_hosts: [],
  model_name: "",
  max_concurrent_runs: 10,
  model_routes: {},
  direct_model_requests: "known",
  tool_progress_events: true,
  show_reasoning: false,
};

export function createFakeHermes(settings: Record<string, unknown> = {}): FakeHermes {
  const sessions = new Map<string, FakeSession>();
  const fake: FakeHermes = {
    submitted: [],
    meta: new Map(),
    logged: [],
    written: {},
    play: () => resultOf(),
    settings: { ...DEFAULT_SETTINGS, ...settings },
    resolve: (() => ({ isDemo: false, source: "config" })) as unknown as Hermes["models"]["resolve"],
    hermes: null as unknown as Hermes,
  };
  let opened: ReturnType<typeof openStore> | null = null;
  /** The real thing, in memory. */
  const database = () => opened ??= openStore(":memory:", hermes);
  const log = (line: string) => void fake.logged.push(line);
  const create = (options: CreateOptions) => {
    const id = options.id!;
    if (sessions.has(id)) throw new HermesError("session_exists", `Session "${id}" exists`);
    const session = new FakeSession(id, [...options.history ?? []], fake);
    sessions.set(id, session);
    return session;
  };
  const hermes = {
    version: "1.2.3",
    platform: createDenoPlatform(),
    home: "/nowhere",
    log: { debug: log, info: log, warn: log, error: log },
    config: {
      envPath: "/nowhere/.env",
      env: () => undefined,
      warnings: () => [],
      setEnv: (name: string, value: string) => Promise.resolve(void (fake.written[name] = value)),
    },
    models: {
      resolve: (choice: unknown) => fake.resolve(choice as never),
      known: () => [{ provider: "other", model: "known-model", label: "" }],
      options: (query: unknown) =>
        Promise.resolve({ providers: [], model: "scripted", provider: "custom", query }),
      warm: () => {},
    },
    skills: { list: () => Promise.resolve([]) },
    tools: [],
    sessions: {
      get: (id: string) => sessions.get(id),
      live: () => [...sessions.values()],
      create: (options: CreateOptions) => Promise.resolve().then(() => create(options)),
      open: (id: string) =>
        sessions.has(id)
          ? Promise.resolve(sessions.get(id))
          : Promise.reject(new HermesError("session_not_found", `Session "${id}" does not exist`)),
    },
    settings: () => ({
      gateway: { api_server: fake.settings },
      model_aliases: {},
      model: { aliases: {} },
      terminal: { cwd: "." },
      max_live_sessions: 16,
    }),
    store: () => ({
      getMeta: (key: string) => fake.meta.get(key) ?? null,
      setMeta: (key: string, value: string) => Promise.resolve(void fake.meta.set(key, value)),
      getSession: () => null,
      tipOf: () => null,
      listSessions: () => [],
      get runs() {
        return database().runs;
      },
      get owners() {
        return database().owners;
      },
      get callbacks() {
        return database().callbacks;
      },
      get responses() {
        return database().responses;
      },
    }),
    redact: (text: string) => text.replaceAll("sk-secret-0123456789", "***"),
  };
  Object.assign(fake, { hermes: hermes as unknown as Hermes });
  return fake;
}

class FakeSession {
  readonly id: string;
  readonly headId: string;
  readonly stored = true;
  readonly model = { source: "config", isDemo: false };
  readonly modelError = null;
  running = false;
  closed = false;
  lastActivityAt = 0;
  readonly #messages: Message[];
  readonly #fake: FakeHermes;
  readonly #readers = new Set<(event: CoreEvent) => void | Promise<void>>();
  readonly #broker = new AskBroker();

  constructor(id: string, messages: Message[], fake: FakeHermes) {
    this.id = id;
    this.headId = id;
    this.#messages = messages;
    this.#fake = fake;
  }

  history(): readonly Message[] {
    return this.#messages;
  }

  asks(): Ask[] {
    return this.#broker.pending();
  }

  answer(...args: Parameters<Session["answer"]>): ReturnType<Session["answer"]> {
    return this.#broker.answer(...args);
  }

  subscribe(reader: (event: CoreEvent) => void | Promise<void>): () => void {
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  tools(): readonly [] {
    return [];
  }

  close(): Promise<void> {
    this.closed = true;
    return Promise.resolve();
  }

  requireFree(): void {}

  submit(input: UserInput, options: SubmitOptions): TurnHandle {
    const controller = new AbortController();
    const submitted: Submitted = { sessionId: this.id, input, options, cancelled: false };
    this.#fake.submitted.push(submitted);
    const id = `turn${this.#fake.submitted.length}`;
    this.running = true;
    const cancel = () => {
      submitted.cancelled = true;
      controller.abort();
    };
    return { id, position: 0, cancel, done: this.#run(id, submitted, controller.signal) };
  }

  async #run(turnId: string, submitted: Submitted, signal: AbortSignal): Promise<TurnResult> {
    let seq = 0;
    const publish = (body: CoreEventBody) => {
      const event = { ...body, sessionId: this.id, turnId, seq: ++seq } as CoreEvent;
      const waits = [...this.#readers].map((reader) => reader(event)).filter((wait) => wait !== undefined);
      return waits.length > 0 ? Promise.all(waits).then(() => undefined) : undefined;
    };
    this.#messages.push({ role: "user", content: submitted.input.content });
    const ask = (ask: Ask) =>
      this.#broker.open(ask, { signal, announce: () => void publish({ type: "ask.open", ask }) });
    const result = await this.#fake.play({ publish, ask, submitted, signal, turnId });
    if (result.text !== "") this.#messages.push({ role: "assistant", content: result.text });
    this.running = false;
    return result;
  }
}

export const OPTIONS: ApiOptions = {
  host: "127.0.0.1",
  port: 0,
  key: KEY,
  origins: [],
  allowedHosts: [],
  loopback: true,
  modelName: "hermes-agent",
};

export interface Client {
  (
    path: string,
    init?: { method?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>;
}

/** The app with a client that sends the key and JSON. */
export function createClient(fake: FakeHermes, options: Partial<ApiOptions> = {}) {
  const api = createService(fake.hermes, { ...OPTIONS, ...options });
  const app = createApp(api);
  const call: Client = async (path, init = {}) => {
    const { body } = init;
    return await app.request(`http://127.0.0.1:8642${path}`, {
      method: init.method ?? (body === undefined ? "GET" : "POST"),
      headers: { Authorization: `Bearer ${KEY}`, ...init.headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  };
  const chat = (body: unknown, headers: Record<string, string> = {}) =>
    call("/v1/chat/completions", { body, headers });
  return { app, api, call, chat };
}

export function userSays(text: string): { messages: { role: string; content: string }[] } {
  return { messages: [{ role: "user", content: text }] };
}
