/** Token counts as providers report them, in our one form: `input` never includes what came from the cache (core.md A.18). */
import type { Usage } from "@/core/contract.ts";

type Record_ = Readonly<Record<string, unknown>>;

function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}

function part(usage: Record_, key: string): Record_ {
  const value = usage[key];
  return typeof value === "object" && value !== null ? value as Record_ : {};
}

/** `null` when there is nothing to count. */
export function normaliseUsage(raw: unknown): Usage | null {
  if (typeof raw !== "object" || raw === null) return null;
  const usage = raw as Record_;
  const promptDetails = { ...part(usage, "input_tokens_details"), ...part(usage, "prompt_tokens_details") };
  const outputDetails = {
    ...part(usage, "output_tokens_details"),
    ...part(usage, "completion_tokens_details"),
  };
  const prompt = count(usage["prompt_tokens"] ?? usage["input_tokens"]);
  const cacheRead = Math.min(
    prompt,
    count(
      promptDetails["cached_tokens"] ?? usage["cached_tokens"] ?? usage["prompt_cache_hit_tokens"] ??
        usage["cache_read_input_tokens"],
    ),
  );
  const cacheWrite = Math.min(
    prompt - cacheRead,
    count(promptDetails["cache_write_tokens"] ?? usage["cache_creation_input_tokens"]),
  );
  const output = count(usage["completion_tokens"] ?? usage["output_tokens"]);
  const reasoning = count(outputDetails["reasoning_tokens"] ?? usage["reasoning_tokens"]);
  if (prompt + output + reasoning === 0) return null;
  return { input: prompt - cacheRead - cacheWrite, output, cacheRead, cacheWrite, reasoning };
}

/** The Messages wire reports what came from and went to the cache beside the input, not within it. */
export function messagesUsage(usage: Record_): Usage | null {
  const input = count(usage["input_tokens"]);
  const output = count(usage["output_tokens"]);
  const cacheRead = count(usage["cache_read_input_tokens"]);
  const cacheWrite = count(usage["cache_creation_input_tokens"]);
  const reasoning = count(part(usage, "output_tokens_details")["thinking_tokens"]);
  if (input + output + cacheRead + cacheWrite === 0) return null;
  return { input, output, cacheRead, cacheWrite, reasoning };
}
