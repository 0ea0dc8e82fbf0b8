/**
 * What both transports need around a gateway: building the program after the first frame, the numbers of the
 * environment (tui-gateway.md I), and the process's signals and uncaught errors. The code of a first session is
 * imported before that frame: hosts ask for a session as soon as they have seen it.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import type { CrashTrail } from "./crash_trail.ts";
import type { MethodTable } from "./peer.ts";
import { createGatewayServer, type Gateway } from "./server.ts";

export interface GatewayOptions {
  readonly platform: Platform;
  /** Builds the program; called once, after `gateway.ready` was written. */
  load(): Promise<Hermes> | Hermes;
  readonly yolo?: boolean;
}

export interface Program {
  readonly methods: Promise<MethodTable>;
  /** `null` until it is loaded. */
  gateway(): Gateway | null;
}

export interface ProgramFacts {
  readonly epoch: string;
  readonly trail: CrashTrail;
}

/** Starts loading at once. A failure is reported with the first request. */
export function loadProgram(options: GatewayOptions, facts: ProgramFacts): Program {
  let loaded: Gateway | null = null;
  async function start(): Promise<MethodTable> {
    const hermes = await options.load();
    facts.trail.learn(hermes.home, (raw) => hermes.redact(raw));
    const server = createGatewayServer(hermes, {
      epoch: facts.epoch,
      yolo: options.yolo ?? false,
      onFault: (where, error) => facts.trail.report(where, error),
    });
    loaded = server.gateway;
    return server.methods;
  }
  const methods = start();
  methods.catch(() => {/* the peer reports it */});
  return { methods, gateway: () => loaded };
}

/** Worker methods at the same time (A.5). */
export function poolSize(platform: Platform): number {
  const wanted = Number(platform.env()["HERMES_TUI_RPC_POOL_WORKERS"]);
  return Number.isInteger(wanted) && wanted > 0 ? Math.max(2, wanted) : 8;
}

/** How long the end may take (A.1). */
export function graceMs(platform: Platform): number {
  const seconds = Number(platform.env()["HERMES_TUI_GATEWAY_SHUTDOWN_GRACE_S"]);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : 1000;
}

/**
 * Calls `handler` for the signals that end the program. On stdio SIGINT is the business of the host's terminal
 * and ignored; a server that someone started in a terminal ends by it. Returns the function that stops listening.
 */
export function onStopSignal(
  handler: (signal: string) => void,
  options: { interruptStops: boolean },
): () => void {
  const windows = Deno.build.os === "windows";
  const stopping: Deno.Signal[] = windows ? ["SIGBREAK"] : ["SIGTERM", "SIGHUP"];
  const listeners = stopping.map((signal) => [signal, () => handler(signal)] as const);
  const onInterrupt = () => options.interruptStops && handler("SIGINT");
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  Deno.addSignalListener("SIGINT", onInterrupt);
  return () => {
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    Deno.removeSignalListener("SIGINT", onInterrupt);
  };
}

/** Errors nobody caught; the process goes on. Returns the function that stops listening. */
export function onCrash(handler: (error: unknown) => void): () => void {
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    handler(event.reason);
  };
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    handler(event.error);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  return () => {
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
  };
}
