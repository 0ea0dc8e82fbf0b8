/**
 * One browser that has been lent to one lane (api-server.md B6.2, B6.3): the commands it has not answered, the
 * connection it has now, and the cancels that it missed. A command has one end; whatever comes later, from another
 * connection, or from a connection that was taken over, changes nothing. A lost connection ends no command: each
 * waits for its own deadline, and its result may come over the next connection.
 */
import type { BrowserCall, BrowserOutcome } from "@/core/contract.ts";
import type { Ids } from "@/platform/mod.ts";
import { type Frame, METHODS, type Registration } from "./protocol.ts";

/** A connection to a browser. */
export interface Transport {
  /** False when it is not open; never throws. */
  send(frame: Frame): boolean;
}

interface Pending {
  readonly commandId: string;
  readonly callId: string;
  settle(outcome: BrowserOutcome): void;
}

interface Cancel extends Record<string, unknown> {
  readonly command_id: string;
  readonly tool_call_id: string;
}

export interface ControllerOptions {
  readonly ids: Ids;
  /** How long a command may go unanswered. */
  readonly timeoutMs: number;
}

const MAX_QUEUED_CANCELS = 512;
const MAX_NONCE = 128;
const MAX_ERROR = 4_000;

export class Controller {
  readonly #options: ControllerOptions;
  readonly #pending = new Map<string, Pending>();
  #cancels: Cancel[] = [];
  #registration: Registration;
  #transport: Transport | null = null;

  constructor(registration: Registration, options: ControllerOptions) {
    this.#registration = registration;
    this.#options = options;
  }

  get registration(): Registration {
    return this.#registration;
  }

  get isOnline(): boolean {
    return this.#transport !== null;
  }

  /** Commands that wait for their result. */
  get pending(): number {
    return this.#pending.size;
  }

  owns(transport: Transport): boolean {
    return this.#transport === transport;
  }

  /** A new connection takes over; what the browser should have stopped doing is told first. */
  attach(registration: Registration, transport: Transport): void {
    this.#registration = registration;
    this.#transport = transport;
    for (const cancel of this.#cancels.splice(0)) this.#tellCancel(cancel);
  }

  /** The connection has gone; it may have been taken over long ago. */
  lost(transport: Transport): void {
    if (this.owns(transport)) this.#transport = null;
  }

  /** Somebody else has the lane now, or the server goes away: everything ends, and this one is over. */
  retire(why: string): void {
    for (const pending of [...this.#pending.values()]) {
      this.#tellCancel(cancelOf(pending));
      pending.settle({ ok: false, error: why, mayHaveRun: true });
    }
    this.#transport = null;
  }

  /** Never rejects. */
  run(action: string, args: Readonly<Record<string, unknown>>, call: BrowserCall): Promise<BrowserOutcome> {
    const { capabilities, controllerId, browserProfileId } = this.#registration;
    if (!capabilities.includes(action)) return refused(`The connected browser does not offer ${action}`);
    const { callId, signal } = call;
    if (signal.aborted) return refused("The call was cancelled");
    const { promise, resolve } = Promise.withResolvers<BrowserOutcome>();
    const commandId = this.#options.ids.hex(32);
    const stop = (error: string) => {
      this.#tellCancel(cancelOf(pending));
      pending.settle({ ok: false, error, mayHaveRun: true });
    };
    const onAbort = () => stop("The call was cancelled");
    const timer = setTimeout(
      () => stop(`The browser did not answer within ${this.#options.timeoutMs / 1000} s`),
      this.#options.timeoutMs,
    );
    const pending: Pending = {
      commandId,
      callId,
      settle: (outcome) => {
        if (!this.#pending.delete(commandId)) return;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      },
    };
    this.#pending.set(commandId, pending);
    signal.addEventListener("abort", onAbort, { once: true });
    const sent = this.#send(METHODS.command, {
      command_id: commandId,
      action,
      arguments: args,
      controller_id: controllerId,
      browser_profile_id: browserProfileId,
      tool_call_id: callId,
    });
    if (!sent) pending.settle({ ok: false, error: OFFLINE, mayHaveRun: false });
    return promise;
  }

  /** One frame from a connection; those of a connection that is not, or no longer, the owner mean nothing. */
  take(transport: Transport, { method, params }: Frame): void {
    if (!this.owns(transport)) return;
    if (method === METHODS.result) this.#takeResult(params);
    else if (method === METHODS.heartbeat) this.#takeHeartbeat(params);
    else if (method === METHODS.detach) this.#detach();
    else if (method === METHODS.cancel) this.#takeCancel(params);
  }

  #takeResult(params: Frame["params"]): void {
    const id = params.command_id;
    const pending = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (!pending) return;
    pending.settle(
      params.ok === true
        ? { ok: true, result: params.result }
        : { ok: false, error: errorText(params.error), fromBrowser: true, mayHaveRun: true },
    );
  }

  /** An answer to our own is not answered again. */
  #takeHeartbeat({ nonce, ok }: Frame["params"]): void {
    if (typeof nonce !== "string" || nonce === "" || nonce.length > MAX_NONCE || ok === true) return;
    this.#send(METHODS.heartbeat, { nonce, ok: true });
  }

  #detach(): void {
    this.#send(METHODS.detach, { ok: true });
    this.#transport = null;
    for (const pending of [...this.#pending.values()]) {
      pending.settle({ ok: false, error: "The browser was detached: cancelled", mayHaveRun: true });
    }
  }

  #takeCancel({ tool_call_id: id }: Frame["params"]): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.callId !== id) continue;
      pending.settle({ ok: false, error: "Cancelled in the browser", mayHaveRun: true });
    }
  }

  #send(method: string, params: Frame["params"]): boolean {
    return this.#transport?.send({ method, params }) ?? false;
  }

  /** Now, or with the next connection; of too many the oldest are forgotten. */
  #tellCancel(cancel: Cancel): void {
    if (this.#send(METHODS.cancel, cancel)) return;
    this.#cancels.push(cancel);
    if (this.#cancels.length > MAX_QUEUED_CANCELS) this.#cancels.shift();
  }
}

export const OFFLINE =
  "The browser of this session is offline: nothing was done. Its user can connect the controller again";

function refused(error: string): Promise<BrowserOutcome> {
  return Promise.resolve({ ok: false, error, mayHaveRun: false });
}

function cancelOf({ commandId, callId }: Pending): Cancel {
  return { command_id: commandId, tool_call_id: callId };
}

/** A text, or an object with one, as controllers write it. */
function errorText(error: unknown): string {
  const text = typeof error === "object" && error !== null ? (error as { message?: unknown }).message : error;
  const said = typeof text === "string" ? text.trim() : "";
  return said === "" ? "The browser could not do this" : said.slice(0, MAX_ERROR).toWellFormed();
}
