/** The rooms a session works with, wired once by `app/build.ts`. */
import type { StreamRedactor } from "@/lib/stream_redact.ts";
import type { Platform } from "@/platform/mod.ts";
import type { DelegationStore } from "./delegation_api.ts";
import type { ExternalTools } from "./external_tools.ts";
import type { EventHub } from "./hub.ts";
import type { FitImage } from "./image_fitting.ts";
import type { Message } from "./messages.ts";
import type {
  Guard,
  Logger,
  Models,
  ResolvedModel,
  SessionScope,
  SessionStore,
  Skills,
  Tool,
  ToolSpec,
} from "./ports.ts";
import type { DirectoryLooks } from "./directory_looks.ts";
import type { Settings } from "./settings.ts";

/** A session as whoever only watches it sees it. */
export interface ObservedSession {
  readonly id: string;
  readonly surface: string;
  readonly source: string;
  readonly sessionKey: string | null;
  /** Name of the program whose turn runs now; `null` where it gave none. */
  readonly client: string | null;
  readonly hub: Pick<EventHub, "subscribe">;
  /** The session and the turn that it works for, when it is a child. */
  readonly worksFor?: { readonly sessionId: string; readonly turnId: string } | null;
}

export interface CoreServices {
  readonly platform: Platform;
  readonly log: Logger;
  readonly models: Models;
  readonly guard: Guard;
  readonly home: string;
  readonly looks: DirectoryLooks;
  settings(): Settings;
  store(): SessionStore;
  /** Where results of background children are kept; absent: children are always waited for. */
  delegations?(): DelegationStore;
  /** Resolves when tools, guard and skills are there; absent: they always are. Every turn waits for it. */
  ready?(): Promise<void>;
  /** Tools of a surface, in the order the model sees them; none before `ready()`. */
  tools(surface: string): readonly Tool[];
  toolSpecs(surface: string): readonly ToolSpec[];
  /** A variable of the process or of the data home's `.env`; absent: there are none. */
  env?(name: string): string | undefined;
  /** Environment of child processes: provider keys removed. */
  childEnv(): Readonly<Record<string, string>>;
  /** A restored session: rooms below rebuild what they keep in its scope. */
  restored(scope: SessionScope, history: readonly Message[]): void;
  /** Parts of the history left the model's sight (compression, reset): what was read before counts as unseen. */
  forgotten(scope: SessionScope): void;
  /** Makes images smaller that are larger than models take (core.md B.10); absent: they stay as they are. */
  readonly fitImage?: FitImage;
  /** Tools of MCP servers; absent: none. */
  readonly external?: ExternalTools;
  /** For the index in the prompt; absent: none. */
  readonly skills?: Skills | undefined;
  /** A session was created, restored or forked; called once for each, before anything happens in it. */
  onSession?(session: ObservedSession): void;
  /** Masks streamed text on its way out (core.md C.9); absent: it is shown as it comes. */
  redactStream?(): StreamRedactor;
  /** `--yolo`. */
  readonly yolo: boolean;
  /** `HERMES_EXEC_ASK`: no yolo lifts a question; absent: it does. */
  readonly execAsk?: boolean;
  /** Writes the default model to the config (`--global`). */
  persistModel(model: ResolvedModel): Promise<void>;
}
