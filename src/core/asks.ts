/**
 * The one broker for questions to the human (style §16, core.md C.5). `open` races the answer against the timeout
 * and the turn's signal, settles once, and never defaults to consent: silence is "unanswered", told apart from a
 * refusal. Answers are addressed by id, and only a choice that was offered counts (FC-14).
 */
import { LONGEST_TIMER_MS } from "@/lib/abort.ts";
import type { EditProposal } from "./ports.ts";

export type ApprovalChoice = "once" | "session" | "always" | "deny";

/** The word of the auxiliary model on a dangerous command; redacted. */
export interface SmartVerdict {
  /** `escalate`: it left the question to the person, also when it could not answer. */
  readonly verdict: "approve" | "deny" | "escalate";
  readonly reason: string;
  /** `provider:model`; empty when none could be asked. */
  readonly model: string;
}

export type AskPayload =
  | {
    readonly kind: "approval";
    /** Redacted. */
    readonly command: string;
    readonly description: string;
    readonly patternKey: string;
    readonly patternKeys: readonly string[];
    readonly choices: readonly ApprovalChoice[];
    readonly smartDenied?: boolean;
    /** What the auxiliary model said before the person is asked (core.md C.4). */
    readonly smart?: SmartVerdict;
  }
  | {
    readonly kind: "edit";
    readonly proposal: EditProposal;
    /** Why it is asked: "edit", or "sensitive file: .env". */
    readonly description: string;
    readonly choices: readonly ApprovalChoice[];
  }
  | {
    readonly kind: "clarify";
    readonly question: string;
    readonly choices: readonly string[] | null;
    /** Several choices may be taken together; the answer joins them with ", ". */
    readonly multiple?: boolean;
  }
  | { readonly kind: "sudo"; readonly command: string }
  | {
    readonly kind: "secret";
    readonly envVar: string;
    readonly prompt: string;
    readonly metadata?: Record<string, unknown>;
  };

export interface Ask {
  /** 32 hex digits. */
  readonly id: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** The announced tool call it belongs to. */
  readonly callId: string;
  readonly toolName: string;
  readonly payload: AskPayload;
  readonly timeoutMs: number;
  /** Milliseconds since the epoch. */
  readonly openedAt: number;
}

export type AskAnswer =
  | {
    readonly type: "choice";
    readonly choice: ApprovalChoice;
    readonly reason?: string;
    /** Who decided, when it was not the user: a setting. */
    readonly by?: string;
  }
  /** Text of clarify, sudo, secret; empty = skipped or declined. */
  | { readonly type: "text"; readonly text: string }
  /** The human ended the whole turn with this question (ACP `cancelled`). */
  | { readonly type: "cancel" }
  /** The host cannot show the question to anybody: as if nobody could be asked. */
  | { readonly type: "unshown" };

export type AskOutcome =
  /** `by`: the client that gave the answer, where it has a name. */
  | { readonly type: "answered"; readonly answer: AskAnswer; readonly by?: string }
  | { readonly type: "timeout" }
  /** The turn was cancelled, or the answer was `cancel`. */
  | { readonly type: "cancelled" }
  /** Nobody can be asked here. */
  | { readonly type: "unattended" };

export type AnswerResult = "accepted" | "unknown" | "not_offered";

interface Open {
  readonly ask: Ask;
  settle(outcome: AskOutcome): void;
}

function isOffered(payload: AskPayload, answer: AskAnswer): boolean {
  if (answer.type === "cancel" || answer.type === "unshown") return true;
  if (payload.kind === "approval" || payload.kind === "edit") {
    return answer.type === "choice" && payload.choices.includes(answer.choice);
  }
  return answer.type === "text";
}

function outcomeOf(answer: AskAnswer, by: string | undefined): AskOutcome {
  if (answer.type === "cancel") return { type: "cancelled" };
  if (answer.type === "unshown") return { type: "unattended" };
  return { type: "answered", answer, ...(by === undefined ? {} : { by }) };
}

/** What may be told of an outcome: that a password or a secret was given or declined, never which. */
export function sealed(payload: AskPayload, outcome: AskOutcome): AskOutcome {
  const isSecret = payload.kind === "sudo" || payload.kind === "secret";
  if (!isSecret || outcome.type !== "answered" || outcome.answer.type !== "text") return outcome;
  return { ...outcome, answer: { type: "text", text: outcome.answer.text === "" ? "" : "***" } };
}

export class AskBroker {
  readonly #open = new Map<string, Open>();

  /** Open questions, oldest first. */
  pending(): Ask[] {
    return [...this.#open.values()].map((entry) => entry.ask);
  }

  get(id: string): Ask | null {
    return this.#open.get(id)?.ask ?? null;
  }

  /** Settles at most one question; everything else changes nothing and says so. */
  answer(id: string, answer: AskAnswer, by?: string): AnswerResult {
    const entry = this.#open.get(id);
    if (!entry) return "unknown";
    if (!isOffered(entry.ask.payload, answer)) return "not_offered";
    entry.settle(outcomeOf(answer, by));
    return "accepted";
  }

  /** Waits for the answer. `announce` runs after the question can be answered. */
  open(ask: Ask, options: { signal: AbortSignal; announce(): void }): Promise<AskOutcome> {
    const { signal, announce } = options;
    if (signal.aborted) return Promise.resolve({ type: "cancelled" });
    return new Promise((resolve) => {
      const settle = (outcome: AskOutcome) => {
        if (!this.#open.delete(ask.id)) return;
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        resolve(outcome);
      };
      const onAbort = () => settle({ type: "cancelled" });
      const timer = setTimeout(() => settle({ type: "timeout" }), Math.min(ask.timeoutMs, LONGEST_TIMER_MS));
      signal.addEventListener("abort", onAbort, { once: true });
      this.#open.set(ask.id, { ask, settle });
      announce();
    });
  }
}
