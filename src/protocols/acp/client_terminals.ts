/**
 * Foreground commands in the client's own terminals (acp.md C8.6), for a client that offers them and where
 * `acp.use_client_terminal` is on. Each command has a terminal of its own, shown in the card of its call, and given
 * back whatever happens: a terminal whose creation was not waited for is killed and released when it comes.
 *
 *   create ─► wait_for_exit ─┬─ exit ──────────────────► output ─► release
 *                            └─ time or cancel ─► kill ─► output ─► release
 */
import type { ShellEnd, ShellRequest, WorkspaceShell } from "@/core/contract.ts";
import { AbortError, isAbort, within } from "@/lib/abort.ts";
import { isObject } from "./envelope.ts";
import { PeerError, type RequestOptions } from "./peer.ts";

export interface ClientTerminalsHost {
  /** Asks the client; rejects with `PeerError`, or with an `AbortError` when the signal fires or the client is gone. */
  request(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options: RequestOptions,
  ): Promise<unknown>;
  /** The longest the client may take for anything but the command itself. */
  answerMs(): number;
  /** The command of this call is to be seen in this terminal. */
  show(callId: string, terminalId: string): void;
}

/** After a cancel the answers count only when they come at once (acp.md C10: 3 s in all). */
const LAST_ANSWER_MS = 600;
const SIGNAL_BASE = 128;
const MAX_REASON_CHARS = 300;

interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

function readExit(value: unknown): ExitStatus | null {
  if (!isObject(value)) return null;
  const { exitCode, signal } = value;
  return {
    exitCode: typeof exitCode === "number" && Number.isInteger(exitCode) ? exitCode : null,
    signal: typeof signal === "string" ? signal : null,
  };
}

/** As a shell would show it; a status that says nothing is not a success. */
function codeOf(exit: ExitStatus | null): number {
  if (exit?.exitCode !== null && exit?.exitCode !== undefined) return exit.exitCode;
  return exit?.signal ? SIGNAL_BASE + (/KILL/.test(exit.signal) ? 9 : 15) : 1;
}

function reasonOf(error: unknown): string {
  if (error instanceof PeerError) {
    const said = isObject(error.error) ? error.error.message : undefined;
    return (typeof said === "string" ? said : "it gave no reason").slice(0, MAX_REASON_CHARS);
  }
  return isAbort(error) ? "it did not answer in time" : "its answer was malformed";
}

export class ClientTerminals implements WorkspaceShell {
  readonly #host: ClientTerminalsHost;

  constructor(host: ClientTerminalsHost) {
    this.#host = host;
  }

  async run(request: ShellRequest): Promise<ShellEnd> {
    const terminalId = await this.#create(request);
    if (terminalId === null) return { end: "interrupted", code: 130, output: "", truncated: false };
    try {
      this.#host.show(request.callId, terminalId);
      const { end, exit } = await this.#wait(terminalId, request);
      if (end !== "exited") await this.#quietly("terminal/kill", terminalId);
      const last = await this.#output(terminalId, end === "exited" ? this.#host.answerMs() : LAST_ANSWER_MS);
      return { end, code: codeOf(exit ?? last.exit), output: last.output, truncated: last.truncated };
    } finally {
      // Not waited for: nothing depends on the answer.
      void this.#quietly("terminal/release", terminalId);
    }
  }

  /** `null` when the turn was cancelled before the client had answered. A terminal that comes later is given back. */
  async #create(request: ShellRequest): Promise<string | null> {
    const { command, args, cwd, env, outputBytes, signal } = request;
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), this.#host.answerMs());
    try {
      const created = await this.#host.request("terminal/create", {
        command,
        args,
        cwd,
        env: Object.entries(env).map(([name, value]) => ({ name, value })),
        outputByteLimit: outputBytes,
      }, { signal: AbortSignal.any([signal, limit.signal]), onLate: (late) => void this.#discard(late) });
      if (isObject(created) && typeof created.terminalId === "string") return created.terminalId;
      throw new Error("no terminal id");
    } catch (error) {
      if (signal.aborted) return null;
      throw new Error(`The editor could not open a terminal: ${reasonOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  async #discard(created: unknown): Promise<void> {
    if (!isObject(created) || typeof created.terminalId !== "string") return;
    await this.#quietly("terminal/kill", created.terminalId);
    await this.#quietly("terminal/release", created.terminalId);
  }

  async #wait(
    terminalId: string,
    { timeoutMs, signal }: ShellRequest,
  ): Promise<{ end: ShellEnd["end"]; exit: ExitStatus | null }> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), timeoutMs);
    try {
      const either = AbortSignal.any([signal, limit.signal]);
      const result = await this.#host.request("terminal/wait_for_exit", { terminalId }, { signal: either });
      return { end: "exited", exit: readExit(result) };
    } catch (error) {
      if (signal.aborted) return { end: "interrupted", exit: null };
      if (limit.signal.aborted) return { end: "timeout", exit: null };
      await this.#quietly("terminal/kill", terminalId);
      throw new Error(`The editor could not tell how the command ended: ${reasonOf(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the terminal shows; empty when a terminal that was ended does not tell. */
  async #output(terminalId: string, ms: number) {
    const got = await this.#ask("terminal/output", { terminalId }, ms).catch(() => null);
    const output = isObject(got) && typeof got.output === "string" ? got.output : null;
    return {
      output: output ?? "[The editor did not give the output of the command]",
      truncated: isObject(got) && got.truncated === true,
      exit: isObject(got) ? readExit(got.exitStatus) : null,
    };
  }

  async #quietly(method: string, terminalId: string): Promise<void> {
    await this.#ask(method, { terminalId }, LAST_ANSWER_MS).catch(() => {/* it has gone already */});
  }

  async #ask(method: string, params: Readonly<Record<string, unknown>>, ms: number): Promise<unknown> {
    const limit = new AbortController();
    const asking = this.#host.request(method, params, { signal: limit.signal });
    asking.catch(() => {/* looked at below */});
    const answer = await within(asking.then((result) => ({ result })), ms);
    if (answer) return answer.result;
    limit.abort();
    throw new AbortError(`no answer to ${method}`);
  }
}
