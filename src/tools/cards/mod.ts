/**
 * How calls of the built-in tools look to people (acp.md C11): title, label, kind, places, a first text. Kept apart from
 * the tools, because a stored conversation is shown before any tool is loaded. Pure: nothing is read, and arguments
 * of any shape give a card.
 */
import type { ToolDescription } from "@/core/contract.ts";
import type { Args } from "../args.ts";
import * as files from "./files.ts";
import * as knowledge from "./knowledge.ts";
import * as work from "./work.ts";

export type Card = (args: Args, at: { cwd: string }) => ToolDescription;

const CARDS: ReadonlyMap<string, Card> = new Map([
  ["terminal", work.terminal],
  ["process", work.process],
  ["read_file", files.readFile],
  ["write_file", files.writeFile],
  ["patch", files.patch],
  ["search_files", files.searchFiles],
  ["web_search", work.webSearch],
  ["web_extract", work.webExtract],
  ["vision_analyze", files.visionAnalyze],
  ["todo", work.todo],
  ["memory", knowledge.memory],
  ["session_search", knowledge.sessionSearch],
  ["skills_list", knowledge.skillsList],
  ["skill_view", knowledge.skillView],
  ["skill_manage", knowledge.skillManage],
  ["delegate_task", work.delegateTask],
  ["clarify", work.clarify],
]);

/** The card of a built-in tool; `undefined` for any other name. */
export function cardOf(name: string): Card | undefined {
  return CARDS.get(name);
}
