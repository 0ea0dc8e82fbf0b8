/**
 * Answers that only announce an action and call no tool (core.md A.8): some models stop there. Where it applies
 * (`agent.intent_ack_continuation`) the model is asked, a few times, to do what it said.
 */
import type { ResolvedModel } from "./ports.ts";

/** Longer answers are answers. */
const LONGEST = 600;
const INTENT =
  /\b(i'll|i’ll|i will|let me|i'm going to|i’m going to|i am going to|next i'll|now i'll)\s+(?:\w+\s+){0,3}?(check|look|read|open|run|search|inspect|examine|create|write|edit|update|fix|start|list|explore|review|investigate|analy[sz]e|find|test|build|install|implement|add|change)\b/i;

/** `auto`: the Responses wire, where models do so; a list: parts of model names. */
export function mayContinue(setting: unknown, model: ResolvedModel): boolean {
  if (typeof setting === "boolean") return setting;
  if (Array.isArray(setting)) {
    const name = model.model.toLowerCase();
    return setting.some((part) =>
      typeof part === "string" && part !== "" && name.includes(part.toLowerCase())
    );
  }
  return setting === "true" || (setting === "auto" && model.apiMode === "codex_responses");
}

/** True when the text says what comes next and then ends. */
export function announcesAction(text: string): boolean {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > LONGEST || /[?？]$/.test(trimmed)) return false;
  const last = trimmed.split(/\n\s*\n/).at(-1)!;
  return INTENT.test(last);
}
