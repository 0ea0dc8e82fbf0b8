/**
 * The light door of the core: its types, its errors and a few pure helpers. What runs before the first answer of a
 * door imports from here; `mod.ts` adds the engine, which costs milliseconds to load.
 */
export { assertNever } from "@/lib/assert_never.ts";
export type { AuxiliaryEntry } from "./auxiliary.ts";
export { auxiliaryEntries, auxiliaryEntry } from "./auxiliary.ts";
export type {
  AnswerResult,
  ApprovalChoice,
  Ask,
  AskAnswer,
  AskOutcome,
  AskPayload,
  SmartVerdict,
} from "./asks.ts";
export type { BrowserCall, BrowserDriver, BrowserOutcome } from "./browser.ts";
export { commandHome, makeCommandHome, withCommandHome } from "./command_home.ts";
export type {
  CommandHost,
  CommandInfo,
  CommandResult,
  Commands,
  CompressionWish,
  OpenedSession,
  PendingWrite,
  PendingWrites,
  StoredSession,
  Surface,
} from "./command_api.ts";
export type {
  BoundedResult,
  ChildResult,
  ChildRole,
  ChildTask,
  DelegationControl,
  DelegationReply,
  DelegationStore,
  Delegator,
  LaterOutcome,
  LaterResult,
  NewDelegation,
  SubagentState,
  SubagentStep,
  SubagentView,
} from "./delegation_api.ts";
export { fallbackEntries } from "./fallbacks.ts";
export { isFastTier } from "./fast_mode.ts";
export { DirectoryLooks } from "./directory_looks.ts";
export { DELEGATION_KIND } from "./delegation_api.ts";
export type { HermesErrorCode, ModelFailure, ModelFailureKind } from "./errors.ts";
export { HermesError } from "./errors.ts";
export { isFreeSession } from "./free_session.ts";
export type {
  CoreEvent,
  CoreEventBody,
  SessionChange,
  TodoItem,
  ToolCallView,
  TurnOutcome,
  TurnResult,
} from "./events.ts";
export type {
  ExternalTools,
  McpServerEntry,
  McpServerStatus,
  SessionTools,
  ToolHost,
} from "./external_tools.ts";
export type { EventReader } from "./hub.ts";
export type {
  Checkpoint,
  FileDifference,
  FileHistory,
  FileRestore,
  RestoreOptions,
  RestoreOutcome,
} from "./restore_api.ts";
export { findCheckpoint } from "./restore_api.ts";
export type { ProvenanceQuery, SessionProvenance } from "./lineage.ts";
export { buildProvenance } from "./lineage.ts";
export type {
  AssistantMessage,
  Content,
  ContentPart,
  FileEdit,
  Message,
  ToolCall,
  ToolMessage,
  ToolMeta,
  Usage,
  UserMessage,
} from "./messages.ts";
export { addUsage, isUserTurn, NO_USAGE, promptTokens, textOf } from "./messages.ts";
export type {
  AuditEntry,
  AuditQuery,
  AuditRow,
  AuditStore,
  Billing,
  CatalogRefresh,
  ConfigService,
  CountedCall,
  CountedModel,
  EditPolicy,
  EditProposal,
  EndedSession,
  FileAccess,
  FileChange,
  FinishReason,
  GitPlace,
  Guard,
  GuardContext,
  ImportedSession,
  JsonSchema,
  JudgeOptions,
  LocalServer,
  Logger,
  ModelChoice,
  ModelChunk,
  ModelClient,
  ModelCost,
  ModelOptionsQuery,
  ModelRequest,
  Models,
  NewSessionRow,
  PlainCall,
  PruneResult,
  PruneWish,
  RawToolCall,
  RedactMode,
  ResolvedModel,
  ResponseRow,
  ResponseStore,
  RunCallback,
  RunCallbacks,
  RunEventRow,
  RunKey,
  RunQuery,
  RunRow,
  RunStore,
  SearchHit,
  SearchNeighbour,
  SeenOffer,
  SessionConfig,
  SessionNotice,
  SessionOwners,
  SessionPatch,
  SessionPruning,
  SessionQuery,
  SessionRow,
  SessionScope,
  SessionStore,
  SessionSummary,
  ShellEnd,
  ShellRequest,
  SkillOffer,
  SkillPlaceQuery,
  SkillQuery,
  Skills,
  SkillSummary,
  SnapshotStore,
  Store,
  SwitchResult,
  Tool,
  ToolContext,
  ToolDescription,
  ToolKind,
  ToolOutcome,
  ToolSpec,
  TurnStep,
  UsageCost,
  UsageTotals,
  Verdict,
  WorkspaceShell,
} from "./ports.ts";
export type {
  AskPolicy,
  CompactionPreview,
  CompactionReport,
  CompactOptions,
  CreateOptions,
  Inflight,
  OpenOptions,
  Session,
  Sessions,
  SessionUsage,
  SubmitOptions,
  TurnHandle,
  UserInput,
} from "./session_api.ts";
export type { CoreServices, ObservedSession } from "./services.ts";
export type { Undone } from "./undo.ts";
export { choiceOf } from "./model_choice.ts";
export { refusedElsewhere } from "./turn_results.ts";
export type { TurnLimit } from "./turn_limit.ts";
export { turnLimit } from "./turn_limit.ts";
export { NOBODY_TO_ASK } from "./session_api.ts";
export type { MemoryTarget } from "./prompt_memory.ts";
export type { Eyes } from "./eyes.ts";
export type { FitImage, FittedImage } from "./image_fitting.ts";
export { createFitImage, ImageRefusal, SENDABLE } from "./image_fitting.ts";
export type { SampleAnswer, SampleRequest } from "./sampler.ts";
export { latestTodos } from "./todo_results.ts";
export type { BudgetLimits, ModelFacts, PolicyRule, ProviderEntry, Settings } from "./settings.ts";
