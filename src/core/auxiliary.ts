/**
 * Models for side tasks as the configuration lists them (`auxiliary.<task>` of core.md E.4): a cheaper one may write
 * summaries and titles. What is not configured is an empty list: the caller decides what that means. Pure.
 */
import type { ModelChoice } from "./ports.ts";
import type { Settings } from "./settings.ts";

export interface AuxiliaryEntry {
  readonly choice: ModelChoice;
  /** For the address or the provider that is written beside it. */
  readonly apiKey: string | null;
  /** Name of the variable that holds its key. */
  readonly keyEnv: string | null;
  readonly reasoningEffort: string | null;
  /** Fields added to the body of its requests. */
  readonly extraBody: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

const NOBODY = "none";
/** Names that stand for no provider of their own. */
const NO_PROVIDER: ReadonlySet<string> = new Set(["auto", "main", NOBODY]);
const LONGEST_S = 3_600;

/** The model of a task and, behind it, those of its `fallback_chain`, in the order in which they are asked. */
export function auxiliaryEntries(settings: Settings, task: string): readonly AuxiliaryEntry[] {
  const fields = fieldsOf(settings.auxiliary[task]);
  const first = entryOf(fields, { task, at: 0 });
  if (first === null) return [];
  const chain = Array.isArray(fields["fallback_chain"]) ? fields["fallback_chain"] : [];
  const more = chain.flatMap((item, i) => entryOf(fieldsOf(item), { task, at: i + 1 }) ?? []);
  return [first, ...more];
}

/** The entry that a choice comes from. */
export function auxiliaryEntry(settings: Settings, { auxiliary }: ModelChoice): AuxiliaryEntry | null {
  if (!auxiliary) return null;
  const entries = auxiliaryEntries(settings, auxiliary.task);
  return entries.find(({ choice }) => choice.auxiliary?.at === auxiliary.at) ?? null;
}

/** True where the task is to be done by the session's own model (`provider: "main"`). */
export function isForOwnModel(settings: Settings, task: string): boolean {
  return fieldsOf(settings.auxiliary[task])["provider"] === "main";
}

/** True where nobody is to do the task (`provider: "none"`, or `false`). */
export function isSwitchedOff(settings: Settings, task: string): boolean {
  const { provider } = fieldsOf(settings.auxiliary[task]);
  return provider === false || provider === NOBODY;
}

/** What the task's section wishes for whatever model does it; `null` = nothing. */
export function auxiliaryWishes(
  settings: Settings,
  task: string,
): { readonly seconds: number | null; readonly reasoningEffort: string | null } {
  const fields = fieldsOf(settings.auxiliary[task]);
  const seconds = Number(fields["timeout"]);
  const effort = fields["reasoning_effort"];
  return {
    seconds: seconds > 0 && Number.isFinite(seconds) ? Math.min(seconds, LONGEST_S) : null,
    reasoningEffort: typeof effort === "string" && effort.trim() !== "" ? effort.trim() : null,
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {};
}

function entryOf(fields: Fields, auxiliary: { task: string; at: number }): AuxiliaryEntry | null {
  const text = (key: string) => {
    const value = fields[key];
    return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
  };
  const named = text("provider");
  const provider = named !== null && NO_PROVIDER.has(named) ? null : named;
  const [model, baseUrl, apiMode] = [text("model"), text("base_url"), text("api_mode")];
  if (model === null && provider === null && baseUrl === null) return null;
  const choice: ModelChoice = {
    ...(model === null ? {} : { model }),
    ...(provider === null ? {} : { provider }),
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(apiMode === null ? {} : { apiMode }),
    auxiliary,
  };
  // Beside a model alone a key would belong to whatever provider is the default today.
  const hasPlace = provider !== null || baseUrl !== null;
  return {
    choice,
    apiKey: hasPlace ? text("api_key") : null,
    keyEnv: hasPlace ? text("key_env") : null,
    reasoningEffort: text("reasoning_effort"),
    extraBody: fieldsOf(fields["extra_body"]),
  };
}
