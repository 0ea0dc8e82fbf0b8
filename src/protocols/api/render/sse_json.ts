/** Text for the `data:` line of a frame: one line for every kind of reader, and never a line without end (FC-23). */
import { lineJson } from "@/lib/line_json.ts";

/** Characters of a delta; a longer one is cut into several. */
const MAX_DELTA = 16_384;

/** JSON on one line, also for readers that take U+2028 and the like for line ends. */
export function sseJson(value: unknown): string {
  return lineJson(value);
}

/** A delta as frames: `open` + JSON text + `close`, more than once when it is very long. */
export function deltaFrames(open: string, text: string, close: string): string {
  if (text.length <= MAX_DELTA) return open + sseJson(text) + close;
  return cutText(text).map((piece) => open + sseJson(piece) + close).join("");
}

/** Never cuts inside a surrogate pair. */
function cutText(text: string): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + MAX_DELTA, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    parts.push(text.slice(at, end));
    at = end;
  }
  return parts;
}
