/** What a Claude id tells about its generation. */

/** 4.6 and later choose for themselves how long they think; an effort is a hint to them. */
export function isAdaptiveClaude(model: string): boolean {
  return /claude-(fable|mythos|(?:opus|sonnet|haiku)-(?:4[.-](?:[6-9]|\d\d)(?!\d)|[5-9]))/.test(
    model.toLowerCase(),
  );
}

/** Generations whose thinking cannot be turned off. */
export function alwaysThinks(model: string): boolean {
  return /claude-(fable|mythos|(sonnet|opus)-5[.-]5)/.test(model.toLowerCase());
}
