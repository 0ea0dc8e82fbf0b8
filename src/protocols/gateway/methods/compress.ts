/**
 * Compression on the user's word (tui-gateway.md B.9): one function behind `session.compress` and `/compress`. The
 * live id stays; the stored one moves. An interrupt ends it as `aborted`, and then nothing has changed.
 */
import { isAbort } from "@/lib/abort.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";

/** Fewer messages than this are left alone. */
const LEAST = 4;

export interface Compressed {
  readonly status: "compressed" | "aborted";
  readonly removed: number;
  readonly before_messages: number;
  readonly after_messages: number;
  readonly before_tokens: number;
  readonly after_tokens: number;
  readonly summary: {
    readonly noop: boolean;
    readonly headline: string;
    readonly token_line: string;
    readonly note: string | null;
  };
}

/** Throws 5032 without a model, and what the compression throws. */
export async function compressSession(live: LiveSession, focus: string): Promise<Compressed> {
  const { session } = live;
  const count = session.history().length;
  const tokens = session.usage().contextUsed;
  if (session.modelError) throw new RpcError(5032, session.modelError.message);
  if (count >= LEAST) {
    live.emit("status.update", { kind: "compressing", text: "compressing the conversation" });
  }
  try {
    if (count >= LEAST) await session.store();
    const report = await session.compact(focus === "" ? {} : { focus });
    if (!report) {
      live.emitInfo();
      return unchanged("compressed", count, tokens, "There is too little to compress");
    }
    const { before, after } = report;
    return {
      status: "compressed",
      removed: Math.max(0, before.messages - after.messages),
      before_messages: before.messages,
      after_messages: after.messages,
      before_tokens: before.tokens,
      after_tokens: after.tokens,
      summary: {
        noop: false,
        headline: `Compressed: ${before.messages} → ${after.messages} messages`,
        token_line: `About ${grouped(before.tokens)} → ${grouped(after.tokens)} tokens`,
        note: focus === "" ? null : `Focus: ${focus}`,
      },
    };
  } catch (error) {
    if (!isAbort(error)) throw error;
    live.emitInfo();
    return unchanged("aborted", count, tokens, "Compression stopped; nothing was changed");
  } finally {
    live.emit("status.update", { kind: "status", text: "ready" });
  }
}

function unchanged(
  status: Compressed["status"],
  count: number,
  tokens: number,
  headline: string,
): Compressed {
  return {
    status,
    removed: 0,
    before_messages: count,
    after_messages: count,
    before_tokens: tokens,
    after_tokens: tokens,
    summary: { noop: true, headline, token_line: `About ${grouped(tokens)} tokens`, note: null },
  };
}

/** For people, as `exec` output. */
export function compressionText({ summary }: Compressed): string {
  const lines = [summary.headline, summary.token_line, summary.note];
  return lines.filter((line) => line !== null).join("\n");
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
