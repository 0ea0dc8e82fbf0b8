/**
 * The browsers of one server: lanes, their connections, and the way of a tool call to its controller (api-server.md
 * B6.3). The configuration is read again with each call; a lane that is taken fails rather than going elsewhere.
 */
import type { Hermes } from "@/app/mod.ts";
import type { BrowserDriver, BrowserOutcome, Tool } from "@/core/contract.ts";
import type { Controller } from "./controller.ts";
import { Lanes, type LanesOptions } from "./lanes.ts";
import { flagsOf, isDeveloperAction, type LaneName, type Registration } from "./protocol.ts";
import { serveSocket } from "./socket.ts";

const GOING_AWAY = 1001;
const MAX_NAME = 200;

export interface BrowserControl {
  readonly lanes: Lanes;
  /** Serves a connection that a ticket has let in. */
  connect(socket: WebSocket, registration: Registration): void;
  /** What a turn of this lane gets; `headId`: another id of the same session. */
  toolsOf(lane: LaneName, headId: string): readonly Tool[];
  /** Ends everything. */
  close(): void;
}

/** For tests: shorter times. */
export interface ControlTimes {
  readonly commandMs?: number;
  readonly heartbeatMs?: number;
}

export async function createControl(hermes: Hermes, times: ControlTimes = {}): Promise<BrowserControl> {
  const make = await hermes.browserTools();
  const { clock, ids } = hermes.platform;
  const sockets = new Set<WebSocket>();
  const note = auditor(hermes);
  const lanes = new Lanes({
    clock,
    ids,
    note,
    ...(times.commandMs === undefined ? {} : { commandMs: times.commandMs }),
  });
  return {
    lanes,
    connect(socket, registration) {
      sockets.add(socket);
      serveSocket(socket, {
        attach: (transport) => lanes.attach(registration, transport),
        detached: (controller) => note("detached", controller.registration),
        closed: () => void sockets.delete(socket),
      }, times.heartbeatMs);
    },
    toolsOf(lane, headId) {
      const place = lanes.find(lane) ? lane : { ...lane, sessionId: headId };
      const controller = lanes.find(place);
      return controller && flagsOf(hermes.settings()).enabled
        ? make(driverOf(hermes, lanes, place, controller))
        : [];
    },
    close() {
      lanes.close();
      for (const socket of sockets) socket.close(GOING_AWAY, "the server is shutting down");
    },
  };
}

function driverOf(hermes: Hermes, lanes: Lanes, lane: LaneName, controller: Controller): BrowserDriver {
  const { developerMode } = flagsOf(hermes.settings());
  const { capabilities } = controller.registration;
  return {
    actions: capabilities.filter((name) => developerMode || !isDeveloperAction(name)),
    isLocal: lane.family === "local-api",
    run: (action, args, call) =>
      refusal(hermes, action) ?? lanes.find(lane)?.run(action, structuredClone(args), call) ?? gone(),
  };
}

/** What the configuration forbids now, whatever it allowed when the turn began. */
function refusal(hermes: Hermes, action: string): Promise<BrowserOutcome> | null {
  const { enabled, developerMode } = flagsOf(hermes.settings());
  if (!enabled) return fail("Browser control has been turned off", "browser_control_disabled");
  if (!isDeveloperAction(action) || developerMode) return null;
  return fail(`${action} needs developer mode`, "browser_control_developer_mode_required");
}

function gone(): Promise<BrowserOutcome> {
  return fail("The browser of this session is not connected any more");
}

function fail(error: string, code?: string): Promise<BrowserOutcome> {
  return Promise.resolve({ ok: false, error, mayHaveRun: false, ...(code === undefined ? {} : { code }) });
}

/** Keeps in the audit trail who has lent which browser to whom. */
function auditor(hermes: Hermes): LanesOptions["note"] {
  const clean = (text: string) => hermes.redact(text, "full").slice(0, MAX_NAME).toWellFormed();
  return (event, { lane, controllerId, browserProfileId, capabilities, client }) => {
    const entry = {
      at: hermes.platform.clock.now() / 1000,
      sessionId: lane.sessionId,
      turnId: "",
      surface: "api_server",
      client,
      kind: "browser" as const,
      tool: null,
      callId: null,
      detail: {
        event,
        controller_id: clean(controllerId),
        browser_profile_id: clean(browserProfileId),
        family: lane.family,
        capabilities,
      },
    };
    Promise.resolve().then(() => hermes.store().audit.append([entry]))
      .catch((error) =>
        hermes.log.warn(`api: a controller was not noted in the audit trail: ${String(error)}`)
      );
  };
}
