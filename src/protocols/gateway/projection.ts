/**
 * Stored messages as a person would see them (tui-gateway.md B.0 "TranscriptMessage"). Reading only: order and
 * number of rows come from the store, rows that are machinery are left out here and nowhere else.
 */
import type { Hermes } from "@/app/mod.ts";
import type {
  AssistantMessage,
  Content,
  Message,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "@/core/contract.ts";
import { Slices } from "@/lib/slices.ts";
import { readSkillTurn, typedSkill } from "./skill_turn.ts";

export type TranscriptMessage = Record<string, unknown>;

export function renderTranscript(
  hermes: Hermes,
  messages: readonly Message[],
  cwd: string,
): TranscriptMessage[] {
  return [...renderRows(hermes, messages, cwd)].filter((row) => row !== null);
}

/** The same a slice at a time: others are served while a long conversation is rendered. */
export async function renderSlowly(
  hermes: Hermes,
  messages: readonly Message[],
  cwd: string,
): Promise<TranscriptMessage[]> {
  const slices = new Slices();
  const rows: TranscriptMessage[] = [];
  for (const row of renderRows(hermes, messages, cwd)) {
    if (row) rows.push(row);
    if (slices.isOver) await slices.next();
  }
  await slices.end();
  return rows;
}

/** One for each message; `null` for one that is not shown. */
function* renderRows(
  hermes: Hermes,
  messages: readonly Message[],
  cwd: string,
): Generator<TranscriptMessage | null> {
  const calls = new Map<string, ToolCall>();
  for (const message of messages) {
    if (message.role === "assistant") message.toolCalls?.forEach((call) => calls.set(call.id, call));
    yield message.displayKind === "hidden" ? null : renderRow(hermes, message, calls, cwd);
  }
}

function renderRow(
  hermes: Hermes,
  message: Message,
  calls: ReadonlyMap<string, ToolCall>,
  cwd: string,
): TranscriptMessage | null {
  if (message.role === "user") return renderUser(message);
  if (message.role === "assistant") return renderAssistant(message);
  return renderTool(hermes, message, calls.get(message.toolCallId), cwd);
}

function rowFields(message: Message): Record<string, unknown> {
  return {
    ...(message.rowId === undefined ? {} : { row_id: message.rowId }),
    ...(message.timestamp === undefined ? {} : { timestamp: message.timestamp }),
    ...(message.displayKind === undefined ? {} : { display_kind: message.displayKind }),
  };
}

function renderUser(message: UserMessage): TranscriptMessage | null {
  const text = message.displayText ?? displayText(message.content);
  if (text.startsWith("[System:")) return null;
  if (message.displayKind === undefined) {
    const skill = readSkillTurn(text);
    if (skill) {
      const marks = { display_kind: "skill_invocation", display_metadata: { skill: skill.name } };
      return { role: "user", text: typedSkill(skill), ...rowFields(message), ...marks };
    }
  }
  return { role: message.displayKind === "system" ? "system" : "user", text, ...rowFields(message) };
}

function renderAssistant(message: AssistantMessage): TranscriptMessage | null {
  const text = message.content ?? "";
  const reasoning = message.reasoning ?? "";
  if (text === "" && reasoning === "") return null;
  return {
    role: "assistant",
    text,
    ...(reasoning === "" ? {} : { reasoning }),
    ...(message.reasoningContent === undefined ? {} : { reasoning_content: message.reasoningContent }),
    ...(message.reasoningDetails === undefined ? {} : { reasoning_details: message.reasoningDetails }),
    ...rowFields(message),
  };
}

function renderTool(
  hermes: Hermes,
  message: ToolMessage,
  call: ToolCall | undefined,
  cwd: string,
): TranscriptMessage {
  const args = call ? parseArguments(call.arguments) : {};
  const tool = hermes.tools.find((candidate) => candidate.name === message.toolName);
  const context = tool?.describe(args, { cwd }).label ?? "";
  return {
    role: "tool",
    name: message.toolName,
    context: hermes.redact(context).slice(0, 80),
    tool_call_id: message.toolCallId,
    args: redactArguments(hermes, args),
    ...rowFields(message),
  };
}

function parseArguments(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {}; // the model wrote no JSON: there is nothing to show
  }
}

function redactArguments(hermes: Hermes, args: Record<string, unknown>): unknown {
  return JSON.parse(
    JSON.stringify(args),
    (_, value) => typeof value === "string" ? hermes.redact(value) : value,
  );
}

/** Text of a content: images as their address when it is one, else as a label. */
function displayText(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => {
    if (part.type === "text") return part.text;
    return part.image_url.url.startsWith("data:") ? "[image]" : part.image_url.url;
  }).join("\n");
}
