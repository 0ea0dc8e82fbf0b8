/**
 * The prompts of one session, each answered once, when its own turn has ended (acp.md C10, decision 5).
 *
 *   accept ─► admit (open, content, command?) ─► waiting ─► running ─► final updates ─► response ─► next
 *
 * A prompt is known from the moment its line was read, so a cancel on the next line finds it. The core gets one
 * turn at a time: the answer of a turn is written before anything of the next one, and steer text that was left
 * over runs before the prompts that wait.
 */
import {
  addUsage,
  type CommandInfo,
  type Content,
  HermesError,
  refusedElsewhere,
  type Session,
  textOf,
  turnLimit,
  type TurnResult,
  type UserInput,
} from "@/core/contract.ts";
import { abortable, isAbort } from "@/lib/abort.ts";
import { gateError } from "./auth.ts";
import { buildContent } from "./content.ts";
import {
  fromHermesError,
  fromModelFailure,
  REQUEST_CANCELLED,
  sessionNotFound,
  toRpcError,
} from "./errors.ts";
import type { RequestContext } from "./peer.ts";
import type { ContentBlock } from "./schema.ts";
import type { StopReason } from "./sdk.ts";
import { STOP_REASONS, Ticket } from "./ticket.ts";
import type { SessionView } from "./view.ts";

/** How often a turn is looked at for a sign of life. */
const LOOKS_PER_INTERVAL = 5;

/** `/name args` when every block is text; `null` for a plain prompt (acp.md C9). */
export function readCommand(blocks: readonly ContentBlock[]): { name: string; args: string } | null {
  const texts = blocks.flatMap((block) => block.type === "text" ? [block.text] : []);
  if (texts.length !== blocks.length) return null;
  const text = texts.join("\n").trim();
  const match = /^\/(\S+)\s*([\s\S]*)$/.exec(text);
  return match ? { name: match[1]!.toLowerCase(), args: match[2]!.trim() } : null;
}

export class PromptQueue {
  readonly #view: SessionView;
  /** Being opened and read; answered at once when cancelled. */
  readonly #admitting = new Set<Ticket>();
  readonly #waiting: Ticket[] = [];
  #running: Ticket | null = null;
  /** Slash commands at work, and their ends. */
  readonly #commands = new Map<Ticket, Promise<void>>();
  /** Admissions run one after the other, so that prompts keep the order of their lines. */
  #admission: Promise<void> = Promise.resolve();
  /** Done between two turns; the last one that was asked for counts. */
  #between: (() => void) | null = null;
  /** Text of the last prompt when it was cancelled; `/steer` takes it up again. */
  #cancelledText: string | null = null;

  constructor(view: SessionView) {
    this.#view = view;
  }

  /** True while updates of a turn may be sent. */
  get inTurn(): boolean {
    return this.#running !== null && !this.#running.context.answered;
  }

  /** Ends with the running turn's cancel; `null` while no turn may be waited for. */
  get turnSignal(): AbortSignal | null {
    return this.inTurn ? this.#running!.signal : null;
  }

  get busy(): boolean {
    return this.#running !== null || this.#waiting.length + this.#admitting.size + this.#commands.size > 0;
  }

