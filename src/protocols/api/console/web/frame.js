/** What stands around the conversation: the drawer of narrow screens, the banner, usage, and what a run is doing. */
import { byId, h, icon, short } from "./dom.js";
import { costOf, dollars } from "./models.js";

/** On narrow screens the list lies over the conversation. @param {boolean} open */
export function setDrawer(open) {
  const isNarrow = matchMedia("(max-width: 760px)").matches;
  document.body.dataset.drawer = open && isNarrow ? "open" : "closed";
  byId("scrim").hidden = !(open && isNarrow);
  byId("open-sidebar").setAttribute("aria-expanded", String(open && isNarrow));
  if (isNarrow && open) byId("new-session").focus();
  else if (isNarrow && byId("sidebar").contains(document.activeElement)) byId("open-sidebar").focus();
}

/** Something is wrong with the server as a whole; an empty text takes the banner away. @param {string} text @param {() => void} retry */
export function setBanner(text, retry) {
  const banner = byId("banner");
  if (text === "") {
    // Whoever waits for the server need not wait any longer.
    if (!banner.hidden) globalThis.dispatchEvent(new Event("hermes-retry"));
    banner.hidden = true;
    return;
  }
  if (!banner.hidden && banner.dataset.text === text) return;
  banner.dataset.text = text;
  banner.replaceChildren(
    h("span", {}, `${text}. It is tried again by itself.`),
    h("button", { type: "button", class: "button", on: { click: retry } }, "Try now"),
  );
  banner.hidden = false;
}

/** Tokens of a conversation, and their price when it is known. @param {any} session @param {any} options @param {import("./models.js").ModelChoice | null} choice */
export function showUsage(session, options, choice) {
  const usage = byId("usage");
  const total = session
    ? session.input_tokens + session.cache_read_tokens + session.cache_write_tokens + session.output_tokens
    : 0;
  usage.hidden = total === 0;
  if (total === 0) return;
  const model = session.model ? { model: session.model, provider: options?.provider } : choice;
  const cost = costOf(options, model, session);
  usage.textContent = `${short(total)} tokens${cost === null ? "" : ` · ${dollars(cost)}`}`;
  usage.title =
    `${session.input_tokens.toLocaleString()} in, ${session.cache_read_tokens.toLocaleString()} from cache, ` +
    `${session.output_tokens.toLocaleString()} out, ${session.api_call_count} model calls` +
    (cost === null ? "; the price of this model is not known" : "; cost from the list price");
}

/** @typedef {"idle" | "starting" | "running" | "waiting" | "asked" | "stopping" | "lost"} Status */

/** The line above the message field: what the run does, for how long, and when a lost server is asked again. */
export class Activity {
  /** @param {() => void} onQuestion goes to the question that waits */
  constructor(onQuestion) {
    this.onQuestion = onQuestion;
    this.element = byId("activity");
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.clock = undefined;
  }

  /** @param {Status} status @param {number} since Unix seconds @param {number} pauseMs until the next try */
  set(status, since, pauseMs) {
    this.stop();
    let left = pauseMs;
    this.draw(status, since, left);
    if (status !== "running" && status !== "lost") return;
    this.clock = setInterval(() => this.draw(status, since, left -= 1000), 1000);
  }

  stop() {
    clearInterval(this.clock);
  }

  /** @param {Status} status @param {number} since @param {number} pauseMs */
  draw(status, since, pauseMs) {
    this.element.hidden = status === "idle";
    this.element.dataset.status = status;
    if (status === "idle") return;
    const seconds = Math.max(0, Math.floor(Date.now() / 1000 - since));
    // The seconds are for the eye only.
    this.element.setAttribute("aria-live", status === "running" && seconds >= 2 ? "off" : "polite");
    const isQuestion = status === "waiting" || status === "asked";
    this.element.replaceChildren(
      isQuestion
        ? icon(status === "asked" ? "help" : "shield")
        : h("span", { class: "spinner", "aria-hidden": "true" }),
      h("span", {}, textOf(status, seconds, pauseMs)),
      isQuestion
        ? h("button", { type: "button", class: "button quiet", on: { click: this.onQuestion } }, "Go to it")
        : "",
    );
  }
}

/** @param {Status} status @param {number} seconds @param {number} pauseMs */
function textOf(status, seconds, pauseMs) {
  switch (status) {
    case "starting":
      return "Starting…";
    case "running":
      if (seconds < 2) return "Working…";
      return `Working… ${seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`}`;
    case "waiting":
      return "Waiting for your approval";
    case "asked":
      return "Waiting for your answer";
    case "stopping":
      return "Stopping…";
    case "lost":
      return pauseMs > 999
        ? `Connection lost. Next try in ${Math.ceil(pauseMs / 1000)} s.`
        : "Connection lost. Trying again…";
    default:
      return "";
  }
}
