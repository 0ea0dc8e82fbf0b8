/**
 * A web page as text for a model: headings, lists, links, tables and code in Markdown, without scripts, navigation
 * and forms; the main part alone when the page names one. One pass over the tokens of htmlparser2, in time and space
 * proportional to the page, whatever the page is. Loaded at the first page.
 */
import { delay } from "@/lib/abort.ts";
import { Parser } from "htmlparser2";

export interface PageText {
  /** Empty when the page has none. */
  readonly title: string;
  readonly text: string;
}

/** Deeper nesting is no document; what came before is kept. */
const MAX_DEPTH = 2_000;
/** Characters that are parsed before others have their turn. */
const PIECE = 65_536;
/** A main part shorter than this is a label, not the article. */
const MIN_MAIN = 200;

const SKIPPED = new Set(
  "title script style noscript template svg math head iframe object canvas nav footer aside form button select dialog"
    .split(" "),
);
const BLOCKS = new Set(
  "address article blockquote body dd details div dl dt figcaption figure header hr main ol p section summary table tbody tfoot thead ul"
    .split(" "),
);
const HEADINGS = /^h([1-6])$/;

interface Frame {
  readonly name: string;
  readonly hidden: boolean;
}

/**
 * `base` makes relative links whole. Lets others work between pieces of the page; rejects with `AbortError` only.
 */
export async function pageText(html: string, base: string, signal: AbortSignal): Promise<PageText> {
  const writer = new PageWriter(base);
  const parser = new Parser({
    onopentag: (name, attributes) => {
      writer.open(name, attributes);
      if (writer.depth > MAX_DEPTH) parser.pause();
    },
    ontext: (text) => writer.text(text),
    onclosetag: (name) => writer.close(name),
  }, { decodeEntities: true, lowerCaseTags: true, lowerCaseAttributeNames: true });
  for (let at = 0; at < html.length && writer.depth <= MAX_DEPTH; at += PIECE) {
    if (at > 0) await delay(0, { signal });
    parser.write(html.slice(at, at + PIECE));
  }
  if (writer.depth <= MAX_DEPTH) parser.end();
  return writer.result();
}

class PageWriter {
  readonly #base: string;
  #out: string[] = [];
  #title = "";
  #inTitle = false;
  #hidden = 0;
  #pre = 0;
  #lists: { ordered: boolean; count: number }[] = [];
  #links: { href: string | null; at: number }[] = [];
  #frames: Frame[] = [];
  #main: { from: number; to: number }[] = [];
  #mainDepth = 0;

  constructor(base: string) {
    this.#base = base;
  }

