/** The context window of a model without asking anybody: settings, then the family table (core.md F.7). */

const K = 1_000;

/** Longest match wins; a pattern is looked for anywhere in the lower-case id. */
const FAMILIES: readonly (readonly [RegExp, number])[] = [
  [/claude-(fable|sonnet-4[.-]6|opus-4[.-](?:[6-9]|\d\d))/, 1_000 * K],
  [/claude/, 200 * K],
  [/gpt-5[.-][456][\w.-]*(mini|nano)/, 400 * K],
  [/gpt-5[.-][456]/, 1_050 * K],
  [/gpt-5/, 400 * K],
  [/gpt-4[.-]1/, 1_047_576],
  [/gpt-4/, 128 * K],
  [/gemini/, 1_048_576],
  [/gemma-?4/, 256 * K],
  [/gemma-?3/, 131_072],
  [/deepseek-(v4|chat|reasoner)/, 1_000 * K],
  [/deepseek/, 128 * K],
  [/llama/, 131_072],
  [/qwen-?3-coder/, 262_144],
  [/qwen/, 131_072],
  [/minimax-m3/, 1_000 * K],
  [/minimax/, 204_800],
  [/glm-5[.-]2/, 1_048_576],
  [/glm/, 202_752],
  [/grok-4(-fast|[.-]20)/, 2_000 * K],
  [/grok-4/, 256 * K],
  [/grok/, 131_072],
  [/kimi/, 262_144],
  [/nemotron/, 131_072],
  [/hy3/, 262_144],
  [/mimo-v2[.-]5/, 1_048_576],
];

export const FALLBACK_WINDOW = 256 * K;

/** A stated window counts only when it can be true. */
export function isPlausibleWindow(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1_024 && value <= 10_000_000;
}

export function familyWindow(model: string): number | null {
  const id = model.toLowerCase();
  return FAMILIES.find(([pattern]) => pattern.test(id))?.[1] ?? null;
}

/** The first plausible of the stated values, else the family's, else 256,000. */
export function contextWindow(model: string, stated: readonly unknown[]): number {
  return stated.find(isPlausibleWindow) ?? familyWindow(model) ?? FALLBACK_WINDOW;
}

const WINDOW_KEYS = [
  "context_length",
  "context_window",
  "context_size",
  "max_context_length",
  "max_position_embeddings",
  "max_model_len",
  "max_input_tokens",
  "max_sequence_length",
  "max_seq_len",
  "n_ctx_train",
  "n_ctx",
  "ctx_size",
];

/** The window in an entry of a provider's `/models` list; `null` when it states none. */
export function windowOfEntry(entry: Readonly<Record<string, unknown>>): number | null {
  for (const key of WINDOW_KEYS) if (isPlausibleWindow(entry[key])) return entry[key];
  return null;
}
