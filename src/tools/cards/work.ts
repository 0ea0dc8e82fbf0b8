/** Cards of the tools that run something, plan, ask or look on the web. */
import { type Args, cut, maybeString, shorten } from "../args.ts";
import type { Card } from "./mod.ts";

const MAX_GOAL = 60;
const MAX_CHOICES = 4;
const MAX_TODOS = 8;

export const terminal: Card = (args) => {
  const command = maybeString(args, "command") ?? "";
  return {
    title: command ? `terminal: ${shorten(command)}` : "terminal",
    label: shorten(command),
    kind: "execute",
    locations: [],
    startText: command ? `$ ${command}` : "",
  };
};

export const process: Card = (args) => {
  const action = maybeString(args, "action") ?? "";
  const id = maybeString(args, "session_id");
  const data = maybeString(args, "data");
  const lines = [action, id ?? "", data === null ? "" : cut(data, 500)].filter((line) => line !== "");
  return {
    title: action ? `process ${action}${id ? `: ${id}` : ""}` : "process",
    label: shorten([action, id ?? ""].join(" ")),
    kind: "execute",
    locations: [],
    startText: lines.join("\n"),
  };
};

/** Marks of a list's items by status. */
export const TODO_MARKS: Readonly<Record<string, string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  cancelled: "[-]",
};

function todoLines(todos: unknown): string {
  if (!Array.isArray(todos)) return "";
  const lines = todos.slice(0, MAX_TODOS).map((item) => {
    const raw = isObject(item) ? item : {};
    const mark = TODO_MARKS[String(raw.status)] ?? TODO_MARKS.pending;
    return `${mark} ${shorten(String(raw.content ?? raw.id ?? ""), 120)}`;
  });
  if (todos.length > MAX_TODOS) lines.push(`… ${todos.length - MAX_TODOS} more`);
  return lines.join("\n");
}

export const todo: Card = (args) => {
  const count = Array.isArray(args.todos) ? args.todos.length : null;
  const startText = todoLines(args.todos);
  return {
    title: count === null ? "todo" : `todo (${count} item${count === 1 ? "" : "s"})`,
    label: shorten(startText.split("\n")[0] ?? ""),
    kind: "other",
    locations: [],
    startText,
  };
};

/** Labels of the choices, at most four; objects are flattened to the text they carry. */
export function choicesOf(args: Args): string[] {
  if (!Array.isArray(args.choices)) return [];
  return args.choices.map(choiceLabel).filter((label) => label !== "").slice(0, MAX_CHOICES);
}

function choiceLabel(choice: unknown): string {
  if (typeof choice === "string" || typeof choice === "number") return String(choice).trim();
  if (!isObject(choice)) return "";
  for (const key of ["label", "title", "text", "name", "value", "description"]) {
    const text = choice[key];
    if (typeof text === "string" && text) return text.trim();
  }
  return "";
}

export const clarify: Card = (args) => {
  const question = maybeString(args, "question") ?? "";
  const lines = [question, ...choicesOf(args).map((choice, i) => `${i + 1}. ${choice}`)];
  return {
    title: question ? `clarify: ${shorten(question)}` : "clarify",
    label: shorten(question),
    kind: "other",
    locations: [],
    startText: lines.join("\n").trim(),
  };
};

/** Whatever shape the call has. */
function goalsOf(args: Args): string[] {
  if (!Array.isArray(args.tasks)) return [maybeString(args, "goal") ?? ""].filter(Boolean);
  return args.tasks.map((task) => isObject(task) ? maybeString(task, "goal") ?? "" : "").filter(Boolean);
}

function delegationTitle(args: Args, goals: readonly string[]): string {
  const action = maybeString(args, "action") ?? "spawn";
  if (action !== "spawn") {
    const id = maybeString(args, "subagent_id");
    return `delegate ${shorten(action, 10)}${id === null ? "" : `: ${shorten(id, 40)}`}`;
  }
  return goals.length > 1 || Array.isArray(args.tasks)
    ? `delegate batch (${goals.length} ${goals.length === 1 ? "task" : "tasks"})`
    : `delegate: ${shorten(goals[0] ?? "", MAX_GOAL)}`;
}

export const delegateTask: Card = (args) => {
  const goals = goalsOf(args);
  return {
    title: delegationTitle(args, goals),
    label: shorten(goals.join("; ")) || (maybeString(args, "action") ?? "spawn"),
    kind: "execute",
    locations: [],
    startText: goals.length > 1 ? goals.map((one, i) => `${i + 1}. ${one}`).join("\n") : goals[0] ?? "",
  };
};

export const webSearch: Card = (args) => {
  const query = maybeString(args, "query") ?? "";
  const label = shorten(query);
  return {
    title: `web search: ${label}`,
    label,
    kind: "fetch",
    locations: [],
    startText: query,
    done: "Did 1 search",
  };
};

/** Of any shape: texts, or objects with `url` or `href`. */
export function addresses(value: unknown): string[] {
  const list = Array.isArray(value) ? value : [value];
  return list.flatMap((item) => {
    const { url, href } = (isObject(item) ? item : { url: item }) as Args;
    const text = typeof url === "string" && url.trim() ? url : href;
    return typeof text === "string" && text.trim() ? [text.trim()] : [];
  });
}

export const webExtract: Card = (args) => {
  const urls = new Set(addresses(args["urls"]));
  const [first = "", ...more] = urls;
  const label = shorten(`${first}${more.length > 0 ? ` (+${more.length})` : ""}`);
  return {
    title: `extract: ${label}`,
    label,
    kind: "fetch",
    locations: [],
    startText: "",
    done: `Extracted ${urls.size} page${urls.size === 1 ? "" : "s"}`,
  };
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
