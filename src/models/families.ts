/** Family names (`sonnet`, `gpt`, `kimi`): the highest version that a list of ids has (core.md F.4 step 4). */

const FAMILIES: Readonly<Record<string, RegExp>> = {
  sonnet: /claude-.*sonnet|claude-sonnet/,
  opus: /claude-.*opus|claude-opus/,
  haiku: /claude-.*haiku|claude-haiku/,
  claude: /claude/,
  gpt5: /^gpt-5/,
  gpt: /^gpt-/,
  codex: /codex/,
  o3: /^o3/,
  o4: /^o4/,
  gemini: /^gemini/,
  deepseek: /^deepseek/,
  grok: /^grok/,
  llama: /llama/,
  qwen: /^qwen/,
  minimax: /^minimax/,
  nemotron: /nemotron/,
  kimi: /^kimi/,
  glm: /^glm/,
  step: /^step/,
  mimo: /^mimo/,
  trinity: /^trinity/,
};

export function isFamily(name: string): boolean {
  return Object.hasOwn(FAMILIES, name.toLowerCase());
}

/** `null` when the list has none of that family. */
export function newestOfFamily(family: string, ids: readonly string[]): string | null {
  const pattern = FAMILIES[family.toLowerCase()];
  if (!pattern) return null;
  const members = ids.filter((id) => pattern.test(bare(id)));
  return members.sort((a, b) => compare(bare(b), bare(a)))[0] ?? null;
}

function bare(id: string): string {
  return id.toLowerCase().slice(id.lastIndexOf("/") + 1);
}

/** Version numbers of an id; dates (six digits and more) are no versions, and Grok's 4.20 came before its 4.3. */
function versionOf(id: string): number[] {
  return (id.replace("grok-4.20", "grok-4.2").match(/\d+/g) ?? []).filter((digits) => digits.length < 6).map(
    Number,
  );
}

const RANKS: readonly RegExp[] = [/-(pro|max|plus|turbo)\b/, /^[^:]*$/];

function rankOf(id: string): number {
  const at = RANKS.findIndex((pattern) => pattern.test(id));
  return at === -1 ? RANKS.length : at;
}

function compare(a: string, b: string): number {
  const [left, right] = [versionOf(a), versionOf(b)];
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return rankOf(b) - rankOf(a) || b.length - a.length;
}
