/**
 * The messages of one conversation on the page: those that are stored, and a run that is under way, drawn from its
 * events. Keeps the end in view unless the reader has scrolled up. Knows no server.
 */
import { ApprovalCard } from "./approvals.js";
import { copyButton, duration, h, icon, short } from "./dom.js";
import { MarkdownView } from "./markdown_view.js";
import { QuestionCard, settledFromResult } from "./questions.js";
import { isFailure, previewOf, readJson, ToolCard } from "./tools.js";

/**
 * @typedef {object} ConversationHost
 * @property {HTMLElement} timeline
 * @property {HTMLElement} scroller
 * @property {HTMLElement} jump
 * @property {(request: any, choice: string, reason: string) => Promise<void>} onApproval
 * @property {(request: any, answer: string) => Promise<void>} onAnswer
 * @property {(text: string) => void} announce
 */

const NEAR_END = 80;

export class Conversation {
  /** @param {ConversationHost} host */
  constructor(host) {
    this.host = host;
    this.sticky = true;
    /** @type {Map<string, ToolCard>} */
    this.cards = new Map();
    /** @type {HTMLElement | null} */
    this.turn = null;
    /** @type {HTMLElement[]} */
    this.turnElements = [];
    /** @type {MarkdownView | null} */
    this.text = null;
    /** @type {HTMLElement | null} */
    this.thought = null;
    /** @type {Map<string, ApprovalCard | QuestionCard>} */
    this.asks = new Map();
    /** @type {string[]} */
    this.steers = [];
    this.saidAnything = false;
    this.host.scroller.addEventListener("scroll", () => this.onScroll(), { passive: true });
    this.host.jump.addEventListener("click", () => this.scrollToEnd());
    const resized = new ResizeObserver(() => this.keepEnd());
    resized.observe(host.timeline);
    resized.observe(host.scroller);
    this.reset();
  }

  reset() {
    this.host.timeline.replaceChildren();
    this.cards = new Map();
    this.sticky = true;
    this.host.jump.hidden = true;
    this.resetTurn();
  }

  resetTurn() {
    this.turn = null;
    this.turnElements = [];
    this.text = null;
    this.thought = null;
    this.asks = new Map();
    this.steers = [];
    this.saidAnything = false;
  }

  // ── States without messages ───────────────────────────────────────────────────────────────────────────────

  /** @param {string[]} examples @param {(text: string) => void} onPick */
  showEmpty(examples, onPick) {
    this.reset();
    this.host.timeline.append(h(
      "div",
      { class: "empty" },
      h("span", { class: "mark big", "aria-hidden": "true" }),
      h("h2", {}, "What should be done?"),
      h(
        "p",
        {},
        "The agent reads and writes files and runs commands on the server. It asks before anything risky.",
      ),
      h(
        "div",
        { class: "examples" },
        ...examples.map((text) =>
          h("button", { type: "button", class: "button", on: { click: () => onPick(text) } }, text)
        ),
      ),
    ));
  }

  showLoading() {
    this.reset();
    const bar = (/** @type {string} */ size) => h("div", { class: `bone ${size}` });
    this.host.timeline.append(
      h(
        "div",
        { class: "skeleton", role: "status", "aria-label": "Loading the conversation" },
        bar("right"),
        bar("long"),
        bar("mid"),
        bar("long"),
      ),
    );
  }

  /** @param {string} text @param {() => void} retry */
  showFailure(text, retry) {
    this.reset();
    this.notice("error", text, { label: "Try again", run: retry });
  }

  // ── Stored messages ───────────────────────────────────────────────────────────────────────────────────────

  /** @param {any[]} messages oldest first @param {(() => void) | null} onEarlier */
  showMessages(messages, onEarlier) {
    this.reset();
    if (onEarlier) {
      this.host.timeline.append(
        h(
          "button",
          { type: "button", class: "button quiet earlier", on: { click: onEarlier } },
          "Show earlier messages",
        ),
      );
    }
    for (const message of messages) this.addStored(message);
    this.turn = null;
    this.text = null;
    this.scrollToEnd();
  }

  /** @param {any} message */
  addStored(message) {
    if (message.role === "user") {
      this.turn = null;
      this.addUser(plainText(message.content));
    } else if (message.role === "assistant") {
      if (message.reasoning) this.addThought(message.reasoning);
      const text = plainText(message.content);
      if (text !== "") this.addText(text);
      for (const call of message.tool_calls ?? []) this.addStoredCall(call);
    } else if (message.role === "tool") this.addStoredResult(message);
  }

  /** @param {any} call */
  addStoredCall(call) {
    const { name, arguments: args } = call.function;
    const card = this.addCard(call.id, name, previewOf(readJson(args) ?? {}));
    card.setArguments(args);
    card.setState("unknown", "no result");
  }

  /** @param {any} message */
  addStoredResult(message) {
    const card = this.cards.get(message.tool_call_id);
    if (!card) return;
    const text = plainText(message.content);
    const settled = card.tool === "clarify" ? settledFromResult(readJson(text)) : null;
    if (settled) return card.element.replaceWith(settled);
    card.setResult(text);
    card.finish({ error: isFailure(text) });
  }

