import { assertEquals } from "../support/assert.ts";
import { asArgument, exitCodeOfError, exitCodeOfTurn } from "@/cli/exit_codes.ts";
import {
  HermesError,
  type HermesErrorCode,
  NO_USAGE,
  type TurnOutcome,
  type TurnResult,
} from "@/core/mod.ts";

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

Deno.test("exitCodeOfError() is 2 where an argument is wrong, and 1 for what the machine or a file is to blame for", () => {
  const codeOf = (code: HermesErrorCode, data = {}) => exitCodeOfError(new HermesError(code, "x", data));
  const bad = [
    "invalid_argument",
    "invalid_cwd",
    "session_not_found",
    "config_unknown_key",
    "config_invalid",
  ] as const;
  assertEquals(bad.map((code) => codeOf(code)), bad.map(() => 2));
  const failed = [
    "store_failed",
    "store_locked",
    "no_provider_configured",
    "missing_api_key",
    "internal",
  ] as const;
  assertEquals(failed.map((code) => codeOf(code)), failed.map(() => 1));
  assertEquals(codeOf("config_invalid", { path: "/etc/hermes/config.jsonc" }), 1);
  // Of a model the configuration may have named it as well.
  const model = new HermesError("invalid_provider", "Unknown provider", { a: 1 });
  assertEquals(exitCodeOfError(model), 1);
  const given = asArgument(model) as HermesError;
  assertEquals([given.code, given.message, exitCodeOfError(given)], [
    "invalid_provider",
    "Unknown provider",
    2,
  ]);
  const other = new HermesError("missing_api_key", "x");
  assertEquals(asArgument(other), other);
});
