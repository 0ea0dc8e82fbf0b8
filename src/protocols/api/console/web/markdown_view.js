/** The markdown tree as elements, and a view of a growing text that renders only what has changed at its end. */
import { copyButton, h } from "./dom.js";
import { parseWithSource } from "./markdown.js";

/** Shows a text that may grow; blocks whose source is the same stay as they are. */
export class MarkdownView {
  constructor() {
    this.element = h("div", { class: "prose" });
    this.text = "";
    /** @type {string[]} */
    this.sources = [];
    this.frame = 0;
  }

  /** @param {string} text */
  set(text) {
    this.text = text;
    this.render();
  }

  /** Rendered with the next frame, however many pieces come until then. @param {string} text */
  append(text) {
    this.text += text;
    this.frame ||= requestAnimationFrame(() => this.render());
  }

  render() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const found = parseWithSource(this.text);
    let same = 0;
    while (same < found.length && same < this.sources.length && found[same].source === this.sources[same]) {
      same++;
    }
    while (this.element.childNodes.length > same) this.element.lastChild?.remove();
    for (const { block } of found.slice(same)) this.element.append(blockElement(block));
    this.sources = found.map(({ source }) => source);
  }
}

/** @param {import("./markdown.js").Block} block @returns {Node} */
function blockElement(block) {
  switch (block.t) {
    case "p":
      return h("p", {}, ...inline(block.in));
    case "h":
      // The page's own headings are above those of an answer.
      return h(`h${Math.min(6, block.level + 2)}`, {}, ...inline(block.in));
    case "pre":
      return codeBlock(block.text, block.lang);
    case "hr":
      return h("hr");
    case "quote":
      return h("blockquote", {}, ...block.blocks.map(blockElement));
    case "list":
      return listElement(block);
    case "table":
      return tableElement(block);
  }
}

/** @param {Extract<import("./markdown.js").Block, { t: "list" }>} list */
function listElement({ ordered, start, items }) {
  const children = items.map(({ task, blocks }) => {
    const [first, ...rest] = blocks;
    const head = first?.t === "p" ? inline(first.in) : first ? [blockElement(first)] : [];
    const box = task === null ? [] : [h("input", { type: "checkbox", disabled: true, checked: task }), " "];
    return h("li", { class: task === null ? null : "task" }, ...box, ...head, ...rest.map(blockElement));
  });
  return ordered ? h("ol", { start }, ...children) : h("ul", {}, ...children);
}

/** @param {Extract<import("./markdown.js").Block, { t: "table" }>} table */
function tableElement({ align, head, rows }) {
  const row = (/** @type {string} */ tag, /** @type {import("./markdown.js").Inline[][]} */ cells) =>
    h("tr", {}, ...cells.map((cell, i) => h(tag, { class: `to-${align[i]}` }, ...inline(cell))));
  return h(
    "div",
    { class: "table-scroll", tabIndex: 0, role: "region", "aria-label": "Table" },
    h("table", {}, h("thead", {}, row("th", head)), h("tbody", {}, ...rows.map((cells) => row("td", cells)))),
  );
}

/** @param {string} text @param {string} lang */
function codeBlock(text, lang) {
  const isDiff = lang === "diff" || lang === "patch";
  return h(
    "figure",
    { class: "code" },
    h("figcaption", {}, h("span", {}, lang || "text"), copyButton(() => text)),
    isDiff ? diffElement(text) : h("pre", { tabIndex: 0 }, h("code", {}, text)),
  );
}

/** A unified diff with its lines coloured. @param {string} text */
export function diffElement(text) {
  const lines = text.replace(/\n$/, "").split("\n").map((line) =>
    h("span", { class: `line ${diffKind(line)}` }, line === "" ? " " : line)
  );
  return h("pre", { class: "diff", tabIndex: 0 }, ...lines);
}

/** @param {string} line */
export function diffKind(line) {
  if (/^(---|\+\+\+|diff |index )/.test(line)) return "file";
  if (line.startsWith("@@")) return "hunk";
  return line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : "same";
}

/** @param {import("./markdown.js").Inline[]} nodes @returns {(Node | string)[]} */
function inline(nodes) {
  return nodes.map((node) => {
    switch (node.t) {
      case "text":
        return node.text;
      case "br":
        return h("br");
      case "code":
        return h("code", {}, node.text);
      case "link":
        return h("a", { href: node.href, target: "_blank", rel: "noopener noreferrer" }, ...inline(node.in));
      default:
        return h(node.t, {}, ...inline(node.in));
    }
  });
}
