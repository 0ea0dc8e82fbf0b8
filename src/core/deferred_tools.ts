/**
 * Tools that the model is not shown and can find (core.md B.14): whether a turn has such, and what is known of them
 * while it runs. How they are found is `tool_search.ts`, which is loaded where there are any.
 */
import { TokenEstimator } from "./estimate.ts";
import type { RawToolCall, ResolvedModel, Tool, ToolSpec } from "./ports.ts";
import type { Settings } from "./settings.ts";

const UNKNOWN_WINDOW_TOKENS = 20_000;
const DEFAULTS: SearchSettings = {
  enabled: "auto",
  threshold_pct: 10,
  search_default_limit: 5,
  max_search_limit: 20,
};

export type SearchSettings = NonNullable<NonNullable<Settings["tools"]>["tool_search"]>;

export interface Deferral {
  /** For which tools and model this was decided. */
  readonly key: string;
  /** Names of the tools that are not shown; none: they are all shown. */
  readonly hidden: ReadonlySet<string>;
  /** `tool_search`, `tool_describe`, `tool_call`; none where nothing is hidden. */
  readonly bridge: readonly Tool[];
  /** A call that came over the bridge as the call that it stands for; any other as it is. */
  unwrap(call: RawToolCall): RawToolCall;
}

export const TOOL_CALL = "tool_call";

/** Tools of MCP servers and of a browser that is lent; the program's own are always shown. */
export function isDeferrable({ toolset }: Pick<Tool, "toolset">): boolean {
  return toolset.startsWith("mcp-") || toolset === "browser";
}

/** What the model sees: the others in their order, then the bridge. */
export function shownSpecs<T extends ToolSpec>(
  tools: readonly T[],
  deferral: Deferral | null,
): readonly (T | Tool)[] {
  if (deferral === null || deferral.hidden.size === 0) return tools;
  return [...tools.filter(({ name }) => !deferral.hidden.has(name)), ...deferral.bridge];
}

/** The decision for a turn; the last one holds while the session has the same tools, model and settings. */
export async function decideDeferral(
  tools: readonly Tool[],
  { model, settings, last }: { model: ResolvedModel; settings: Settings; last: Deferral | null },
): Promise<Deferral | null> {
  const outside = tools.filter(isDeferrable);
  if (outside.length === 0) return null;
  const search = { ...DEFAULTS, ...settings.tools?.tool_search };
  const { enabled, threshold_pct } = search;
  const names = outside.map(({ name }) => name);
  const key = JSON.stringify([model.provider, model.model, enabled, threshold_pct, ...names]);
  const isOn = last?.key === key ? last.hidden.size > 0 : isTooMuch(outside, model, search);
  if (!isOn) return { key, hidden: new Set(), bridge: [], unwrap: (call) => call };
  const { createDeferral } = await import("./tool_search.ts");
  return createDeferral(key, tools, search);
}

function isTooMuch(
  tools: readonly Tool[],
  { contextWindow }: ResolvedModel,
  { enabled, threshold_pct }: SearchSettings,
): boolean {
  if (enabled !== "auto") return enabled === "on";
  const room = contextWindow === null ? UNKNOWN_WINDOW_TOKENS : contextWindow * threshold_pct / 100;
  const specs = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  return new TokenEstimator().tools(specs) > room;
}
