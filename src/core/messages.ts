/**
 * The conversation as the core holds it (core.md A.1): Chat Completions roles, one list per session, system
 * prompt apart. Provider adapters turn it into their wire; the store maps it to rows. Nothing here knows a wire.
 */
import type { TodoItem } from "./events.ts";

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string; readonly detail?: string } };

export type Content = string | readonly ContentPart[];

/** One call of the model. `id` is unique in the session and the only id that hosts see (FC-27). */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text of an object. */
  readonly arguments: string;
  /** The provider's own id, kept when it differs from `id`. */
  readonly providerId?: string;
}

/** A file before and after; `null` = absent. */
export interface FileEdit {
  /** Absolute path. */
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string | null;
}

/** What a finished call leaves beside its text: to show it again after a reload, and to go on from it. */
export interface ToolMeta {
  readonly isError?: boolean;
  readonly durationMs?: number;
  readonly edits?: readonly FileEdit[];
  /** `todo` only, where the text is too long to be sure to stay whole (core.md A.13): the whole list. */
  readonly todos?: readonly TodoItem[];
}

export interface UserMessage {
  readonly role: "user";
  readonly content: Content;
  /** What a person would see when it differs from `content` (attachments as labels). */
  readonly displayText?: string;
  /** Non-null marks a timeline row: not a turn of the user, never counted or addressed (core.md D.4). */
  readonly displayKind?: string;
  /** Of the summary of a compression: the whole todo list as the summarised part left it (core.md A.16). */
  readonly todos?: readonly TodoItem[];
  rowId?: number;
  readonly timestamp?: number;
}

export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string | null;
  readonly toolCalls?: readonly ToolCall[];
  readonly reasoning?: string;
  /** Text some providers demand back (A.1 rule 5). */
  readonly reasoningContent?: string;
  readonly reasoningDetails?: readonly unknown[];
  readonly finishReason?: string;
  /** Output tokens that were spent on it; absent where the provider tells no numbers (core.md D.4 `token_count`). */
  readonly tokenCount?: number;
  readonly displayKind?: string;
  rowId?: number;
  readonly timestamp?: number;
}

export interface ToolMessage {
  readonly role: "tool";
  readonly toolCallId: string;
  readonly toolName: string;
  readonly content: Content;
  /** Absent = ran; `none` = certainly never ran; `unknown` = interrupted or timed out while running. */
  readonly effect?: "none" | "unknown";
  readonly meta?: ToolMeta;
  readonly displayKind?: string;
  rowId?: number;
  readonly timestamp?: number;
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** Joined text parts; images are left out. */
export function textOf(content: Content | null): string {
  if (content === null) return "";
  if (typeof content === "string") return content;
  return content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n");
}

/** True for a real turn of the user (timeline rows and the like are not). */
export function isUserTurn(message: Message): message is UserMessage {
  return message.role === "user" && message.displayKind === undefined;
}

/** Tokens of one model call or of a turn. `prompt` = input + cacheRead + cacheWrite (core.md A.18). */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly reasoning: number;
  /** Of one call: it was served in the provider's fast mode, which costs more. */
  readonly fast?: true;
}

export const NO_USAGE: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  };
}

export function promptTokens(usage: Usage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite;
}
