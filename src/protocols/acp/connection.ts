/**
 * What lives as long as one client: its capabilities, the sessions it has seen, the facts of the host. Everything
 * of one session is in its `SessionView`; nothing here is shared between two sessions but the writer.
 */
import type { Hermes } from "@/app/mod.ts";
import type { ModelChoice } from "@/core/contract.ts";
import { within } from "@/lib/abort.ts";
import { isObject, type Params } from "./envelope.ts";
import { type HostFacts, PathComparer, readHostFacts } from "./cwd.ts";
import type { Peer } from "./peer.ts";
import type { SessionView } from "./view.ts";

/** What the client can do (acp.md A3a); a value of the wrong type counts as absent. */
export interface ClientCapabilities {
  /** Name and version, as the client gives them; absent: it gave none. */
  readonly name?: string;
  readonly terminalAuth: boolean;
  /** The older way to say it, under `_meta`. */
  readonly legacyTerminalAuth: boolean;
  readonly readTextFile: boolean;
  readonly writeTextFile: boolean;
  readonly terminal: boolean;
  readonly elicitationForm: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
  /** It shows background processes (`_hermes/process`, `_hermes/notification`). */
  readonly background: boolean;
}

export const NO_CAPABILITIES: ClientCapabilities = {
  terminalAuth: false,
  legacyTerminalAuth: false,
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  elicitationForm: false,
  notices: false,
  compaction: false,
  background: false,
};

function at(value: unknown, ...keys: string[]): unknown {
  let found = value;
  for (const key of keys) found = isObject(found) ? found[key] : undefined;
  return found;
}

const MAX_NAME = 100;
/** How long a slow client may keep the rest of the program from being loaded. */
const FLUSH_MS = 50;

/** `clientInfo` as one line: `zed 0.204.1`. */
function nameOf(info: unknown): string {
  const [name, version] = [at(info, "name"), at(info, "version")];
  if (typeof name !== "string") return "";
  const whole = typeof version === "string" ? `${name} ${version}` : name;
  return whole.replace(/[\p{C}\s]+/gu, " ").trim().slice(0, MAX_NAME).toWellFormed();
}

/** Reads `clientCapabilities` and `clientInfo` of `initialize`; never throws. */
export function readCapabilities(params: Params): ClientCapabilities {
  const caps = params.clientCapabilities;
  const name = nameOf(params.clientInfo);
  return {
    ...(name === "" ? {} : { name }),
    terminalAuth: at(caps, "auth", "terminal") === true,
    legacyTerminalAuth: at(caps, "_meta", "terminal-auth") === true,
    readTextFile: at(caps, "fs", "readTextFile") === true,
    writeTextFile: at(caps, "fs", "writeTextFile") === true,
    terminal: at(caps, "terminal") === true,
    elicitationForm: isObject(at(caps, "elicitation", "form")),
    notices: isObject(at(caps, "session", "notices")),
    compaction: isObject(at(caps, "session", "compaction")),
    background: isObject(at(caps, "_meta", "hermes", "background")),
  };
}

/** What an `initialize` has settled; a later one replaces it. */
export interface Handshake {
  readonly client: ClientCapabilities;
  /** Ids of the auth methods that were offered. */
  readonly authMethods: readonly string[];
}

export class Connection {
  readonly hermes: Hermes;
  readonly peer: Peer;
  /** By public session id; a view leaves the map when its close or delete begins, and dies with the connection. */
  readonly views = new Map<string, SessionView>();
  handshake: Handshake = { client: NO_CAPABILITIES, authMethods: [] };
  /** Set by `authenticate` with `builtin-demo`: the model of new sessions of this connection. */
  chosenModel: ModelChoice | undefined;
  /** No new turn starts any more. */
  closing = false;
  /** Sessions that are being closed or deleted, by id: who names one again waits for its end. Never rejects. */
  readonly ending = new Map<string, Promise<void>>();
  /** Warnings about the settings. */
  readonly #told = new Set<string>();
  #ready: Promise<void> | null = null;
  #host: HostFacts | null = null;
  #comparer: PathComparer | null = null;

  constructor(hermes: Hermes, peer: Peer) {
    this.hermes = hermes;
    this.peer = peer;
  }

  get client(): ClientCapabilities {
    return this.handshake.client;
  }

  /**
   * Resolves when tools and commands are there. They are loaded in one piece that holds up everything else, so the
   * answer that is on its way goes out first.
   */
  ready(): Promise<void> {
    if (this.hermes.isReady) return Promise.resolve();
    return this.#ready ??= within(this.peer.flushed(), FLUSH_MS).then(() => this.hermes.ready());
  }

  /** What is wrong with the settings and was not told to this client yet; on stderr, too. */
  newWarnings(): readonly string[] {
    const { config, log } = this.hermes;
    const fresh = config.warnings().filter((warning) => !this.#told.has(warning));
    for (const warning of fresh) {
      this.#told.add(warning);
      log.warn(`acp: ${warning}`);
    }
    return fresh;
  }

  /** Sources whose sessions exist for this client; `undefined` = all. */
  get sources(): readonly string[] | undefined {
    return this.hermes.settings().acp.all_sources ? undefined : ["acp"];
  }

  get host(): HostFacts {
    const { platform, config } = this.hermes;
    return this.#host ??= readHostFacts(platform, (name) => config.env(name));
  }

  get comparer(): PathComparer {
    const { platform } = this.hermes;
    return this.#comparer ??= new PathComparer(this.host, platform.homeDir(), platform.files);
  }
}
