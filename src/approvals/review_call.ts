/** A call that is neither a command nor an edit: allowed, unless a rule of `policy.rules` asks or forbids. */
import type { ApprovalChoice, GuardContext, PlainCall, Verdict } from "@/core/contract.ts";
import { showInvisible } from "@/lib/visible.ts";
import type { Platform } from "@/platform/mod.ts";
import type { AllowList } from "./allow_list.ts";
import { askingRule, ruleName } from "./policy.ts";
import { blockedCall, callRefusal } from "./refusals.ts";
import { decideCall } from "./rules.ts";

export interface CallRules {
  readonly platform: Platform;
  readonly allowList: AllowList;
}

/** A rule that always asks offers no consent that would outlive the call. */
export function choicesOf(scope: unknown): readonly ApprovalChoice[] {
  return scope === "session" ? ["once", "session", "deny"] : ["once", "deny"];
}

export function reviewCall(call: PlainCall, context: GuardContext, rules: CallRules): Verdict {
  const decision = decideCall(call, context, rules.platform);
  if (decision === null) return { type: "allow" };
  const name = ruleName(decision.rule);
  if (decision.effect === "deny") {
    const why = `The user's policy forbids this call (${name}). It was not made. Do not retry it`;
    return { type: "block", reason: name, content: blockedCall(why, "blocked") };
  }
  const allowed = !askingRule(decision) ||
    rules.allowList.missing([name], context.scope, context.settings).length === 0;
  if (allowed) return { type: "allow", note: name };
  if (!context.canAsk) return { type: "block", reason: name, content: callRefusal("unattended") };
  return {
    type: "ask",
    targets: [`${call.tool}: ${call.title}`],
    payload: {
      kind: "approval",
      command: showInvisible(call.title || call.tool),
      description: name,
      patternKey: name,
      patternKeys: [name],
      choices: choicesOf(decision.rule.scope),
    },
  };
}
