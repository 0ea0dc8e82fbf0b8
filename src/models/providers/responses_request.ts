/**
 * A request in the OpenAI Responses wire (core.md A.1, A.12, A.17): instructions beside a list of items. Nothing is
 * kept at the provider (`store: false`), so its encrypted thoughts travel with the history.
 */
import type {
  AssistantMessage,
  Content,
  ModelRequest,
  ResolvedModel,
  ToolMessage,
  ToolSpec,
} from "@/core/contract.ts";
import { cacheKeyOf } from "./cache_key.ts";
import { responsesEffort, thinksInResponses } from "./efforts.ts";
import { tierFields } from "./speed.ts";
import { inOrder } from "./thought_places.ts";
import type { BodyOptions } from "./wire.ts";
import { wireIds } from "./wire_ids.ts";

type Json = Record<string, unknown>;

export function buildResponsesBody(request: ModelRequest, model: ResolvedModel, options: BodyOptions): Json {
  const tools = request.tools.map(wireTool);
  return {
    model: model.model,
    ...(request.system === "" ? {} : { instructions: request.system }),
    input: inputItems(request, model),
    ...(tools.length > 0 ? { tools } : {}),
    ...(request.maxTokens === undefined ? {} : { max_output_tokens: request.maxTokens }),
    ...reasoning(request, model, options),
    ...tierFields(request, model),
    store: false,
    prompt_cache_key: cacheKey(request, model),
    ...options.extraBody,
    ...(options.stream ? { stream: true } : {}),
  };
}

/** xAI wants one key per conversation; OpenAI serves all that begin alike from one cache. */
function cacheKey({ system, tools, sessionId }: ModelRequest, { provider }: ResolvedModel): string {
  return (provider === "xai" ? null : cacheKeyOf(system, tools)) ?? sessionId;
}

function reasoning(request: ModelRequest, model: ResolvedModel, { summaries }: BodyOptions): Json {
  // Models that do not think refuse to be asked for encrypted thoughts.
  if (!thinksInResponses(model)) return {};
  const effort = responsesEffort(model, request.reasoningEffort);
  return {
    ...(effort ? { reasoning: { effort, ...(summaries ? { summary: "auto" } : {}) } } : {}),
    include: ["reasoning.encrypted_content"],
  };
}

function wireTool({ name, description, parameters }: ToolSpec): Json {
  // The provider's default is strict, which our schemas are not made for.
  return { type: "function", name, description, parameters, strict: false };
}

export function inputItems(request: ModelRequest, model: ResolvedModel): Json[] {
  // Only OpenAI's own models name the phases of an answer.
  const sendsPhase = model.provider !== "xai";
  const items: Json[] = [];
  let ids = new Map<string, string>();
  for (const message of request.messages) {
    if (message.role === "assistant") {
      ids = wireIds(message);
      items.push(...assistantItems(message, ids, sendsPhase));
    } else if (message.role === "tool") items.push(resultItem(message, ids));
    else items.push({ role: "user", content: wireContent(message.content) });
  }
  return items;
}

/** In the order in which the provider gave them: a thought is refused without the item that followed it. */
function assistantItems(
  message: AssistantMessage,
  ids: ReadonlyMap<string, string>,
  sendsPhase: boolean,
): Json[] {
  const details = (message.reasoningDetails ?? []) as readonly (Json | null)[];
  const thoughts = details.flatMap((stored) => {
    if (stored?.["type"] !== "reasoning" || typeof stored["encrypted_content"] !== "string") return [];
    const { place: _, ...wire } = stored;
    return [{ stored, wire }];
  });
  const phase = details.find((item) => item?.["type"] === "message")?.["phase"];
  const text = message.content
    ? {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: message.content }],
      ...(sendsPhase && typeof phase === "string" ? { phase } : {}),
    }
    : null;
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: "function_call",
    call_id: ids.get(call.id),
    name: call.name,
    arguments: call.arguments || "{}",
  }));
  return inOrder(thoughts, text, calls);
}

function resultItem(message: ToolMessage, ids: ReadonlyMap<string, string>): Json {
  return {
    type: "function_call_output",
    call_id: ids.get(message.toolCallId) ?? message.toolCallId,
    output: wireContent(message.content),
  };
}

function wireContent(content: Content): unknown {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text"
      ? { type: "input_text", text: part.text }
      : { type: "input_image", image_url: part.image_url.url, detail: part.image_url.detail ?? "auto" }
  );
}
