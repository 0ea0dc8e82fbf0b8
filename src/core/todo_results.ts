/**
 * The todo list as a conversation holds it (core.md B.6, A.16): in the results of `todo`, with whatever follows their
 * JSON, and in the summary of a compression, which carries on the list of what it replaced. Pure.
 */
import { parseLeadingObject } from "@/lib/leading_json.ts";
import type { TodoItem } from "./events.ts";
import { type Message, textOf } from "./messages.ts";

const TODO_TOOL = "todo";
const STATUSES: ReadonlySet<unknown> = new Set(["pending", "in_progress", "completed", "cancelled"]);

/** The list in the text of a `todo` result; `null` when it holds none. */
export function todosIn(result: string): readonly TodoItem[] | null {
  const todos = parseLeadingObject(result)?.["todos"];
  return Array.isArray(todos) && todos.every(isItem) ? todos : null;
}

function isItem(value: unknown): value is TodoItem {
  if (typeof value !== "object" || value === null) return false;
  const { id, content, status } = value as Record<string, unknown>;
  return typeof id === "string" && typeof content === "string" && STATUSES.has(status);
}

/** The list as it stands at the end of `messages`; `null` when there was none in them. */
export function latestTodos(messages: readonly Message[]): readonly TodoItem[] | null {
  for (let at = messages.length - 1; at >= 0; at--) {
    const todos = todosOf(messages[at]!);
    if (todos !== null) return todos;
  }
  return null;
}

function todosOf(message: Message): readonly TodoItem[] | null {
  if (message.role === "user") return message.todos ?? null;
  if (message.role !== "tool" || message.toolName !== TODO_TOOL) return null;
  return message.meta?.todos ?? todosIn(textOf(message.content));
}

/** What is left to do, for the model; `null` when nothing is. */
export function openItems(todos: readonly TodoItem[]): string | null {
  const open = todos.filter(({ status }) => status === "pending" || status === "in_progress");
  if (open.length === 0) return null;
  return ["Open items of the todo list:", ...open.map((todo) => `- [${todo.status}] ${todo.content}`)].join(
    "\n",
  );
}
