/**
 * Streams of text as frames (acp.md C11): the hot path. One open message per kind; its frame is built once and
 * each delta only puts its own text in, so nothing is serialised per token but the token.
 */
import { encodeFrame } from "@/lib/jsonl.ts";

export type ChunkKind = "agent_message_chunk" | "agent_thought_chunk";

export class ChunkStream {
  readonly #sessionId: string;
  readonly #kind: ChunkKind;
  readonly #newId: () => string;
  /** Frame up to the text; `null` while no message is open. */
  #prefix: string | null = null;

  constructor(sessionId: string, kind: ChunkKind, newId: () => string) {
    this.#sessionId = sessionId;
    this.#kind = kind;
    this.#newId = newId;
  }

  /** The frame of one delta; opens a message when none is open. */
  frame(text: string): string {
    this.#prefix ??= this.#open();
    return this.#prefix + encodeFrame(text).slice(0, -1) + "}}}}\n";
  }

  /** The next delta begins a new message. */
  close(): void {
    this.#prefix = null;
  }

  #open(): string {
    const head = encodeFrame({ sessionUpdate: this.#kind, messageId: this.#newId() }).slice(0, -2);
    const session = encodeFrame(this.#sessionId).slice(0, -1);
    return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${session},"update":${head}` +
      `,"content":{"type":"text","text":`;
  }
}
