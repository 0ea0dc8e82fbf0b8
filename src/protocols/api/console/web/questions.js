/** A question of the agent that is no approval: one button per choice it offers, and words of one's own. */
import { h, icon } from "./dom.js";

/** What came of a question, for people. @param {{ answer: string, reason?: string }} answer */
export function answerText({ answer, reason }) {
  if (reason === "timeout") return "Nobody answered in time";
  if (reason === "stopped") return "Not answered: the run was stopped";
  return answer === "" ? "Skipped" : answer;
}

/** A question with what came of it. @param {string} question @param {{ answer: string, reason?: string }} answer */
export function settledQuestion(question, answer) {
  return h(
    "div",
    { class: `settled-question${answer.answer === "" ? "" : " answered"}` },
    h("p", { class: "asked" }, icon("help"), h("span", {}, question)),
    h("p", { class: "given" }, answerText(answer)),
  );
}

/** The same from the stored result of the call; `null` when it is no answer. @param {any} result */
export function settledFromResult(result) {
  if (typeof result?.question !== "string" || typeof result.user_response !== "string") return null;
  const note = String(result.note ?? "");
  const reason = /^Nobody/.test(note) ? "timeout" : /cancelled/.test(note) ? "stopped" : undefined;
  return settledQuestion(result.question, { answer: result.user_response, ...(reason ? { reason } : {}) });
}

export class QuestionCard {
  /**
   * @param {any} request the `clarify.request` event
   * @param {(answer: string) => Promise<void>} answer throws with a text for people
   */
  constructor(request, answer) {
    this.request = request;
    this.answer = answer;
    this.open = true;
    this.busy = false;
    this.draft = `hermes.answer.${request.request_id}`;
    const id = `question-${request.request_id}`;
    /** @type {string[]} */
    const choices = request.choices ?? [];
    this.many = request.multiple === true && choices.length > 0;
    this.field = h("textarea", {
      class: "own-answer",
      rows: 1,
      value: sessionStorage.getItem(this.draft) ?? "",
      placeholder: choices.length > 0 ? "Or in your own words" : "Your answer",
      "aria-label": choices.length > 0 ? "Your answer in your own words" : "Your answer",
      on: { input: () => this.onInput(), keydown: (/** @type {KeyboardEvent} */ event) => this.onKey(event) },
    });
    this.send = h("button", {
      type: "submit",
      class: "button primary",
      disabled: this.field.value.trim() === "",
    }, "Answer");
    this.skip = h(
      "button",
      { type: "button", class: "button quiet", on: { click: () => void this.give("") } },
      "Skip the question",
    );
    this.options = choices.map((choice) => this.many ? this.box(choice) : this.button(choice));
    this.error = h("p", { class: "field-error", role: "alert", hidden: true });
    const offered = this.options.length === 0 ? null : h(
      "div",
      { class: "answers", role: "group", "aria-labelledby": `${id}-text` },
      ...this.options,
    );
    this.element = h(
      "section",
      { class: "question", tabIndex: -1, role: "group", "aria-labelledby": `${id} ${id}-text` },
      h("header", { id }, icon("help"), h("strong", {}, "The agent has a question")),
      h("p", { id: `${id}-text`, class: "question-text" }, request.question),
      h(
        "form",
        {
          on: {
            submit: (/** @type {Event} */ event) => {
              event.preventDefault();
              if (!this.send.disabled) void this.give(this.text());
            },
          },
        },
        offered,
        this.field,
        this.error,
        h("div", { class: "choices" }, this.send, this.skip),
      ),
    );
  }

  /** @param {string} choice */
  button(choice) {
    return h(
      "button",
      { type: "button", class: "button", on: { click: () => void this.give(choice) } },
      choice,
    );
  }

  /** @param {string} choice */
  box(choice) {
    const input = h("input", { type: "checkbox", value: choice, on: { change: () => this.onInput() } });
    return h("label", { class: "answer-box" }, input, h("span", {}, choice));
  }

  /** What is ticked and what is written, together. */
  text() {
    const ticked = [
      .../** @type {NodeListOf<HTMLInputElement>} */ (this.element.querySelectorAll("input:checked")),
    ]
      .map((input) => input.value);
    return [...ticked, this.field.value.trim()].filter((text) => text !== "").join(", ");
  }

  onInput() {
    sessionStorage.setItem(this.draft, this.field.value);
    this.send.disabled = this.text() === "";
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight + 2, 200)}px`;
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    // On a touch keyboard Enter is the only way to a new line.
    if (matchMedia("(pointer: coarse)").matches && !event.ctrlKey) return;
    event.preventDefault();
    if (!this.send.disabled) void this.give(this.text());
  }

  /** @param {string} answer */
  async give(answer) {
    if (!this.open) return;
    this.setBusy(true);
    this.error.hidden = true;
    try {
      await this.answer(answer);
    } catch (error) {
      if (!this.open) return;
      this.error.textContent = error instanceof Error ? error.message : String(error);
      this.error.hidden = false;
      this.setBusy(false);
    }
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    this.busy = busy;
    for (const control of this.element.querySelectorAll("button, input, textarea")) control.disabled = busy;
    if (!busy) this.onInput();
  }

  /** Settled, here or elsewhere. @param {{ answer: string, reason?: string }} answer */
  close(answer) {
    if (!this.open) return;
    this.open = false;
    sessionStorage.removeItem(this.draft);
    this.element.replaceWith(settledQuestion(this.request.question, answer));
  }
}
