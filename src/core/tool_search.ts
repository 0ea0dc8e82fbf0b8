/**
 * The bridge to tools that are not shown (core.md B.14): when the schemas of a session's outside tools take more than
 * `tools.tool_search.threshold_pct` of the window, the model gets three tools instead. A `tool_call` becomes the call
 * that it stands for before anything looks at it, so guards, limits, the history and every door know only that one;
 * and a model that calls a hidden tool by its name has called it.
 */
import { Bm25 } from "@/lib/bm25.ts";
import { parseArguments } from "./arguments.ts";
import { type Deferral, isDeferrable, type SearchSettings, TOOL_CALL } from "./deferred_tools.ts";
import type { JsonSchema, RawToolCall, Tool, ToolDescription, ToolOutcome } from "./ports.ts";
import { repairToolName } from "./tool_names.ts";
import { errorOutcome } from "./tool_results.ts";

/** Characters of a description in a list. */
const SHORT = 200;
const NAME_WEIGHT = 3;

type Args = Readonly<Record<string, unknown>>;

/** The tools that take the place of the outside ones among `tools`. */
export function createDeferral(key: string, tools: readonly Tool[], settings: SearchSettings): Deferral {
  const outside = tools.filter(isDeferrable);
  const most = settings.max_search_limit;
  const names = tools.map(({ name }) => name);
  return {
    key,
    hidden: new Set(outside.map(({ name }) => name)),
    bridge: createBridge(outside, tools, { usual: Math.min(settings.search_default_limit, most), most }),
    unwrap: (call) => call.name === TOOL_CALL ? unwrap(call, names) ?? call : call,
  };
}

/** `null` where it names no tool of this session: then `tool_call` itself says so. */
function unwrap(call: RawToolCall, names: readonly string[]): RawToolCall | null {
  const parsed = parseArguments(call.arguments);
  if (parsed.type !== "ok" || typeof parsed.args["name"] !== "string") return null;
  const name = repairToolName(parsed.args["name"], names);
  if (name === null) return null;
  const given = parsed.args["arguments"] ?? {};
  return { ...call, name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
}

function createBridge(
  outside: readonly Tool[],
  all: readonly Tool[],
  limits: { readonly usual: number; readonly most: number },
): readonly Tool[] {
  let index: Bm25<Tool> | null = null;
  const search = (query: string, limit: number) => (index ??= createIndex(outside)).search(query, limit);
  const groups = countGroups(outside);

  const tool_search = make({
    name: "tool_search",
    description:
      `Find tools that are not in your list: there are ${outside.length} more (${groups}). Say in a few words what ` +
      "you want to do. A tool that was found is called by tool_call, or directly by its name.",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "What the tool is to do, in a few words" },
        limit: { type: "integer", minimum: 1, maximum: limits.most, default: limits.usual },
      },
      required: ["query"],
    },
    kind: "search",
    label: (args) => textOf(args["query"]),
    run(args) {
      const query = textOf(args["query"]).trim();
      if (query === "") return errorOutcome({ error: "query must be some words" });
      const wish = typeof args["limit"] === "number" ? Math.floor(args["limit"]) : limits.usual;
      const found = search(query, Math.min(Math.max(1, wish), limits.most));
      return answer({
        query,
        tools: found.map(({ name, description, parameters }) => ({
          name,
          description: shorten(description),
          parameters: Object.keys(parameters.properties ?? {}),
        })),
        ...(found.length === 0 ? { hint: `No tool fits these words. There are: ${groups}` } : {}),
      });
    },
  });

  const tool_describe = make({
    name: "tool_describe",
    description:
      "The whole description of a tool that tool_search has found, with the schema of its parameters.",
    parameters: {
      type: "object",
      properties: { name: { type: "string", description: "Name of the tool" } },
      required: ["name"],
    },
    kind: "read",
    label: (args) => textOf(args["name"]),
    run(args) {
      const wanted = repairToolName(textOf(args["name"]), all.map(({ name }) => name));
      const tool = all.find(({ name }) => name === wanted);
      if (!tool) return noTool(args["name"], search);
      return answer({ name: tool.name, description: tool.description, parameters: tool.parameters });
    },
  });

  const tool_call = make({
    name: TOOL_CALL,
    description: "Call a tool that tool_search has found. Look at its parameters with tool_describe first.",
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name of the tool" },
        arguments: {
          type: "object",
          description: "Its arguments, as its schema says",
          additionalProperties: true,
        },
      },
      required: ["name", "arguments"],
    },
    kind: "other",
    label: (args) => textOf(args["name"]),
    // A call that names a tool has become the call of that tool.
    run: (args) => noTool(args["name"], search),
  });
  return [tool_search, tool_describe, tool_call];
}

function createIndex(tools: readonly Tool[]): Bm25<Tool> {
  return new Bm25(tools.map((tool) => ({
    value: tool,
    fields: [
      [tool.name, NAME_WEIGHT],
      [tool.description, 1],
      [Object.keys(tool.parameters.properties ?? {}).join(" "), 1],
    ],
  })));
}

/** `github: 12, jira: 30`. */
function countGroups(tools: readonly Tool[]): string {
  const counts = new Map<string, number>();
  for (const { toolset } of tools) {
    const name = toolset.replace(/^mcp-/, "");
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => `${name}: ${count}`).join(", ");
}

function noTool(name: unknown, search: (query: string, limit: number) => Tool[]): ToolOutcome {
  const text = textOf(name);
  if (text.trim() === "") {
    return errorOutcome({ error: "name must be the name of a tool; find one with tool_search" });
  }
  const near = search(text, 3).map((tool) => tool.name);
  const hint = near.length > 0 ? ` Similar: ${near.join(", ")}.` : "";
  return errorOutcome({
    error: `Tool '${text.slice(0, SHORT)}' does not exist.${hint} Find tools with tool_search`,
  });
}

interface Recipe {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly kind: ToolDescription["kind"];
  label(args: Args): string;
  run(args: Args): ToolOutcome;
}

function make({ name, description, parameters, kind, label, run }: Recipe): Tool {
  return {
    name,
    toolset: "tool_search",
    description,
    parameters,
    parallel: "safe",
    describe: (args) => {
      const shown = label(args).split("\n", 1)[0]!.slice(0, 80);
      return { title: shown ? `${name}: ${shown}` : name, label: shown, kind, locations: [], startText: "" };
    },
    execute: (args) => Promise.resolve(run(args)),
  };
}

function answer(value: Record<string, unknown>): ToolOutcome {
  return { content: JSON.stringify(value), isError: false };
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > SHORT ? `${line.slice(0, SHORT).toWellFormed()}…` : line;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
