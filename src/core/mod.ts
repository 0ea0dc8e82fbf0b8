/** Door of the core: the agent with the I/O taken out. */
export { assertNever } from "@/lib/assert_never.ts";
export type { AnswerResult, ApprovalChoice, Ask, AskAnswer, AskOutcome, AskPayload } from "./asks.ts";
export { AskBroker } from "./asks.ts";
export type { CommandInfo, CommandResult, Commands, Surface } from "./command_api.ts";
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
  ConfigService,
  EditPolicy,
  EditProposal,
  FileAccess,
  FinishReason,
  Guard,
  GuardContext,
  JsonSchema,
  LocalServer,
  Logger,
  ModelChoice,
  ModelChunk,
  ModelClient,
  ModelOptionsQuery,
  ModelRequest,
  Models,
  NewSessionRow,
  RawToolCall,
  RedactMode,
  ResolvedModel,
  SearchHit,
  SessionConfig,
  SessionPatch,
  SessionQuery,
  SessionRow,
  SessionScope,
  SessionStore,
  SessionSummary,
  SwitchResult,
  Tool,
  ToolContext,
  ToolDescription,
  ToolKind,
  ToolOutcome,
  ToolSpec,
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
export type { CoreServices } from "./services.ts";
export { LiveSessions } from "./sessions.ts";
export { NOBODY_TO_ASK } from "./session_api.ts";
export type { ModelFacts, ProviderEntry, Settings } from "./settings.ts";
