/**
 * Plan mode (acp.md C7): the agent looks and thinks, and changes nothing. A tool counts by what it says of itself;
 * what says nothing (a tool of an MCP server) might change something and is refused too.
 */
import type { Tool, ToolDescription, ToolOutcome } from "./ports.ts";

export const PLAN_MODE = "plan";

const KINDS = new Set<ToolDescription["kind"]>(["read", "search", "fetch", "think"]);
const TOOLS = new Set(["todo", "memory", "session_search", "clarify"]);

/** The result of a call that has to wait for another mode; `null` when it may run. */
export function planRefusal(tool: Tool, description: ToolDescription): ToolOutcome | null {
  if (KINDS.has(description.kind) || TOOLS.has(tool.name)) return null;
  const error =
    `Plan mode: '${tool.name}' was not run, nothing may be changed yet. Present your plan to the user ` +
    "and end your turn; the user switches the mode when the plan is to be carried out.";
  return { content: JSON.stringify({ error }), isError: true, effect: "none" };
}
