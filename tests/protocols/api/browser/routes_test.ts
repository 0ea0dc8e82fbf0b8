/** The two routes without a port: what is refused before the key, a ticket's end, and the life of one socket. */
import { createDenoPlatform } from "@/platform/deno.ts";
import { createBrowserTools } from "../../../../src/tools/browser.ts";
import { createControl } from "@/protocols/api/browser/control.ts";
import { allowedOf, flagsOf, type Registration } from "@/protocols/api/browser/protocol.ts";
import { HermesError, type Settings } from "@/core/mod.ts";
import { assertEquals } from "../../../support/assert.ts";
import { eventually } from "../../../support/program.ts";
import { createClient, createFakeHermes, type FakeHermes } from "../fake_hermes.ts";

const PROTOCOLS = "hermes-browser-control-v1, hermes-browser-control-ticket.";

/** A server with browser control on, and a clock that the test moves. */
function makeFake(control: unknown = { enabled: true, developer_mode: false }) {
  const fake = createFakeHermes();
  const time = { passed: 0 };
  const platform = createDenoPlatform();
  const { hermes } = fake;
  const settings = hermes.settings;
  Object.assign(hermes, {
    platform: {
      ...platform,
      clock: { ...platform.clock, monotonic: () => platform.clock.monotonic() + time.passed },
    },
    settings: () => ({ ...settings(), browser: { extension_control: control } }),
    browserTools: () => Promise.resolve(createBrowserTools),
  });
  return { fake, time };
}

function body(sessionId: string) {
  return {
    protocol_version: 1,
    session_id: sessionId,
    controller_id: "c",
    browser_profile_id: "p",
    capabilities: ["browser_tabs"],
  };
}

async function ticketOf(fake: FakeHermes, client: ReturnType<typeof createClient>): Promise<string> {
  await fake.hermes.sessions.create({ id: "s", source: "api_server", surface: "api_server", cwd: "/" })
    .catch(() => {/* it is there already */});
  const response = await client.call("/v1/browser-control/register", { body: body("s") });
  assertEquals(response.status, 201);
  assertEquals(response.headers.get("cache-control"), "no-store");
  return (await response.json()).ticket;
}

async function refusalOf(response: Response): Promise<unknown[]> {
  const { error } = await response.json();
  return [response.status, error.code, error.type];
}

Deno.test("register: a server without a key takes no browser, whatever is sent", async () => {
  const { fake } = makeFake();
  const { call } = createClient(fake, { key: "" });
  const response = await call("/v1/browser-control/register", { body: "{" });
  assertEquals(await refusalOf(response), [403, "browser_control_auth_required", "gateway_auth_error"]);
});

Deno.test("flagsOf: only the literal true turns it on", () => {
  for (const value of ["true", 1, "yes", {}, null]) {
    const settings = { browser: { extension_control: { enabled: value, developer_mode: value } } };
    assertEquals(flagsOf(settings as unknown as Settings), { enabled: false, developerMode: false });
  }
  assertEquals(flagsOf({} as Settings), { enabled: false, developerMode: false });
});

Deno.test("allowedOf: artifacts never, scripts in developer mode, sorted, each once", () => {
  const wish = ["browser_type", "browser_cdp", "browser_back", "browser_back", "browser_artifact_upload", 5];
  assertEquals(allowedOf(wish, { enabled: true, developerMode: false }), ["browser_back", "browser_type"]);
  assertEquals(allowedOf(wish, { enabled: true, developerMode: true }), [
    "browser_back",
    "browser_cdp",
    "browser_type",
  ]);
});

Deno.test("register: without a session store it is 503", async () => {
  const { fake } = makeFake();
  Object.assign(fake.hermes, {
    store: () => {
      throw new HermesError("store_failed", "the disk is full");
    },
  });
  const { call } = createClient(fake);
  const response = await call("/v1/browser-control/register", { body: body("s") });
  assertEquals((await refusalOf(response)).slice(0, 2), [503, "session_db_unavailable"]);
});

