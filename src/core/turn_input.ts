/** What a turn is given by its session (`turn_setup.ts`); all of it lives at least as long as the turn. */
import type { StreamRedactor } from "@/lib/stream_redact.ts";
import type { CallIds } from "./call_ids.ts";
import type { Resting } from "./failover.ts";
import type { Message, Usage } from "./messages.ts";
import type { Patience } from "./patience.ts";
import type { ModelClient, ModelCost, ResolvedModel, SessionNotice, ToolSpec, UsageTotals } from "./ports.ts";
import type { UserInput } from "./session_api.ts";
import type { Steering } from "./steering.ts";
import type { Transcript } from "./transcript.ts";
import type { TurnScope } from "./turn_scope.ts";

export interface TurnInput {
  readonly input: UserInput;
  readonly scope: TurnScope;
  readonly transcript: Transcript;
  readonly steering: Steering;
  readonly callIds: CallIds;
  /** The primary, then the fallbacks, each made when it is needed. */
  readonly client: ModelClient;
  readonly fallbacks: readonly (() => ModelClient)[];
  readonly resting: Resting;
  readonly patience: Patience;
  readonly toolSpecs: readonly ToolSpec[];
  /** Names among them that the caller executes; absent: none. */
  readonly clientTools?: ReadonlySet<string>;
  readonly systemPrompt: string;
  readonly history: readonly Message[] | null;
  /** Before the conversation in every request, never stored. */
  readonly prefill?: readonly Message[];
  /** What its preparation has to say to people. */
  readonly warnings?: readonly string[];
  readonly reasoningEffort: string | null;
  /** The fast mode is wished for; models without one go on as usual. */
  readonly fast?: boolean;
  readonly maxTokens: number | null;
  /** `null` = no cap. */
  readonly maxSteps: number | null;
  backpressure(): Promise<void> | null;
  onShown(text: string, reasoning: string): void;
  readonly redactStream?: () => StreamRedactor;
  /** Requests that have failed for good are written down. */
  readonly dumpsRequests?: boolean;
  estimateCost(usage: Usage, model: ResolvedModel): ModelCost;
  /** What session and day have used, this turn included. */
  usageTotals(): { readonly session: UsageTotals; readonly day: UsageTotals };
  /** Tokens of the next request, estimated. */
  contextTokens(): number;
  /** What has happened beside the model's calls and was not told yet. */
  takeNotices(): readonly SessionNotice[];
  putBackNotices(notices: readonly SessionNotice[]): void;
  /** Another program has added to the conversation: it is read again. */
  catchUp(): void;
  /** Makes the history smaller; false when it cannot or must not now. */
  compact(client: ModelClient, cause: "overflow" | "automatic"): Promise<boolean>;
}
