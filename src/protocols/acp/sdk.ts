/**
 * The one file that names the ACP SDK. Only its types are taken, so nothing of it is loaded at run time (70 ms);
 * its client and its JSON schema are used by the tests. Extra keys of ours (`usage`, `fork`) are added here.
 */
import type * as acp from "@agentclientprotocol/sdk";

export type ContentBlock = acp.ContentBlock;
export type McpServer = acp.McpServer;
export type PermissionOption = acp.PermissionOption;
export type Plan = acp.Plan;
export type RequestPermissionRequest = acp.RequestPermissionRequest;
export type SessionConfigOption = acp.SessionConfigOption;
export type SessionInfo = acp.SessionInfo;
export type SessionModeState = acp.SessionModeState;
export type SessionUpdate = acp.SessionUpdate;
export type StopReason = acp.StopReason;
export type ToolCall = acp.ToolCall;
export type ToolCallContent = acp.ToolCallContent;
export type ToolCallUpdate = acp.ToolCallUpdate;
export type InitializeResponse = acp.InitializeResponse;
export type AuthMethod = acp.AuthMethod;

/** Token counts of a turn; unstable in v1, sent when known. */
export interface PromptUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly thoughtTokens?: number;
  readonly cachedReadTokens?: number;
  readonly cachedWriteTokens?: number;
}

export interface PromptResponse {
  readonly stopReason: StopReason;
  readonly usage?: PromptUsage;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The protocol version we speak, whatever the client asks for (acp.md A6.1). */
export const PROTOCOL_VERSION = 1;
