/**
 * One server over its whole life (core.md G.3): connects in the background, tries again, is parked when it stays
 * away, refreshes its tools, and hands its connection to the calls.
 *
 *   connecting ──► connected ──► lost ──► connecting …
 *        │                ├── idle too long ──► resting (its tools stay; the next call wakes it)
 *        │                └── lived too long ──► connecting
 *        └── tries used up ──► parked (one try every 300 s, or when somebody calls)
 */
import { abortable, LONGEST_TIMER_MS, within } from "@/lib/abort.ts";
import type { Logger, McpServerStatus, Tool } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { Calls } from "./calls.ts";
import type { Connect, Connection } from "./connection.ts";
import type { Entry } from "./entries.ts";
import type { ServerConfig } from "./entry_types.ts";
import { asFailure, McpFailure } from "./failure.ts";
import { keepAlive, type Limit, reachedLimit } from "./limits.ts";
import { Sampling } from "./sampling.ts";
import { ServerLog } from "./server_log.ts";
import type { TokenStore } from "./token_store.ts";
import { ToolList } from "./tool_list.ts";

const FIRST_TRIES = 3;
const LATER_TRIES = 5;
const BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;
const REVIVE_MS = 300_000;
/** A connection that lived shorter than this did not really work. */
const STEADY_MS = 10_000;
const SLOW_MS = 4_000;

const STATUS = {
  connecting: "connecting",
  connected: "connected",
  resting: "configured",
  parked: "failed",
  unusable: "failed",
} as const;

export interface ServerDeps {
  readonly platform: Platform;
  readonly log: Logger;
  readonly redact: (text: string) => string;
  readonly home: string;
  readonly version: string;
  readonly connect: Connect;
  /** Where logins are kept, by server and address. */
  readonly tokens: (server: string, url: string) => TokenStore;
  /** Where a stdio server starts when its entry names no place. */
  readonly cwd: string;
  /** Its environment without what the entry adds. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Tools or state moved. */
  readonly onChange: () => void;
  /** For people; at most once until it has worked again. */
  readonly onTrouble: (text: string) => void;
}

/** What a server that can be used has. */
interface Life {
  readonly config: ServerConfig;
  readonly calls: Calls;
  readonly list: ToolList;
  /** `null`: it may not ask the model. */
  readonly sampling: Sampling | null;
}

export class McpServer {
  readonly entry: Entry;
  /** Monotonic milliseconds of the first start. */
  readonly startedAt: number;
  readonly #deps: ServerDeps;
  readonly #serverLog: ServerLog;
  readonly #ended = new AbortController();
  readonly #life: Promise<void>;
  readonly #first = Promise.withResolvers<void>();
  #firstDone = false;
  #state: keyof typeof STATUS;
  #connection: Connection | null = null;
  #tools: readonly Tool[] = [];
  #error: string | null = null;
  #told = false;
  #attempt = Promise.withResolvers<void>();
  /** The last try failed in a way that waiting does not mend. */
  #hopeless = false;
  #wake: (() => void) | null = null;
  /** Somebody waits for the next try. */
  #wanted = false;
  #refreshes = 0;
  /** The list moved while it was being read for the first time. */
  #stale = false;

