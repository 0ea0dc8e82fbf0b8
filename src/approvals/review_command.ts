/** The order of checks for a shell command (core.md C.1), from "never" over "allowed already" to "ask". */
import type { ConfigService, GuardContext, RedactMode, Verdict } from "@/core/mod.ts";
import { type AllowList, isListedCommand, matchesGlob } from "./allow_list.ts";
import { type Danger, findDangers, pipesSudoPassword } from "./danger.ts";
import { findHardBlock } from "./hard_block.ts";
import { analyse, type Analysis } from "./look_through.ts";
import { commandText, foldHome, type Homes, normalForms, readingText } from "./normal_forms.ts";
import { blockedCommand, commandRefusal } from "./refusals.ts";
import { cleanSource } from "./shell_words.ts";
import { findWrites } from "./writes.ts";

export interface CommandRules {
  readonly allowList: AllowList;
  readonly config: ConfigService;
  readonly homes: Homes;
  readonly tempDir: string;
  /** The table of dangers; the same one at every call. */
  dangers(): readonly Danger[];
  /** `HERMES_YOLO_MODE`, read once at start. */
  readonly yolo: boolean;
  redact(text: string, mode: RedactMode): string;
}

interface Read {
  readonly source: string;
  readonly analysis: Analysis;
  readonly forms: readonly string[];
}

function read(command: string, homes: Homes): Read {
  const source = cleanSource(command);
  const vars = new Map([["HOME", homes.user], ["HERMES_HOME", homes.hermes], ["IFS", " "]]);
  const analysis = analyse(source, vars);
  return { source, analysis, forms: normalForms(source, analysis, homes) };
}

function block(reason: string, message: string): Verdict {
  return { type: "block", reason, content: blockedCommand(message, "blocked") };
}

/** Steps 2 to 4: what no consent can allow. */
function findRefusal(read: Read, rules: CommandRules, context: GuardContext): Verdict | null {
  const why = findHardBlock(read.analysis, rules.homes.user);
  if (why) {
    return block(
      `hard block: ${why}`,
      `This command is never run, with or without approval: it ${why}. Do not retry it.`,
    );
  }
  if (read.analysis.running.some(pipesSudoPassword) && !rules.config.env("SUDO_PASSWORD")) {
    return block(
      "sudo password on the command line",
      "A password must not be piped into sudo. Run plain sudo; the user is asked for the password when one is needed.",
    );
  }
  const single = read.analysis.readings.flatMap((reading) =>
    reading.commands.map((command) => commandText(command, rules.homes))
  );
  const texts = [...read.forms, ...single];
  const rule = context.settings.approvals.deny.find((glob) => texts.some((text) => matchesGlob(glob, text)));
  if (rule === undefined) return null;
  return block(
    `approvals.deny: ${rule}`,
    `The user's configuration forbids this command (${rule}). Do not retry it.`,
  );
}

/** `rm -f` of a verification script of the agent's own, alone on the line. */
function removesOwnScript(read: Read, tempDir: string): boolean {
  const [running, ...more] = read.analysis.running;
  if (!running || more.length > 0 || running.name !== "rm" || running.command.redirects.length > 0) {
    return false;
  }
  const [flag, ...paths] = running.args;
  const own = (path: string) =>
    path.startsWith(`${tempDir}/hermes-verify-`) && /^[\w.-]+$/.test(path.slice(tempDir.length + 1));
  return flag === "-f" && paths.length > 0 && paths.every(own);
}

/** What a refusal covers: this command in its plain form, and every file it would have changed. */
function targetsOf(read: Read, context: GuardContext, homes: Homes): string[] {
  const writes = findWrites(read.analysis.running, context.cwd, homes.user).map((write) => write.path);
  const [reading] = read.analysis.readings;
  const plain = reading ? readingText(reading, homes) : read.source.trim();
  return [...new Set([plain, ...writes])];
}

function dangersOf(read: Read, rules: CommandRules, context: GuardContext): string[] {
  if (removesOwnScript(read, rules.tempDir)) return [];
  const writes = findWrites(read.analysis.running, context.cwd, rules.homes.user)
    .map((write) => ({ ...write, path: foldHome(write.path, rules.homes) }));
  return findDangers({ analysis: read.analysis, forms: read.forms, writes }, rules.dangers());
}

export function reviewCommand(command: string, context: GuardContext, rules: CommandRules): Verdict {
  const seen = read(command, rules.homes);
  const refused = findRefusal(seen, rules, context);
  if (refused) return refused;
  const { settings } = context;
  if (rules.yolo || context.yolo || settings.approvals.mode === "off") return { type: "allow", note: "yolo" };
  if (isListedCommand(command, settings)) return { type: "allow", note: "command_allowlist" };
  const keys = dangersOf(seen, rules, context);
  if (keys.length === 0) return { type: "allow" };
  const missing = rules.allowList.missing(keys, context.scope, settings);
  if (missing.length === 0) return { type: "allow", note: `allowed before: ${keys.join("; ")}` };
  if (!context.canAsk) {
    return { type: "block", reason: missing.join("; "), content: commandRefusal("unattended") };
  }
  return {
    type: "ask",
    targets: targetsOf(seen, context, rules.homes),
    payload: {
      kind: "approval",
      command: rules.redact(command, "full"),
      description: missing.join("; "),
      patternKey: missing[0] as string,
      patternKeys: missing,
      choices: ["once", "session", "always", "deny"],
    },
  };
}
