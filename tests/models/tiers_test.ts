/** Limits of the provider behind an aggregator, and the tier for long conversations (core.md A.11). */
import { kindOfStatus } from "@/models/providers/failures.ts";
import { assertEquals } from "../support/assert.ts";
import { failing } from "../support/core_driver.ts";
import { startModelServer } from "../support/model_server.ts";
import { endpoint, makeModels, play, requestOf } from "./helpers.ts";

const TIER = "Extra usage is required for long context requests.";
const FORBIDDEN = "The long context beta is not yet available for this subscription.";

Deno.test("core A.11: a 429 that names the upstream is upstream_rate_limit, an ordinary one is not", () => {
  for (
    const text of [
      "z-ai/glm-5.2 is temporarily rate-limited upstream. Please retry shortly",
      "Upstream provider returned a rate limit error",
      "rate limit of the upstream provider was reached",
    ]
  ) assertEquals(kindOfStatus(429, text), "upstream_rate_limit", text);
  assertEquals(kindOfStatus(429, "Rate limit exceeded"), "rate_limit");
  assertEquals(kindOfStatus(429, "the model is overloaded"), "overloaded");
  assertEquals(kindOfStatus(429, TIER), "context_overflow");
  assertEquals(kindOfStatus(400, FORBIDDEN), "context_overflow");
});

Deno.test("core A.11: without the beta the window is lowered to that of the ordinary tier, and nothing is sent again", async () => {
  await using server = await startModelServer({ turns: [failing(429, TIER)], loop: true });
  const config = endpoint(server.url);
  const models = makeModels({ config: { ...config, providers: {} } });
  const { failure } = await play(models.client(models.resolve()), requestOf("hi"));
  assertEquals([failure?.kind, failure?.retryable, server.calls().length], ["context_overflow", false, 1]);
  assertEquals(models.resolve().contextWindow, 200_000);
});

Deno.test("core A.11: a beta for long conversations that is refused is left out, once and for the session; others stay", async () => {
  await using server = await startModelServer({
    respond: ({ headers }) =>
      headers["anthropic-beta"]?.includes("context-1m") ? failing(400, FORBIDDEN) : "Fine.",
  });
  const models = makeModels({
    config: endpoint(server.url, {
      api_mode: "anthropic_messages",
      extra_headers: { "anthropic-beta": "context-1m-2025-08-07,other-beta" },
    }),
  });
  const client = models.client(models.resolve());
  assertEquals((await play(client, requestOf("one"))).text, "Fine.");
  assertEquals((await play(client, requestOf("two"))).text, "Fine.");
  assertEquals(server.calls().map(({ headers }) => headers["anthropic-beta"]), [
    "context-1m-2025-08-07,other-beta",
    "other-beta",
    "other-beta",
  ]);
});
