/**
 * From a call to what `policy.ts` decides on: the texts a command comes to, the paths a call touches as they really
 * are, the folders of the session. Looks at the disk only where a rule speaks of paths.
 */
import type { GuardContext, PlainCall, PolicyRule } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Analysis } from "./look_through.ts";
import { foldHome, type Homes } from "./normal_forms.ts";
import type { PathBase } from "./path_glob.ts";
import { decide, type Decision, type Subject } from "./policy.ts";
import { resolveSync, type Target } from "./real_paths.ts";
import { findNames } from "./writes.ts";

/** More words of one command than these are compared as they stand, without a look at the disk. */
const MAX_LOOKS = 200;
const COMMAND_TOOL = "terminal";

export interface CommandParts {
  /** As it would run. */
  readonly text: string;
  /** Normal forms and single commands. */
  readonly forms: readonly string[];
  readonly analysis: Analysis;
}

function rulesOf(context: GuardContext): readonly PolicyRule[] {
  return context.settings.policy?.rules ?? [];
}

function baseOf(platform: Platform, context: GuardContext): PathBase {
  const given = [...new Set([context.cwd, ...context.roots])];
  const folders = new Set(given.flatMap((folder) => [folder, resolveSync(platform, folder).real]));
  return { platform, folders: [...folders], foldCase: platform.os !== "linux" };
}

function decideOn(
  context: GuardContext,
  platform: Platform,
  subject: (rules: readonly PolicyRule[]) => Subject,
): Decision | null {
  const rules = rulesOf(context);
  if (rules.length === 0) return null;
  const moment = { now: platform.clock.now(), base: baseOf(platform, context) };
  return decide(rules, subject(rules), moment);
}

function speaksOfPaths(rules: readonly PolicyRule[]): boolean {
  return rules.some((rule) => rule.path !== undefined);
}

/** What really runs, as text: `sudo env X=1 git push` is `git push`. */
export function runningTexts(analysis: Analysis, homes: Homes): string[] {
  return analysis.running.map(({ name, args }) =>
    [name, ...args.map((word) => foldHome(word, homes))].join(" ")
  );
}

export function decideCommand(
  parts: CommandParts,
  context: GuardContext,
  deps: { readonly platform: Platform; readonly homes: Homes },
): Decision | null {
  const { platform, homes } = deps;
  return decideOn(context, platform, (rules) => {
    const names = speaksOfPaths(rules) ? findNames(parts.analysis.running, context.cwd, homes.user) : [];
    return {
      tool: context.toolName ?? COMMAND_TOOL,
      mcpServer: null,
      surface: context.surface ?? null,
      command: { text: parts.text, forms: [...parts.forms, ...runningTexts(parts.analysis, homes)] },
      paths: names.map((given, at) =>
        at < MAX_LOOKS ? resolveSync(platform, given) : { given, real: given, broken: false }
      ),
      guessed: true,
    };
  });
}

export function decideEdit(
  tool: string,
  targets: readonly Target[],
  context: GuardContext,
  platform: Platform,
): Decision | null {
  return decideOn(context, platform, () => ({
    tool,
    mcpServer: null,
    surface: context.surface ?? null,
    command: null,
    paths: targets,
    guessed: false,
  }));
}

export function decideCall(call: PlainCall, context: GuardContext, platform: Platform): Decision | null {
  return decideOn(context, platform, (rules) => ({
    tool: call.tool,
    mcpServer: call.mcpServer,
    surface: context.surface ?? null,
    command: null,
    paths: speaksOfPaths(rules) ? call.paths.map((path) => resolveSync(platform, path)) : [],
    guessed: false,
  }));
}
