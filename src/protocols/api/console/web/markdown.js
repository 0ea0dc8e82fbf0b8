/**
 * Markdown as the agent writes it, read into a tree of plain objects: no HTML is passed through, and a link goes to
 * http, https or mailto or is plain text. Pure; `markdown_view.js` makes elements of it. Not a full CommonMark:
 * headings, paragraphs, fences, nested lists, tasks, quotes, tables, rules; code, strong, emphasis, strike, links.
 */

/**
 * @typedef {{ t: "text", text: string } | { t: "code", text: string } | { t: "br" }
 *   | { t: "strong" | "em" | "del", in: Inline[] } | { t: "link", href: string, in: Inline[] }} Inline
 * @typedef {{ t: "p", in: Inline[] } | { t: "h", level: number, in: Inline[] }
 *   | { t: "pre", lang: string, text: string } | { t: "hr" } | { t: "quote", blocks: Block[] }
 *   | { t: "list", ordered: boolean, start: number, items: { task: boolean | null, blocks: Block[] }[] }
 *   | { t: "table", align: string[], head: Inline[][], rows: Inline[][][] }} Block
 */

const MAX_DEPTH = 8;
/** Longer runs of inline text are shown as they are. */
const MAX_INLINE = 20_000;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(?:\s+(.*)|\s*)$/;
const QUOTE = /^ {0,3}>\s?/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** The blocks with the lines each was made of, so that a growing text needs only its end rendered again. @param {string} text */
export function parseWithSource(text) {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  /** @type {{ block: Block, source: string }[]} */
  const found = [];
  readBlocks(lines, 0, (block, from, to) => found.push({ block, source: lines.slice(from, to).join("\n") }));
  return found;
}

/** @param {string} text @returns {Block[]} */
export function parseMarkdown(text) {
  return parseWithSource(text).map(({ block }) => block);
}

/** @param {string[]} lines @param {number} depth @returns {Block[]} */
function blocksOf(lines, depth) {
  if (depth > MAX_DEPTH) return [{ t: "p", in: [{ t: "text", text: lines.join("\n") }] }];
  /** @type {Block[]} */
  const blocks = [];
  readBlocks(lines, depth, (block) => blocks.push(block));
  return blocks;
}

/**
 * @param {string[]} lines @param {number} depth
 * @param {(block: Block, from: number, to: number) => void} emit
 */
function readBlocks(lines, depth, emit) {
  for (let at = 0; at < lines.length;) {
    if (isBlank(lines[at])) {
      at++;
      continue;
    }
    const [block, next] = readFence(lines, at) ?? readLine(lines, at) ?? readQuote(lines, at, depth) ??
      readList(lines, at, depth) ?? readTable(lines, at) ?? readParagraph(lines, at);
    emit(block, at, next);
    at = next;
  }
}

/** @typedef {[Block, number]} Read */

/** @param {string[]} lines @param {number} at @returns {Read | null} */
function readFence(lines, at) {
  const open = FENCE.exec(lines[at]);
  if (!open) return null;
  const mark = open[1];
  const isClose = (/** @type {string} */ line) => {
    const text = line.trim();
    return text.length >= mark.length && text === mark[0].repeat(text.length);
  };
  let end = at + 1;
  while (end < lines.length && !isClose(lines[end])) end++;
  return [{ t: "pre", lang: open[2], text: lines.slice(at + 1, end).join("\n") }, end + 1];
}

/** @param {string[]} lines @param {number} at @returns {Read | null} */
function readLine(lines, at) {
  const heading = HEADING.exec(lines[at]);
  if (heading) return [{ t: "h", level: heading[1].length, in: parseInline(heading[2]) }, at + 1];
  return RULE.test(lines[at]) ? [{ t: "hr" }, at + 1] : null;
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {Read | null} */
function readQuote(lines, at, depth) {
  if (!QUOTE.test(lines[at])) return null;
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end])) end++;
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ""));
  return [{ t: "quote", blocks: blocksOf(inner, depth + 1) }, end];
}

