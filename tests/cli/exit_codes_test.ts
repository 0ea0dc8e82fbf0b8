import { assertEquals } from "../support/assert.ts";
import { exitCodeOfTurn } from "@/cli/exit_codes.ts";
import { NO_USAGE, type TurnOutcome, type TurnResult } from "@/core/mod.ts";

function resultOf(outcome: TurnOutcome): TurnResult {
  return {
    outcome,
    text: "",
    reasoning: "",
    exitReason: "",
    partial: false,
    failure: null,
    usage: NO_USAGE,
    apiCalls: 1,
    model: "m",
    provider: "p",
    pendingSteer: null,
    userRowId: 1,
  };
}

Deno.test("exitCodeOfTurn() gives each outcome its code", () => {
  const codes = (["completed", "failed", "refused", "max_tokens", "max_turns", "cancelled"] as const)
    .map((outcome) => exitCodeOfTurn(resultOf(outcome), []));
  assertEquals(codes, [0, 1, 4, 5, 5, 130]);
});

Deno.test("exitCodeOfTurn() of a completed turn tells what was blocked in it", () => {
  assertEquals(exitCodeOfTurn(resultOf("completed"), ["unattended", "policy"]), 3);
  assertEquals(exitCodeOfTurn(resultOf("completed"), ["policy"]), 4);
  assertEquals(exitCodeOfTurn(resultOf("completed"), ["denied"]), 0);
  assertEquals(exitCodeOfTurn(resultOf("failed"), ["unattended"]), 1);
});
