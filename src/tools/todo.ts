/** `todo`: the session's plan (core.md B.6). One list per session; every call answers with the whole list. */
import type { Message, SessionScope, TodoItem, Tool } from "@/core/contract.ts";
import { latestTodos } from "@/core/contract.ts";
import { readBoolean, ToolError } from "./args.ts";
import { todo } from "./cards/work.ts";
import { settle, succeed } from "./result.ts";

const MAX_ITEMS = 256;
const MAX_CHARS = 4_000;
const STATUSES = ["pending", "in_progress", "completed", "cancelled"] as const;

/** The list of one session. */
export class TodoList {
  #items: readonly TodoItem[] = [];

  items(): readonly TodoItem[] {
    return this.#items;
  }

  replace(items: readonly TodoItem[]): void {
    const byId = new Map<string, TodoItem>();
    for (const item of items) byId.set(item.id, item);
    this.#items = bounded([...byId.values()]);
  }

  /** Updates items by id and adds new ones at the end. */
  merge(items: readonly (Partial<TodoItem> & { id: string })[]): void {
    const byId = new Map(this.#items.map((item) => [item.id, item]));
    for (const item of items) {
      const old = byId.get(item.id);
      byId.set(item.id, {
        id: item.id,
        content: item.content ?? old?.content ?? "(no description)",
        status: item.status ?? old?.status ?? "pending",
      });
    }
    this.#items = bounded([...byId.values()]);
  }
}

function bounded(items: TodoItem[]): TodoItem[] {
  if (items.length > MAX_ITEMS) {
    throw new ToolError(`The list has ${items.length} items, at most ${MAX_ITEMS} are allowed`);
  }
  return items;
}

/** The todo list of a session. */
export function todosOf(scope: SessionScope): TodoList {
  return scope.state("tools.todo", () => new TodoList());
}

/** Rebuilds the list from the last one that a stored conversation holds, also behind a compression. */
export function restoreTodos(scope: SessionScope, history: readonly Message[]): void {
  todosOf(scope).replace((latestTodos(history) ?? []).slice(0, MAX_ITEMS));
}

function readItem(value: unknown, partial: boolean): Partial<TodoItem> & { id: string } {
  if (typeof value !== "object" || value === null) {
    throw new ToolError("Each item of 'todos' must be an object with id, content and status");
  }
  const raw = value as Record<string, unknown>;
  const id = typeof raw.id === "string" || typeof raw.id === "number" ? String(raw.id).trim() : "";
  if (!id) throw new ToolError("Each item of 'todos' needs an 'id'");
  const content = typeof raw.content === "string" ? raw.content.trim() : undefined;
  if (!partial && !content) throw new ToolError(`Item '${id}' of 'todos' needs a 'content'`);
  if (content && content.length > MAX_CHARS) {
    throw new ToolError(
      `The content of item '${id}' has ${content.length} characters, at most ${MAX_CHARS} are allowed`,
    );
  }
  const status = STATUSES.find((one) => one === raw.status);
  if (raw.status !== undefined && !status) {
    throw new ToolError(`Status of item '${id}' must be one of ${STATUSES.join(", ")}`);
  }
  return {
    id,
    ...(content ? { content } : {}),
    ...(status ? { status } : partial ? {} : { status: "pending" as const }),
  };
}

function summaryOf(items: readonly TodoItem[]): Record<string, number> {
  const summary: Record<string, number> = { total: items.length };
  for (const status of STATUSES) summary[status] = items.filter((item) => item.status === status).length;
  return summary;
}

export function createTodo(): Tool {
  return {
    name: "todo",
    toolset: "todo",
    description:
      "The task list of this session, for work of three steps or more. Without todos: returns it; else " +
      "replaces it, or with merge=true updates items by id and adds new ones. Keep one item in_progress; " +
      "mark items completed as soon as they are done.",
    parameters: {
      type: "object",
      properties: {
        todos: {
          type: "array",
          items: {
            type: "object",
            properties: {
              id: { type: "string" },
              content: { type: "string" },
              status: { type: "string", enum: [...STATUSES] },
            },
            required: ["id", "content", "status"],
          },
        },
        merge: { type: "boolean" },
      },
    },
    parallel: "never",
    describe: todo,
    execute: (args, context) =>
      settle(() => {
        const list = todosOf(context.scope);
        if (args.todos !== undefined && args.todos !== null) {
          if (!Array.isArray(args.todos)) throw new ToolError("Argument 'todos' must be a list of items");
          const merge = readBoolean(args, "merge");
          const items = args.todos.map((item) => readItem(item, merge));
          if (merge) list.merge(items);
          else list.replace(items as TodoItem[]);
        }
        return Promise.resolve(succeed({ todos: list.items(), summary: summaryOf(list.items()) }));
      }),
  };
}
