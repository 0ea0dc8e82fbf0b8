/** The order of checks for a shell command (core.md C.1), from "never" over "allowed already" to "ask". */
import {
  type ApprovalChoice,
  type AskPayload,
  commandHome,
  type ConfigService,
  type GuardContext,
  type RedactMode,
  type Verdict,
} from "@/core/contract.ts";
import { showInvisibleLine } from "@/lib/visible.ts";
import type { Platform } from "@/platform/mod.ts";
import { type AllowList, isListedCommand, matchesGlob } from "./allow_list.ts";
import { type Danger, findDangers, pipesSudoPassword } from "./danger.ts";
import { findHardBlock } from "./hard_block.ts";
import { analyse, type Analysis } from "./look_through.ts";
import { commandText, foldHome, type Homes, normalForms, readingText } from "./normal_forms.ts";
import { askingRule, type Decision, ruleName } from "./policy.ts";
import { resolveSync } from "./real_paths.ts";
import { blockedCommand, commandRefusal, REFUSED_BEFORE } from "./refusals.ts";
import { choicesOf } from "./review_call.ts";
import { decideCommand, runningTexts } from "./rules.ts";
import { shownCommand } from "./shown_command.ts";
import { cleanSource, plainSource } from "./shell_words.ts";
import { findTouched, withReal } from "./touched.ts";
import { findWrites } from "./writes.ts";

export interface CommandRules {
  readonly platform: Platform;
  readonly allowList: AllowList;
  readonly config: ConfigService;
  readonly homes: Homes;
  readonly tempDir: string;
  /** The table of dangers; the same one at every call. */
  dangers(): readonly Danger[];
  /** `HERMES_YOLO_MODE`, read once at start. */
  readonly yolo: boolean;
  /** `HERMES_EXEC_ASK`, read once at start: neither yolo nor smart mode answers in place of a person. */
  readonly asksAlways: boolean;
  redact(text: string, mode: RedactMode): string;
}

interface Read {
  readonly source: string;
  readonly analysis: Analysis;
  readonly forms: readonly string[];
  /** The forms and every command of the line by itself. */
  readonly texts: readonly string[];
}

/**
 * The text is read twice where it makes a difference: as the shell reads it, and with look-alikes folded and
 * colours taken out. Folding alone could be used to hide: what looks like a quote or a comment is none to the shell.
 */
