/**
 * What a turn needs beyond its session: set-up, loop, prompt, compression. Loaded with the first turn, because a new
 * session must not wait for code that only its first prompt runs.
 */
export { compactSession } from "./session_compaction.ts";
export { rewindSession } from "./session_rewind.ts";
export { forgetMemories } from "./system_prompt.ts";
export { runTurn } from "./turn.ts";
export { failedResult, prepareTurn } from "./turn_setup.ts";