/** @param {string[]} lines @param {number} at @param {number} depth @returns {Read | null} */
function readList(lines, at, depth) {
  const first = ITEM.exec(lines[at]);
  if (!first) return null;
  const ordered = /\d/.test(first[2]);
  const indent = first[1].length;
  const items = [];
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || item[1].length > indent + 1 || item[1].length < indent || /\d/.test(item[2]) !== ordered) {
      break;
    }
    if (RULE.test(lines[next])) break;
    const end = endOfItem(lines, next, indent);
    items.push(readItem(item, lines.slice(next + 1, end), depth));
    next = end;
  }
  return [{ t: "list", ordered, start: ordered ? parseInt(first[2], 10) : 1, items }, next];
}

/** Deeper lines belong to the item, blank ones when a deeper or equal item follows. @param {string[]} lines @param {number} at @param {number} indent */
function endOfItem(lines, at, indent) {
  let end = at + 1;
  for (; end < lines.length; end++) {
    if (isBlank(lines[end])) {
      const after = lines.slice(end + 1).find((line) => !isBlank(line));
      if (after === undefined || (indentOf(after) <= indent && !ITEM.test(after))) break;
      continue;
    }
    if (indentOf(lines[end]) > indent) continue;
    if (ITEM.test(lines[end]) || isBlank(lines[end - 1]) || startsBlock(lines[end])) break;
  }
  return end;
}

/** @param {RegExpExecArray} item @param {string[]} rest @param {number} depth */
function readItem(item, rest, depth) {
  const task = /^\[([ xX])\]\s+/.exec(item[3] ?? "");
  const head = (item[3] ?? "").slice(task?.[0].length ?? 0);
  const inner = rest.filter((line) => !isBlank(line)).map(indentOf);
  const cut = Math.min(
    ...inner.filter((width) => width > item[1].length),
    item[1].length + item[2].length + 1,
  );
  const dedented = rest.map((line) => line.slice(Math.min(indentOf(line), cut)));
  return { task: task ? task[1] !== " " : null, blocks: blocksOf([head, ...dedented], depth + 1) };
}

/** @param {string[]} lines @param {number} at @returns {Read | null} */
function readTable(lines, at) {
  const line = lines[at + 1];
  if (!lines[at].includes("|") || line === undefined || !TABLE_LINE.test(line)) return null;
  const head = cellsOf(lines[at]);
  const rule = cellsOf(line);
  if (rule.length !== head.length) return null;
  const align = rule.map((cell) => cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : "left");
  let end = at + 2;
  while (end < lines.length && !isBlank(lines[end]) && lines[end].includes("|")) end++;
  const rows = lines.slice(at + 2, end).map((row) => {
    const cells = cellsOf(row);
    return head.map((_, i) => parseInline(cells[i] ?? ""));
  });
  return [{ t: "table", align, head: head.map((cell) => parseInline(cell)), rows }, end];
}

/** @param {string} line */
function cellsOf(line) {
  const inner = line.trim().replace(/^\|/, "").replace(/(^|[^\\])\|$/, "$1");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** @param {string[]} lines @param {number} at @returns {Read} */
function readParagraph(lines, at) {
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && !startsBlock(lines[end])) end++;
  return [{ t: "p", in: parseInline(lines.slice(at, end).map((line) => line.trimStart()).join("\n")) }, end];
}

/** What ends a paragraph. @param {string} line */
function startsBlock(line) {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) ||
    /^\s{0,3}([-*+]|1[.)])\s+\S/.test(line);
}

/** @param {string} line */
function isBlank(line) {
  return line.trim() === "";
}

/** @param {string} line */
function indentOf(line) {
  return line.length - line.trimStart().length;
}

// ── Inside a line ───────────────────────────────────────────────────────────────────────────────────────────

/** @param {string} text @param {number} [depth] @returns {Inline[]} */
export function parseInline(text, depth = 0) {
  if (depth > MAX_DEPTH || text.length > MAX_INLINE) return [{ t: "text", text }];
  /** @type {Inline[]} */
  const nodes = [];
  let plain = "";
  const flush = () => {
    if (plain !== "") nodes.push({ t: "text", text: plain });
    plain = "";
  };
  for (let at = 0; at < text.length;) {
    const read = readMark(text, at, depth);
    if (read) {
      flush();
      nodes.push(read[0]);
      at = read[1];
      continue;
    }
    if (text[at] === "\\" && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "")) at++;
    plain += text[at++];
  }
  flush();
  return nodes;
}