  get depth(): number {
    return this.#frames.length;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    const hidden = SKIPPED.has(name) || isHidden(attributes);
    this.#frames.push({ name, hidden });
    if (name === "title" && this.#title === "") this.#inTitle = !this.#frames.some((f) => f.name === "svg");
    if (hidden) this.#hidden++;
    if (this.#hidden > 0) return;
    if (name === "main" || name === "article") this.#enterMain();
    const heading = HEADINGS.exec(name);
    if (heading) this.#break(2, `${"#".repeat(Number(heading[1]))} `);
    else if (name === "br") this.#put("\n");
    else if (name === "hr") this.#break(2, "---\n\n");
    else if (name === "pre") this.#openPre();
    else if (name === "ul" || name === "ol") this.#openList(name === "ol");
    else if (name === "li") this.#openItem();
    else if (name === "tr") this.#break(1);
    else if (name === "td" || name === "th") this.#openCell();
    else if (name === "a") this.#links.push({ href: this.#hrefOf(attributes), at: this.#out.length });
    else if (name === "code" && this.#pre === 0) this.#put("`");
    else if (BLOCKS.has(name)) this.#break(2);
  }

  text(text: string): void {
    if (this.#inTitle) this.#title += text;
    if (this.#hidden > 0) return;
    if (this.#pre > 0) return this.#put(text);
    const line = text.replace(/[\s\u00a0]+/g, " ");
    this.#put(this.#endsWithSpace() ? line.replace(/^ /, "") : line);
  }

  close(name: string): void {
    const frame = this.#frames.pop();
    if (name === "title") this.#inTitle = false;
    const wasHidden = this.#hidden > 0;
    if (frame?.hidden) this.#hidden--;
    if (wasHidden) return;
    if (HEADINGS.test(name) || BLOCKS.has(name)) this.#break(2);
    if (name === "pre" && this.#pre > 0) this.#closePre();
    if (name === "ul" || name === "ol") this.#lists.pop();
    if (name === "a") this.#closeLink();
    if (name === "code" && this.#pre === 0) this.#put("`");
    if ((name === "main" || name === "article") && --this.#mainDepth === 0) {
      this.#main.at(-1)!.to = this.#out.length;
    }
  }

  result(): PageText {
    const title = this.#title.replace(/\s+/g, " ").trim();
    const main = this.#main.map(({ from, to }) => tidy(this.#out.slice(from, to).join(""))).join("\n\n");
    return { title, text: main.length >= MIN_MAIN ? main : tidy(this.#out.join("")) };
  }

  #put(text: string): void {
    if (text !== "") this.#out.push(text);
  }

  #endsWithSpace(): boolean {
    const last = this.#out.at(-1);
    return last === undefined || /\s$/.test(last.slice(-1));
  }

  /** At least `lines` line ends before what comes. */
  #break(lines: 1 | 2, lead = ""): void {
    const last = this.#out.at(-1) ?? "\n\n";
    const there = last.endsWith("\n\n") ? 2 : last.endsWith("\n") ? 1 : 0;
    this.#put("\n".repeat(Math.max(0, lines - there)));
    this.#put(lead);
  }

  #enterMain(): void {
    if (this.#mainDepth++ === 0) this.#main.push({ from: this.#out.length, to: Infinity });
  }

  #openPre(): void {
    this.#break(2);
    if (this.#pre++ === 0) this.#put("```\n");
  }

  #closePre(): void {
    if (--this.#pre > 0) return;
    this.#put(this.#out.at(-1)?.endsWith("\n") ? "```" : "\n```");
    this.#break(2);
  }

  #openList(ordered: boolean): void {
    this.#break(this.#lists.length === 0 ? 2 : 1);
    this.#lists.push({ ordered, count: 0 });
  }

  #openItem(): void {
    const list = this.#lists.at(-1);
    const indent = "  ".repeat(Math.min(20, Math.max(0, this.#lists.length - 1)));
    this.#break(1, `${indent}${list?.ordered ? `${++list.count}.` : "-"} `);
  }

  #openCell(): void {
    const last = this.#out.at(-1);
    if (last !== undefined && !last.endsWith("\n")) this.#put(" | ");
  }

  #hrefOf(attributes: Readonly<Record<string, string>>): string | null {
    const href = attributes["href"]?.trim() ?? "";
    const url = href === "" || href.startsWith("#") ? null : URL.parse(href, this.#base);
    if (url === null) return null;
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  }

  /** A link with words becomes `[words](address)`; one without is nothing. */
  #closeLink(): void {
    const link = this.#links.pop();
    if (!link?.href || this.#pre > 0) return;
    const words = this.#out.slice(link.at).join("");
    if (!/\S/.test(words) || words.includes("\n")) return;
    this.#out.length = link.at;
    this.#out.push(`${/^\s/.test(words) ? " " : ""}[${words.trim()}](${link.href})`);
  }
}

function isHidden(attributes: Readonly<Record<string, string>>): boolean {
  return attributes["hidden"] !== undefined || attributes["aria-hidden"] === "true" ||
    /display\s*:\s*none|visibility\s*:\s*hidden/i.test(attributes["style"] ?? "");
}

/** Without trailing spaces and with single blank lines, which blocks within blocks leave in numbers. */
function tidy(text: string): string {
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    const end = line.trimEnd();
    if (end !== "" || lines.at(-1) !== "") lines.push(end);
  }
  return lines.join("\n").trim();
}
