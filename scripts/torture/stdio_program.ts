/**
 * One run of a stdio server as an attacker sees it: raw bytes in, lines out, each line checked to be a JSON-RPC frame
 * and nothing else. Answers are counted by id, so that none is missing and none comes twice.
 */
import { patient } from "../../tests/support/patience.ts";
import { eventually, type Rig, startProgram } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

const encoder = new TextEncoder();

/** Waits for `work`, but not longer. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, patient(ms));
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

export class StdioProgram {
  readonly child: Deno.ChildProcess;
  readonly frames: Json[] = [];
  stderr = "";
  ended = false;
  /** Called with every frame as it comes. */
  onFrame: (frame: Json) => void = () => {};
  readonly #answers = new Map<string, Json[]>();
  readonly #inputs = new Map<string, string>();
  readonly #expected = new Set<string>();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<unknown>;
  readonly #judge: Judge;
  readonly #knowsDamage: boolean;
  #lastWrite: Promise<unknown> = Promise.resolve();
  #rest = "";

  /** `knowsDamage`: words about a damaged database on stderr are no finding. */
  constructor(
    args: readonly string[] | Deno.ChildProcess,
    rig: Rig,
    judge: Judge,
    { knowsDamage = false }: { readonly knowsDamage?: boolean } = {},
  ) {
    this.#judge = judge;
    this.#knowsDamage = knowsDamage;
    this.child = args instanceof Deno.ChildProcess ? args : startProgram(args, { rig });
    this.#writer = this.child.stdin.getWriter();
    this.#reading = Promise.all([this.#readOut(), this.#readErr()]);
    void this.child.status.then(() => this.ended = true);
  }

  /** Runs another command in place of the program, which it ends up in. */
  static of(command: string, args: readonly string[], rig: Rig, judge: Judge): StdioProgram {
    const child = new Deno.Command(command, {
      args: [...args],
      cwd: rig.workspace,
      clearEnv: true,
      env: rig.env,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    return new StdioProgram(child, rig, judge, { knowsDamage: true });
  }

  async #readOut(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    try {
      for await (const chunk of this.child.stdout) {
        const lines = (this.#rest + decoder.decode(chunk, { stream: true })).split("\n");
        this.#rest = lines.pop()!;
        for (const line of lines) this.#take(line);
      }
    } catch (error) {
      this.#judge.report(`stdout is not UTF-8: ${error}`);
    }
  }

  async #readErr(): Promise<void> {
    for await (const text of this.child.stderr.pipeThrough(new TextDecoderStream())) this.stderr += text;
  }

  #take(line: string): void {
    let frame: Json;
    try {
      frame = JSON.parse(line);
    } catch {
      return this.#judge.report(`not a frame on stdout: ${line.slice(0, 300)}`);
    }
    if (frame?.jsonrpc !== "2.0") this.#judge.report(`not JSON-RPC on stdout: ${line.slice(0, 300)}`);
    this.frames.push(frame);
    if (typeof frame.method !== "string") this.#takeAnswer(frame, line);
    this.onFrame(frame);
  }

  #takeAnswer(frame: Json, line: string): void {
    const key = JSON.stringify(frame.id);
    const input = this.#inputs.get(key);
    this.#answers.set(key, [...this.#answers.get(key) ?? [], frame]);
    if (frame.error) {
      this.#judge.text("an error answer", JSON.stringify(frame.error), input);
      // A turn that failed is told as this code too; the end of a turn is judged by those who asked for it.
      const isTurn = String(frame.error.message).startsWith("The turn failed: ");
      if (frame.error.code === -32603 && !isTurn && !this.#knowsDamage) {
        this.#judge.report(`internal error: ${line.slice(0, 400)}`, input);
      }
    } else if (line.length < 200_000) {
      this.#judge.text("an answer", line.replaceAll(/\.tsx?:\d+/g, ""), input);
    }
  }

  /** Writes bytes; false when the program does not take them any more. */
  write(bytes: Uint8Array | string): Promise<boolean> {
    return this.writePieces([typeof bytes === "string" ? encoder.encode(bytes) : bytes]);
  }

  /** Writes the pieces one by one; nothing else that is written comes between them. */
  writePieces(pieces: Iterable<Uint8Array>): Promise<boolean> {
    const written = this.#lastWrite.then(async () => {
      try {
        for (const piece of pieces) await this.#writer.write(piece);
        return true;
      } catch {
        return false;
      }
    });
    this.#lastWrite = written;
    return written;
  }

  /** Notes that the id has been asked for; `input` is told when the answer is wrong. */
  expect(id: unknown, input: string): void {
    this.note(id, input);
    this.#expected.add(JSON.stringify(id));
  }

  /** Keeps what was sent under this id, whether it gets an answer or not. */
  note(id: unknown, input: string): void {
    this.#inputs.set(JSON.stringify(id), input);
  }

  answersTo(id: unknown): readonly Json[] {
    return this.#answers.get(JSON.stringify(id)) ?? [];
  }

  /** The first answer, or `null` when none comes in time. */
  async answer(id: unknown, timeoutMs = 15_000): Promise<Json | null> {
    return await eventually(() => this.answersTo(id)[0] ?? (this.ended ? null : undefined), timeoutMs)
      .catch(() => null);
  }

  async ask(id: string, method: string, params: unknown, timeoutMs?: number): Promise<Json | null> {
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    this.expect(id, line);
    await this.write(`${line}\n`);
    return await this.answer(id, timeoutMs);
  }

  /** Lets go of all frames and answers so far, so that a long run does not pile them up. */
  forget(): void {
    this.frames.length = 0;
    this.#answers.clear();
    this.#inputs.clear();
    this.#expected.clear();
  }

  /** Ids that were asked for and got no answer, or more than one. */
  judgeAnswers(): void {
    for (const key of this.#expected) {
      const count = this.#answers.get(key)?.length ?? 0;
      if (count !== 1) this.#judge.report(`${count} answers to ${key}`, this.#inputs.get(key));
    }
  }

  /** Ends the input; the program has to end by itself, with code 0. */
  async end(timeoutMs = 10_000): Promise<void> {
    await within(this.#lastWrite, timeoutMs);
    await this.#writer.close().catch(() => {/* it has ended already */});
    const isKilled = await this.#wait(timeoutMs);
    if (isKilled) {
      this.#judge.report(`did not end within ${patient(timeoutMs)} ms after the end of its input`);
    }
    const { code, signal } = await this.child.status;
    if (!isKilled && code !== 0) {
      this.#judge.report(`ended with ${signal ?? code}: ${this.stderr.slice(-800)}`);
    }
    this.#judgeErrors();
    if (this.#rest !== "" && !isKilled) {
      this.#judge.report(`stdout ends inside a frame: ${this.#rest.slice(0, 300)}`);
    }
  }

  async kill(): Promise<void> {
    try {
      this.child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await this.child.status;
    await this.#writer.close().catch(() => {/* it is gone */});
    await this.#reading;
    this.#judgeErrors();
  }

  #judgeErrors(): void {
    const known = this.#knowsDamage ? /SQLITE_\w+|constraint failed/g : /(?!)/g;
    this.#judge.text("stderr", this.stderr.replaceAll(known, ""));
  }

  async #wait(timeoutMs: number): Promise<boolean> {
    let isKilled = false;
    const timer = setTimeout(() => {
      isKilled = true;
      this.child.kill("SIGKILL");
    }, patient(timeoutMs));
    await this.child.status;
    await this.#reading;
    clearTimeout(timer);
    return isKilled;
  }
}
