/**
 * The transport of `hermes serve`: settles key and address, binds, prints the ready line, and ends the process in
 * good order (api-server.md A1, A13). The only file here that touches `Deno.*`.
 *
 *   settings ─► key guard ─► bind (5 tries) ─► ready line ─► … ─► signal ─► drain ─► cancel turns ─► close ─► 0
 */
import process from "node:process";
import type { HermesBase, HermesStart } from "@/app/mod.ts";
import { within } from "@/lib/abort.ts";
import { disableNagle } from "@/lib/nodelay.ts";
import { isQuiet } from "@/lib/quiet.ts";
import { refuseNewer } from "@/store/version.ts";
import type { ApiApp } from "./app.ts";
import { readKeys } from "./api_keys.ts";
import { type ApiConfig, readApiConfig, type ServeFlags } from "./config.ts";
import { badRequest, errorResponse, toApiError } from "./errors.ts";
import { finishHeaders } from "./gates.ts";
import { isLoopbackHost, settleKey } from "./key.ts";
import { getHealth } from "./routes/health.ts";
import { createFront, type DiskProbe, type Front } from "./front.ts";
import type { ApiService } from "./service.ts";
import { throughGates } from "./through_gates.ts";

const BIND_TRIES = 5;
const BIND_PAUSE_MS = 200;
/** How long live turns and open streams may take to end after a signal. */
const DRAIN_MS = 2_000;
/**
 * Requests that lie in a socket and have not been read yet are answered with 503, not by a closed connection: the end
 * waits until none has come for the first of these times, and for the second at most.
 */
const SILENCE_MS = 8;
const LAST_CALL_MS = 40;
const BOOT_AFTER_MS = 50;
/** Half of it after the last message a ping is sent, which has the other half to be answered. */
const SOCKET_IDLE_SECONDS = 60;

/** Serves until a signal; the result is the exit code. Says on stderr why it did not start. */
export async function serveApi(hermes: HermesStart, flags: ServeFlags = {}): Promise<number> {
  const { stderr } = hermes.platform;
  const stop = listenForStop();
  try {
    requireKnownStore(hermes);
    const { key: given, ...fixed } = readApiConfig(hermes, flags);
    const loopback = await isLoopbackHost(fixed.host, resolveHost);
    const { key, made } = await settleKey(hermes, given, { host: fixed.host, loopback });
    const server = await start(hermes, { ...fixed, key, loopback });
    const isJson = fixed.logFormat === "json";
    if (made) announceKey(hermes, server.url, key, isJson);
    const tell = isJson ? hermes.log.warn : stderr;
    if (!loopback) tell(OPEN_WARNING);
    await hermes.models.settling?.();
    for (const warning of warningsOf(hermes)) tell(isJson ? warning : `hermes: ${warning}`);
    print(`API server listening on ${server.url} (model: ${fixed.modelName})`);
    await stop.requested;
    await server.close(stop.again);
    return 0;
  } catch (error) {
    const reason = hermes.redact(error instanceof Error ? error.message : String(error));
    if (flags.logFormat === "json") hermes.log.error(reason);
    else stderr(`hermes: ${reason}`);
    return 1;
  } finally {
    stop.dispose();
  }
}

/**
 * A database that a newer program has written is nothing to start on (A1 step 3); anything else that is wrong with it
 * is told by `session_db_unavailable`. A home without one costs nothing. Throws `store_newer`.
 */
function requireKnownStore(hermes: HermesBase): void {
  const path = `${hermes.home}/hermes.db`;
  if (hermes.platform.files.statSync(path) !== null) refuseNewer(path);
}

function warningsOf(hermes: HermesStart): string[] {
  const { problems } = readKeys(hermes.settings().gateway.api_server.keys);
  return [...hermes.config.warnings(), ...problems, ...modelWarning(hermes)];
}

/** A server without a model answers 503; who starts it should not learn that from its clients. */
function modelWarning(hermes: HermesBase): string[] {
  try {
    hermes.models.resolve();
    return [];
  } catch (error) {
    return [`no turn can run yet: ${hermes.redact(error instanceof Error ? error.message : String(error))}`];
  }
}