/** @param {string} text @param {number} at @param {number} depth @returns {[Inline, number] | null} */
function readMark(text, at, depth) {
  switch (text[at]) {
    case "`":
      return readCode(text, at);
    case "*":
    case "_":
    case "~":
      return readEmphasis(text, at, depth);
    case "[":
      return readLink(text, at, depth);
    case "!":
      return text[at + 1] === "[" ? readLink(text, at + 1, depth) : null;
    case "<":
      return readAutolink(text, at);
    case "h":
      return readBareLink(text, at);
    case "\n":
      return [{ t: "br" }, at + 1];
    default:
      return null;
  }
}

/** @param {string} text @param {number} at @returns {[Inline, number] | null} */
function readCode(text, at) {
  let size = 1;
  while (text[at + size] === "`") size++;
  const mark = "`".repeat(size);
  for (let end = text.indexOf(mark, at + size); end !== -1; end = text.indexOf(mark, end + 1)) {
    if (text[end + size] === "`" || text[end - 1] === "`") continue;
    const inner = text.slice(at + size, end).replaceAll("\n", " ");
    const padded = inner.length > 2 && inner.startsWith(" ") && inner.endsWith(" ");
    return [{ t: "code", text: padded ? inner.slice(1, -1) : inner }, end + size];
  }
  return [{ t: "text", text: mark }, at + size];
}

/** @param {string} text @param {number} at @param {number} depth @returns {[Inline, number] | null} */
function readEmphasis(text, at, depth) {
  const char = text[at];
  const size = text[at + 1] === char ? 2 : 1;
  if (char === "~" && size === 1) return null;
  if (char === "_" && /\w/.test(text[at - 1] ?? "")) return null;
  if (/\s/.test(text[at + size] ?? " ")) return null;
  const end = closeOf(text, at + size, char.repeat(size));
  if (end === -1) return null;
  const inner = parseInline(text.slice(at + size, end), depth + 1);
  return [{ t: char === "~" ? "del" : size === 2 ? "strong" : "em", in: inner }, end + size];
}

/** @param {string} text @param {number} from @param {string} mark */
function closeOf(text, from, mark) {
  for (let end = text.indexOf(mark, from + 1); end !== -1; end = text.indexOf(mark, end + 1)) {
    if (/\s/.test(text[end - 1])) continue;
    if (mark[0] === "_" && /\w/.test(text[end + mark.length] ?? "")) continue;
    // Of three marks the last two close, the first one belongs inside.
    if (mark.length === 2 && text[end + 2] === mark[0]) return end + 1;
    // A single mark is not one half of a double one.
    if (mark.length === 1 && (text[end + 1] === mark || text[end - 1] === mark)) {
      if (text[end + 1] === mark) end++;
      continue;
    }
    return end;
  }
  return -1;
}

/** @param {string} text @param {number} at @param {number} depth @returns {[Inline, number] | null} */
function readLink(text, at, depth) {
  const close = text.indexOf("](", at);
  if (close === -1 || close - at > 1000) return null;
  const label = text.slice(at + 1, close);
  if (label.includes("\n\n")) return null;
  const match = /^\(\s*<?((?:[^\s()<>]|\([^\s()<>]*\))*)>?(?:\s+"[^"\n]*")?\s*\)/.exec(
    text.slice(close + 1, close + 3000),
  );
  if (!match) return null;
  const next = close + 1 + match[0].length;
  const inner = parseInline(label === "" ? match[1] : label, depth + 1);
  const href = safeHref(match[1]);
  return href === null
    ? [{ t: "text", text: text.slice(at, next) }, next]
    : [{ t: "link", href, in: inner }, next];
}

/** @param {string} text @param {number} at @returns {[Inline, number] | null} */
function readAutolink(text, at) {
  const match = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/.exec(text.slice(at, at + 2010));
  const href = match && safeHref(match[1]);
  return match && href
    ? [{ t: "link", href, in: [{ t: "text", text: match[1] }] }, at + match[0].length]
    : null;
}

/** @param {string} text @param {number} at @returns {[Inline, number] | null} */
function readBareLink(text, at) {
  if (/\w/.test(text[at - 1] ?? "")) return null;
  const match = /^https?:\/\/[^\s<>"'`*]{1,2000}/.exec(text.slice(at, at + 2010));
  const written = match?.[0].replace(/[.,;:!?)\]]+$/, "");
  const href = written && safeHref(written);
  return written && href
    ? [{ t: "link", href, in: [{ t: "text", text: written }] }, at + written.length]
    : null;
}

/** @param {string} text */
function safeHref(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
