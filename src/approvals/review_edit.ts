/**
 * Whether an edit is made, asked about or refused (acp.md C7, core.md C.8, decisions 18 and 28). Every path of the
 * edit is judged by itself, as given and as it really is on disk; the strictest judgement counts.
 */
import type { EditProposal, GuardContext, Verdict } from "@/core/contract.ts";
import { showInvisibleLine } from "@/lib/visible.ts";
import type { Platform } from "@/platform/mod.ts";
import { askingRule, ruleName } from "./policy.ts";
import { isInside, resolveTarget, type Target } from "./real_paths.ts";
import { blockedEdit, editRefusal, REFUSED_BEFORE } from "./refusals.ts";
import { decideEdit } from "./rules.ts";
import { judgePath, type Places, type Sensitivity } from "./sensitive.ts";

export interface EditRules {
  readonly platform: Platform;
  readonly places: Places;
  /** Folders of `HERMES_WRITE_SAFE_ROOT`; empty = no limit. */
  readonly safeRoots: readonly string[];
}

interface Judged {
  readonly target: Target;
  readonly sensitivity: Sensitivity | null;
}

function judge(target: Target, places: Places): Sensitivity | null {
  const found = [judgePath(target.given, places), judgePath(target.real, places)];
  const strictest = found.find((one) => one?.level === "deny") ?? found.find((one) => one !== null) ?? null;
  if (strictest) return strictest;
  return target.broken ? { level: "ask", why: "behind a broken link" } : null;
}

async function judgeAll(proposal: EditProposal, context: GuardContext, rules: EditRules): Promise<Judged[]> {
  const paths = new Set([...proposal.paths, ...proposal.edits.map((edit) => edit.path)]);
  const places = {
    ...rules.places,
    protectInstructions: context.settings.security.protected_instruction_files !== false,
  };
  const judged: Judged[] = [];
  for (const path of paths) {
    const target = await resolveTarget(rules.platform, path, context.cwd);
    judged.push({ target, sensitivity: judge(target, places) });
  }
  // Where the plan was made for may differ from where the path leads by now.
  for (const real of proposal.reals ?? []) {
    if (judged.some(({ target }) => target.real === real)) continue;
    const target = { given: real, real, broken: false };
    judged.push({ target, sensitivity: judge(target, places) });
  }
  return judged;
}

async function areInside(
  targets: readonly Target[],
  folders: readonly string[],
  context: GuardContext,
  platform: Platform,
): Promise<boolean> {
  const real: string[] = [];
  for (const folder of folders) real.push((await resolveTarget(platform, folder, context.cwd)).real);
  return targets.every((target) => !target.broken && real.some((folder) => isInside(target.real, folder)));
}

function namesOf(judged: readonly Judged[]): string[] {
  return [...new Set(judged.flatMap(({ target }) => [target.given, target.real]))];
}

function ask(proposal: EditProposal, judged: readonly Judged[], description: string): Verdict {
  return {
    type: "ask",
    targets: namesOf(judged),
    payload: { kind: "edit", proposal, description, choices: ["once", "deny"] },
  };
}

function describeSensitive(judged: readonly Judged[]): string {
  const names = judged.flatMap(({ target, sensitivity }) =>
    sensitivity ? [`${showInvisibleLine(target.given)} (${sensitivity.why})`] : []
  );
  return `sensitive file: ${names.join(", ")}`;
}

function unattended(proposal: EditProposal, reason: string): Verdict {
  return { type: "block", reason, content: editRefusal("unattended", proposal.path) };
}

function reviewSensitive(proposal: EditProposal, judged: readonly Judged[], context: GuardContext): Verdict {
  const description = describeSensitive(judged);
  const denied = judged.find(({ sensitivity }) => sensitivity?.level === "deny");
  if (denied && context.editPolicy === null) {
    const why =
      `${denied.target.given} is protected (${denied.sensitivity?.why}) and must not be changed by tools. ` +
      "The file is unchanged. Do not retry it; say what the user should change";
    return { type: "block", reason: description, content: blockedEdit(why, "blocked") };
  }
  return context.canAsk ? ask(proposal, judged, description) : unattended(proposal, description);
}

export async function reviewEdit(
  proposal: EditProposal,
  context: GuardContext,
  rules: EditRules,
): Promise<Verdict> {
  const judged = await judgeAll(proposal, context, rules);
  const verdict = await decide(proposal, judged, context, rules);
  if (verdict.type !== "allow" || !context.isRefused?.(namesOf(judged))) return verdict;
  return ask(proposal, judged, REFUSED_BEFORE);
}

async function decide(
  proposal: EditProposal,
  judged: readonly Judged[],
  context: GuardContext,
  rules: EditRules,
): Promise<Verdict> {
  const targets = judged.map(({ target }) => target);
  if (rules.safeRoots.length > 0 && !(await areInside(targets, rules.safeRoots, context, rules.platform))) {
    const why = `${proposal.path} is outside the folders that may be written (HERMES_WRITE_SAFE_ROOT). ` +
      "The file is unchanged";
    return { type: "block", reason: "outside HERMES_WRITE_SAFE_ROOT", content: blockedEdit(why, "blocked") };
  }
  const tool = context.toolName ?? proposal.toolName;
  const decision = decideEdit(tool, targets, context, rules.platform);
  const name = decision === null ? "" : ruleName(decision.rule);
  if (decision?.effect === "deny") {
    const why = `The user's policy forbids this change (${name}). The file is unchanged. Do not retry it`;
    return { type: "block", reason: name, content: blockedEdit(why, "blocked") };
  }
  if (judged.some(({ sensitivity }) => sensitivity !== null)) {
    return reviewSensitive(proposal, judged, context);
  }
  if (askingRule(decision)) return context.canAsk ? ask(proposal, judged, name) : unattended(proposal, name);
  if (decision) return { type: "allow", note: name };
  if (context.editPolicy === null || context.editPolicy === "session") return { type: "allow" };
  if (context.editPolicy === "workspace_session") {
    const folders = [...context.roots, context.cwd, rules.platform.tempDir()];
    if (await areInside(targets, folders, context, rules.platform)) return { type: "allow" };
  }
  return context.canAsk ? ask(proposal, judged, "edit") : unattended(proposal, "edit");
}
