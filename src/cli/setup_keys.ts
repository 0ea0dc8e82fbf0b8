/** The questions of `hermes setup` by arrow keys. The prompt library is loaded with the first question. */
import process from "node:process";
import { Writable } from "node:stream";
import type { Asker, Choice } from "./setup_asker.ts";
import type { Terminal } from "./terminal.ts";

/** Rows of a list that are seen at once; longer ones scroll. */
const ROWS = 12;

// deno-lint-ignore no-control-regex -- the sequences that colour text
const COLOURS = /\x1b\[[0-9;]*m/g;

/** The library writes where we write: `process.stdout` is not the terminal here. It colours whatever is wished. */
function screenOf(terminal: Terminal): Writable {
  const decoder = new TextDecoder();
  const isPlain = !terminal.paint.enabled;
  const screen = new Writable({
    decodeStrings: false,
    write: (chunk: string | Uint8Array, _encoding, done) => {
      const text = typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
      terminal.write(isPlain ? text.replace(COLOURS, "") : text);
      done();
    },
  });
  Object.defineProperty(screen, "columns", { get: () => terminal.columns });
  return Object.assign(screen, { isTTY: true, rows: 24 });
}

/** Must be on a terminal whose cursor can be moved. */
export async function openKeyAsker(terminal: Terminal): Promise<Asker> {
  const prompts = await import("@clack/prompts");
  const streams = { input: process.stdin, output: screenOf(terminal) };
  const left = (answer: unknown): answer is symbol => prompts.isCancel(answer);
  /** Ctrl-D and the end of the input leave, too; the library would wait for ever. */
  async function ask<T>(put: (common: typeof streams & { signal: AbortSignal }) => Promise<T>): Promise<T> {
    const leave = new AbortController();
    const onKey = (_text: unknown, key?: { ctrl?: boolean; name?: string }) => {
      if (key?.ctrl && key.name === "d") leave.abort();
    };
    const onEnd = () => leave.abort();
    process.stdin.on("keypress", onKey);
    process.stdin.once("end", onEnd);
    try {
      return await put({ ...streams, signal: leave.signal });
    } finally {
      process.stdin.off("keypress", onKey);
      process.stdin.off("end", onEnd);
    }
  }
  return {
    async choose(message: string, choices: readonly Choice[]) {
      const options = choices.map(({ label, hint }, value) => ({ value, label, ...(hint ? { hint } : {}) }));
      const answer = await ask((common) => prompts.select({ message, options, maxItems: ROWS, ...common }));
      return left(answer) ? null : answer;
    },
    async text(message, example) {
      const placeholder = example === undefined ? {} : { placeholder: `for example ${example}` };
      const answer = await ask((common) => prompts.text({ message, ...placeholder, ...common }));
      return left(answer) ? null : (answer ?? "").trim();
    },
    async secret(message) {
      const answer = await ask((common) => prompts.password({ message, mask: "", ...common }));
      return left(answer) ? null : (answer ?? "").trim();
    },
    async confirm(message) {
      const answer = await ask((common) => prompts.confirm({ message, initialValue: false, ...common }));
      return answer === true;
    },
    close: () => {
      process.stdin.pause();
    },
  };
}