  constructor(entry: Entry, deps: ServerDeps) {
    this.entry = entry;
    this.#deps = deps;
    this.startedAt = deps.platform.clock.monotonic();
    this.#serverLog = new ServerLog(deps.home, entry.name, deps.platform, deps.redact);
    const { config } = entry;
    if (config?.enabled) {
      this.#state = "connecting";
      const calls = new Calls({
        config,
        clock: deps.platform.clock,
        ended: this.#ended.signal,
        reach: (signal) => this.#reach(config, signal),
        drop: (connection) => this.#drop(connection),
      });
      const sampling = config.sampling && new Sampling({
        server: entry.name,
        limits: config.sampling,
        now: () => deps.platform.clock.monotonic(),
        running: () => calls.running,
        note: (text) => deps.log.debug(deps.redact(text)),
      });
      const { log, redact } = deps;
      const list = new ToolList(config, calls, { warn: (text) => log.warn(redact(text)) });
      this.#life = this.#live({ config, calls, list, sampling });
      void this.#watchStart();
    } else {
      this.#state = "unusable";
      this.#error = entry.error;
      this.#life = Promise.resolve();
      this.#finishFirst();
      if (entry.error) queueMicrotask(() => this.#tell(`cannot be used: ${entry.error}`));
    }
  }

  get name(): string {
    return this.entry.name;
  }

  /** Offered now: nothing while it was never reached or is parked. */
  get tools(): readonly Tool[] {
    return this.#tools;
  }

  /** True until its first start has come to an end, good or bad. */
  get starting(): boolean {
    return !this.#firstDone;
  }

  /** Settles when the first start has come to an end. */
  get settled(): Promise<void> {
    return this.#first.promise;
  }

  status(): McpServerStatus {
    const disabled = this.entry.config?.enabled === false;
    const connected = this.#state === "connected";
    const status = disabled ? "disabled" : STATUS[this.#state];
    return {
      name: this.name,
      transport: this.entry.transport,
      tools: this.#tools.length,
      connected,
      disabled,
      status,
      ...(this.#error && !connected && !disabled ? { error: this.#error } : {}),
    };
  }

  /** Ends the connection and the process group. Idempotent; about a second at most. */
  async close(): Promise<void> {
    this.#ended.abort();
    this.#tools = [];
    this.#finishFirst();
    this.#attempt.resolve();
    await this.#connection?.close();
    await this.#life;
    await this.#serverLog.idle();
  }

  // ── Connection ────────────────────────────────────────────────────────────────────────────────────────────

  async #live(life: Life): Promise<void> {
    const { clock } = this.#deps.platform;
    let failures = 0;
    let most = FIRST_TRIES;
    let waits = 0;
    while (!this.#ended.signal.aborted) {
      const connection = await this.#tryOpen(life);
      if (connection) {
        const since = clock.monotonic();
        most = LATER_TRIES;
        const limit = await this.#whileConnected(life, connection);
        if (limit && !this.#ended.signal.aborted) {
          if (limit === "idle") await this.#rest();
          [failures, waits] = [0, 0];
          continue;
        }
        const steady = clock.monotonic() - since >= STEADY_MS;
        if (steady) waits = 0;
        failures = steady ? 0 : failures + 1;
      } else failures = this.#hopeless ? most : failures + 1;
      if (this.#ended.signal.aborted) return;
      if (failures >= most) {
        this.#park();
        await this.#pause(REVIVE_MS);
        failures = most - 1;
      } else await this.#pause(Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** waits++));
    }
  }

  async #tryOpen(life: Life): Promise<Connection | null> {
    this.#hopeless = false;
    this.#stale = false;
    let connection: Connection | null = null;
    try {
      connection = await this.#open(life);
      const tools = await life.list.read(connection, this.#ended.signal);
      if (this.#ended.signal.aborted) throw new McpFailure("aborted", "closed");
      this.#connection = connection;
      this.#tools = tools;
      this.#state = "connected";
      this.#error = null;
      this.#told = false;
    } catch (error) {
      await connection?.close();
      connection = null;
      const failure = asFailure(error);
      this.#hopeless = failure.kind === "hopeless";
      this.#error = this.#deps.redact(failure.message);
      this.#deps.log.debug(`MCP server "${this.name}": ${this.#error}`);
    }
    if (connection) this.#finishFirst();
    this.#endAttempt();
    if (!connection) return null;
    this.#deps.onChange();
    if (this.#stale) void this.#refresh(life);
    return connection;
  }

  async #open(life: Life): Promise<Connection> {
    const { connection } = life.config;
    const stdio = connection.type === "stdio" ? connection : null;
    return await this.#deps.connect(life.config, {
      platform: this.#deps.platform,
      version: this.#deps.version,
      cwd: stdio?.cwd ?? this.#deps.cwd,
      env: { ...this.#deps.env(), ...stdio?.env },
      log: this.#serverLog,
      signal: this.#ended.signal,
      onToolsChanged: () => void this.#refresh(life),
      tokens: (url) => this.#deps.tokens(this.name, url),
      onSampling: life.sampling && ((params, signal) => life.sampling!.answer(params, signal)),
    });
  }

  /** The server says its list has changed; the sessions see it at their next turn. */
  async #refresh(life: Life): Promise<void> {
    const connection = this.#connection;
    if (!connection) return void (this.#stale = true);
    const number = ++this.#refreshes;
    try {
      const tools = await life.list.read(connection, this.#ended.signal);
      if (this.#connection !== connection || number !== this.#refreshes) return;
      this.#tools = tools;
      this.#deps.onChange();
    } catch (error) {
      this.#deps.log.debug(`MCP server "${this.name}" did not list its tools: ${asFailure(error).message}`);
    }
  }

  /** Until the connection is over; asks now and then whether it still is one. What limit has ended it, if one did. */
  async #whileConnected(life: Life, connection: Connection): Promise<Limit | null> {
    const stop = new AbortController();
    const { clock } = this.#deps.platform;
    const watching = keepAlive({ ...life, connection, clock, signal: stop.signal });
    const limited = this.#endAtLimit(life, connection, stop.signal);
    const reason = await connection.closed;
    stop.abort();
    await watching;
    const limit = await limited;
    if (this.#connection === connection) this.#connection = null;
    await connection.close();
    if (this.#ended.signal.aborted || limit) return limit;
    this.#state = "connecting";
    this.#error = this.#deps.redact(reason);
    this.#deps.log.debug(`MCP server "${this.name}": ${this.#error}`);
    this.#deps.onChange();
    return null;
  }

  async #endAtLimit(life: Life, connection: Connection, signal: AbortSignal): Promise<Limit | null> {
    const limit = await reachedLimit({
      config: life.config,
      calls: life.calls,
      clock: this.#deps.platform.clock,
      signal,
      onReached: () => {
        this.#connection = null;
        this.#state = "connecting";
      },
    });
    if (limit) await connection.close();
    return limit;
  }

  /** Until somebody calls. */
  async #rest(): Promise<void> {
    this.#state = "resting";
    this.#deps.onChange();
    await this.#pause(LONGEST_TIMER_MS);
    if (!this.#ended.signal.aborted) this.#state = "connecting";
  }

  #park(): void {
    this.#state = "parked";
    this.#tools = [];
    this.#finishFirst();
    this.#tell(`cannot be used: ${this.#error ?? "unknown reason"}`);
    this.#deps.onChange();
  }

  #finishFirst(): void {
    this.#firstDone = true;
    this.#first.resolve();
  }

  #endAttempt(): void {
    this.#attempt.resolve();
    this.#attempt = Promise.withResolvers<void>();
  }

  async #pause(ms: number): Promise<void> {
    if (this.#wanted) return void (this.#wanted = false);
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    const signal = AbortSignal.any([woken.signal, this.#ended.signal]);
    await this.#deps.platform.clock.delay(ms, { signal }).catch(() => {/* woken */});
    this.#wake = null;
    this.#wanted = false;
  }

  // ── Reports ───────────────────────────────────────────────────────────────────────────────────────────────

  async #watchStart(): Promise<void> {
    await within(this.#first.promise, SLOW_MS);
    if (!this.starting || this.#ended.signal.aborted) return;
    this.#tell(`has not answered for ${SLOW_MS / 1000} s; its tools join when it does`);
  }

  #tell(text: string): void {
    if (this.#told || this.#ended.signal.aborted) return;
    this.#told = true;
    this.#deps.onTrouble(`MCP server "${this.name}" ${this.#deps.redact(text)}`);
  }

  // ── For calls ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** The connection is of no more use; the next try makes another. */
  async #drop(connection: Connection): Promise<void> {
    if (this.#connection === connection) this.#connection = null;
    await connection.close();
  }

  /** The connection; when there is none, the next try starts at once and is waited for. */
  async #reach(config: ServerConfig, signal: AbortSignal): Promise<Connection> {
    const deadline = this.#deps.platform.clock.monotonic() + config.connectTimeoutMs;
    for (;;) {
      if (this.#ended.signal.aborted) throw new McpFailure("connection", "the server was closed");
      if (this.#connection) return this.#connection;
      const left = deadline - this.#deps.platform.clock.monotonic();
      if (left <= 0) throw new McpFailure("timeout", "the server is not connected");
      const attempt = this.#attempt.promise;
      this.#wanted = true;
      this.#wake?.();
      await abortable(within(attempt, left), signal).catch(() => {
        throw new McpFailure("aborted", "cancelled");
      });
      if (!this.#connection) throw new McpFailure("connection", this.#error ?? "the server is not connected");
    }
  }
}
