/**
 * What the parts of one turn share, passed by argument: no ambient context, so two sessions cannot cross. It lives
 * from `turn.start` to `turn.end`; refusals remembered here end with the turn (FC-14).
 */
import type { Platform } from "@/platform/mod.ts";
import type { AskOutcome, AskPayload, SmartVerdict } from "./asks.ts";
import type { ChildCall, Delegator } from "./delegation_api.ts";
import type { Deferral } from "./deferred_tools.ts";
import type { CoreEventBody } from "./events.ts";
import type { Eyes } from "./eyes.ts";
import type { FailedEdits } from "./failed_edits.ts";
import type { Guardrails } from "./guardrails.ts";
import type { FitImage } from "./image_fitting.ts";
import type { Message } from "./messages.ts";
import type { EditPolicy, FileAccess, Guard, GuardContext, SessionScope, Tool } from "./ports.ts";
import type { Sampler } from "./sampler.ts";
import type { Settings } from "./settings.ts";
import type { TurnSilence } from "./turn_silence.ts";

export interface TurnScope {
  readonly sessionId: string;
  readonly turnId: string;
  readonly platform: Platform;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly home: string;
  readonly childEnv: Readonly<Record<string, string>>;
  readonly files: FileAccess;
  readonly sessionScope: SessionScope;
  readonly guard: Guard;
  /** What may be called, shown or not. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** Which of them are not shown; absent: none. */
  readonly deferral?: Deferral;
  readonly editPolicy: EditPolicy;
  readonly guardrails: Guardrails;
  /** Plan mode, as it is now: the user may switch it while the turn runs. */
  readonly planning?: boolean;
  /** Absent where no children may be started. */
  readonly delegator?: Delegator;
  /** Model calls of children that were waited for, since it was last asked. */
  takeChildCalls?(): readonly ChildCall[];
  readonly contextWindow: number | null;
  /** How images are looked at; absent: not at all. */
  readonly eyes?: Eyes;
  /** Makes images smaller that are larger than models take; absent: they are sent as they are. */
  readonly fitImage?: FitImage;
  /** How servers of the outside ask the model; absent: not at all. */
  readonly sampler?: Sampler;
  /** Whether news that come after the turn are told to the model; absent: they are. */
  readonly hearsLater?: boolean;
  readonly parallelTimeoutSeconds: number;
  /** Text that comes with tool calls is held back and dropped (`interim.ts`). */
  readonly hidesInterim?: boolean;
  /** Edits that have failed; absent: nobody wants to know. */
  readonly failedEdits?: FailedEdits;
  /** Stops the turn when nothing happens; absent: nobody does. */
  readonly silence?: Pick<TurnSilence, "hold" | "stopped">;
  publish(body: CoreEventBody): void;
  /** Writes rows now; never throws. */
  store(messages: readonly Message[]): Promise<void>;
  guardContext(): GuardContext;
  /** Announces the question and waits; `unattended` at once where nobody can be asked. */
  ask(payload: AskPayload, callId: string, toolName: string): Promise<AskOutcome>;
  /** What the guard's auxiliary model says to a judgeable question; absent: it is not asked. */
  judge?(payload: AskPayload): Promise<SmartVerdict>;
  /** The outcome an earlier refusal of this turn gives for the same target; `null` = ask. */
  knownRefusal(payload: AskPayload, targets: readonly string[]): AskOutcome | null;
  rememberRefusal(payload: AskPayload, targets: readonly string[], outcome: AskOutcome): void;
  redactArgs(args: Record<string, unknown>): Record<string, unknown>;
}

/** Refusals of one turn: by target, and one unanswered edit answers for all later ones (acp.md C8.2). */
export class Refusals {
  readonly #targets = new Map<string, AskOutcome>();
  #editUnanswered = false;

  get isEmpty(): boolean {
    return this.#targets.size === 0;
  }

  has(targets: readonly string[]): boolean {
    return targets.some((target) => this.#targets.has(target));
  }

  known(payload: AskPayload, targets: readonly string[]): AskOutcome | null {
    if (payload.kind === "edit" && this.#editUnanswered) return { type: "timeout" };
    for (const target of targets) {
      const outcome = this.#targets.get(target);
      if (outcome) return outcome;
    }
    return null;
  }

  remember(payload: AskPayload, targets: readonly string[], outcome: AskOutcome): void {
    if (outcome.type === "timeout" && payload.kind === "edit") this.#editUnanswered = true;
    if (outcome.type === "answered") { for (const target of targets) this.#targets.set(target, outcome); }
  }
}
