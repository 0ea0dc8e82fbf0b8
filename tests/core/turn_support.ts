/** What tests of the loop share: verdicts, odd answers, further tools. */
import type { AskPayload, Tool, Verdict } from "@/core/mod.ts";
import { done, type Reply, type ScriptedCore, text } from "../support/scripted_core.ts";

type Choices = Extract<AskPayload, { kind: "approval" }>["choices"];

/** The guard wants a person's word on every command; a refusal counts for `targets`, by default for the command. */
export function askAlways(
  choices: Choices,
  targets: (command: string) => readonly string[] = (command) => [command],
): (command: string) => Verdict {
  return (command) => ({
    type: "ask",
    payload: { kind: "approval", command, description: "d", patternKey: "d", patternKeys: ["d"], choices },
    targets: targets(command),
  });
}

/** One answer with several calls: `[id, tool, arguments]`. */
export function callTools(...calls: readonly (readonly [id: string, name: string, args: string])[]): Reply {
  const toolCalls = calls.map(([id, name, args]) => ({ id, name, arguments: args }));
  return [[done({ finish: "tool_calls", toolCalls })]];
}

/** Text that the output limit has cut. */
export const cutText = (value: string): Reply => [[text(value), done({ finish: "length" })]];

/** Adds a tool under any name; `execute` may throw before it returns a promise. */
export function addTool(core: ScriptedCore, name: string, execute: Tool["execute"]): void {
  const tools = core.services.tools("tui") as Tool[];
  tools.push({ ...tools[0]!, name, execute });
}
