/**
 * The core in one process: a real store in memory, a model that plays chunks, tools that record their calls, a
 * guard whose verdict the test decides. For what black-box tests cannot reach.
 */
import { untilAborted } from "./abort.ts";
import {
  type AskPolicy,
  type CoreEvent,
  type CoreServices,
  DirectoryLooks,
  type Guard,
  LiveSessions,
  type ModelChunk,
  type ModelClient,
  type ModelRequest,
  NOBODY_TO_ASK,
  type ResolvedModel,
  type Session,
  type Settings,
  type Tool,
  type TurnResult,
  type Verdict,
} from "@/core/mod.ts";
import { createConfig } from "@/config/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { Platform } from "@/platform/mod.ts";
import { openStore } from "@/store/mod.ts";

export type Batch = readonly ModelChunk[];
/** One model call: its batches, or a function that makes them and may wait for the signal. */
export type Reply = readonly Batch[] | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<Batch>);

export const text = (value: string): ModelChunk => ({ type: "text", text: value });
export const done = (more: Partial<Extract<ModelChunk, { type: "done" }>> = {}): ModelChunk => ({
  type: "done",
  finish: "stop",
  toolCalls: [],
  usage: { input: 10, output: 2, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
  ...more,
});
export const say = (value: string): Reply => [[text(value), done()]];
export const callTool = (name: string, args: unknown, id = "call_1"): Reply => [[done({
  finish: "tool_calls",
  toolCalls: [{ id, name, arguments: typeof args === "string" ? args : JSON.stringify(args) }],
})]];
export const failure = (
  kind: "server_error" | "auth" | "context_overflow",
  retryable = false,
): ModelChunk => ({
  type: "error",
  toolInFlight: false,
  failure: { kind, message: `a ${kind}`, provider: "fake", model: "m", retryable },
});

export interface ScriptedCore extends AsyncDisposable {
  readonly sessions: LiveSessions;
  readonly services: CoreServices;
  /** Requests the model got, oldest first. */
  readonly requests: ModelRequest[];
  /** What tools ran, as `name:{json}`. */
  readonly ran: string[];
  push(...replies: Reply[]): void;
  verdict(next: (command: string) => Verdict): void;
}

const MODEL: ResolvedModel = {
  provider: "fake",
  model: "m",
  baseUrl: "http://fake",
  apiMode: "chat_completions",
  label: "Fake",
  isDemo: false,
  contextWindow: 128_000,
  supportsVision: false,
  reasoningEfforts: [],
  source: "config",
};

async function* play(reply: Reply, request: ModelRequest, signal: AbortSignal): AsyncIterable<Batch> {
  if (typeof reply === "function") {
    yield* reply(request, signal);
    return;
  }
  for (const batch of reply) {
    await Promise.resolve();
    yield batch;
  }
}

/** A clock whose waits take no time, so that back-off is not slept through. */
function instantClock(platform: Platform): Platform {
  return {
    ...platform,
    clock: { ...platform.clock, delay: (_ms, options) => platform.clock.delay(0, options) },
  };
}

function fakeTool(name: string, ran: string[], parallel: Tool["parallel"], command: boolean): Tool {
  return {
    name,
    toolset: "test",
    description: `${name} for tests.`,
    parameters: { type: "object", properties: { limit: { type: "integer" }, command: { type: "string" } } },
    parallel,
    describe: (args) => ({
      title: name,
      label: JSON.stringify(args),
      kind: "other",
      locations: [],
      startText: "",
    }),
    ...(command ? { command: (args) => typeof args["command"] === "string" ? args["command"] : null } : {}),
    async execute(args, context) {
      ran.push(`${name}:${JSON.stringify(args)}`);
      if (args["wait"]) await context.platform.clock.delay(0, { signal: context.signal });
      if (args["hang"]) await untilAborted(context.signal);
      if (args["throw"]) throw new Error(String(args["throw"]));
      return { content: JSON.stringify({ ok: name }), isError: false };
    },
  };
}

export interface ScriptedCoreOptions {
  readonly settings?: (settings: Settings) => Settings;
  /** Offered beside the recording ones. */
  readonly tools?: readonly Tool[];
}

export async function makeScriptedCore(options: ScriptedCoreOptions = {}): Promise<ScriptedCore> {
  const real = createDenoPlatform();
  const home = await Deno.makeTempDir({ prefix: "hermes-core-" });
  const platform = instantClock({ ...real, env: () => ({ HERMES_HOME: home, HOME: home }) });
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(":memory:", { platform, log });
  const base = {
    ...createConfig({ platform }).settings(),
    auxiliary: { title_generation: { provider: "none" } },
  };
  const settings = options.settings?.(base) ?? base;
  const requests: ModelRequest[] = [];
  const ran: string[] = [];
  const replies: Reply[] = [];
  let decide: (command: string) => Verdict = () => ({ type: "allow" });
  const client: ModelClient = {
    info: MODEL,
    stream: (request, { signal }) => {
      requests.push(structuredClone(request));
      return play(replies.shift() ?? say("(script exhausted)"), request, signal);
    },
  };
  const guard: Guard = {
    reviewCommand: (command) => decide(command),
    reviewEdit: () => Promise.resolve({ type: "allow" }),
    grant: () => Promise.resolve(),
    refusal: (_payload, outcome) => JSON.stringify({ status: "blocked", outcome: outcome.type }),
    dropScope: () => {},
    redact: (value) => value,
  };
  const tools = [
    fakeTool("reader", ran, "safe", false),
    fakeTool("shell", ran, "never", true),
    ...options.tools ?? [],
  ];
  const services: CoreServices = {
    platform,
    log,
    models: {
      resolve: () => MODEL,
      client: () => client,
      switchTo: () => Promise.reject(new Error("not here")),
      known: () => [],
      options: () => Promise.resolve({}),
      discoverLocal: () => Promise.resolve([]),
      probe: () => Promise.resolve({ ok: true, message: "" }),
      warm: () => {},
      secretEnvNames: () => [],
      estimateCost: () => ({ usd: null, status: "unknown", source: "none" }),
      refreshCatalog: () => Promise.resolve({ models: null, lists: [], warnings: [] }),
    },
    guard,
    home,
    looks: new DirectoryLooks(platform.files),
    settings: () => settings,
    store: () => store,
    delegations: () => store.delegations,
    tools: () => tools,
    toolSpecs: () => tools,
    childEnv: () => ({}),
    restored: () => {},
    forgotten: () => {},
    yolo: false,
    persistModel: () => Promise.resolve(),
  };
  const sessions = new LiveSessions(services, {
    read: (path) => platform.files.read(path),
    exists: async (path) => await platform.files.stat(path) !== null,
    write: (path, data) => platform.files.write(path, data),
    remove: (path) => platform.files.remove(path),
    rename: (from, to) => platform.files.rename(from, to),
  });
  return {
    sessions,
    services,
    requests,
    ran,
    push: (...more) => void replies.push(...more),
    verdict: (next) => decide = next,
    [Symbol.asyncDispose]: async () => {
      await sessions.closeAll("test");
      store.close();
      await Deno.remove(home, { recursive: true });
    },
  };
}

/** A new session and the events it publishes. */
export async function openSession(core: ScriptedCore): Promise<{ session: Session; events: CoreEvent[] }> {
  const session = await core.sessions.create({ source: "tui", surface: "tui", cwd: core.services.home });
  const events: CoreEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return { session, events };
}

export const EVERYONE: AskPolicy = { approval: true, edit: true, clarify: true };

export function prompt(
  session: Session,
  content: string,
  asks: AskPolicy = NOBODY_TO_ASK,
): Promise<TurnResult> {
  return session.submit({ content }, { asks }).done;
}

export const types = (events: readonly CoreEvent[]): string[] => events.map((event) => event.type);

/** Resolves at the first event for which `test` holds. */
export function until(session: Session, test: (event: CoreEvent) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const stop = session.subscribe((event) => {
      if (!test(event)) return;
      stop();
      resolve();
    });
  });
}
