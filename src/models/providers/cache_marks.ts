/**
 * Marks for the provider's prompt cache (core.md A.17): the system prompt and the last three messages that can carry
 * one. Native layout marks a block of the Messages wire, envelope layout a part of a Chat Completions message.
 */
import type { ResolvedModel } from "@/core/contract.ts";
import type { CacheTtl } from "../runtime.ts";

type Json = Record<string, unknown>;

const MESSAGES_MARKED = 3;

export function cacheMark(ttl: CacheTtl): Json | null {
  if (ttl === "off") return null;
  return ttl === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/** Messages wire: its own provider, or a model that is known to understand the marks. */
export function marksNative({ provider, model }: ResolvedModel): boolean {
  return provider === "anthropic" || /claude|minimax/.test(model.toLowerCase());
}

/** Chat Completions routes that pass the marks on. */
export function marksEnvelope({ provider, model }: ResolvedModel): boolean {
  const id = model.toLowerCase();
  const routes = provider === "openrouter" || provider === "nous";
  if (routes && /claude|kimi/.test(id)) return true;
  return id.includes("qwen") && /^(nous|opencode-|alibaba)/.test(provider);
}

/** The messages with their marks; unmarked ones are the same objects. */
export function markEnvelope(
  messages: readonly Json[],
  model: ResolvedModel,
  ttl: CacheTtl,
): readonly Json[] {
  const mark = cacheMark(ttl);
  if (mark === null || !marksEnvelope(model)) return messages;
  const out = [...messages];
  let left = MESSAGES_MARKED;
  for (let at = out.length - 1; at >= 0; at--) {
    const message = out[at]!;
    const isSystem = message["role"] === "system" || message["role"] === "developer";
    if (!isSystem && left === 0) continue;
    const parts = partsOf(message);
    if (!parts) continue;
    out[at] = { ...message, content: [...parts.slice(0, -1), { ...parts.at(-1), cache_control: mark }] };
    if (!isSystem) left--;
  }
  return out;
}

/** `null` for what carries no mark: empty messages and those of the tools. */
function partsOf(message: Json): readonly Json[] | null {
  const { content, role } = message;
  if (role === "tool") return null;
  if (typeof content === "string") return content === "" ? null : [{ type: "text", text: content }];
  return Array.isArray(content) && content.length > 0 ? content as readonly Json[] : null;
}

/** Blocks of the Messages wire; marks the last block of the last three messages that has room for one. */
export function markNative(messages: readonly Json[], mark: Json): readonly Json[] {
  const out = [...messages];
  let left = MESSAGES_MARKED;
  for (let at = out.length - 1; at >= 0 && left > 0; at--) {
    const blocks = out[at]!["content"] as readonly Json[];
    const last = blocks.at(-1);
    if (!last || String(last["type"]).includes("thinking")) continue;
    out[at] = { ...out[at], content: [...blocks.slice(0, -1), { ...last, cache_control: mark }] };
    left--;
  }
  return out;
}