Deno.test("api 60: ws: a ticket is 401 after 31 s", async () => {
  const { fake, time } = makeFake();
  const client = createClient(fake);
  const ticket = await ticketOf(fake, client);
  const connect = () =>
    client.call("/v1/browser-control/ws", { headers: { "Sec-WebSocket-Protocol": PROTOCOLS + ticket } });
  // Good, but this is no handshake.
  assertEquals((await refusalOf(await connect()))[0], 426);
  time.passed += 31_000;
  assertEquals((await refusalOf(await connect())).slice(0, 2), [401, "browser_control_invalid_ticket"]);
});

Deno.test("ws: a handshake that the runtime refuses is 400 and leaves the ticket", async () => {
  const { fake } = makeFake();
  let isBroken = true;
  const client = createClient(fake, {
    upgrade: () => {
      if (isBroken) throw new TypeError("no key");
      return {
        socket: new FakeSocket() as unknown as WebSocket,
        response: new Response(null, { status: 200 }),
      };
    },
  });
  const ticket = await ticketOf(fake, client);
  const headers = { "Sec-WebSocket-Protocol": PROTOCOLS + ticket, "Upgrade": "WebSocket" };
  assertEquals((await refusalOf(await client.call("/v1/browser-control/ws", { headers })))[0], 400);
  isBroken = false;
  const good = await client.call("/v1/browser-control/ws", { headers });
  assertEquals([good.status, good.headers.get("sec-websocket-protocol")], [200, "hermes-browser-control-v1"]);
  assertEquals((await refusalOf(await client.call("/v1/browser-control/ws", { headers })))[0], 401);
  client.api.browsers.close();
});

class FakeSocket {
  readyState: number = WebSocket.CONNECTING;
  readonly sent: string[] = [];
  binaryType = "";
  closedWith: number | undefined;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: (() => void) | null = null;
  onclose: (() => void) | null = null;

  open(): void {
    this.readyState = WebSocket.OPEN;
    this.onopen!();
  }

  send(text: string): void {
    this.sent.push(text);
  }

  close(code?: number): void {
    this.closedWith = code;
    this.readyState = WebSocket.CLOSED;
    this.onclose?.();
  }
}

const REGISTRATION: Registration = {
  lane: { sessionId: "s", keyId: null, family: "local-api" },
  controllerId: "c",
  browserProfileId: "p",
  capabilities: ["browser_tabs"],
  client: "test",
};

Deno.test("socket: heartbeats of the server go to the owner alone, and end with the connection", async () => {
  const { fake } = makeFake();
  const control = await createControl(fake.hermes, { heartbeatMs: 5 });
  const [first, second] = [new FakeSocket(), new FakeSocket()];
  control.connect(first as unknown as WebSocket, REGISTRATION);
  first.open();
  const beat = (n: number) =>
    `{"method":"browser.controller.heartbeat","params":{"nonce":"server-keepalive-${n}","ok":true}}`;
  await eventually(() => first.sent.length >= 2);
  assertEquals(first.sent.slice(0, 2), [beat(1), beat(2)]);
  control.connect(second as unknown as WebSocket, REGISTRATION);
  second.open();
  const heard = first.sent.length;
  await eventually(() => second.sent.length >= 2);
  assertEquals(first.sent.length, heard);
  first.close();
  second.close();
});

Deno.test("socket: a command before the opening is kept for it; a large binary message closes with 1009", async () => {
  const { fake } = makeFake();
  const control = await createControl(fake.hermes);
  const socket = new FakeSocket();
  control.connect(socket as unknown as WebSocket, REGISTRATION);
  const controller = control.lanes.find(REGISTRATION.lane)!;
  const call = controller.run("browser_tabs", {}, { callId: "x", signal: new AbortController().signal });
  assertEquals(socket.sent, []);
  socket.open();
  assertEquals(JSON.parse(socket.sent[0]!).params.action, "browser_tabs");
  socket.onmessage!({ data: new ArrayBuffer(16 * 1024 * 1024) });
  assertEquals(socket.closedWith, undefined);
  socket.onmessage!({ data: new ArrayBuffer(16 * 1024 * 1024 + 1) });
  assertEquals([socket.closedWith, controller.isOnline], [1009, false]);
  control.close();
  await call;
});
