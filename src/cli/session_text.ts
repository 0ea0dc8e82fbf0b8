/** A stored conversation as text for people and as JSON with stable snake_case fields. Pure. */
import { isUserTurn, type Message, type SessionRow, type SessionSummary, textOf } from "@/core/contract.ts";
import { usageJson } from "./event_json.ts";
import type { Paint } from "./paint.ts";
import { withoutControls, wrap } from "./text_layout.ts";
import { summarize } from "./tool_lines.ts";

type Json = Record<string, unknown>;

export function summaryJson(row: SessionSummary): Json {
  return {
    id: row.id,
    root_id: row.rootId,
    source: row.source,
    title: row.title,
    preview: row.preview,
    cwd: row.cwd,
    started_at: row.startedAt,
    last_activity_at: row.lastActivityAt,
    message_count: row.messageCount,
    model: row.model,
  };
}

export function sessionJson(row: SessionRow): Json {
  return {
    id: row.id,
    source: row.source,
    parent_id: row.parentId,
    title: row.title,
    cwd: row.cwd,
    git_branch: row.git.branch,
    git_repo_root: row.git.root,
    model: row.config.model ?? null,
    provider: row.config.provider ?? null,
    started_at: row.startedAt,
    last_activity_at: row.lastActivityAt,
    ended_at: row.endedAt,
    end_reason: row.endReason,
    message_count: row.messageCount,
    tool_call_count: row.toolCallCount,
    api_call_count: row.apiCallCount,
    usage: usageJson(row.usage),
    cost: {
      estimated_cost_usd: row.cost?.usd ?? null,
      cost_status: row.cost?.status ?? null,
      cost_source: row.cost?.source ?? null,
      pricing_version: row.cost?.version ?? null,
      billing_provider: row.billing.provider,
      billing_base_url: row.billing.baseUrl,
      billing_mode: row.billing.mode,
    },
  };
}

export function messageJson(message: Message): Json {
  const base = {
    role: message.role,
    content: message.content,
    row_id: message.rowId ?? null,
    timestamp: message.timestamp ?? null,
    ...(message.displayKind === undefined ? {} : { display_kind: message.displayKind }),
  };
  switch (message.role) {
    case "user":
      return message.displayText === undefined ? base : { ...base, display_text: message.displayText };
    case "assistant":
      return {
        ...base,
        ...(message.reasoning === undefined ? {} : { reasoning: message.reasoning }),
        ...(message.toolCalls === undefined ? {} : {
          tool_calls: message.toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
        ...(message.finishReason === undefined ? {} : { finish_reason: message.finishReason }),
        ...(message.tokenCount === undefined ? {} : { token_count: message.tokenCount }),
      };
    case "tool":
      return {
        ...base,
        tool_call_id: message.toolCallId,
        tool_name: message.toolName,
        ...(message.effect === undefined ? {} : { effect: message.effect }),
      };
  }
}

/** The conversation, one block per message. */
export function transcript(
  row: SessionRow,
  messages: readonly Message[],
  paint: Paint,
  columns: number,
): string[] {
  const facts = [row.source, row.cwd, row.config.model].filter((fact) => fact).map((fact) =>
    withoutControls(fact!)
  );
  const head = [
    paint.bold(withoutControls(row.title ?? row.id)),
    paint.dim([row.id, ...facts].join("  ")),
    "",
  ];
  const width = Math.min(columns, 100) - 2;
  return [...head, ...messages.flatMap((message) => block(message, paint, width))];
}

function block(message: Message, paint: Paint, width: number): string[] {
  const indent = (text: string) => wrap(withoutControls(text).trimEnd(), width).map((line) => `  ${line}`);
  switch (message.role) {
    case "user": {
      if (!isUserTurn(message)) return [];
      return [paint.cyan("you"), ...indent(message.displayText ?? textOf(message.content)), ""];
    }
    case "assistant": {
      const text = message.content ?? "";
      const calls = (message.toolCalls ?? []).map((call) =>
        `  ${paint.cyan("●")} ${withoutControls(call.name)} ${
          withoutControls(call.arguments).slice(0, Math.max(8, width - call.name.length - 4))
        }`
      );
      const said = text === "" ? [] : [paint.green("hermes"), ...indent(text)];
      return said.length + calls.length === 0 ? [] : [...said, ...calls, ...(calls.length ? [] : [""])];
    }
    case "tool": {
      const isError = message.meta?.isError === true;
      const summary = withoutControls(summarize(textOf(message.content), isError)).slice(0, width - 6);
      return [`    ${isError ? paint.red("✗") : paint.green("✓")} ${paint.dim(summary)}`, ""];
    }
  }
}
