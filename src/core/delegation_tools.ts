/** Which of a session's tools its children get (core.md I.1 "Child tools"): narrowed by name, never widened. */
import type { Tool } from "./ports.ts";

export const DELEGATE_TOOL = "delegate_task";

/** These talk to the user, keep what outlives the task, or act outside of it. */
const NEVER: ReadonlySet<string> = new Set(["clarify", "memory", "send_message", "execute_code", "cronjob"]);

/** How many children a call would start; 1 for any other tool. */
export function ordersIn(name: string, args: Readonly<Record<string, unknown>>): number {
  if (name !== DELEGATE_TOOL) return 1;
  if (args["action"] !== undefined && args["action"] !== "spawn") return 0;
  return Array.isArray(args["tasks"]) ? Math.max(1, args["tasks"].length) : 1;
}

export function childTools(
  tools: readonly Tool[],
  options: { readonly mayDelegate: boolean; readonly withMcp: boolean },
): Tool[] {
  return tools.filter((tool) => {
    if (NEVER.has(tool.name)) return false;
    if (tool.name === DELEGATE_TOOL) return options.mayDelegate;
    return options.withMcp || !tool.toolset.startsWith("mcp-");
  });
}
