/**
 * A JSON object at the start of a text that something may follow: tool results carry guidance of the user, warnings and
 * hints behind their JSON (core.md A.14, A.15).
 */

type JsonObject = Record<string, unknown>;

/** `null` when the text does not begin with a whole object. Never throws. */
export function parseLeadingObject(text: string): JsonObject | null {
  if (!text.startsWith("{")) return null;
  return parsed(text) ?? parsed(text.slice(0, endOfObject(text)));
}

function parsed(text: string): JsonObject | null {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return null; // something follows, or it was cut
  }
}

/** Where the object that begins the text is closed; 0 when it is not. */
function endOfObject(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at);
    } else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  return 0;
}

/** Place of the closing quote; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}
