/**
 * The methods of this door by name (acp.md A3): parse, call, shape the answer. Loaded after the `initialize`
 * answer went out, with the schemas and all that a session needs.
 */
import { authenticate } from "./auth.ts";
import type { Hermes } from "@/app/mod.ts";
import { changeConfigOption, changeMode, changeModel } from "./changes.ts";
import { Connection, type Handshake } from "./connection.ts";
import type { Params } from "./envelope.ts";
import type { Peer, RequestContext } from "./peer.ts";
import * as schema from "./schema.ts";
import { steerSession } from "./steering.ts";
import { listSessions } from "./session_list.ts";
import {
  closeSession,
  deleteSession,
  forkSession,
  loadSession,
  newSession,
  resumeSession,
  viewOf,
} from "./sessions.ts";

type RequestHandler = (params: Params, context: RequestContext) => unknown;

export interface Methods {
  readonly requests: Readonly<Record<string, RequestHandler>>;
  readonly notifications: Readonly<Record<string, (params: Params) => void>>;
  shakeHands(handshake: Handshake): void;
  /** Cancels every prompt of every session and starts no other; the answers follow. */
  cancelAll(): void;
}

const { parseParams } = schema;

export function createMethods(hermes: Hermes, peer: Peer): Methods {
  const connection = new Connection(hermes, peer);
  const requests: Record<string, RequestHandler> = {
    "authenticate": (params) => {
      authenticate(connection, parseParams(schema.authenticateParams, params).methodId);
      return {};
    },
    "session/new": (params, context) =>
      newSession(connection, parseParams(schema.newParams, params), context),
    "session/load": (params, context) => {
      const parsed = parseParams(schema.loadParams, params);
      const view = viewOf(connection, parsed.sessionId);
      const load = async () => {
        view.requireOpen();
        return await loadSession(connection, parsed, context);
      };
      const work = view.loadInTurn(() => load().then(context.respond, context.fail));
      // One that was refused for its directory has opened nothing.
      view.prompts.holdWhile(work.then(() => view.isActive || view.drop()));
    },
    "session/resume": (params, context) =>
      resumeSession(connection, parseParams(schema.resumeParams, params), context),
    "session/fork": (params, context) =>
      forkSession(connection, parseParams(schema.resumeParams, params), context),
    "session/list": (params) => listSessions(connection, parseParams(schema.listParams, params)),
    "session/close": (params) =>
      closeSession(connection, parseParams(schema.sessionParams, params).sessionId),
    "session/delete": (params) =>
      deleteSession(connection, parseParams(schema.sessionParams, params).sessionId),
    "session/prompt": (params, context) => {
      const { sessionId, prompt } = parseParams(schema.promptParams, params);
      viewOf(connection, sessionId).prompts.accept(prompt, context);
    },
    "_session/steering": (params, context) =>
      steerSession(connection, parseParams(schema.steeringParams, params), context),
    "session/set_mode": (params, context) =>
      changeMode(connection, parseParams(schema.setModeParams, params), context),
    "session/set_config_option": (params, context) =>
      changeConfigOption(connection, parseParams(schema.setConfigOptionParams, params), context),
    "session/set_model": (params, context) =>
      changeModel(connection, parseParams(schema.setModelParams, params), context),
  };
  return {
    // No prototype: a method named like one of Object's is unknown, not found there.
    requests: Object.assign(Object.create(null), requests),
    notifications: Object.assign(Object.create(null), {
      "session/cancel": (params: Params) => {
        const id = params.sessionId;
        if (typeof id === "string") void connection.views.get(id)?.prompts.cancelAll();
      },
    }),
    shakeHands: (handshake) => {
      connection.handshake = handshake;
    },
    cancelAll: () => {
      connection.closing = true;
      for (const view of connection.views.values()) void view.prompts.cancelAll();
    },
  };
}
