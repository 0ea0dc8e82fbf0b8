/**
 * Door of the tools room: the written list of built-in tools (core.md B). State that lives with a session is kept in
 * its scope; what all sessions of the program share (locks of paths, the rate of notices) is made here, once.
 */
import type { BrowserDriver, SessionScope, Tool } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { createClarify } from "./clarify.ts";
import { createDelegateTask } from "./delegate_task.ts";
import { ledgerOf } from "./file_ledger.ts";
import { createPatch } from "./patch.ts";
import { PathLocks } from "./path_locks.ts";
import { createProcess } from "./process.ts";
import { type BackgroundProcess, processesOf as tableOf, type ProcessTable } from "./process_table.ts";
import { NoticeLimiter } from "./process_watch.ts";
import { createReadFile } from "./read_file.ts";
import { createSearchFiles } from "./search_files.ts";
import { createTerminal } from "./terminal.ts";
import { createMemory } from "./memory.ts";
import { createSessionSearch, type OpenProfile } from "./session_search.ts";
import type { SessionReader } from "./session_search_look.ts";
import { createSkillManage } from "./skills_manage.ts";
import { SkillRegistry } from "./skills_registry.ts";
import { createSkillsList, createSkillView } from "./skills_view.ts";
import type { SudoHost } from "./sudo.ts";
import { createTodo } from "./todo.ts";
import { createVisionAnalyze } from "./vision_analyze.ts";
import { createWebExtract } from "./web_extract.ts";
import { createWebSearch } from "./web_search.ts";
import { createWriteFile } from "./write_file.ts";

export { unifiedDiff } from "./diff.ts";
export { resolvePath } from "./paths.ts";
export { readRefusal } from "./read_deny.ts";
export { createLocalFiles } from "./local_files.ts";
export { createPendingWrites } from "./pending_apply.ts";
export { restoreTodos } from "./todo.ts";
export type { BackgroundProcess, ProcessTable, SessionReader };
export { SkillRegistry };
export { selectTools } from "./toolsets.ts";

export interface ToolsOptions {
  /** Names of variables with provider keys: kept out of children even when a login file sets them (core.md C.12). */
  secretEnvNames?(): readonly string[];
  /** Passwords of `sudo`; absent: nobody is asked for one. */
  readonly sudo?: SudoHost;
  /** Values of the environment and `.env`, for the keys of web services; absent: no web tools. */
  env?(name: string): string | undefined;
  /** Absent: no tools for skills. */
  readonly skills?: SkillRegistry;
  /** Stored conversations, opened when they are first asked for; absent: no `session_search`. */
  sessions?(): SessionReader;
  /** Those of another profile; absent: only this one's are looked through. */
  readonly openProfile?: OpenProfile;
}

/** The built-in tools, in the order in which a model sees them. */
export function createTools(options: ToolsOptions = {}): readonly Tool[] {
  const locks = new PathLocks();
  const limiter = new NoticeLimiter();
  const tools = [
    createTerminal({
      limiter,
      secretNames: () => options.secretEnvNames?.() ?? [],
      sudo: options.sudo,
    }),
    createProcess(limiter),
    createReadFile(),
    createWriteFile(locks),
    createPatch(locks),
    createSearchFiles(),
    ...(options.env ? [createWebSearch(options.env), createWebExtract(options.env)] : []),
    createVisionAnalyze(),
    createTodo(),
    createMemory(),
    ...(options.sessions ? [createSessionSearch(options.sessions, options.openProfile)] : []),
    ...(options.skills ? skillTools(options.skills) : []),
    createDelegateTask(),
    createClarify(),
  ];
  return tools.map(noteRuns);
}

/** Loads what makes the tools of a browser; it is needed only where somebody lends one. */
export async function loadBrowserTools(): Promise<(driver: BrowserDriver) => readonly Tool[]> {
  return (await import("./browser.ts")).createBrowserTools;
}

function skillTools(skills: SkillRegistry): Tool[] {
  return [createSkillsList(skills), createSkillView(skills), createSkillManage(skills)];
}

/** A tool that ran ends the counting of reads and searches that repeat each other. */
function noteRuns(tool: Tool): Tool {
  if (tool.name === "read_file" || tool.name === "search_files") return tool;
  return {
    ...tool,
    execute(args, context) {
      ledgerOf(context.scope).noteOtherTool();
      return tool.execute(args, context);
    },
  };
}

/**
 * Earlier reads are no longer in the conversation (compression, reset, rewind): `read_file` shows content again
 * instead of answering "unchanged".
 */
export function forgetReads(scope: SessionScope): void {
  ledgerOf(scope).forgetReads();
}

/** The background processes of a session, for doors that list or end them (core.md B.4). */
export function processesOf(scope: SessionScope, platform: Platform): ProcessTable {
  return tableOf(scope, platform, new NoticeLimiter());
}
export { decodeText, encodeText } from "./text_file.ts";
