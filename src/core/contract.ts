/**
 * The light door of the core: its types, its errors and a few pure helpers. What runs before the first answer of a
 * door imports from here; `mod.ts` adds the engine, which costs milliseconds to load.
 */
export { assertNever } from "@/lib/assert_never.ts";
export type { AnswerResult, ApprovalChoice, Ask, AskAnswer, AskOutcome, AskPayload } from "./asks.ts";
export type {
  CommandHost,
  CommandInfo,
  CommandResult,
  Commands,
  OpenedSession,
  StoredSession,
  Surface,
} from "./command_api.ts";
export type { HermesErrorCode, ModelFailure, ModelFailureKind } from "./errors.ts";
export { HermesError } from "./errors.ts";
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
  CatalogRefresh,
  ConfigService,
  EditPolicy,
  EditProposal,
  FileAccess,
  FileChange,
  FinishReason,
  Guard,
  GuardContext,
  JsonSchema,
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
  RawToolCall,
  RedactMode,
  ResolvedModel,
  ResponseRow,
  ResponseStore,
  RunEventRow,
  RunKey,
  RunQuery,
  RunRow,
  RunStore,
  SearchHit,
  SessionConfig,
  SessionPatch,
  SessionQuery,
  SessionRow,
  SessionScope,
  SessionStore,
  SessionSummary,
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
  UsageCost,
  UsageTotals,
  Verdict,
} from "./ports.ts";
export type {
  AskPolicy,
  CompactionReport,
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
export { NOBODY_TO_ASK } from "./session_api.ts";
export type { MemoryTarget } from "./prompt_memory.ts";
export type { BudgetLimits, ModelFacts, PolicyRule, ProviderEntry, Settings } from "./settings.ts";
