/**
 * Functions that run inside a page, each on its own: they are sent as text, so none may use anything from outside
 * itself. They share `globalThis.hermesRefs`, the elements that the last snapshot has named; pages cannot see it.
 */

/** The page as text: headings, texts, and what can be used, with refs. */
export function snapshot() {
  const MAX = 40_000;
  const USABLE =
    "a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=''],[contenteditable=true]," +
    "[role=button],[role=link],[role=checkbox],[role=radio],[role=switch],[role=tab],[role=menuitem],[role=option]," +
    "[role=combobox],[role=textbox],[role=slider],[onclick],[tabindex]:not([tabindex='-1'])";
  const SKIPPED = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "SVG"]);
  const refs = globalThis.hermesRefs = new Map();
  const lines = [];
  let text = "";
  let size = 0;
  const clean = (value) => (value ?? "").replace(/\s+/g, " ").trim();
  const quote = (value) => JSON.stringify(clean(value).slice(0, 200));
  const add = (line) => {
    size += line.length + 1;
    if (size <= MAX) lines.push(line);
  };
  const flush = () => {
    const line = clean(text);
    text = "";
    if (line !== "") add(`- text: ${line}`);
  };
  const roleOf = (element) => {
    const role = element.getAttribute("role");
    if (role) return role;
    const tag = element.tagName.toLowerCase();
    if (tag === "a") return "link";
    if (tag === "select") return "combobox";
    if (tag === "textarea") return "textbox";
    if (tag !== "input") return tag === "button" || tag === "summary" ? "button" : "element";
    const kinds = {
      checkbox: "checkbox",
      radio: "radio",
      range: "slider",
      submit: "button",
      button: "button",
    };
    return kinds[element.type] ?? "textbox";
  };
  const labelOf = (label) => {
    const copy = label.cloneNode(true);
    for (const control of copy.querySelectorAll("input,select,textarea,button")) control.remove();
    return copy.textContent;
  };
  const nameOf = (element) => {
    const { tagName, type } = element;
    const by = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/)
      .map((id) => id && element.ownerDocument.getElementById(id)?.textContent).filter(Boolean).join(" ");
    return [
      element.getAttribute("aria-label"),
      by,
      [...element.labels ?? []].map(labelOf).join(" "),
      tagName === "INPUT" && /^(submit|button|reset)$/.test(type) ? element.value : "",
      /^(SELECT|TEXTAREA)$/.test(tagName) ? "" : element.innerText,
      element.querySelector("img[alt]")?.getAttribute("alt"),
      ...["placeholder", "title", "name"].map((name) => element.getAttribute(name)),
    ].find((name) => clean(name) !== "") ?? "";
  };
  const stateOf = (element) => {
    const state = [];
    if (element.tagName === "SELECT") {
      state.push(`value ${quote(element.selectedOptions[0]?.text)}`);
      state.push(
        `options ${[...element.options].slice(0, 30).map((option) => quote(option.text)).join(", ")}`,
      );
    } else if (element.type === "password") state.push(element.value === "" ? "empty" : "filled");
    else if (element.type === "checkbox" || element.type === "radio") {
      state.push(element.checked ? "checked" : "not checked");
    } else if (typeof element.value === "string" && roleOf(element) === "textbox") {
      state.push(`value ${quote(element.value)}`);
    } else if (element.getAttribute("aria-checked")) {
      state.push(`checked ${element.getAttribute("aria-checked")}`);
    }
    if (element.disabled) state.push("disabled");
    if (element.tagName === "A") state.push(element.href.slice(0, 200));
    return state.length > 0 ? ` (${state.join("; ")})` : "";
  };
  const walk = (node) => {
    if (size > MAX) return;
    if (node.nodeType === Node.TEXT_NODE) return void (text += node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || SKIPPED.has(node.tagName.toUpperCase())) return;
    if (node.getAttribute("aria-hidden") === "true") return;
    const style = getComputedStyle(node);
    if (style.display !== "contents" && !node.checkVisibility({ visibilityProperty: true })) return;
    if (node.matches(USABLE)) {
      flush();
      const ref = `e${refs.size + 1}`;
      refs.set(ref, node);
      return add(`- ${roleOf(node)} ${quote(nameOf(node))} [${ref}]${stateOf(node)}`);
    }
    // A label is the name of its field.
    if (node.tagName === "LABEL" && node.control) {
      if (node.contains(node.control)) walk(node.control);
      return;
    }
    const level = /^H([1-6])$/.exec(node.tagName)?.[1];
    if (level && !node.querySelector(USABLE)) {
      flush();
      return add(`- heading ${level} ${quote(node.innerText)}`);
    }
    if (node.tagName === "IMG") {
      if (node.alt) text += ` [image: ${node.alt}] `;
      return;
    }
    if (node.tagName === "IFRAME") {
      flush();
      return add(`- frame ${quote(node.title || node.src)}`);
    }
    const isBlock = !style.display.startsWith("inline") && style.display !== "contents";
    if (isBlock || node.tagName === "BR") flush();
    for (const child of (node.shadowRoot ?? node).childNodes) walk(child);
    if (isBlock) flush();
    else text += " ";
  };
  if (document.body) walk(document.body);
  flush();
  const { scrollY, innerHeight } = globalThis;
  return {
    url: location.href,
    title: document.title,
    scroll: { top: Math.round(scrollY), of: document.documentElement.scrollHeight, visible: innerHeight },
    snapshot: lines.join("\n"),
    ...(size > MAX ? { cut: `The page goes on; ${MAX} characters are shown` } : {}),
  };
}

