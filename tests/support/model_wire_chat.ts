/** The Chat Completions voice of the scripted model server. */
import { argumentsText } from "../../src/models/builtin/script_format.ts";
import type { ModelServerRequest } from "./model_server.ts";
import { countsOf, pieces, type ScriptEnd, sse, type Voice, type VoiceOf } from "./model_wires.ts";

export const chatVoice: VoiceOf = (request): Voice => {
  const base = envelope(request, "chat.completion.chunk");
  const chunk = (delta: unknown, finish: string | null = null) =>
    sse({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  return {
    text: (content) => chunk({ content }),
    reasoning: (delta) => chunk({ reasoning_content: delta }),
    tool: (step, position) => {
      const index = step.index ?? position;
      const id = step.id ?? `call_${position + 1}`;
      const call = (fields: unknown) => chunk({ tool_calls: [fields] });
      const open = { index, id, type: "function", function: { name: step.tool, arguments: "" } };
      const rest = pieces(argumentsText(step.args)).map((args) =>
        call({ index, function: { arguments: args } })
      );
      return [call(open), ...rest];
    },
    end: (end) => [
      chunk({}, end.finish ?? (end.tools.length > 0 ? "tool_calls" : "stop")),
      ...(request.body?.stream_options?.include_usage
        ? [sse({ ...base, choices: [], usage: usageBody(request, end) })]
        : []),
      "data: [DONE]\n\n",
    ],
    error: (body) => sse(body),
    whole: (end) => wholeAnswer(request, end),
  };
};

/** What every chunk of one answer shares. */
function envelope(request: ModelServerRequest, object: string): Record<string, unknown> {
  return {
    id: "chatcmpl-scripted",
    object,
    created: 1_700_000_000,
    model: request.body?.model ?? "scripted",
  };
}

function usageBody(request: ModelServerRequest, { usage, text }: ScriptEnd): unknown {
  const { prompt, completion, cached, reasoning } = countsOf(usage, request, text);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

function wholeAnswer(request: ModelServerRequest, end: ScriptEnd): Record<string, unknown> {
  const calls = end.tools.map((step, n) => ({
    id: step.id ?? `call_${n + 1}`,
    type: "function",
    function: { name: step.tool, arguments: argumentsText(step.args) },
  }));
  const message: Record<string, unknown> = {
    role: "assistant",
    content: end.text === "" && calls.length ? null : end.text,
  };
  if (end.reasoning) message.reasoning_content = end.reasoning;
  if (calls.length) message.tool_calls = calls;
  const finish = end.finish ?? (calls.length ? "tool_calls" : "stop");
  return {
    ...envelope(request, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finish }],
    usage: usageBody(request, end),
  };
}
