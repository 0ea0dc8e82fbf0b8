/**
 * Summaries of compressed conversations on replay (acp.md C12). Ours is a row of its own; one that another program has
 * stored (an imported conversation) may stand at the beginning of a message, with that message behind its last line.
 * Pure.
 */
import type { ContentBlock, SessionUpdate } from "../sdk.ts";

const BEGIN = "[CONTEXT COMPACTION";
const LAST_LINE = /^--- END OF CONTEXT SUMMARY.*$/m;

export type Speaker = "user_message_chunk" | "agent_message_chunk";

function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** A message that is a summary and nothing else. */
export function summaryUpdate(
  text: string,
  messageId: string,
  compaction: boolean,
  speaker: Speaker = "user_message_chunk",
): SessionUpdate {
  const content = textBlock(text);
  if (compaction) {
    return {
      sessionUpdate: "compaction_update",
      compactionId: messageId,
      status: "completed",
      summary: [content],
    };
  }
  return { sessionUpdate: speaker, messageId, content, _meta: { hermes: { compactionSummary: true } } };
}

/** The updates of a text with a summary in it; `null` for any other text. `compaction`: the client shows them. */
export function mixedUpdates(
  text: string,
  messageId: string,
  compaction: boolean,
  speaker: Speaker,
): SessionUpdate[] | null {
  if (!text.startsWith(BEGIN)) return null;
  const last = LAST_LINE.exec(text);
  const end = last ? last.index + last[0].length : text.length;
  const rest = text.slice(end).trim();
  if (rest === "") return [summaryUpdate(text, messageId, compaction, speaker)];
  if (!compaction) {
    const _meta = { hermes: { containsCompactionSummary: true } };
    return [{ sessionUpdate: speaker, messageId, content: textBlock(text), _meta }];
  }
  return [
    summaryUpdate(text.slice(0, end), `${messageId}-c`, true),
    { sessionUpdate: speaker, messageId, content: textBlock(rest) },
  ];
}
