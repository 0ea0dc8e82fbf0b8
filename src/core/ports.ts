/**
 * What the core needs from the rooms beside it, as interfaces (style §12): models, tools, guard, store, settings.
 * `app/build.ts` plugs the real ones in; tests plug in fakes. Siblings meet here and nowhere else.
 */
export type { Ask, AskAnswer, AskOutcome, AskPayload, SmartVerdict } from "./asks.ts";
export type * from "./ports_api_store.ts";
export type * from "./ports_config.ts";
export type * from "./ports_files.ts";
export type * from "./ports_guard.ts";
export type * from "./ports_models.ts";
export type * from "./ports_pruning.ts";
export type * from "./ports_records.ts";
export type * from "./ports_store.ts";
export type * from "./ports_tools.ts";
