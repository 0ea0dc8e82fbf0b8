/** Limits of time, and kinds of refusals that only their text tells apart (core.md A.5, A.11). */
import type { ModelFailureKind } from "@/core/mod.ts";
import { failureOfResponse, kindOfStatus } from "@/models/providers/failures.ts";
import { timeLimits } from "@/models/providers/time_limits.ts";
import type { Runtime } from "@/models/runtime.ts";
import { assertEquals } from "../support/assert.ts";
import { settingsOf } from "./helpers.ts";

interface Asked {
  readonly model?: string;
  readonly tokens?: number;
  readonly entry?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly isLocal?: boolean;
}

function limits({ model = "m", tokens = 0, entry, env = {}, isLocal = false }: Asked = {}) {
  const box = { base_url: "http://box/v1", ...entry };
  const runtime = {
    entry: entry ? settingsOf({ providers: { box } }).providers["box"]! : null,
    model: { model },
    isLocal,
  } as unknown as Runtime;
  return timeLimits(runtime, tokens, (name) => env[name]);
}

Deno.test("core A.5: a stream may be silent for 180 s, 240 and 300 s with a large prompt, 600 s while a model thinks", () => {
  const cases: readonly (readonly [Asked, number])[] = [
    [{}, 180_000],
    [{ tokens: 50_000 }, 180_000],
    [{ tokens: 50_001 }, 240_000],
    [{ tokens: 100_000 }, 240_000],
    [{ tokens: 100_001 }, 300_000],
    [{ tokens: 900_000 }, 300_000],
    ...["deepseek-reasoner", "o3", "openai/o1-mini", "deepseek/deepseek-r1:free", "qwq", "gpt-5.5-pro"]
      .flatMap(
        (model) => [0, 60_000, 200_000].map((tokens) => [{ model, tokens }, 600_000] as const),
      ),
    [{ model: "deepseek-chat" }, 180_000],
    [{ tokens: 200_000, env: { HERMES_STREAM_STALE_TIMEOUT: "7" } }, 7_000],
    [{ model: "o3", entry: { stale_timeout_seconds: 8 } }, 8_000],
    [{ entry: { stale_timeout_seconds: 8, models: { m: { stale_timeout_seconds: 9 } } } }, 9_000],
  ];
  for (const [asked, stale] of cases) assertEquals(limits(asked).stale, stale, JSON.stringify(asked));
});

Deno.test("core A.5: the whole call: of the model, else the provider, else the environment, else 1,800 s", () => {
  const env = { HERMES_API_TIMEOUT: "11" };
  const entry = { request_timeout_seconds: 9, models: { m: { timeout_seconds: 7 }, other: {} } };
  const cases: readonly (readonly [Asked, number])[] = [
    [{}, 1_800_000],
    [{ env }, 11_000],
    [{ env, entry: { models: { m: { timeout_seconds: 7 } } } }, 7_000],
    [{ env, entry }, 7_000],
    [{ env, entry, model: "other" }, 9_000],
    [{ env, entry, model: "unlisted" }, 9_000],
    [{ entry, isLocal: true }, 7_000],
  ];
  for (const [asked, whole] of cases) assertEquals(limits(asked).whole, whole, JSON.stringify(asked));
});

Deno.test("core A.5: connect 30 s, read 120 s, a call that does not stream 90 s; a local endpoint has only the whole", () => {
  assertEquals(limits(), {
    connect: 30_000,
    whole: 1_800_000,
    read: 120_000,
    stale: 180_000,
    unstreamed: 90_000,
  });
  assertEquals(limits({ isLocal: true, tokens: 200_000, model: "o3" }), {
    connect: 30_000,
    whole: 1_800_000,
    read: null,
    stale: null,
    unstreamed: null,
  });
  const env = { HERMES_STREAM_READ_TIMEOUT: "5", HERMES_API_CALL_STALE_TIMEOUT: "6" };
  const { read, unstreamed } = limits({ env, model: "o3" });
  assertEquals([read, unstreamed], [5_000, 6_000]);
});

Deno.test("core A.11: what a status means is told by the text with it", () => {
  const cases: readonly (readonly [number, string, ModelFailureKind, boolean])[] = [
    [402, "", "billing", false],
    [402, "Payment required", "billing", false],
    [402, "You have reached your usage limit.", "billing", false],
    [402, "Try again in 5 minutes", "billing", false],
    [402, "Usage limit reached, try again in 5 minutes", "rate_limit", true],
    [402, "Please try again at 10:00: the USAGE LIMIT resets then", "rate_limit", true],
    [401, "insufficient credits", "auth", false],
    [403, "", "auth", false],
    [403, "Forbidden", "auth", false],
    [403, "Insufficient credits", "billing", false],
    [403, "Your credit balance is too low", "billing", false],
    [403, "blocked by our content policy", "content_policy", false],
    [403, "billing: the content policy", "billing", false],
    [404, "", "model_not_found", false],
    [404, "The model `m` does not exist", "model_not_found", false],
    [404, "insufficient_quota", "billing", false],
    [404, "You are out of credits for this model", "billing", false],
    [404, "flagged by moderation", "content_policy", false],
    [500, "", "server_error", true],
    [502, "Bad gateway", "server_error", true],
    [500, "Request validation failed: tools.0", "format_error", false],
    [502, "invalid_request_error: messages", "format_error", false],
    [502, "Unrecognized request argument supplied: x", "format_error", false],
    [500, "unknown field: verbosity", "format_error", false],
    [500, "validation: maximum context length is 8192 tokens", "context_overflow", false],
    [503, "validation failed", "overloaded", true],
  ];
  const context = { provider: "p", model: "m", redact: (text: string) => text, now: () => 0 };
  for (const [status, message, kind, retryable] of cases) {
    assertEquals(kindOfStatus(status, message), kind, `${status} ${message}`);
    const failure = failureOfResponse(status, { error: { message } }, () => null, context);
    assertEquals([failure.kind, failure.retryable, failure.status], [kind, retryable, status], message);
  }
});