  /** Whole arguments and results for cards that are on the page. @param {any[]} messages */
  fill(messages) {
    for (const message of messages) {
      for (const call of message.tool_calls ?? []) {
        this.cards.get(call.id)?.setArguments(call.function.arguments);
      }
      if (message.role === "tool") {
        this.cards.get(message.tool_call_id)?.setResult(plainText(message.content));
      }
    }
  }

  // ── A run ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** @param {string | null} prompt `null`: it is on the page already, or unknown */
  startTurn(prompt) {
    this.host.timeline.querySelector(".empty")?.remove();
    this.resetTurn();
    if (prompt !== null) this.turnElements.push(this.addUser(prompt));
    this.scrollToEnd();
  }

  /** Takes back a turn that the server did not accept. */
  dropTurn() {
    for (const element of this.turnElements) element.remove();
    this.resetTurn();
  }

  /** @param {any} event */
  apply(event) {
    switch (event.event) {
      case "message.delta":
        return this.onText(event.delta);
      case "message.interim":
        if (!event.already_streamed && event.text) this.onText(event.text);
        this.text = null;
        return;
      case "reasoning.delta":
        return this.onThought(event.delta);
      case "reasoning.available":
        return this.addThought(event.text);
      case "tool.started":
        return this.onToolStart(event);
      case "tool.completed":
        this.cards.get(event.tool_call_id)?.finish(event);
        return;
      case "subagent.start":
        this.addCard(`subagent ${event.subagent_id}`, "subagent", event.goal ?? "");
        return;
      case "subagent.complete":
        return this.onSubagentEnd(event);
      case "approval.request":
        return this.onApproval(event);
      case "clarify.request":
        return this.onQuestion(event);
      case "approval.responded":
      case "clarify.responded":
        return this.onAnswered(event);
      case "run.steered":
        return this.addSteer(this.steers.shift() ?? "Guidance was sent to the agent");
      case "replay.truncated":
        return this.addAside(
          "The first events of this run are no longer kept. The whole of it shows when it has ended.",
        );
    }
  }

  /** @param {string} delta */
  onText(delta) {
    this.saidAnything = true;
    this.thought = null;
    if (!this.text) this.text = this.addText("");
    this.text.append(delta);
  }

  /** @param {string} delta */
  onThought(delta) {
    this.text = null;
    if (!this.thought) this.thought = this.addThought("");
    this.thought?.append(delta);
  }

  /** @param {any} event */
  onToolStart(event) {
    this.text = null;
    this.thought = null;
    this.addCard(event.tool_call_id, event.tool, event.preview);
  }

  /** @param {any} event */
  onSubagentEnd(event) {
    const card = this.cards.get(`subagent ${event.subagent_id}`);
    card?.finish({
      error: event.status !== "completed",
      duration: event.duration_seconds,
      preview: event.summary || event.preview || "",
    });
  }

  /** @param {any} event */
  onApproval(event) {
    if (this.asks.has(event.request_id)) return;
    const card = new ApprovalCard(event, (choice, reason) => this.host.onApproval(event, choice, reason));
    this.cards.get(event.tool_call_id)?.setState("waiting", "waits for you");
    this.addAsk(card, `The agent asks for your approval: ${event.description}`);
  }

  /** The question stands in place of its call. @param {any} event */
  onQuestion(event) {
    if (this.asks.has(event.request_id)) return;
    const card = new QuestionCard(event, (answer) => this.host.onAnswer(event, answer));
    this.cards.get(event.tool_call_id)?.element.remove();
    const choices = event.choices ? ` ${event.choices.join(", ")}?` : "";
    this.addAsk(card, `The agent asks: ${event.question}${choices}`);
  }

  /** @param {ApprovalCard | QuestionCard} card @param {string} words */
  addAsk(card, words) {
    this.text = null;
    this.asks.set(card.request.request_id, card);
    this.body().append(card.element);
    // A replay tells of questions that were answered long ago.
    setTimeout(() => {
      if (card.open) this.host.announce(`${words}. Alt A goes there.`);
    }, 100);
  }

  /** @param {any} event */
  onAnswered(event) {
    const named = this.asks.get(event.request_id);
    for (const card of named ? [named] : this.asks.values()) {
      // A control that is busy has no focus any more.
      const isMine = card.open && (card.busy || card.element.contains(document.activeElement));
      card.close(event);
      this.cards.get(card.request.tool_call_id)?.setState("running", "running");
      if (!isMine) continue;
      // Whoever has answered wants to see what comes of it.
      document.getElementById("prompt")?.focus();
      this.scrollToEnd();
    }
  }

  /** The oldest question that waits. */
  waiting() {
    return [...this.asks.values()].find((card) => card.open) ?? null;
  }