/** The middle of an element, scrolled into view. */
export function placeOf(ref) {
  const element = globalThis.hermesRefs?.get(ref);
  if (!element?.isConnected) {
    throw new Error(`There is no element ${ref} on this page now: take a new snapshot`);
  }
  element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const box = [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0);
  if (!box) throw new Error(`The element ${ref} cannot be seen`);
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Makes a field ready for typing (`typed`), or sets what cannot be typed (`set`). */
export function fieldOf(ref, text) {
  const element = globalThis.hermesRefs?.get(ref);
  if (!element?.isConnected) {
    throw new Error(`There is no element ${ref} on this page now: take a new snapshot`);
  }
  if (element.disabled || element.readOnly) throw new Error(`The field ${ref} takes no input`);
  const tell = () => {
    for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, { bubbles: true }));
  };
  element.scrollIntoView({ block: "center", behavior: "instant" });
  if (element.tagName === "SELECT") {
    const wanted = text.trim().toLowerCase();
    const option = [...element.options].find((each) =>
      each.text.trim().toLowerCase() === wanted || each.value.toLowerCase() === wanted
    );
    if (!option) throw new Error(`The list ${ref} has no entry ${JSON.stringify(text)}`);
    element.value = option.value;
    tell();
    return "set";
  }
  element.focus();
  if (/^(date|time|datetime-local|month|week|color|range)$/.test(element.type)) {
    element.value = text;
    tell();
    return "set";
  }
  if (element.isContentEditable) {
    const range = document.createRange();
    range.selectNodeContents(element);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return "typed";
  }
  if (typeof element.select !== "function" || /^(checkbox|radio|button|submit|file)$/.test(element.type)) {
    throw new Error(`The element ${ref} is no field`);
  }
  element.select();
  return "typed";
}

/** Empties a field. */
export function clearField(ref) {
  const element = globalThis.hermesRefs.get(ref);
  if (element.isContentEditable) element.textContent = "";
  else element.value = "";
  for (const name of ["input", "change"]) element.dispatchEvent(new Event(name, { bubbles: true }));
}

/** Moves the page, and says where it stands. */
export function scroll(direction, amount) {
  const step = amount ?? Math.round((/^(up|down)$/.test(direction) ? innerHeight : innerWidth) * 0.8);
  const [x, y] = { up: [0, -step], down: [0, step], left: [-step, 0], right: [step, 0] }[direction];
  globalThis.scrollBy({ left: x, top: y, behavior: "instant" });
  const { scrollX, scrollY } = globalThis;
  const { scrollHeight } = document.documentElement;
  return { left: Math.round(scrollX), top: Math.round(scrollY), of: scrollHeight, visible: innerHeight };
}

/** Where the page is, and whether it has loaded. */
export function pageOf() {
  return { url: location.href, title: document.title, ready: document.readyState === "complete" };
}