function read(command: string, homes: Homes, cwd: string): Read {
  const vars = new Map([
    ["HOME", homes.user],
    ["HERMES_HOME", homes.hermes],
    ["IFS", " "],
    ["SHELL", "/bin/bash"],
    ["BASH", "/bin/bash"],
    ["0", "bash"],
  ]);
  const sources = [...new Set([plainSource(command), cleanSource(command)])];
  const found = sources.map((source) => analyse(source, vars, cwd));
  const analysis: Analysis = {
    running: found.flatMap(({ running }) => running),
    readings: found.flatMap(({ readings }) => readings),
    skeletons: found.flatMap(({ skeletons }) => skeletons),
  };
  const forms = [
    ...new Set(sources.flatMap((source, at) => normalForms(source, found[at] as Analysis, homes))),
  ];
  const single = analysis.readings.flatMap((reading) =>
    reading.commands.map((command) => commandText(command, homes))
  );
  return { source: sources[0] as string, analysis, forms, texts: [...forms, ...single] };
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
  const texts = [...read.texts, ...runningTexts(read.analysis, rules.homes)];
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

function plainForm({ analysis: { readings: [reading] }, source }: Read, homes: Homes): string {
  return reading ? readingText(reading, homes) : source.trim();
}

/** What a refusal covers: this command in its plain form, and every file it would have changed. */
function targetsOf(read: Read, context: GuardContext, { homes, platform }: CommandRules): string[] {
  const writes = findWrites(read.analysis.running, context.cwd, homes.user).map((write) => write.path);
  return [...new Set([plainForm(read, homes), ...withReal(writes, platform)])];
}

/** The person has said no to it in this turn, or to a file that it may change: that holds, whatever allows it. */
function refusedBefore(read: Read, context: GuardContext, rules: CommandRules): readonly string[] | null {
  if (!context.isRefused) return null;
  const { homes, platform } = rules;
  const touched = findTouched(read.analysis.running, context.cwd, homes.user, platform);
  const targets = [plainForm(read, homes), ...touched];
  return context.isRefused(targets) ? targets : null;
}

function dangersOf(read: Read, rules: CommandRules, context: GuardContext): string[] {
  if (removesOwnScript(read, rules.tempDir)) return [];
  const writes = findWrites(read.analysis.running, context.cwd, rules.homes.user)
    .map((write) => ({ ...write, path: foldHome(write.path, rules.homes) }));
  return findDangers({ analysis: read.analysis, forms: read.forms, writes }, rules.dangers());
}

/**
 * Secrets and the settings of the machine and of hermes: neither a rule that allows nor the auxiliary model spares
 * these questions.
 */
const NEVER_SPARED: ReadonlySet<string> = new Set([
  "overwrite system config",
  "overwrite personal config",
  "overwrite project secrets",
  "change the settings of hermes",
  "run hermes without approvals",
]);

/** What a person must consent to: the rule that asks, and the dangers nobody has allowed yet. */
function missingConsent(seen: Read, decision: Decision | null, rules: CommandRules, context: GuardContext) {
  const { settings } = context;
  const asking = askingRule(decision);
  const spared = decision !== null && !asking;
  const wanted = rules.yolo || context.yolo || settings.approvals.mode === "off";
  const free = wanted && !rules.asksAlways;
  const dangers = free ? [] : dangersOf(seen, rules, context);
  const keys = spared ? dangers.filter((key) => NEVER_SPARED.has(key)) : dangers;
  const all = asking ? [ruleName(asking), ...keys] : keys;
  const missing = rules.allowList.missing(all, context.scope, settings);
  if (spared) return { asking, missing, note: ruleName(decision.rule) };
  if (free && !asking) return { asking, missing, note: "yolo" };
  return { asking, missing, note: all.length > 0 ? `allowed before: ${all.join("; ")}` : undefined };
}

/** Relative names mean something else in another directory than the session's. */
function placeNote({ cwd, roots: [own] }: GuardContext, platform: Platform): string {
  const isOwn = own === undefined || own === cwd || resolveSync(platform, own).real === cwd;
  return isOwn ? "" : ` (in ${showInvisibleLine(cwd)})`;
}

/**
 * `~` and `$HOME` are read as the user's home, and where commands have another one (`terminal.home_mode`), as that,
 * too: what either reading finds counts.
 */
export function reviewCommand(command: string, context: GuardContext, rules: CommandRules): Verdict {
  const verdict = reviewIn(command, context, rules);
  const { platform, homes } = rules;
  const own = commandHome({ platform, home: homes.hermes, settings: context.settings });
  if (own === null || verdict.type === "block") return verdict;
  const there = reviewIn(command, context, { ...rules, homes: { ...homes, user: own } });
  return there.type === "allow" ? verdict : verdict.type === "ask" ? joined(verdict, there) : there;
}

type Asking = Extract<Verdict, { type: "ask" }>;

/** One question for what two readings of a command ask. */
function joined(one: Asking, other: Verdict): Verdict {
  if (other.type !== "ask" || one.payload.kind !== "approval" || other.payload.kind !== "approval") {
    return other;
  }
  const known = one.payload.patternKeys;
  const more = other.payload.patternKeys.filter((key) => !known.includes(key));
  if (more.length === 0) return one;
  return {
    ...other,
    targets: [...new Set([...one.targets, ...other.targets])],
    payload: {
      ...other.payload,
      description: `${one.payload.description}; ${more.join("; ")}`,
      patternKey: known[0]!,
      patternKeys: [...known, ...more],
      choices: one.payload.choices.filter((choice) =>
        (other.payload as typeof one.payload).choices.includes(choice)
      ),
    },
  };
}

function reviewIn(command: string, context: GuardContext, rules: CommandRules): Verdict {
  const seen = read(command, rules.homes, context.cwd);
  const never = findRefusal(seen, rules, context);
  if (never) return never;
  const decision = decideCommand(
    { text: command, forms: seen.texts, analysis: seen.analysis },
    context,
    rules,
  );
  if (decision?.effect === "deny") {
    const name = ruleName(decision.rule);
    return block(name, `The user's policy forbids this command (${name}). Do not retry it.`);
  }
  const question = (keys: readonly string[], choices: readonly ApprovalChoice[]): AskPayload => ({
    kind: "approval",
    // What is judged must be what is seen.
    command: shownCommand(command, (text) => rules.redact(text, "full")),
    description: keys.join("; ") + placeNote(context, rules.platform),
    patternKey: keys[0] as string,
    patternKeys: keys,
    choices,
  });
  const refused = refusedBefore(seen, context, rules);
  if (refused) {
    return { type: "ask", targets: refused, payload: question([REFUSED_BEFORE], ["once", "deny"]) };
  }
  if (!decision && isListedCommand(command, context.settings)) {
    return { type: "allow", note: "command_allowlist" };
  }
  const { asking, missing, note } = missingConsent(seen, decision, rules, context);
  if (missing.length === 0) return note === undefined ? { type: "allow" } : { type: "allow", note };
  if (!context.canAsk) {
    return { type: "block", reason: missing.join("; "), content: commandRefusal("unattended") };
  }
  const isFree = !rules.asksAlways && !asking && !missing.some((key) => NEVER_SPARED.has(key));
  return {
    type: "ask",
    targets: targetsOf(seen, context, rules),
    ...(isFree && context.settings.approvals.mode === "smart" ? { judgeable: true } : {}),
    payload: question(missing, asking ? choicesOf(asking.scope) : ["once", "session", "always", "deny"]),
  };
}
