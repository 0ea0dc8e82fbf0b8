/** The guard of the core (core.md C): commands, edits, grants, refusals. Owns the grants; everything else is rules. */
import type {
  AskAnswer,
  AskOutcome,
  AskPayload,
  ConfigService,
  Guard,
  GuardContext,
  JudgeOptions,
  Logger,
  Models,
  PlainCall,
  SmartVerdict,
} from "@/core/contract.ts";
import type { EditProposal, RedactMode, Verdict } from "@/core/contract.ts";
import { isYes } from "@/lib/yes.ts";
import type { Platform } from "@/platform/mod.ts";
import { AllowList } from "./allow_list.ts";
import { buildDangers, type Danger } from "./danger.ts";
import { refusalOf } from "./refusals.ts";
import { reviewCall } from "./review_call.ts";
import { type CommandRules, reviewCommand } from "./review_command.ts";
import { type EditRules, reviewEdit } from "./review_edit.ts";
import type { Places } from "./sensitive.ts";

export interface GuardOptions {
  readonly platform: Platform;
  readonly config: ConfigService;
  redact(text: string, mode: RedactMode): string;
  readonly log: Logger;
  /** For `approvals.mode: smart`; absent: every question goes to the person. */
  readonly models?: Models;
}

function bothForms(platform: Platform, path: string): string[] {
  try {
    return [...new Set([path, platform.files.realPathSync(path) ?? path])];
  } catch {
    // It may not be looked into: then its own name is all there is to compare.
    return [path];
  }
}

function placesOf(platform: Platform, home: string): Places {
  return {
    homes: bothForms(platform, platform.homeDir()),
    data: bothForms(platform, home),
    temp: bothForms(platform, platform.tempDir()),
    foldCase: platform.os !== "linux",
    protectInstructions: true,
  };
}

/** `:` or `;` between folders; on Windows only `;`, because drives have a colon. */
function splitRoots(platform: Platform, text: string | undefined): string[] {
  return (text ?? "").split(platform.os === "windows" ? ";" : /[:;]/).map((part) => part.trim())
    .filter((part) => part !== "");
}

class RuleGuard implements Guard {
  readonly #allowList: AllowList;
  readonly #commands: CommandRules;
  readonly #edits: () => EditRules;
  readonly #options: GuardOptions;

  constructor(options: GuardOptions) {
    const { platform, config } = options;
    this.#options = options;
    this.#allowList = new AllowList(config);
    let dangers: readonly Danger[] | null = null;
    this.#commands = {
      platform,
      allowList: this.#allowList,
      config,
      homes: { user: platform.homeDir(), hermes: config.home },
      tempDir: platform.tempDir(),
      dangers: () => dangers ??= buildDangers(),
      yolo: isYes(config.env("HERMES_YOLO_MODE")),
      asksAlways: isYes(config.env("HERMES_EXEC_ASK")),
      redact: options.redact,
    };
    const safeRoots = splitRoots(platform, config.env("HERMES_WRITE_SAFE_ROOT"));
    let rules: EditRules | null = null;
    // The disk is looked at when the first edit comes, not at start-up.
    this.#edits = () => rules ??= { platform, places: placesOf(platform, config.home), safeRoots };
  }

  reviewCommand(command: string, context: GuardContext): Verdict {
    return reviewCommand(command, context, this.#commands);
  }

  reviewEdit(proposal: EditProposal, context: GuardContext): Promise<Verdict> {
    return reviewEdit(proposal, context, this.#edits());
  }

  reviewCall(call: PlainCall, context: GuardContext): Verdict {
    const title = this.#options.redact(call.title, "full");
    const { platform } = this.#options;
    return reviewCall({ ...call, title }, context, { platform, allowList: this.#allowList });
  }

  async judge(payload: AskPayload, context: GuardContext, options: JudgeOptions): Promise<SmartVerdict> {
    const { models, redact, platform } = this.#options;
    if (!models || payload.kind !== "approval") return { verdict: "escalate", reason: "", model: "" };
    const { judgeCommand } = await import("./smart.ts");
    const { command, description } = payload;
    return await judgeCommand({ command, description, context, models, redact, platform }, options);
  }

  async grant(payload: AskPayload, answer: AskAnswer, context: GuardContext): Promise<void> {
    if (payload.kind !== "approval" || answer.type !== "choice" || !payload.choices.includes(answer.choice)) {
      return;
    }
    if (answer.choice !== "session" && answer.choice !== "always") return;
    this.#allowList.grantScope(payload.patternKeys, context.scope);
    if (answer.choice !== "always") return;
    try {
      await this.#allowList.grantForEver(payload.patternKeys);
    } catch (error) {
      // The person said yes: the command runs, and they are told that it will be asked again after a restart.
      this.#options.log.warn(
        `Cannot store the approval: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  refusal(payload: AskPayload, outcome: AskOutcome): string {
    return refusalOf(payload, outcome);
  }

  dropScope(scope: string): void {
    this.#allowList.dropScope(scope);
  }

  redact(text: string, mode: RedactMode): string {
    return this.#options.redact(text, mode);
  }
}

export function createGuard(options: GuardOptions): Guard {
  return new RuleGuard(options);
}
