/**
 * What a finished call shows (acp.md C11, "At completion"): the tool's JSON result in words. One table entry per
 * result shape; anything else is shown as bullets, and text as it is. Never throws, whatever the result holds.
 */
import { plural } from "@/lib/plural.ts";
import { parseLeadingObject } from "@/lib/leading_json.ts";
import { unwrapUntrusted } from "@/lib/untrusted.ts";
import { isObject } from "../envelope.ts";
import { memory, sessionSearch, skillManage, skillsList, skillView } from "./knowledge_results.ts";
import { cut, fence, oneLine } from "./text.ts";
import { visionAnalyze, webExtract, webSearch } from "./web_results.ts";

type Result = Record<string, unknown>;
type Render = (result: Result, args: Readonly<Record<string, unknown>>) => string;

const SEARCH_LIMIT = 7_000;

function str(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function num(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The result as an object; `null` for anything else. Tools may add a hint after the JSON. */
export function readResult(result: string): Result | null {
  return parseLeadingObject(result);
}

function failureText(result: Result): string {
  return str(result.error) || str(result.message) || str(result.output) || "The call failed.";
}

function terminal(result: Result): string {
  const code = num(result.exit_code);
  const lines = [
    str(result.output),
    str(result.status) === "blocked" ? failureText(result) : str(result.error),
    code !== null && code > 0 ? `exit code ${code}` : "",
    str(result.exit_code_meaning),
    str(result.hint),
  ];
  return cut(lines.filter((line) => line !== "").join("\n") || `Done, no output (exit code ${code ?? 0}).`);
}

function readFile(result: Result, args: Readonly<Record<string, unknown>>): string {
  if (str(result.error)) return failureText(result);
  const content = str(result.content);
  const path = str(result.resolved_path) || str(args.path);
  if (!content) return `${path}: ${str(result.hint) || str(result.status) || "empty"}`;
  const numbers = [...content.matchAll(/^(\d+)\|/gm)].map((match) => match[1]!);
  const range = numbers.length ? ` lines ${numbers[0]}–${numbers.at(-1)}` : "";
  const total = num(result.total_lines);
  return cut(`${path}${range}${total === null ? "" : ` of ${total}`}\n${fence(cut(content))}`, 5_400);
}

function edit(result: Result, args: Readonly<Record<string, unknown>>): string {
  if (str(result.error) || result.success === false) return failureText(result);
  const files = ["files_modified", "files_created", "files_deleted"]
    .flatMap((key) => list(result[key]).map(String));
  const target = files.length ? files.join(", ") : str(result.resolved_path) || str(args.path);
  const bytes = num(result.bytes_written);
  const replacements = num(result.replacements);
  const facts = [
    bytes === null ? "" : plural(bytes, "byte"),
    replacements === null ? "" : plural(replacements, "replacement"),
  ].filter((fact) => fact !== "");
  const warning = str(result._warning);
  return `Changed ${target}${facts.length ? ` (${facts.join(", ")})` : ""}${warning ? `\n${warning}` : ""}`;
}

function searchFiles(result: Result): string {
  if (str(result.error)) return failureText(result);
  const files = list(result.files);
  const matches = list(result.matches).filter(isObject);
  const total = num(result.total_count) ?? Math.max(files.length, matches.length);
  const lines = [`${plural(total, "match")}${result.truncated ? " (more exist)" : ""}`];
  for (const match of matches.slice(0, 12)) {
    lines.push(`${str(match.path)}:${num(match.line) ?? 0} ${oneLine(str(match.content), 300)}`);
  }
  for (const file of files.slice(0, 20)) lines.push(isObject(file) ? str(file.path) : String(file));
  if (isObject(result.counts)) {
    for (const [path, count] of Object.entries(result.counts).slice(0, 20)) lines.push(`${path}: ${count}`);
  }
  if (str(result.matches_text)) lines.push(str(result.matches_text).split("\n").slice(0, 40).join("\n"));
  return cut(lines.join("\n"), SEARCH_LIMIT);
}

function processResult(result: Result): string {
  const processes = list(result.processes).filter(isObject);
  if (Array.isArray(result.processes)) {
    const rows = processes.slice(0, 20).map((one) =>
      `- ${str(one.session_id)} ${str(one.status)}: ${oneLine(str(one.command), 120)}`
    );
    return [plural(processes.length, "process"), ...rows].join("\n");
  }
  const code = num(result.exit_code);
  const head = `${str(result.status) || "ok"}${code === null ? "" : ` (exit code ${code})`}`;
  const output = str(result.output) || str(result.output_preview) || str(result.error);
  return cut(output ? `${head}\n${output}` : head, SEARCH_LIMIT);
}

const MARKS: Readonly<Record<string, string>> = {
  completed: "[x]",
  in_progress: "[>]",
  cancelled: "[-]",
  pending: "[ ]",
};

function todo(result: Result): string {
  if (str(result.error)) return failureText(result);
  const items = list(result.todos).filter(isObject);
  const done = items.filter((item) => item.status === "completed").length;
  const lines = items.map((item) => `${MARKS[str(item.status)] ?? "[ ]"} ${oneLine(str(item.content), 300)}`);
  return cut([`${done} of ${plural(items.length, "item")} done`, ...lines].join("\n"));
}

function clarify(result: Result): string {
  if (str(result.error)) return failureText(result);
  return `Answer: ${str(result.user_response) || "(skipped)"}`;
}

/** The summary, or what went wrong. */
function orFailure(render: Render): Render {
  return (result, args) =>
    str(result.error) || result.success === false ? failureText(result) : render(result, args);
}

const DELEGATE_LIMIT = 8_000;

/** Per task: status, model, seconds, summary. */
function delegateTask(result: Result): string {
  const entries = list(result.results).filter(isObject);
  if (entries.length === 0) {
    const count = num(result.count);
    if (str(result.status) !== "dispatched" || count === null) return bullets(result, 0).join("\n");
    return `${plural(count, "task")} in the background (${str(result.delegation_id)})`;
  }
  const parts = entries.map((entry, index) => {
    const facts = [str(entry.status), str(entry.model), `${(num(entry.duration_seconds) ?? 0).toFixed(1)} s`];
    const head = `${entries.length === 1 ? "" : `${index + 1}. `}${facts.filter(Boolean).join(", ")}`;
    return [head, str(entry.error), str(entry.summary)].filter(Boolean).join("\n");
  });
  return cut([...parts, str(result.note)].filter(Boolean).join("\n\n"), DELEGATE_LIMIT);
}

const RENDERERS: Readonly<Record<string, Render>> = {
  web_search: orFailure(webSearch),
  web_extract: orFailure(webExtract),
  vision_analyze: orFailure(visionAnalyze),
  memory: orFailure(memory),
  session_search: orFailure(sessionSearch),
  skill_view: orFailure(skillView),
  skills_list: orFailure(skillsList),
  skill_manage: orFailure(skillManage),
  terminal,
  read_file: readFile,
  write_file: edit,
  patch: edit,
  search_files: searchFiles,
  process: processResult,
  todo,
  clarify,
  delegate_task: orFailure(delegateTask),
};

/** Nested values as an indented list. */
function bullets(value: unknown, depth: number): string[] {
  const pad = "  ".repeat(depth);
  const entries: [string, unknown][] = Array.isArray(value)
    ? value.map((item, i) => [String(i + 1), item])
    : Object.entries(value as Result);
  return entries.slice(0, 100).flatMap(([key, item]) => {
    const nested = depth < 3 && typeof item === "object" && item !== null;
    if (nested) return [`${pad}- ${key}:`, ...bullets(item, depth + 1)];
    return [`${pad}- ${key}: ${typeof item === "string" ? item : JSON.stringify(item)}`];
  });
}

/** What a call has given, without what was put around it for the model. */
export interface Given {
  /** JSON, or a text as it is. */
  readonly said: string;
  /** What a server gave beside its text, as JSON. */
  readonly structured: string | null;
}

/** Strangers' words come wrapped, and those of MCP servers as `result` and `structuredContent`. */
export function givenBy(result: string, builtin: boolean): Given {
  const inside = unwrapUntrusted(result);
  const object = builtin ? null : readResult(inside);
  if (!object || !("result" in object)) return { said: inside, structured: null };
  const { result: said, structuredContent } = object;
  return {
    said: typeof said === "string" ? said : JSON.stringify(said),
    structured: isObject(structuredContent) ? JSON.stringify(structuredContent) : null,
  };
}

/** The text of a finished call. */
export function resultText(name: string, result: string, args: Readonly<Record<string, unknown>>): string {
  const object = readResult(result);
  if (object === null) return cut(result);
  if (str(object.status) === "blocked" && str(object.message)) return cut(str(object.message));
  const render = Object.hasOwn(RENDERERS, name) ? RENDERERS[name]! : null;
  if (render) return render(object, args);
  return cut(bullets(object, 0).join("\n"));
}

/**
 * True when the call failed (acp.md C11): the executor says so, or the result does in one of its own fields.
 * Words like "error" in plain text do not count.
 */
export function hasFailed(result: string, isError: boolean, builtin: boolean): boolean {
  if (isError) return true;
  const object = readResult(result);
  if (object === null) return /^Error executing tool '/.test(result);
  if (object.success === false || object.ok === false) return true;
  const code = num(object.exit_code) ?? num(object.returncode);
  if (code !== null && code !== 0) return true;
  return builtin && str(object.error) !== "" && object.content === undefined;
}
