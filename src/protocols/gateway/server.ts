/**
 * What all connections of a gateway share once the program is loaded: the facade, the live sessions and the table
 * of methods. Loaded after `gateway.ready` went out, so everything heavy may hang on this file.
 */
import type { Hermes } from "@/app/mod.ts";
import { launchSource } from "./launch.ts";
import { LiveSessions } from "./live_sessions.ts";
import type { MethodTable } from "./peer.ts";
import { firstMethods } from "./methods/first.ts";
import { isTruthy } from "./truthy.ts";

export interface GatewayFacts {
  /** 32 hex digits, the same as in `gateway.ready`. */
  readonly epoch: string;
  /** `--yolo` was given: nothing is asked in this process. */
  readonly yolo: boolean;
  onFault(where: string, error: unknown): void;
}

/** Handlers get this and nothing else. */
export interface Gateway {
  readonly hermes: Hermes;
  readonly live: LiveSessions;
  readonly epoch: string;
  readonly yolo: boolean;
  /** `HERMES_EXEC_ASK` is set: no yolo is in force. */
  readonly execAsk: boolean;
  /** Of sessions whose host names none. */
  readonly source: string;
}

export interface GatewayServer {
  readonly gateway: Gateway;
  readonly methods: MethodTable;
}

export function createGatewayServer(hermes: Hermes, facts: GatewayFacts): GatewayServer {
  const execAsk = isTruthy(hermes.config.env("HERMES_EXEC_ASK"));
  const yolo = !execAsk && (facts.yolo || isTruthy(hermes.config.env("HERMES_YOLO_MODE")));
  const live = new LiveSessions(hermes, { yolo, onFault: facts.onFault });
  const gateway: Gateway = { hermes, live, epoch: facts.epoch, yolo, execAsk, source: launchSource(hermes) };
  return { gateway, methods: firstMethods(gateway) };
}
