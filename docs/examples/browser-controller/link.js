/**
 * The line to `hermes serve` (docs/api.md, "Lending a browser"): registers, connects with the ticket, hands commands
 * to `perform`, sends their results, and connects again when the line breaks. Knows no browser API, so that it can be
 * used by any controller.
 */

const PROTOCOL = "hermes-browser-control-v1";
const TICKET = "hermes-browser-control-ticket.";
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/** The server gives a command up after this time. */
const COMMAND_MS = 30_000;
/** Below the server's limit of 16 MiB for a message. */
const MAX_RESULT = 15_000_000;

export class Link {
  #options;
  #socket = null;
  #timer;
  #wait = FIRST_WAIT_MS;
  #stopped = false;
  /** Commands that run, with what aborts them. */
  #running = new Map();
  /** Results that could not be sent yet. */
  #unsent = [];

  /**
   * `server`, `key`, `sessionId`, `controllerId`, `profileId`, `capabilities`;
   * `perform(action, args, signal)` gives the result or throws; `onStatus(state, text)` is told what happens:
   * `connecting`, `connected`, `waiting`, `refused`, `stopped`.
   */
  constructor(options) {
    this.#options = options;
  }

  start() {
    this.#open().catch((error) => this.#retry(error instanceof Error ? error.message : String(error)));
  }

  /** Takes the browser back: the server is told, and what runs is given up. */
  stop(text = "Disconnected") {
    if (this.#stopped) return;
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const abort of this.#running.values()) abort.abort();
    this.#send("browser.controller.detach", {});
    this.#socket?.close();
    this.#options.onStatus("stopped", text);
  }

  async #open() {
    const { server, key, sessionId, controllerId, profileId, capabilities, onStatus } = this.#options;
    onStatus("connecting", "Connecting …");
    const response = await fetch(new URL("/v1/browser-control/register", server), {
      method: "POST",
      headers: { "Authorization": `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify({
        protocol_version: 1,
        session_id: sessionId,
        controller_id: controllerId,
        browser_profile_id: profileId,
        capabilities,
      }),
    });
    const body = await response.json().catch(() => ({}));
    if (this.#stopped) return;
    if (response.status >= 400 && response.status < 500 && response.status !== 429) {
      this.#stopped = true;
      return onStatus("refused", body.error?.message ?? `The server refused: ${response.status}`);
    }
    if (response.status !== 201) throw new Error(body.error?.message ?? `The server said ${response.status}`);
    this.#connect(new URL(body.ws_path, server), body.ticket);
  }

  #connect(url, ticket) {
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url, [PROTOCOL, TICKET + ticket]);
    this.#socket = socket;
    socket.onopen = () => {
      if (this.#stopped) return socket.close();
      this.#wait = FIRST_WAIT_MS;
      this.#options.onStatus("connected", "Connected");
      const now = Date.now();
      for (const { params, until } of this.#unsent.splice(0)) {
        if (until > now) this.#send("browser.controller.result", params);
      }
    };
    socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    socket.onclose = () => {
      if (this.#socket === socket) this.#socket = null;
      this.#retry("The connection was lost");
    };
  }

  #retry(text) {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    this.#options.onStatus("waiting", `${text}; trying again in ${this.#wait / 1000} s`);
    this.#timer = setTimeout(() => this.start(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT_MS);
  }

  #take({ method, params }) {
    if (method === "browser.controller.command") void this.#run(params);
    else if (method === "browser.controller.cancel") this.#running.get(params.command_id)?.abort();
  }

  async #run({ command_id: id, action, arguments: args }) {
    if (this.#running.has(id)) return;
    const abort = new AbortController();
    this.#running.set(id, abort);
    let params;
    try {
      if (!this.#options.capabilities.includes(action)) throw new Error(`${action} is not offered here`);
      params = { command_id: id, ok: true, result: await this.#options.perform(action, args, abort.signal) };
      if (JSON.stringify(params).length > MAX_RESULT) throw new Error("The result is too large");
    } catch (error) {
      params = { command_id: id, ok: false, error: error instanceof Error ? error.message : String(error) };
    }
    this.#running.delete(id);
    if (abort.signal.aborted) return;
    if (!this.#send("browser.controller.result", params)) {
      this.#unsent.push({ params, until: Date.now() + COMMAND_MS });
    }
  }

  #send(method, params) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify({ method, params }));
    return true;
  }
}