const OPEN_WARNING =
  "WARNING: the server can be reached from the network and its terminal tool runs on this machine without a " +
  "sandbox: whoever has the key can run commands here.";

interface RunningServer {
  readonly url: string;
  /** Ends turns and streams, then the listener; `hurry` cuts the waiting short. */
  close(hurry: Promise<void>): Promise<void>;
}

async function start(hermes: HermesStart, config: ApiConfig): Promise<RunningServer> {
  const front = createFront(hermes, { ...config, disk: probeDisk, isAlive, upgrade });
  const boot = lazily(() => bootApi(hermes, front));
  const handler = createHandler(front, boot);
  let received = 0;
  const server = await bind(config, (request, info) => {
    received++;
    return handler(request, info);
  });
  const { port } = server.addr as Deno.NetAddr;
  // After the ready line: nobody waits for it, and the first request then finds everything there.
  const later = setTimeout(() => {
    disableNagle(port, hermes.log);
    boot.get().then(
      // Once more, for a connection that the system had made but not yet handed over.
      () => void disableNagle(port, hermes.log),
      (error) => hermes.log.error(`api: ${hermes.redact(String(error))}`),
    );
  }, BOOT_AFTER_MS);
  return {
    url: `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`,
    close: async (hurry) => {
      clearTimeout(later);
      front.admission.drain();
      const booted = boot.started ? await boot.get().catch(() => null) : null;
      if (config.drainMs) await within(Promise.race([front.admission.whenIdle(), hurry]), config.drainMs);
      booted?.api.allRuns.interrupt();
      booted?.api.turns.cancelAll();
      await within(Promise.race([front.admission.whenIdle(), hurry]), DRAIN_MS);
      await within(Promise.race([booted?.api.allRuns.settled() ?? Promise.resolve(), hurry]), DRAIN_MS);
      booted?.api.browsers.close();
      if (booted) await Promise.race([booted.api.callbacks.close(DRAIN_MS), hurry]);
      const end = performance.now() + LAST_CALL_MS;
      for (let before = -1; before !== received && performance.now() < end;) {
        before = received;
        await within(hurry, SILENCE_MS);
      }
      await within(Promise.race([server.shutdown(), hurry]), DRAIN_MS);
      booted?.api.kept.close();
    },
  };
}

interface Booted {
  readonly api: ApiService;
  readonly app: ApiApp;
}

/** The agent, the routes and the store; what a server before this one has left open is settled first (A1 step 4). */
async function bootApi(start: HermesStart, front: Front): Promise<Booted> {
  const [hermes, { createService }, { createApp }] = await Promise.all([
    start.load(),
    import("./service.ts"),
    import("./app.ts"),
  ]);
  const api = createService(hermes, front.options, front);
  await api.allRuns.recover();
  api.callbacks.wake();
  warmModel(hermes);
  return { api, app: createApp(api) };
}

function warmModel(hermes: HermesBase): void {
  try {
    hermes.models.warm(hermes.models.resolve());
  } catch {
    // Nothing is configured: the first request says so.
  }
}

interface Lazy<T> {
  readonly started: boolean;
  get(): Promise<T>;
}

/** Made once, at the first call; a failure is tried again by the next one. */
function lazily<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | null = null;
  return {
    get started() {
      return made !== null;
    },
    get: () => {
      made ??= make().catch((error) => {
        made = null;
        throw error;
      });
      return made;
    },
  };
}

/** A refusal that never comes to the routes, with the headers of every answer. */
function refusal(front: Front, request: Request, error: unknown): Response {
  const refused = toApiError(error);
  if (refused.status === 500) front.hermes.log.error(`api: ${front.redact(String(error))}`);
  const response = errorResponse(refused, front.redact);
  finishHeaders(
    response.headers,
    request.headers.get("Origin"),
    front.options,
    `req_${front.hermes.platform.ids.hex(24)}`,
  );
  return response;
}

function createHandler(front: Front, boot: Lazy<Booted>): Handler {
  const answer = createAnswerer(front, boot);
  return async (request, info) => {
    try {
      return await answer(request, info);
    } catch (error) {
      return refusal(front, request, error);
    }
  };
}

