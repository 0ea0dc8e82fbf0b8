/** What the built-in demo says when its calls are done: a short, true account of the results. */
import type { DoneCall } from "./demo_rules.ts";

const MAX_LINES = 20;

type Result = Readonly<Record<string, unknown>>;

/** Markdown; says plainly when something did not work or was not allowed. */
export function summarise(done: readonly DoneCall[]): string {
  const last = done.at(-1);
  if (!last) return "There was nothing to do.";
  const { result } = last;
  if (result === null) return `The tool answered:\n\n${fenced(last.text)}`;
  const problem = problemOf(last, result);
  if (problem) return `That did not work: ${problem}`;
  const write = Object.hasOwn(WRITERS, last.name) ? WRITERS[last.name] : undefined;
  return write ? write(last, result) : `The tool answered:\n\n${fenced(last.text)}`;
}

function problemOf(call: DoneCall, result: Result): string | null {
  if (typeof result["error"] === "string" && result["error"] !== "") return firstLines(result["error"]);
  if (call.name === "terminal" && result["status"] === "blocked") return firstLines(call.text);
  return null;
}

const WRITERS: Readonly<Record<string, (call: DoneCall, result: Result) => string>> = {
  read_file: ({ args }, result) => {
    const text = String(result["content"] ?? "").replace(/^\d+\|/gm, "");
    if (result["status"] === "unchanged") return `${args["path"]} has not changed since it was read.`;
    return `${args["path"]} has ${counted(result["total_lines"], "line")}:\n\n${fenced(text)}`;
  },
  search_files: ({ args }, result) => args["target"] === "files" ? fileList(result) : matchList(args, result),
  write_file: ({ args }, result) => `I wrote ${counted(result["bytes_written"], "byte")} to ${args["path"]}.`,
  patch: ({ args }, result) =>
    `I replaced "${args["old_string"]}" by "${args["new_string"]}" in ${args["path"]}:\n\n` +
    fenced(String(result["diff"] ?? ""), "diff"),
  terminal: (_, result) => {
    const output = String(result["output"] ?? "");
    const ended = `The command ended with exit code ${result["exit_code"]}`;
    return output.trim() === "" ? `${ended} and printed nothing.` : `${ended}:\n\n${fenced(output)}`;
  },
  todo: (_, result) => {
    const todos = Array.isArray(result["todos"]) ? result["todos"] as readonly Result[] : [];
    const lines = todos.map((item, n) =>
      `${n + 1}. ${item["content"]} (${String(item["status"]).replace("_", " ")})`
    );
    return `The plan has ${counted(todos.length, "step")}:\n\n${lines.join("\n")}`;
  },
  clarify: (_, result) => {
    const answer = result["user_response"] ?? result["response"];
    return typeof answer === "string" && answer !== ""
      ? `You answered: ${answer}`
      : "You gave no answer, which is fine.";
  },
  memory: () => "I keep that in my notes for later conversations.",
};

function fileList(result: Result): string {
  const files = Array.isArray(result["files"]) ? result["files"] as readonly unknown[] : [];
  if (files.length === 0) return "There are no files there.";
  const more = result["truncated"] ? " (and more)" : "";
  return `There ${files.length === 1 ? "is" : "are"} ${counted(files.length, "file")}${more}:\n\n` +
    cut(files.map((file) => `- ${file}`), "- …");
}

function matchList(args: Result, result: Result): string {
  const wanted = String(args["pattern"]).replace(/\\(.)/g, "$1");
  const total = Number(result["total_count"] ?? 0);
  if (total === 0) return `I found no "${wanted}".`;
  const matches = Array.isArray(result["matches"]) ? result["matches"] as readonly Result[] : [];
  const lines = matches.map((m) => `${m["path"]}:${m["line"]}: ${m["content"]}`);
  const text = lines.length > 0 ? lines.join("\n") : String(result["matches_text"] ?? "");
  return `I found "${wanted}" ${total === 1 ? "once" : `${total} times`}:\n\n${fenced(text)}`;
}

function counted(value: unknown, noun: string): string {
  const n = Number(value ?? 0);
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

function firstLines(text: string): string {
  const flat = text.trim().split("\n").slice(0, 3).join(" ");
  return flat.length > 300 ? `${flat.slice(0, 299)}…` : flat;
}

function cut(lines: readonly string[], rest: string): string {
  return (lines.length > MAX_LINES ? [...lines.slice(0, MAX_LINES), rest] : lines).join("\n");
}

function fenced(text: string, language = ""): string {
  const body = cut(text.replace(/\s+$/, "").split("\n"), "…");
  const fence = body.includes("```") ? "~~~~" : "```";
  return `${fence}${language}\n${body}\n${fence}`;
}
