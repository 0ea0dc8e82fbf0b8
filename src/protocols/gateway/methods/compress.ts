/**
 * Compression on the user's word (tui-gateway.md B.9): one function behind `session.compress` and `/compress`. The
 * live id stays; the stored one moves. An interrupt ends it as `aborted`, and then nothing has changed. A preview
 * (core.md H.2) asks no model and writes nothing.
 */
import { compactOptions, describePlan, describeWish } from "@/commands/mod.ts";
import type { CompressionWish } from "@/core/contract.ts";
import { isAbort } from "@/lib/abort.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";

/** Fewer messages than this are left alone. */
const LEAST = 4;

interface Numbers {
  readonly messages: number;
  readonly tokens: number;
}

export interface Compressed {
  /** `preview`: `after_…` are what it would be, and `removed` is 0. */
  readonly status: "compressed" | "aborted" | "preview";
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
  /** Of a preview. */
  readonly plan?: {
    readonly kept_first: number;
    readonly kept_last: number;
    readonly summarized_messages: number;
    readonly summarized_tokens: number;
  };
}

/** Throws 5032 without a model, and what the compression throws. */
export async function compressSession(live: LiveSession, wish: CompressionWish): Promise<Compressed> {
  const { session } = live;
  if (session.modelError) throw new RpcError(5032, session.modelError.message);
  if (wish.preview) return await preview(live, wish);
  const now = { messages: session.history().length, tokens: session.usage().contextUsed };
  if (now.messages >= LEAST) {
    live.emit("status.update", { kind: "compressing", text: "compressing the conversation" });
  }
  try {
    if (now.messages >= LEAST) await session.store();
    const report = await session.compact(compactOptions(wish));
    if (!report) {
      live.emitInfo();
      return unchanged("compressed", now, "There is too little to compress");
    }
    const { before, after } = report;
    return {
      status: "compressed",
      removed: Math.max(0, before.messages - after.messages),
      ...counts(before, after),
      summary: {
        noop: false,
        headline: `Compressed: ${before.messages} → ${after.messages} messages`,
        token_line: `About ${grouped(before.tokens)} → ${grouped(after.tokens)} tokens`,
        note: describeWish(wish),
      },
    };
  } catch (error) {
    if (!isAbort(error)) throw error;
    live.emitInfo();
    return unchanged("aborted", now, "Compression stopped; nothing was changed");
  } finally {
    live.emit("status.update", { kind: "status", text: "ready" });
  }
}

/** Nothing happens, so no event tells of it. */
async function preview({ session }: LiveSession, wish: CompressionWish): Promise<Compressed> {
  const plan = await session.previewCompaction(compactOptions(wish));
  if (!plan) {
    const now = { messages: session.history().length, tokens: session.usage().contextUsed };
    return unchanged("preview", now, "There is too little to compress");
  }
  const { before, after, kept, summarised } = plan;
  return {
    status: "preview",
    removed: 0,
    ...counts(before, after),
    summary: {
      noop: true,
      headline: `Preview, nothing was changed: ${before.messages} → ${after.messages} messages`,
      token_line: `About ${grouped(before.tokens)} → ${grouped(after.tokens)} tokens`,
      note: [describePlan(plan), describeWish(wish)].filter((line) => line !== null).join("\n"),
    },
    plan: {
      kept_first: kept.first,
      kept_last: kept.last,
      summarized_messages: summarised.messages,
      summarized_tokens: summarised.tokens,
    },
  };
}

function counts(before: Numbers, after: Numbers) {
  return {
    before_messages: before.messages,
    after_messages: after.messages,
    before_tokens: before.tokens,
    after_tokens: after.tokens,
  };
}

function unchanged(status: Compressed["status"], now: Numbers, headline: string): Compressed {
  const token_line = `About ${grouped(now.tokens)} tokens`;
  return {
    status,
    removed: 0,
    ...counts(now, now),
    summary: { noop: true, headline, token_line, note: null },
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
