/** core.md E.5 Safety, `HERMES_EXEC_ASK`: nothing answers in place of a person. */
import { assertEquals } from "../support/assert.ts";
import { withGuard } from "./guard_support.ts";

const OFF = '{ "approvals": { "mode": "off" } }';
const SMART = '{ "approvals": { "mode": "smart" } }';
const COMMAND = "rm -rf build";

function verdictIn(options: { config?: string; env?: Record<string, string> }, context: object = {}) {
  let seen: unknown[] = [];
  return withGuard((rig) => {
    const verdict = rig.guard.reviewCommand(COMMAND, rig.context(context));
    seen = [verdict.type, "judgeable" in verdict ? verdict.judgeable : undefined];
  }, options).then(() => seen);
}

Deno.test("core C.1: without it each form of yolo allows, and smart mode judges", async () => {
  assertEquals(await verdictIn({ env: { HERMES_YOLO_MODE: "1" } }), ["allow", undefined]);
  assertEquals(await verdictIn({}, { yolo: true }), ["allow", undefined]);
  assertEquals(await verdictIn({ config: OFF }), ["allow", undefined]);
  assertEquals(await verdictIn({ config: SMART }), ["ask", true]);
  assertEquals(await verdictIn({ config: OFF, env: { HERMES_EXEC_ASK: "0" } }), ["allow", undefined]);
});

Deno.test("core E.5: with it each form asks, and no model answers", async () => {
  const env = { HERMES_EXEC_ASK: "1" };
  assertEquals(await verdictIn({ env: { ...env, HERMES_YOLO_MODE: "1" } }), ["ask", undefined]);
  assertEquals(await verdictIn({ env }, { yolo: true }), ["ask", undefined]);
  assertEquals(await verdictIn({ env, config: OFF }), ["ask", undefined]);
  assertEquals(await verdictIn({ env, config: SMART }), ["ask", undefined]);
});

Deno.test("core D10: where nobody can be asked it is refused; what was allowed by name runs", async () => {
  const env = { HERMES_EXEC_ASK: "yes", HERMES_YOLO_MODE: "1" };
  assertEquals(await verdictIn({ env }, { canAsk: false }), ["block", undefined]);
  assertEquals(await verdictIn({ env, config: '{ "command_allowlist": ["rm -rf build"] }' }), [
    "allow",
    undefined,
  ]);
  const rules = '{ "policy": { "rules": [{ "effect": "allow", "command": "rm -rf *" }] } }';
  assertEquals(await verdictIn({ env, config: rules }), ["allow", undefined]);
});
