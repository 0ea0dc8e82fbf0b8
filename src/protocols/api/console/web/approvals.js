/** The agent's question for leave, with one button per choice that the server offers. Nothing is preselected. */
import { h, icon } from "./dom.js";
import { diffElement } from "./markdown_view.js";

/** @type {Record<string, string>} */
const LABELS = {
  once: "Allow once",
  session: "Allow for this run",
  always: "Always allow",
  deny: "Deny",
};

/** @type {Record<string, string>} */
const OUTCOMES = {
  once: "Allowed once",
  session: "Allowed for this run",
  always: "Always allowed from now on",
  deny: "Denied",
};

/** What came of a question, for people. @param {{ choice: string, reason?: string }} answer */
export function outcomeText({ choice, reason }) {
  if (reason === "timeout") return "Nobody answered in time, so it was not run";
  if (reason === "stopped") return "Not run: the run was stopped";
  return OUTCOMES[choice] ?? choice;
}

export class ApprovalCard {
  /**
   * @param {any} request the `approval.request` event
   * @param {(choice: string, reason: string) => Promise<void>} answer throws with a text for people
   */
  constructor(request, answer) {
    this.request = request;
    this.answer = answer;
    this.open = true;
    this.busy = false;
    const titleId = `approval-${request.request_id}`;
    const isDiff = /^--- .*\n\+\+\+ /.test(request.command);
    this.reason = h("input", {
      type: "text",
      class: "reason",
      maxLength: 500,
      placeholder: "Reason for the agent, if you deny (optional)",
      "aria-label": "Reason for the agent, if you deny (optional)",
    });
    this.error = h("p", { class: "field-error", role: "alert", hidden: true });
    this.buttons = request.choices.map((/** @type {string} */ choice) =>
      h("button", {
        type: "button",
        class: `button ${choice === "deny" ? "deny" : choice === "once" ? "primary" : ""}`,
        on: { click: () => void this.choose(choice) },
      }, LABELS[choice] ?? choice)
    );
    this.element = h(
      "section",
      { class: "approval", tabIndex: -1, role: "group", "aria-labelledby": titleId },
      h("header", { id: titleId }, icon("shield"), h("strong", {}, "The agent asks for your approval")),
      h("p", {}, `${sentence(request.description)}`),
      isDiff ? diffElement(request.command) : h("pre", { class: "command", tabIndex: 0 }, request.command),
      request.choices.includes("deny") ? this.reason : null,
      this.error,
      h("div", { class: "choices" }, ...this.buttons),
    );
  }

  /** @param {string} choice */
  async choose(choice) {
    if (!this.open) return;
    this.setBusy(true);
    this.error.hidden = true;
    try {
      await this.answer(choice, choice === "deny" ? this.reason.value.trim() : "");
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
    for (const button of this.buttons) button.disabled = busy;
    this.reason.disabled = busy;
  }

  /** Settled, here or elsewhere. @param {{ choice: string, reason?: string }} answer */
  close(answer) {
    if (!this.open) return;
    this.open = false;
    const allowed = answer.choice !== "deny";
    this.element.replaceWith(
      h(
        "p",
        { class: `settled ${allowed ? "allowed" : "denied"}` },
        icon(allowed ? "check" : "cross"),
        h("span", {}, outcomeText(answer)),
        h("code", {}, this.request.command.split("\n")[0].slice(0, 120)),
      ),
    );
  }
}

/** @param {string} text */
function sentence(text) {
  const trimmed = text.trim();
  if (trimmed === "") return "This needs your leave.";
  const first = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
