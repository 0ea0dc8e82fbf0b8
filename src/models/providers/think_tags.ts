/**
 * Takes thinking out of visible text while it streams (core.md A.12). Any split of the text gives the same result.
 *
 *   text ── tag at the start of a line ──► thought, shown at once, to its closing tag or the end
 *        ── tag inside a line ──────────► held back: thought when it is closed, else the text it was
 *        ── tool-call markup at the start of a line ──► dropped when it is closed, else the text it was
 *        ── stray closing tag ──► dropped
 */

const THINK = ["think", "thinking", "reasoning", "thought", "reasoning_scratchpad"];
const MARKUP = ["tool_call", "tool_calls", "tool_result", "function_call", "function_calls"];
/** Every text that may open or close something, to know whether a cut-off end could still become one. */
const OPENERS = [...THINK, ...MARKUP].flatMap((name) => [`<${name}`, `</${name}`]).concat(
  "<function ",
  "</function",
);
const TAG = new RegExp(`^<(/?)(${[...THINK, ...MARKUP].join("|")})\\s*>`, "i");
const FUNCTION = /^<(\/?)(function)(?:\s+name\s*=[^<>]{0,200})?\s*>/i;
/** A held-back end is never longer than this. */
const MAX_TAG = 240;

export interface Separated {
  text: string;
  reasoning: string;
}

interface Block {
  /** Lower-case tag name. */
  readonly name: string;
  readonly kind: "thought" | "held" | "markup";
  /** What has been read since the tag, the tag included; used when the block turns out to be plain text. */
  raw: string;
}

export class ThinkSplitter {
  #pending = "";
  #block: Block | null = null;
  #lineIsBlank = true;
  #lastChar = "";
  #hasText = false;
  /** White space the answer began with; dropped when a thought follows or came before. */
  #lead = "";
  #afterThought = false;

  push(delta: string): Separated {
    const out = { text: "", reasoning: "" };
    if (this.#block === null && this.#pending === "" && !delta.includes("<")) {
      this.#emit(delta, out);
      return out;
    }
    this.#run(this.#pending + delta, out);
    return out;
  }

  /** The rest: a thought that was never closed stays one, everything else is text. */
  end(): Separated {
    const out = { text: "", reasoning: "" };
    const block = this.#block;
    const rest = this.#pending;
    this.#pending = "";
    this.#block = null;
    if (block?.kind === "thought") out.reasoning += rest;
    else this.#emit((block?.raw ?? "") + rest, out);
    return out;
  }

  #run(input: string, out: Separated): void {
    let at = 0;
    this.#pending = "";
    while (at < input.length) {
      const open = input.indexOf("<", at);
      if (open === -1) return this.#take(input.slice(at), out);
      if (open > at) this.#take(input.slice(at, open), out);
      const rest = input.slice(open, open + MAX_TAG);
      const tag = TAG.exec(rest) ?? FUNCTION.exec(rest);
      if (tag) {
        this.#tag(tag[0], tag[2]!.toLowerCase(), tag[1] === "/", out);
        at = open + tag[0].length;
      } else if (couldBecomeTag(rest)) {
        this.#pending = input.slice(open);
        return;
      } else {
        this.#take("<", out);
        at = open + 1;
      }
    }
  }

  #tag(whole: string, name: string, closes: boolean, out: Separated): void {
    const block = this.#block;
    if (block) {
      if (!closes || block.name !== name) return this.#take(whole, out);
      if (block.kind === "held") out.reasoning += block.raw.slice(block.raw.indexOf(">") + 1);
      this.#block = null;
      this.#afterThought = true;
      return;
    }
    if (this.#lastChar === "`") return this.#take(whole, out);
    const isThought = THINK.includes(name);
    if (closes) {
      // Markup is only taken away at the start of a line; elsewhere it is somebody's text.
      if (!isThought && !this.#lineIsBlank) this.#take(whole, out);
      return;
    }
    if (isThought) this.#block = { name, kind: this.#lineIsBlank ? "thought" : "held", raw: whole };
    else if (this.#lineIsBlank) this.#block = { name, kind: "markup", raw: whole };
    else this.#take(whole, out);
  }

  #take(text: string, out: Separated): void {
    const block = this.#block;
    if (!block) this.#emit(text, out);
    else if (block.kind === "thought") out.reasoning += text;
    else block.raw += text;
  }

  #emit(text: string, out: Separated): void {
    let shown = text;
    if (!this.#hasText) {
      shown = this.#lead + text;
      if (this.#afterThought) shown = shown.trimStart();
      this.#hasText = shown.trim() !== "";
      this.#lead = this.#hasText ? "" : shown;
      if (!this.#hasText) return;
    }
    if (shown === "") return;
    const line = shown.lastIndexOf("\n");
    const isBlank = shown.slice(line + 1).trim() === "";
    this.#lineIsBlank = line === -1 ? this.#lineIsBlank && isBlank : isBlank;
    this.#lastChar = shown.at(-1)!;
    out.text += shown;
  }
}

function couldBecomeTag(rest: string): boolean {
  if (rest.length >= MAX_TAG || rest.includes(">") || rest.indexOf("<", 1) !== -1) return false;
  const lower = rest.toLowerCase();
  return OPENERS.some((tag) =>
    tag.startsWith(lower) || (lower.startsWith(tag) && /^[\s"'=\w.-]*$/.test(lower.slice(tag.length)) &&
      (tag.startsWith("<function") || lower.slice(tag.length).trim() === ""))
  );
}

/** Thinking and text of a whole answer. */
export function separateThoughts(text: string): Separated {
  const splitter = new ThinkSplitter();
  const first = splitter.push(text);
  const last = splitter.end();
  return { text: first.text + last.text, reasoning: first.reasoning + last.reasoning };
}
