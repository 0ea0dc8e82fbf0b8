/**
 * What a turn needs beyond its session: set-up, loop, prompt, compression. Loaded with the first turn, because a new
 * session must not wait for code that only its first prompt runs.
 */
export { applyModel, resetSession } from "./session_changes.ts";
export { compactSession, previewCompaction } from "./session_compaction.ts";
export { dropFrom, rewindSession } from "./session_rewind.ts";
export { runQueuedTurn } from "./session_turn.ts";
