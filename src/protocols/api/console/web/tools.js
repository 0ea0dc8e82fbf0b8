/**
 * A tool call as a card: what it is called on, how it went, and, opened, its arguments and result. File edits are
 * shown as diffs, commands with their output. Events of a run carry a preview only; the whole comes from the
 * stored messages, when they are there.
 */
import { copyButton, duration, h, icon } from "./dom.js";
import { diffElement } from "./markdown_view.js";

/** Shown at once; the rest on demand. */
const MAX_SHOWN = 12_000;
const MAX_PREVIEW = 200;

const MAIN_ARGUMENTS = ["command", "path", "pattern", "query", "url", "goal", "name", "action"];

/** What a call is about, in a line. @param {Record<string, any>} args */
export function previewOf(args) {
  const name = MAIN_ARGUMENTS.find((key) => typeof args[key] === "string" && args[key] !== "");
  const value = name ? args[name] : Object.values(args).find((entry) => typeof entry === "string") ?? "";
  return String(value).replace(/\s+/g, " ").slice(0, MAX_PREVIEW);
}

/** An object, or the text itself when it is none. @param {string | null | undefined} text */
export function readJson(text) {
  try {
    const value = JSON.parse(text ?? "");
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a stored result says that the call failed. @param {string} text */
export function isFailure(text) {
  const result = readJson(text);
  if (!result) return /^error\b/i.test(text);
  return result.success === false || (typeof result.error === "string" && result.error !== "") ||
    (typeof result.exit_code === "number" && result.exit_code !== 0);
}

/** Whether the result of a call that failed says that it was kept from running. @param {string | null} text */
function isBlocked(text) {
  return /"status":\s*"blocked"/.test((text ?? "").slice(0, 1000));
}

/** The change that a call makes, as a unified diff; `null` for other calls. @param {string} tool @param {Record<string, any>} args @param {Record<string, any> | null} result */
export function diffOf(tool, args, result) {
  if (typeof result?.diff === "string" && result.diff !== "") return result.diff;
  if (tool === "write_file" && typeof args.content === "string") {
    return [`+++ ${args.path ?? ""}`, ...signed("+", args.content)].join("\n");
  }
  if (tool !== "patch") return null;
  if (typeof args.patch === "string") return args.patch;
  if (typeof args.old_string !== "string" || typeof args.new_string !== "string") return null;
  return [`+++ ${args.path ?? ""}`, ...signed("-", args.old_string), ...signed("+", args.new_string)].join(
    "\n",
  );
}

/** @param {string} sign @param {string} text */
function signed(sign, text) {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n").map((line) => sign + line);
}

export class ToolCard {
  /** @param {string} tool @param {string} preview */
  constructor(tool, preview) {
    this.tool = tool;
    /** @type {Record<string, any> | null} */
    this.args = null;
    this.rawArgs = "";
    /** @type {string | null} */
    this.result = null;
    this.drawn = false;
    this.state = h("span", { class: "tool-state" });
    this.preview = h("span", { class: "tool-preview" }, preview === tool ? "" : preview);
    this.body = h("div", { class: "tool-body" });
    this.element = h(
      "details",
      { class: "tool", on: { toggle: () => this.draw() } },
      h(
        "summary",
        {},
        icon("chevron"),
        h("span", { class: "tool-name" }, tool),
        this.preview,
        this.state,
      ),
      this.body,
    );
    this.setState("running", "running");
  }

  /** @param {"running" | "done" | "failed" | "waiting" | "unknown"} state @param {string} label */
  setState(state, label) {
    this.element.dataset.state = state;
    this.state.replaceChildren(h("span", { class: "tool-label" }, label), signOf(state));
  }

  /** @param {{ error: boolean, duration?: number, preview?: string }} end */
  finish({ error, duration: seconds, preview }) {
    this.result ??= preview ?? null;
    const took = seconds === undefined || seconds < 0.0005 ? "" : duration(seconds);
    const why = !error ? "" : isBlocked(this.result) ? "not run" : "failed";
    // How long nothing was done is no news.
    const parts = why === "not run" ? [why] : [why, took];
    this.setState(error ? "failed" : "done", parts.filter((part) => part !== "").join(" · "));
    this.redraw();
  }

  /** @param {string} text */
  setArguments(text) {
    if (this.rawArgs === text) return;
    this.rawArgs = text;
    this.args = readJson(text);
    if (this.args && this.preview.textContent === "") this.preview.textContent = previewOf(this.args);
    this.redraw();
  }

  /** The whole result. @param {string} text */
  setResult(text) {
    if (this.result === text) return;
    this.result = text;
    this.redraw();
  }

  redraw() {
    this.drawn = false;
    this.draw();
  }

  /** Only what is open costs anything. */
  draw() {
    if (!this.element.open || this.drawn) return;
    this.drawn = true;
    this.body.replaceChildren(...this.sections());
  }

  sections() {
    /** @type {Record<string, any>} */
    const args = this.args ?? {};
    const result = readJson(this.result);
    const diff = diffOf(this.tool, args, result);
    if (diff !== null) {
      const failure = this.failureOf(result);
      const title = failure.length > 0 ? "Change that was not made" : "Change";
      return [labelled(title, diffElement(cut(diff)), diff), ...failure];
    }
    if (typeof args.command === "string") return this.command(args.command, result);
    const sections = [];
    if (this.rawArgs !== "") sections.push(textBlock("Arguments", pretty(this.rawArgs)));
    if (this.result !== null) sections.push(textBlock("Result", resultText(this.result, result)));
    return sections.length > 0 ? sections : [h("p", { class: "hint" }, "Nothing to show yet.")];
  }

  /** @param {string} command @param {Record<string, any> | null} result */
  command(command, result) {
    const sections = [textBlock("Command", command)];
    if (this.result === null) return sections;
    if (result?.status === "blocked") return [...sections, ...this.failureOf(result)];
    if (typeof result?.output !== "string") {
      return [...sections, textBlock("Result", resultText(this.result, result))];
    }
    const code = typeof result.exit_code === "number" ? ` (exit code ${result.exit_code})` : "";
    sections.push(textBlock(`Output${code}`, result.output === "" ? "(no output)" : result.output));
    return [...sections, ...this.failureOf(result)];
  }

  /** @param {Record<string, any> | null} result */
  failureOf(result) {
    const text = typeof result?.error === "string" && result.error !== ""
      ? result.error
      : result === null && this.result !== null && this.element.dataset.state === "failed"
      ? this.result
      : "";
    const label = result?.status === "blocked" ? "Why it was not run" : "Error";
    return text === "" ? [] : [textBlock(label, text)];
  }
}

/** @param {string} state */
function signOf(state) {
  if (state === "done") return icon("check");
  if (state === "failed") return icon("cross");
  if (state === "waiting") return icon("shield");
  return h("span", { class: state === "unknown" ? "dash" : "spinner", "aria-hidden": "true" });
}

/** @param {string} text */
function pretty(text) {
  const value = readJson(text);
  return value ? JSON.stringify(value, null, 2) : text;
}

/** @param {string} text @param {Record<string, any> | null} parsed */
function resultText(text, parsed) {
  if (!parsed) return text;
  const keys = Object.keys(parsed);
  if (keys.length === 1 && typeof parsed[keys[0]] === "string") return parsed[keys[0]];
  return typeof parsed.content === "string" ? parsed.content : JSON.stringify(parsed, null, 2);
}

/** @param {string} text */
function cut(text) {
  if (text.length <= MAX_SHOWN) return text;
  return `${text.slice(0, MAX_SHOWN)}\n… ${(text.length - MAX_SHOWN).toLocaleString()} more characters`;
}

/** @param {string} label @param {Node} element @param {string} text */
function labelled(label, element, text) {
  return h(
    "section",
    { class: "tool-section" },
    h("header", {}, h("span", {}, label), copyButton(() => text)),
    element,
  );
}

/** @param {string} label @param {string} text */
export function textBlock(label, text) {
  const code = h("pre", { tabIndex: 0 }, text.slice(0, MAX_SHOWN));
  const section = labelled(label, code, text);
  if (text.length > MAX_SHOWN) {
    const more = h("button", {
      class: "button quiet",
      type: "button",
      on: {
        click: () => {
          code.textContent = text;
          more.remove();
        },
      },
    }, `Show ${(text.length - MAX_SHOWN).toLocaleString()} more characters`);
    section.append(more);
  }
  return section;
}
