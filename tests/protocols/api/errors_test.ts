/** Which answers SDKs may send again (api-server.md A8, "Retry guard"), and what every refusal looks like. */
import { HermesError, type HermesErrorCode } from "@/core/contract.ts";
import { ApiError, errorResponse, toApiError } from "../../../src/protocols/api/errors.ts";
import { assertEquals } from "../../support/assert.ts";

const redact = (text: string) => text.replaceAll("sk-secret-0123456789", "***");

async function sent(error: unknown) {
  const response = errorResponse(toApiError(error), redact);
  const { status, headers } = response;
  const body = (await response.json()).error;
  return { status, body, retry: headers.get("x-should-retry"), after: headers.get("retry-after") };
}

Deno.test("A8: 409, 500 and 502 must not be repeated, nor what only an owner can mend; 429 and 503 may", async () => {
  const codes: readonly (readonly [number, string | null])[] = [
    [400, "unsupported_parameter"],
    [401, "invalid_api_key"],
    [403, "host_not_allowed"],
    [404, "run_not_found"],
    [409, "run_not_active"],
    [413, "body_too_large"],
    [429, "rate_limit_exceeded"],
    [500, "steer_failed"],
    [502, "agent_incomplete"],
    [503, "gateway_draining"],
    [503, "session_db_unavailable"],
    [503, "no_provider_configured"],
  ];
  const guarded = [];
  for (const [status, code] of codes) {
    if ((await sent(new ApiError(status, code, "no"))).retry === "false") guarded.push(code);
  }
  assertEquals(guarded, ["run_not_active", "steer_failed", "agent_incomplete", "no_provider_configured"]);
});

Deno.test("A8: a refusal has four members, a type that follows from its status, and no secret", async () => {
  const { status, body } = await sent(new Error("failed with sk-secret-0123456789"));
  assertEquals([status, body], [500, {
    message: "Internal server error: failed with ***",
    type: "server_error",
    param: null,
    code: null,
  }]);
  for (
    const [code, status, type, name, after] of [
      ["session_busy", 409, "invalid_request_error", "session_active_turn", null],
      ["session_limit", 429, "rate_limit_error", "rate_limit_exceeded", "1"],
      ["store_failed", 503, "invalid_request_error", "session_db_unavailable", null],
      ["shutting_down", 503, "invalid_request_error", "gateway_draining", "1"],
      ["missing_api_key", 502, "server_error", "agent_incomplete", null],
    ] as readonly (readonly [HermesErrorCode, number, string, string, string | null])[]
  ) {
    const answer = await sent(new HermesError(code, "why"));
    assertEquals([answer.status, answer.body.type, answer.body.code, answer.after], [
      status,
      type,
      name,
      after,
    ]);
    assertEquals(Object.keys(answer.body), ["message", "type", "param", "code"]);
  }
});
