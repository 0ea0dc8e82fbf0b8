/** Output items of a response, and what of them fits into the last event of a stream (api-server.md B2.2, B2.3). */
export type OutputItem = Readonly<Record<string, unknown>> & { readonly id: string; readonly type: string };

export type ItemStatus = "in_progress" | "completed" | "incomplete";

export function messageItem(id: string, text: string, status: ItemStatus): OutputItem {
  return { id, type: "message", status, role: "assistant", content: text === "" ? [] : [textPart(text)] };
}

export function textPart(text: string): Record<string, unknown> {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function summaryPart(text: string): Record<string, unknown> {
  return { type: "summary_text", text };
}

export function reasoningItem(id: string, text: string, status: ItemStatus): OutputItem {
  return { id, type: "reasoning", status, summary: text === "" ? [] : [summaryPart(text)] };
}

export interface Call {
  readonly callId: string;
  readonly name: string;
  readonly args: string;
}

export function callItem(id: string, call: Call, status: ItemStatus): OutputItem {
  return {
    id,
    type: "function_call",
    status,
    call_id: call.callId,
    name: call.name,
    arguments: status === "in_progress" ? "" : call.args,
  };
}

export function resultItem(id: string, callId: string, result: string): OutputItem {
  const output = [{ type: "input_text", text: result }];
  return { id, type: "function_call_output", status: "completed", call_id: callId, output };
}

const LONG_ARGUMENTS = ["content", "query", "pattern", "old_string", "new_string"];
const MAX_ARGUMENT = 500;
const MAX_OUTPUT = 1000;
const KEPT = 500;

/** Long arguments and results are cut: a reader of the stream has had them already. */
export function shortened(item: OutputItem): OutputItem {
  if (item.type === "function_call") return { ...item, arguments: shortArguments(String(item.arguments)) };
  if (item.type !== "function_call_output" || !Array.isArray(item.output)) return item;
  const output = (item.output as { type: string; text: string }[]).map((part) =>
    part.text.length > MAX_OUTPUT ? { ...part, text: cut(part.text) } : part
  );
  return { ...item, output };
}

function shortArguments(text: string): string {
  if (text.length <= MAX_ARGUMENT) return text;
  try {
    const args = JSON.parse(text) as Record<string, unknown>;
    for (const name of LONG_ARGUMENTS) {
      const value = args[name];
      if (typeof value === "string" && value.length > MAX_ARGUMENT) args[name] = cut(value);
    }
    return JSON.stringify(args);
  } catch {
    return text; // not JSON: whatever it is, it was shown as it is
  }
}

function cut(text: string): string {
  return `${text.slice(0, KEPT).toWellFormed()}… [${text.length - KEPT} more characters]`;
}
