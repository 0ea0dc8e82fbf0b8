/** How much a model may write where the wire demands a number (core.md F.7). Tokens. */
import type { ResolvedModel } from "@/core/contract.ts";

/** Longest match first. */
const CAPS: readonly (readonly [RegExp, number])[] = [
  [/claude-(fable|mythos|opus-4[.-](?:[6-9]|\d\d)(?!\d)|(?:opus|sonnet|haiku)-[5-9])/, 128_000],
  [/claude-(sonnet-4|opus-4[.-]5|haiku-4)/, 64_000],
  [/claude-opus-4/, 32_000],
  [/claude-3[.-]7/, 64_000],
  [/claude-3/, 8_192],
];

/** Servers of this wire whose models we do not know. */
const UNKNOWN_CAP = 32_000;

/** What was asked for, else the model's own cap, but never more than half of a small window. */
export function messagesOutputCap(
  asked: number | undefined,
  model: ResolvedModel,
  known: number | null,
): number {
  if (asked !== undefined) return asked;
  const id = model.model.toLowerCase();
  const cap = known ?? CAPS.find(([pattern]) => pattern.test(id))?.[1] ?? UNKNOWN_CAP;
  const half = model.contextWindow === null ? cap : Math.floor(model.contextWindow / 2);
  return Math.max(1, Math.min(cap, half));
}
