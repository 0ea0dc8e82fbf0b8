/**
 * When the turns of one live session run (tui-gateway.md B.11): the core runs them, this decides when the next one is
 * handed to it, and what a prompt does that comes while one runs.
 *
 *   submit ──► idle: start ──turn.end──► session.info(running:false) ──done──► next of the slot, or idle
 *          └─► busy: the slot (texts merge), after an interrupt or a steer as the policy says
 */
import type { Hermes } from "@/app/mod.ts";
import type { AskPolicy, Session, TurnHandle, TurnResult, UserInput } from "@/core/contract.ts";
import { textOf } from "@/core/contract.ts";
import { customPrompt } from "./custom_prompt.ts";
import { maxTurns } from "./launch.ts";
import type { PreloadedSkills } from "./preloaded_skills.ts";
import { PromptSlot } from "./prompt_slot.ts";
import { mayRefer } from "./reference_text.ts";
import type { RenderTarget } from "./render.ts";
import { NEVER_STARTED, renderCompletion } from "./render.ts";

/** A gateway session always has a human to ask, also while its client is away. */
const ASKS: AskPolicy = { approval: true, edit: true, clarify: true, secret: true };

export type BusyMode = "interrupt" | "queue" | "steer";

export interface TurnHost extends RenderTarget {
  readonly session: Session;
  readonly personality: string;
  /** Name of the program that the session was last bound to. */
  readonly clientName: string | undefined;
  readonly preloaded: PreloadedSkills;
  loadSkills(): Promise<void>;
  /** Nothing runs and nothing waits. */
  onIdle(): void;
  onFault(where: string, error: unknown): void;
}

export class Turns {
  readonly #hermes: Hermes;
  readonly #host: TurnHost;
  readonly #slot = new PromptSlot();
  #turn: TurnHandle | null = null;
  /** What the next prompt refers to is being read. */
  #preparing: AbortController | null = null;

  constructor(hermes: Hermes, host: TurnHost) {
    this.#hermes = hermes;
    this.#host = host;
  }

  get isRunning(): boolean {
    return this.#turn !== null || this.#preparing !== null;
  }

  /** True while a turn runs or is about to start. */
  get isBusy(): boolean {
    return this.isRunning || !this.#slot.isEmpty;
  }

  /** Text of the prompts that wait; `null` when none does. */
  get queuedText(): string | null {
    return this.#slot.text;
  }

  /** Runs it now; the caller has seen that nothing else does. */
  start(input: UserInput): void {
    const isWhole = this.#host.preloaded.isLoaded && !mayRefer(textOf(input.content));
    if (isWhole) return void this.startWhole(input);
    this.#preparing = new AbortController();
    this.#prepare(input, this.#preparing.signal).catch((error) => this.#host.onFault("references", error));
  }

  /** As it is: nothing in it is read as a reference. */
  startWhole(input: UserInput): TurnHandle {
    const { session, preloaded, personality, clientName } = this.#host;
    const extras = [preloaded.text, customPrompt(this.#hermes)].filter(Boolean);
    const maxSteps = maxTurns(this.#hermes);
    const turn = session.submit(input, {
      asks: ASKS,
      detach: true,
      ...(maxSteps === null ? {} : { maxSteps }),
      personality,
      ...(clientName === undefined ? {} : { client: clientName }),
      ...(extras.length === 0 ? {} : { systemExtra: extras.join("\n\n") }),
    });
    this.#turn = turn;
    turn.done.then((result) => this.#afterTurn(turn, result))
      .catch((error) => this.#host.onFault("turn", error));
    return turn;
  }

  /** What a submit during a turn does, by policy. The slot is lossless. */
  submitBusy(input: UserInput, mode: BusyMode): "queued" | "steered" {
    const { session } = this.#host;
    if (mode === "steer" && typeof input.content === "string" && session.steer(input.content)) {
      return "steered";
    }
    this.#slot.add(input);
    if (mode === "interrupt") this.#stopTurn();
    return "queued";
  }

  /** Ends the running turn and forgets what waits; harmless when idle. */
  interrupt(): void {
    this.forget();
    this.#host.session.interrupt();
  }

  /** What has not reached the core never will. */
  forget(): void {
    this.#slot.clear();
    this.#preparing?.abort();
  }

  /** The core has told the end; what comes next waits for the handle. */
  onEnd(result: TurnResult): void {
    this.#turn = null;
    if (result.pendingSteer !== null) this.#slot.putFirst({ content: result.pendingSteer });
  }

  /** Reads what the prompt refers to; a refused one is a turn that fails without having reached the model. */
  async #prepare(input: UserInput, signal: AbortSignal): Promise<void> {
    const host = this.#host;
    const { prepareInput, tellNotStarted } = await import("./prepared_input.ts");
    await host.loadSkills();
    const prepared = await prepareInput(this.#hermes, host.session, input, signal);
    this.#preparing = null;
    if (host.session.closed) return;
    if (prepared.type === "input") {
      for (const text of prepared.warnings) host.emit("status.update", { kind: "warn", text });
      return void this.startWhole(prepared.input);
    }
    tellNotStarted(host, prepared.type === "refused" ? prepared.reason : null);
    this.#startNext();
  }

  #stopTurn(): void {
    this.#preparing?.abort();
    if (this.#turn !== null) this.#host.session.interrupt();
  }

  #startNext(): void {
    const next = this.#slot.take();
    if (next) this.start(next);
    else this.#host.onIdle();
  }

  #afterTurn(turn: TurnHandle, result: TurnResult): void {
    if (this.#turn === turn) this.#neverStarted(result);
    if (this.isRunning || this.#host.session.closed) return;
    this.#startNext();
  }

  /** Cancelled while it waited behind other work: the host was told "streaming" and is told the end, too. */
  #neverStarted(result: TurnResult): void {
    const host = this.#host;
    this.#turn = null;
    host.emit("error", { message: NEVER_STARTED });
    host.emit("message.complete", renderCompletion(result, host.usage()));
    host.emitInfo();
  }
}
