/** Door of the approvals room: what may run, what is asked, what is never done (core.md C). */
export { createGuard, type GuardOptions } from "./guard.ts";
export { ruleName, ruleText } from "./policy.ts";