  /** @param {any} event the end of the run */
  endTurn(event) {
    for (const card of this.asks.values()) card.close({ choice: "deny", answer: "", reason: "stopped" });
    for (const card of this.cards.values()) {
      const { state } = card.element.dataset;
      if (state === "running" || state === "waiting") card.setState("unknown", "did not finish");
    }
    if (event.output && !this.saidAnything) this.addText(event.output);
    this.text?.render();
    const why = endText(event);
    if (why) this.notice(why.kind, why.text);
    else this.host.announce("The agent has answered.");
    if (event.usage) this.addFoot(event.usage);
    this.resetTurn();
  }

  // ── Pieces ────────────────────────────────────────────────────────────────────────────────────────────────

  /** The element that the agent's parts go into. @returns {HTMLElement} */
  body() {
    if (this.turn) return this.turn;
    const turn = h("article", { class: "message assistant", "aria-label": "hermes" });
    this.host.timeline.append(turn);
    this.turnElements.push(turn);
    return this.turn = turn;
  }

  /** @param {string} text */
  addUser(text) {
    const element = h(
      "article",
      { class: "message user", "aria-label": "You" },
      h("div", { class: "bubble" }, text),
    );
    this.host.timeline.append(element);
    this.turn = null;
    return element;
  }

  /** @param {string} text */
  addText(text) {
    const view = new MarkdownView();
    if (text !== "") view.set(text);
    this.body().append(h("div", { class: "answer" }, view.element, copyButton(() => view.text)));
    return view;
  }

  /** @param {string} text */
  addThought(text) {
    const content = h("div", { class: "thought-text" }, text);
    this.body().append(
      h("details", { class: "thought" }, h("summary", {}, icon("chevron"), "Reasoning"), content),
    );
    return content;
  }

  /** @param {string} id @param {string} tool @param {string} preview */
  addCard(id, tool, preview) {
    const card = new ToolCard(tool, preview);
    this.cards.set(id, card);
    this.body().append(card.element);
    return card;
  }

  /** @param {string} text */
  addAside(text) {
    this.body().append(h("p", { class: "aside" }, text));
  }

  /** @param {string} text */
  addSteer(text) {
    this.text = null;
    this.body().append(h("p", { class: "steer" }, icon("bolt"), h("span", {}, text)));
  }

  /** @param {{ input_tokens: number, output_tokens: number, seconds?: number }} usage */
  addFoot(usage) {
    // A turn that failed before the model said anything.
    if (usage.input_tokens + usage.output_tokens === 0) return;
    const took = usage.seconds === undefined ? "" : ` · ${duration(usage.seconds)}`;
    this.body().append(
      h(
        "p",
        { class: "foot" },
        `${short(usage.input_tokens)} tokens in · ${short(usage.output_tokens)} out${took}`,
      ),
    );
  }

  /** @param {"error" | "info" | "warn"} kind @param {string} text @param {{ label: string, run: () => void }} [action] */
  notice(kind, text, action) {
    const element = h(
      "div",
      { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" },
      h("span", {}, text),
      action
        ? h("button", {
          type: "button",
          class: "button",
          on: {
            click: () => {
              element.remove();
              action.run();
            },
          },
        }, action.label)
        : null,
    );
    this.host.timeline.append(element);
    this.turn = null;
    this.keepEnd();
    return element;
  }

  // ── Scrolling ─────────────────────────────────────────────────────────────────────────────────────────────

  onScroll() {
    const { scrollHeight, scrollTop, clientHeight } = this.host.scroller;
    this.sticky = scrollHeight - scrollTop - clientHeight < NEAR_END;
    this.host.jump.hidden = this.sticky;
  }

  keepEnd() {
    if (this.sticky) this.host.scroller.scrollTop = this.host.scroller.scrollHeight;
  }

  /** What is in view stays there while something is put above it. @param {() => void} change */
  keepPlace(change) {
    const { scroller } = this.host;
    const below = scroller.scrollHeight - scroller.scrollTop;
    change();
    this.sticky = false;
    scroller.scrollTop = scroller.scrollHeight - below;
  }

  scrollToEnd() {
    this.sticky = true;
    this.host.jump.hidden = true;
    this.keepEnd();
  }
}

/** Text of a stored content; images are named. @param {any} content */
export function plainText(content) {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => part.type === "text" ? part.text : "[image]").join("\n");
}

/** @param {any} event @returns {{ kind: "error" | "info" | "warn", text: string } | null} */
export function endText(event) {
  switch (event.event) {
    case "run.failed":
      return { kind: "error", text: event.error ?? "The run failed." };
    case "run.interrupted":
      return { kind: "error", text: event.error ?? "The server went away before the run ended." };
    case "run.cancelled":
      return { kind: "info", text: "Stopped." };
    default:
      return event.partial
        ? {
          kind: "warn",
          text: `Ended early: ${event.hermes?.limit?.text ?? reasonText(event.turn_exit_reason)}.`,
        }
        : null;
  }
}

/** @param {string | undefined} reason */
function reasonText(reason) {
  return (reason ?? "a limit was reached").replaceAll("_", " ");
}
