/**
 * `POST /v1/browser-control/register` and `GET /v1/browser-control/ws` (api-server.md B6.1, B6.2), each with its
 * checks in their documented order. A refused handshake is a plain answer, given before the upgrade; a ticket is used
 * up by nothing but a connection.
 */
import { type JsonObject, readJsonObject } from "../body.ts";
import { ApiError, badRequest } from "../errors.ts";
import type { ApiService } from "../service.ts";
import { sha256 } from "../sha256.ts";
import { type BrowserControl, createControl } from "./control.ts";
import { TICKET_MS } from "./lanes.ts";
import {
  allowedOf,
  familyOf,
  flagsOf,
  PROTOCOL_VERSION,
  type Registration,
  SUBPROTOCOL,
  TICKET_PREFIX,
  WS_PATH,
} from "./protocol.ts";

const PROFILE = "default";
const MAX_ID = 256;

/** Comes before the key is looked at. Throws 404 and 403. */
export function checkRegistrable(api: ApiService): void {
  checkEnabled(api);
  if (api.options.key !== "") return;
  throw new ApiError(403, "browser_control_auth_required", "Browser control needs a server with a key", {
    type: "gateway_auth_error",
  });
}

function checkEnabled(api: ApiService): void {
  if (flagsOf(api.hermes.settings()).enabled) return;
  throw new ApiError(
    404,
    "browser_control_disabled",
    "Browser control is off; set browser.extension_control.enabled to true",
  );
}

function control(api: ApiService): Promise<BrowserControl> {
  return api.browsers.load(() => createControl(api.hermes));
}

// ── Registering ─────────────────────────────────────────────────────────────────────────────────────────────

export async function postRegister(api: ApiService, request: Request): Promise<Response> {
  const registration = readRegistration(api, await readJsonObject(request));
  const { lanes } = await control(api);
  const ticket = lanes.issue(registration);
  const seconds = TICKET_MS / 1000;
  return Response.json({
    protocol_version: PROTOCOL_VERSION,
    ticket,
    ticket_expires_at: api.hermes.platform.clock.now() / 1000 + seconds,
    ticket_expires_in_seconds: seconds,
    ws_path: WS_PATH,
    scope: {
      principal_id: await principalOf(api),
      profile_id: PROFILE,
      session_id: registration.lane.sessionId,
      controller_id: registration.controllerId,
      browser_profile_id: registration.browserProfileId,
      transport_family: registration.lane.family,
      capabilities: registration.capabilities,
    },
  }, { status: 201, headers: { "Cache-Control": "no-store" } });
}

/** Names who asks; the key cannot be read back from it. */
async function principalOf({ caller, options }: ApiService): Promise<string> {
  const key = caller.keyId === null ? options.key : `key:${caller.keyId}`;
  return `principal:${PROFILE}:${(await sha256(`${PROFILE}\0${key}`)).slice(0, 32)}`;
}

function readRegistration(api: ApiService, body: JsonObject): Registration {
  if (body.protocol_version !== PROTOCOL_VERSION) {
    throw badRequest(
      `'protocol_version' must be ${PROTOCOL_VERSION}`,
      "browser_control_protocol_unsupported",
      "protocol_version",
    );
  }
  const sessionId = readId(body, "session_id");
  const controllerId = readId(body, "controller_id");
  const browserProfileId = readId(body, "browser_profile_id");
  if (!isKnown(api, sessionId)) {
    throw new ApiError(
      403,
      "browser_control_session_forbidden",
      `There is no session "${sessionId}" for this key`,
      { type: "gateway_auth_error", param: "session_id" },
    );
  }
  const capabilities = allowedOf(body.capabilities, flagsOf(api.hermes.settings()));
  if (capabilities.length === 0) {
    throw badRequest(
      "None of the capabilities is allowed on this server",
      "browser_control_no_capabilities",
      "capabilities",
    );
  }
  return {
    lane: { sessionId, keyId: api.caller.keyId, family: api.family ?? familyOf("") },
    controllerId,
    browserProfileId,
    capabilities,
    client: api.client ?? api.caller.name,
  };
}

function readId(body: JsonObject, name: string): string {
  const value = body[name];
  const id = typeof value === "string" ? value.trim() : "";
  if (id !== "" && id.length <= MAX_ID) return id;
  throw badRequest(
    `'${name}' must be a text of 1 to ${MAX_ID} characters`,
    "browser_control_invalid_registration",
    name,
  );
}

/** Live or stored, and the caller's. Throws what the store throws, which is 503. */
function isKnown(api: ApiService, id: string): boolean {
  const { hermes, pool } = api;
  const store = hermes.store();
  return (hermes.sessions.get(id) !== undefined || store.getSession(id) !== null) && pool.isOwn(id);
}

// ── Connecting ──────────────────────────────────────────────────────────────────────────────────────────────

export function connectController(api: ApiService, request: Request): Response {
  checkEnabled(api);
  const ticket = readTicket(request);
  const current = api.browsers.current;
  if (ticket === null || !current?.lanes.isGood(ticket)) throw refuse(api);
  if (request.headers.get("Upgrade")?.toLowerCase() !== "websocket" || !api.options.upgrade) {
    throw new ApiError(426, "upgrade_required", "Connect with a WebSocket");
  }
  let upgraded: ReturnType<typeof api.options.upgrade>;
  try {
    upgraded = api.options.upgrade(request);
  } catch {
    // The runtime refuses a handshake that is not one: no key, a wrong version.
    throw badRequest("The WebSocket handshake is not complete");
  }
  const { socket, response } = upgraded;
  // Not by the runtime's option, which does not understand lists without spaces.
  response.headers.set("Sec-WebSocket-Protocol", SUBPROTOCOL);
  current.connect(socket, current.lanes.redeem(ticket)!);
  return response;
}

/** The one ticket among the protocols that the client names; `null` when the handshake cannot be meant. */
function readTicket(request: Request): string | null {
  if (new URL(request.url).searchParams.has("ticket")) return null;
  const protocols = (request.headers.get("Sec-WebSocket-Protocol") ?? "").split(",").map((name) =>
    name.trim()
  );
  const tickets = protocols.filter((name) => name.startsWith(TICKET_PREFIX));
  if (!protocols.includes(SUBPROTOCOL) || tickets.length !== 1) return null;
  return tickets[0]!.slice(TICKET_PREFIX.length);
}

function refuse(api: ApiService): ApiError {
  api.hermes.log.warn("401 for a browser controller without a usable ticket");
  return new ApiError(
    401,
    "browser_control_invalid_ticket",
    "Connect with a ticket of POST /v1/browser-control/register that was not used, within 30 seconds",
  );
}
