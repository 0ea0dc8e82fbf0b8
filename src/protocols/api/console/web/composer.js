/**
 * The message field: grows with its text, sends with Enter, keeps an unsent draft per conversation in this tab. While
 * a run works, what is sent steers it.
 */
import { byId } from "./dom.js";

export class Composer {
  /** @param {{ onSend: (text: string) => void, onStop: () => void }} host */
  constructor(host) {
    this.host = host;
    this.field = byId("prompt");
    this.send = byId("send");
    this.stop = byId("stop");
    this.hint = byId("composer-hint");
    this.draftKey = "";
    this.mode = "idle";
    byId("composer").addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.submit();
    });
    this.field.addEventListener("input", () => this.onInput());
    this.field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.onKey(event));
    this.stop.addEventListener("click", () => this.host.onStop());
    this.setMode("idle");
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.altKey) return;
    // On a touch keyboard Enter is the only way to a new line.
    if (matchMedia("(pointer: coarse)").matches && !event.ctrlKey) return;
    event.preventDefault();
    this.submit();
  }

  submit() {
    const text = this.field.value.trim();
    if (text === "" || this.send.disabled) return;
    this.set("");
    this.host.onSend(text);
  }

  onInput() {
    if (this.draftKey !== "") {
      if (this.field.value === "") sessionStorage.removeItem(this.draftKey);
      else sessionStorage.setItem(this.draftKey, this.field.value);
    }
    this.fit();
  }

  /** @param {string} text */
  set(text) {
    this.field.value = text;
    this.onInput();
  }

  /**
   * Gives back what was not taken, before what has been typed since: into the field, or into the draft of the
   * conversation it was written for when another one is open by now.
   * @param {string} text @param {string} [draftKey]
   */
  giveBack(text, draftKey = this.draftKey) {
    const isOpen = draftKey === this.draftKey;
    const typed = (isOpen ? this.field.value : sessionStorage.getItem(draftKey) ?? "").trim();
    const whole = typed === "" ? text : `${text}\n${typed}`;
    if (isOpen) this.set(whole);
    else sessionStorage.setItem(draftKey, whole);
  }

  /** The draft of a conversation. @param {string} id */
  open(id) {
    this.draftKey = `hermes.draft.${id}`;
    this.field.value = sessionStorage.getItem(this.draftKey) ?? "";
    this.fit();
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, innerHeight * 0.4)}px`;
    this.enable();
  }

  enable() {
    this.send.disabled = this.field.value.trim() === "" || this.mode === "starting" ||
      this.mode === "waiting" || this.mode === "asked" || this.mode === "stopping";
  }

  focus() {
    if (!matchMedia("(pointer: coarse)").matches) this.field.focus();
  }

  /** @param {"idle" | "starting" | "running" | "waiting" | "asked" | "stopping"} mode */
  setMode(mode) {
    this.mode = mode;
    const isLive = mode !== "idle";
    this.stop.hidden = !isLive || mode === "starting";
    this.stop.disabled = mode === "stopping";
    this.stop.textContent = mode === "stopping" ? "Stopping…" : "Stop";
    this.send.textContent = isLive ? "Steer" : "Send";
    const isAsked = mode === "waiting" || mode === "asked";
    this.field.placeholder = isAsked
      ? "The agent waits for your answer"
      : isLive
      ? "Guide the agent while it works"
      : "What should be done?";
    this.hint.textContent = isAsked
      ? "Answer the question first"
      : isLive
      ? "Read after the current tool"
      : matchMedia("(pointer: coarse)").matches
      ? ""
      : matchMedia("(max-width: 760px)").matches
      ? "Enter sends"
      : "Enter sends, Shift+Enter makes a new line";
    this.enable();
  }
}
