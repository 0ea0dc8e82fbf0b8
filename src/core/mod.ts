/** Door of the core: the agent with the I/O taken out. `contract.ts` is its light half. */
export * from "./contract.ts";
export { AskBroker } from "./asks.ts";
export { auxiliaryClient } from "./auxiliary_client.ts";
export { localDay, reachedBudget } from "./budgets.ts";
export { compressionThreshold } from "./compression_policy.ts";
export { LiveSessions } from "./sessions.ts";
export { undoTurns } from "./undo.ts";
export {
  ENTRY_SEPARATOR,
  isMemoryEnabled,
  memoryLimit,
  memoryPath,
  memoryUsage,
  parseEntries,
} from "./prompt_memory.ts";
export { forgetHints } from "./prompt_hints.ts";
export { isCodingFocus } from "./prompt_coding.ts";
export { findPersonality, personalityNames } from "./prompt_personality.ts";