/** `/health` is answered at once; the rest of the program is loaded with the first other request. */
function createAnswerer(front: Front, boot: Lazy<Booted>): Handler {
  return async (request, info) => {
    const address = URL.parse(request.url);
    // A Host header that is none makes an address that nothing can be read from.
    if (!address) throw badRequest("The request has no usable address", "invalid_request");
    if (request.method === "GET" && isHealth(address.pathname)) {
      return await throughGates(front, request, info.remoteAddr.hostname, (visit) => {
        visit.route = "/health";
        return getHealth(front);
      });
    }
    const { app } = await boot.get();
    return await app.fetch(request, { peer: info.remoteAddr.hostname });
  };
}

function isHealth(path: string): boolean {
  return path === "/health" || path === "/v1/health";
}

type Handler = Deno.ServeHandler<Deno.NetAddr>;

/** A busy port is tried again for a while, then it is an error; never another port. */
async function bind(config: ApiConfig, handler: Handler): Promise<Deno.HttpServer<Deno.NetAddr>> {
  for (let attempt = 1;; attempt++) {
    try {
      return Deno.serve({
        hostname: config.host,
        port: config.port,
        onListen: () => {/* the ready line is ours, and stdout carries nothing else */},
      }, handler);
    } catch (error) {
      const where = `${config.host}:${config.port}`;
      if (!(error instanceof Deno.errors.AddrInUse)) {
        throw new Error(
          `Cannot listen on ${where}: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
      if (attempt === BIND_TRIES) {
        throw new Error(
          `Cannot listen on ${where}: port ${config.port} is in use. Stop the other program, or use --port`,
        );
      }
      await new Promise((resolve) => setTimeout(resolve, BIND_PAUSE_MS * attempt));
    }
  }
}

async function resolveHost(host: string): Promise<readonly string[]> {
  const { lookup } = await import("node:dns/promises");
  return (await lookup(host, { all: true })).map((entry) => entry.address);
}

const probeDisk: DiskProbe = async (path) => {
  const { statfs } = await import("node:fs/promises");
  const { blocks, bavail, bsize } = await statfs(path);
  if (blocks === 0) return null;
  return { usedPercent: Math.round((1 - bavail / blocks) * 1000) / 10, freeBytes: bavail * bsize };
};

function upgrade(request: Request) {
  return Deno.upgradeWebSocket(request, { idleTimeout: SOCKET_IDLE_SECONDS });
}

/** Signal 0 only asks. A process of somebody else counts as running. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}

/** A key never goes where logs are collected. */
function announceKey(hermes: HermesBase, url: string, key: string, isJson: boolean): void {
  const { stderr } = hermes.platform;
  if (isJson) {
    return hermes.log.warn(`No API key was set. Made one and stored it in ${hermes.config.envPath}`);
  }
  stderr(`No API key was set. Made one and stored it in ${hermes.config.envPath}; it is shown only now:`);
  stderr(`  ${key}`);
  if (isQuiet(hermes.platform.env())) return;
  stderr("Try it:");
  stderr(`  curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" \\`);
  stderr(`    -d '{"messages":[{"role":"user","content":"Hello"}]}'`);
  stderr(`or open the console: ${url}/#key=${key}`);
}

function print(line: string): void {
  try {
    Deno.stdout.writeSync(new TextEncoder().encode(line + "\n"));
  } catch {
    // stdout is closed: whoever started us does not wait for the line.
  }
}

interface Stop {
  readonly requested: Promise<void>;
  /** A second signal: do not wait any longer. */
  readonly again: Promise<void>;
  dispose(): void;
}

function listenForStop(): Stop {
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  let count = 0;
  const onSignal = () => (++count === 1 ? first : second).resolve();
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM"];
  for (const signal of signals) Deno.addSignalListener(signal, onSignal);
  return {
    requested: first.promise,
    again: second.promise,
    dispose: () => {
      for (const signal of signals) Deno.removeSignalListener(signal, onSignal);
    },
  };
}
