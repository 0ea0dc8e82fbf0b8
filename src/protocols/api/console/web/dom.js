/**
 * Small verbs for building the page: elements without any HTML text, icons, times and numbers for people. The page
 * runs under Trusted Types, so nothing here may ever parse a string as markup.
 */

/**
 * @param {string} tag
 * @param {Record<string, any>} [props] `class`, `on` (listeners), `dataset`; other names are properties when the
 *   element has them and attributes when it does not; `null`, `undefined` and `false` are left out
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(element, name, value);
  for (const child of children) if (child || child === "") element.append(child);
  return element;
}

/** @param {HTMLElement} element @param {string} name @param {any} value */
function setProp(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === "class") element.className = value;
  else if (name === "dataset") Object.assign(element.dataset, value);
  else if (name === "on") {
    for (const [type, listener] of Object.entries(value)) element.addEventListener(type, listener);
  } else if (name in element && !name.includes("-")) /** @type {any} */ (element)[name] = value;
  else element.setAttribute(name, value === true ? "" : String(value));
}

/** @param {string} id @returns {any} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no #${id}`);
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

const ICONS = {
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  pencil: "M4 20l1-4L16 5l3 3L8 19l-4 1zM14 7l3 3",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  lock: "M7 11V8a5 5 0 0110 0v3M5 11h14v9H5z",
  help:
    "M12 3a9 9 0 100 18 9 9 0 000-18zM9.500 9.700a2.500 2.500 0 115 0c0 1.600-2.500 1.900-2.500 3.600M12 16.700v.01",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  check: "M5 12.500l4.500 4.500L19 7",
  cross: "M7 7l10 10M17 7L7 17",
  chevron: "M9 6l6 6-6 6",
  shield: "M12 3l7 3v6c0 4-3 7-7 9-4-2-7-5-7-9V6z",
  down: "M12 5v14M6 13l6 6 6-6",
  bolt: "M13 3L5 14h6l-1 7 8-11h-6z",
};

/** @param {keyof typeof ICONS} name */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** A button with an icon only; `label` is its name. @param {keyof typeof ICONS} name @param {string} label @param {() => void} onClick */
export function iconButton(name, label, onClick) {
  return h("button", {
    class: "icon-button",
    type: "button",
    title: label,
    "aria-label": label,
    on: { click: onClick },
  }, icon(name));
}

/** Puts text on the clipboard and says so on the button. @param {() => string} text */
export function copyButton(text) {
  const button = iconButton("copy", "Copy", async () => {
    try {
      await navigator.clipboard.writeText(text());
      button.replaceChildren(icon("check"));
    } catch {
      button.replaceChildren(icon("cross"));
    }
    setTimeout(() => button.replaceChildren(icon("copy")), 1500);
  });
  button.classList.add("copy");
  return button;
}

/** @param {number} seconds Unix seconds @param {number} now Unix seconds */
export function ago(seconds, now) {
  const passed = Math.max(0, now - seconds);
  if (passed < 60) return "now";
  if (passed < 3600) return `${Math.floor(passed / 60)} min`;
  if (passed < 86_400) return `${Math.floor(passed / 3600)} h`;
  if (passed < 7 * 86_400) return `${Math.floor(passed / 86_400)} d`;
  return new Date(seconds * 1000).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

/** `12`, `3.1k`, `1.2M`. @param {number} count */
export function short(count) {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${trim(count / 1000)}k` : `${trim(count / 1_000_000)}M`;
}

/** @param {number} value */
function trim(value) {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1).replace(/\.0$/, "");
}

/** @param {number} seconds */
export function duration(seconds) {
  if (seconds < 0.0005) return "0 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