  /** Answers `context` some time later; never throws. */
  accept(blocks: readonly ContentBlock[], context: RequestContext): void {
    const ticket = new Ticket(context);
    this.#admitting.add(ticket);
    context.signal.addEventListener("abort", () => this.#cancelOne(ticket), { once: true });
    this.#admission = this.#admission
      .then(() => this.#admit(ticket, blocks))
      .catch((error) => this.#reject(ticket, error))
      .finally(() => {
        this.#admitting.delete(ticket);
        // A session that does not exist leaves nothing behind.
        if (!this.busy && !this.#view.session) this.#view.drop();
        this.#view.onIdle();
      });
  }

  /** Gives text to the turn that runs once all earlier lines were taken up; false when there is none. */
  steer(text: string): Promise<boolean> {
    const given = this.#admission.then(() => {
      const isRunning = this.#running !== null && !this.#running.cancelled;
      return isRunning && (this.#view.session?.steer(text) ?? false);
    });
    this.#admission = given.then(() => {});
    return given;
  }

  /** Prompts wait for `work` (a load): its updates and its answer come first. It must not reject. */
  holdWhile(work: Promise<unknown>): void {
    this.#admission = this.#admission.then(() => work).then(() => {});
  }

  /** Runs `change` before the next turn: the running one goes on as it began. */
  betweenTurns(change: () => void): void {
    this.#between = change;
  }

  /** Cancels the running prompt and all that wait; resolves when all of them were answered. Idle: no effect. */
  async cancelAll(): Promise<void> {
    const dropped = [...this.#waiting.splice(0), ...this.#admitting];
    this.#admitting.clear();
    const running = this.#running;
    if (running) running.dropped += dropped.length;
    for (const ticket of dropped) {
      ticket.cancel();
      ticket.answer("cancelled");
    }
    running?.cancel();
    for (const ticket of this.#commands.keys()) ticket.cancel();
    await Promise.all([running?.handle?.done, ...this.#commands.values()]);
  }

  #cancelOne(ticket: Ticket): void {
    if (ticket === this.#running) return void this.cancelAll();
    ticket.cancel();
    this.#admitting.delete(ticket);
    const at = this.#waiting.indexOf(ticket);
    if (at !== -1) this.#waiting.splice(at, 1);
    ticket.answer("cancelled");
  }

  #reject(ticket: Ticket, error: unknown): void {
    if (ticket.cancelled || isAbort(error)) ticket.answer("cancelled");
    else ticket.context.fail(error);
  }

  // ── Admission ─────────────────────────────────────────────────────────────────────────────────────────────

  async #admit(ticket: Ticket, blocks: readonly ContentBlock[]): Promise<void> {
    if (ticket.cancelled) return;
    const { connection } = this.#view;
    if (connection.closing) return ticket.answer("cancelled");
    const session = await abortable(this.#view.open(), ticket.signal);
    // Commands may still be loading behind the answer that opened the session.
    await abortable(connection.ready(), ticket.signal);
    await connection.hermes.models.settling?.(undefined, ticket);
    const command = readCommand(blocks);
    const info = command && connection.hermes.commands.find(command.name, "acp");
    if (info) return this.#startCommand(ticket, info, command.args, session);
    const reader = {
      host: connection.host,
      files: connection.hermes.platform.files,
      buffer: (path: string) => this.#view.files.buffer(path, ticket.signal),
    };
    const built = await abortable(buildContent(blocks, reader), ticket.signal);
    if (built.content === null) return ticket.answer("end_turn");
    this.#enqueue(ticket, inputOf(built.content, built.displayText));
  }

  #enqueue(ticket: Ticket, input: UserInput | null): void {
    if (ticket.cancelled || ticket.context.answered) return;
    ticket.input = input;
    if (this.#running) this.#waiting.push(ticket);
    else this.#start(ticket);
  }

  #start(ticket: Ticket): void {
    this.#admitting.delete(ticket);
    const session = this.#view.session;
    if (!session) {
      // Closed or deleted since the prompt was let in.
      ticket.context.fail(sessionNotFound(this.#view.id));
      return this.#next();
    }
    this.#running = ticket;
    if (ticket.command) return void this.#occupy(ticket, session);
    if (!session.model) {
      this.#running = null;
      ticket.context.fail(gateError(this.#view.connection, session.modelError));
      return this.#next();
    }
    this.#cancelledText = null;
    this.#view.flushReports();
    this.#submit(ticket, session, ticket.input!);
  }

  // ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────

  #submit(ticket: Ticket, session: Session, input: UserInput): void {
    ticket.input = input;
    const stopKeepAlive = this.#keepAlive(ticket);
    const asks = { approval: true, edit: true, clarify: true };
    ticket.handle = session.submit(input, {
      asks,
      signal: ticket.signal,
      ...(this.#view.connection.client.name === undefined
        ? {}
        : { client: this.#view.connection.client.name }),
    });
    ticket.handle.done.then((result) => {
      stopKeepAlive();
      this.#afterTurn(ticket, session, result);
    });
  }

  /** Runs inside the event, so the answer is out before the core does anything else. */
  onTurnEnd(turnId: string, result: TurnResult): void {
    const ticket = this.#running;
    if (ticket?.handle?.id === turnId) this.#finish(ticket, result);
  }

  #finish(ticket: Ticket, result: TurnResult): void {
    ticket.usage = addUsage(ticket.usage, result.usage);
    // A cancel that came in time is answered as one, however the turn ended (acp.md A6.5).
    const outcome = ticket.cancelled ? "cancelled" : result.outcome;
    if (outcome === "failed") return this.#answerFailed(ticket, result);
    ticket.limit = outcome === "max_turns" ? turnLimit(result) : null;
    if (outcome === "cancelled") this.#cancelledText = ticket.input ? textShown(ticket.input) : null;
    ticket.followUp = outcome === "cancelled" ? null : result.pendingSteer;
    if (ticket.followUp === null) this.#answer(ticket, STOP_REASONS[outcome]);
  }

  #answerFailed(ticket: Ticket, result: TurnResult): void {
    this.#view.sendUsage();
    const refused = refusedElsewhere(result);
    if (refused) return ticket.context.fail(fromHermesError(refused));
    const { pendingSteer } = result;
    ticket.context.fail(fromModelFailure(result.failure, pendingSteer === null ? {} : { pendingSteer }));
  }

  #answer(ticket: Ticket, stopReason: StopReason): void {
    const { dropped } = ticket;
    if (dropped > 0) this.#view.say(`${dropped} queued prompt${dropped === 1 ? " was" : "s were"} dropped.`);
    this.#view.sendUsage();
    ticket.answer(stopReason);
  }

  #afterTurn(ticket: Ticket, session: Session, result: TurnResult): void {
    if (!ticket.context.answered && ticket.followUp === null) this.#finish(ticket, result);
    const text = ticket.followUp;
    ticket.followUp = null;
    if (text !== null && ticket.cancelled) this.#answer(ticket, "cancelled");
    if (text !== null && !ticket.cancelled) {
      this.#view.say("The guidance met no further tool call; it runs now as a message of its own.");
      return this.#submit(ticket, session, { content: text });
    }
    this.#running = null;
    this.#next();
  }

  #next(): void {
    if (!this.#running) this.#settle();
    const next = this.#running ? undefined : this.#waiting.shift();
    if (!next) return this.#view.onIdle();
    if (!this.#view.isGone) return this.#start(next);
    next.context.fail(sessionNotFound(this.#view.id));
    this.#next();
  }

  #settle(): void {
    const change = this.#between;
    this.#between = null;
    if (this.#view.session) change?.();
  }

  /**
   * Sends an empty chunk whenever nothing was sent for the interval, a part of it later at most. Returns the function
   * that ends it.
   */
  #keepAlive(ticket: Ticket): () => void {
    const seconds = this.#view.connection.hermes.settings().acp.keepalive_interval_s;
    if (!(seconds > 0)) return () => {};
    let seen = this.#view.frames;
    let quiet = 0;
    const timer = setInterval(() => {
      quiet = this.#view.frames === seen ? quiet + 1 : 0;
      if (quiet >= LOOKS_PER_INTERVAL && !ticket.context.answered) {
        this.#view.updates.keepAlive();
        quiet = 0;
      }
      seen = this.#view.frames;
    }, seconds * 1000 / LOOKS_PER_INTERVAL);
    return () => clearInterval(timer);
  }

  // ── Slash commands ────────────────────────────────────────────────────────────────────────────────────────

  #startCommand(ticket: Ticket, info: CommandInfo, args: string, session: Session): void {
    const needsSession = info.needsIdle || (info.name === "model" && args !== "");
    if (needsSession && !this.#running) {
      ticket.command = { info, args };
      return this.#enqueue(ticket, null);
    }
    if (needsSession) return this.#tell(ticket, `/${info.name} has to wait until the turn has ended.`);
    void this.#runCommand(ticket, info, args, session);
  }

  /** The command has the session for itself, like a turn; a cancel ends the wait at once. */
  async #occupy(ticket: Ticket, session: Session): Promise<void> {
    const { info, args } = ticket.command!;
    await this.#runCommand(ticket, info, args, session);
    if (this.#running === ticket && ticket.handle === null) {
      this.#running = null;
      this.#next();
    }
  }

  /** Never rejects. */
  #runCommand(ticket: Ticket, info: CommandInfo, args: string, session: Session): Promise<void> {
    const work = this.#command(ticket, info, args, session).finally(() => {
      this.#commands.delete(ticket);
      this.#view.onIdle();
    });
    this.#commands.set(ticket, work);
    return work;
  }

  async #command(ticket: Ticket, info: CommandInfo, args: string, session: Session): Promise<void> {
    const { hermes } = this.#view.connection;
    try {
      const run = hermes.commands.run(info.name, args, { session, surface: "acp", signal: ticket.signal });
      const result = await abortable(run, ticket.signal);
      if (result.type === "text") return this.#tell(ticket, result.text);
      if (result.type === "prefill") return this.#tell(ticket, result.message);
      if (result.notice) this.#view.say(result.notice);
      this.#sendOn(ticket, info.name, result.message);
    } catch (error) {
      if (isAbort(error) || ticket.cancelled) return this.#answer(ticket, "cancelled");
      const rpc = toRpcError(error, (text) => hermes.redact(text));
      if (rpc.code === REQUEST_CANCELLED) return ticket.answer("cancelled");
      const text = error instanceof HermesError ? error.message : `/${info.name} failed: ${rpc.message}`;
      this.#tell(ticket, text);
    }
  }

  /** A command that turned into a prompt: `/queue`, and `/steer` while nothing runs. */
  #sendOn(ticket: Ticket, name: string, message: string): void {
    const kept = name === "steer" ? this.#cancelledText : null;
    const content = kept === null ? message : `${kept}\n\nCorrection by the user: ${message}`;
    if (name === "queue" && this.#running && !ticket.cancelled) {
      this.#view.say(`Queued: ${this.#waiting.length + 1} waiting.`);
    }
    this.#enqueue(ticket, { content });
  }

  #tell(ticket: Ticket, text: string): void {
    if (ticket.context.answered) return;
    if (ticket.cancelled) return ticket.answer("cancelled");
    this.#view.say(text);
    this.#view.sendUsage();
    ticket.answer("end_turn");
  }
}

function inputOf(content: Content, displayText: string): UserInput {
  return displayText === textOf(content) ? { content } : { content, displayText };
}

function textShown(input: UserInput): string {
  return input.displayText ?? textOf(input.content);
}
