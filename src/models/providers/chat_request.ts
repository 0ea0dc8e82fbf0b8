/**
 * A request in the Chat Completions wire (core.md A.1): roles, tool-call ids, images, echoes of thought. Builds new
 * objects and changes none of what it is given; nothing internal goes out.
 */
import type {
  AssistantMessage,
  Content,
  ModelRequest,
  ResolvedModel,
  ToolMessage,
  ToolSpec,
} from "@/core/contract.ts";
import { hostOf, isHostOf } from "../endpoints.ts";
import { takesTemperature } from "../traits.ts";
import { markEnvelope } from "./cache_marks.ts";
import { reasoningFields } from "./reasoning.ts";
import { tierFields } from "./speed.ts";
import type { BodyOptions } from "./wire.ts";
import { wireIds } from "./wire_ids.ts";

export type WireMessage = Record<string, unknown>;

/** Output cap for endpoints of the user's own, whose default may be tiny (core.md F.7). */
const CUSTOM_MAX_TOKENS = 65_536;

/** The request body. */
export function buildChatBody(
  request: ModelRequest,
  model: ResolvedModel,
  options: BodyOptions,
): Record<string, unknown> {
  const body: Record<string, unknown> = {
    model: model.model,
    messages: markEnvelope(wireMessages(request, model), model, options.cacheTtl),
    ...(request.tools.length > 0 ? { tools: request.tools.map(wireTool) } : {}),
    ...maxTokens(request, model, options),
    ...temperature(request, model),
    ...reasoningFields(model.provider, model.model, request.reasoningEffort),
    ...tierFields(request, model),
    ...options.extraBody,
  };
  if (options.stream) {
    body["stream"] = true;
    body["stream_options"] = { include_usage: true };
  }
  return body;
}

/** True when `buildChatBody` put in a cap that nobody asked for. */
export function hasOwnCap(request: ModelRequest, model: ResolvedModel): boolean {
  return request.maxTokens === undefined && model.provider.startsWith("custom");
}

function maxTokens(
  request: ModelRequest,
  model: ResolvedModel,
  options: BodyOptions,
): Record<string, number> {
  const isOpenAi = isHostOf(hostOf(model.baseUrl), "openai.com");
  const key = isOpenAi ? "max_completion_tokens" : "max_tokens";
  if (request.maxTokens !== undefined) return { [key]: request.maxTokens };
  if (!options.ownCap || !hasOwnCap(request, model)) return {};
  const half = Math.floor((model.contextWindow ?? CUSTOM_MAX_TOKENS * 2) / 2);
  return { [key]: Math.min(CUSTOM_MAX_TOKENS, half) };
}

function temperature(request: ModelRequest, model: ResolvedModel): Record<string, number> {
  const isTold = request.temperature !== undefined && takesTemperature(model.model);
  return isTold ? { temperature: request.temperature! } : {};
}

function wireTool({ name, description, parameters }: ToolSpec): Record<string, unknown> {
  return { type: "function", function: { name, description, parameters } };
}

export function wireMessages(request: ModelRequest, model: ResolvedModel): WireMessage[] {
  const out: WireMessage[] = [];
  if (request.system !== "") out.push({ role: systemRole(model.model), content: request.system });
  const echoes = wantsEcho(model);
  const sendsDetails = model.provider === "openrouter" || model.provider === "nous";
  let ids = new Map<string, string>();
  for (const message of request.messages) {
    if (message.role === "assistant") {
      ids = wireIds(message);
      out.push(wireAssistant(message, ids, echoes, sendsDetails));
    } else if (message.role === "tool") out.push(wireResult(message, ids));
    else out.push({ role: "user", content: wireContent(message.content) });
  }
  return out;
}

/** The newer OpenAI models take instructions under another name. */
function systemRole(model: string): string {
  return /gpt-5|codex/.test(model.toLowerCase()) ? "developer" : "system";
}

/** Thinking modes that refuse a history without their own words. */
function wantsEcho(model: ResolvedModel): boolean {
  const id = model.model.toLowerCase();
  return /deepseek|kimi|mimo/.test(id) || /^(deepseek|kimi-coding|xiaomi)/.test(model.provider);
}

function wireAssistant(
  message: AssistantMessage,
  ids: ReadonlyMap<string, string>,
  echoes: boolean,
  sendsDetails: boolean,
): WireMessage {
  const wire: WireMessage = { role: "assistant", content: message.content };
  const calls = message.toolCalls ?? [];
  if (calls.length > 0) {
    wire["tool_calls"] = calls.map((call) => ({
      id: ids.get(call.id),
      type: "function",
      function: { name: call.name, arguments: call.arguments },
    }));
    if (wire["content"] === "") wire["content"] = null;
    if (echoes) wire["reasoning_content"] = message.reasoningContent || message.reasoning || " ";
  } else wire["content"] ??= "";
  if (sendsDetails) {
    const details = routedDetails(message);
    if (details.length > 0) wire["reasoning_details"] = details;
  }
  return wire;
}

/** What such a route has given itself, and not what another wire left in the history. */
function routedDetails({ reasoningDetails = [] }: AssistantMessage): readonly unknown[] {
  return reasoningDetails.filter((item) => {
    const type = (item as { type?: unknown } | null)?.type;
    return type !== "reasoning" && type !== "message" && type !== "thinking" && type !== "redacted_thinking";
  });
}

function wireResult(message: ToolMessage, ids: ReadonlyMap<string, string>): WireMessage {
  return {
    role: "tool",
    tool_call_id: ids.get(message.toolCallId) ?? message.toolCallId,
    content: wireContent(message.content),
  };
}

function wireContent(content: Content): unknown {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image_url", image_url: { ...part.image_url } }
  );
}
