/** What is sent to an endpoint beside the body, and what is read of a refusal, in every wire (core.md A.11, F.2). */
import { createSender } from "@/models/providers/openai_library.ts";
import type { Runtime } from "@/models/runtime.ts";
import type { Platform } from "@/platform/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, platform, play, requestOf } from "./helpers.ts";

Deno.test("requests say nothing about the machine, whatever the environment holds", async () => {
  const sent: Record<string, string>[] = [];
  const watched: Platform = {
    ...platform,
    env: () => ({ OPENAI_ORG_ID: "org-1", OPENAI_PROJECT_ID: "proj-1", OPENAI_CUSTOM_HEADERS: "X-Team: a" }),
    fetch: (_url, init) => {
      sent.push(Object.fromEntries(new Headers(init?.headers)));
      return Promise.resolve(new Response("{}"));
    },
  };
  const runtime = { model: { baseUrl: "https://api.test/v1" }, apiKey: "zz-key-1", headers: {} };
  const send = createSender("chat", runtime as unknown as Runtime, watched);
  await send({ body: { model: "m" }, timeoutMs: 60_000, signal: new AbortController().signal });
  assertEquals(sent, [{
    "accept": "application/json",
    "authorization": "Bearer zz-key-1",
    "content-type": "application/json",
    "user-agent": "hermes",
  }]);
});

const BODIES: readonly (readonly [name: string, body: string, said: string])[] = [
  ["an error object", '{"error":{"message":"No such size"}}', "No such size"],
  ["a detail", '{"detail":"Field required"}', "Field required"],
  ["a bare message", '{"object":"error","message":"Bad n","code":400}', "Bad n"],
  ["a page", "<html><head><title>400 Bad gateway of ours</title></head></html>", "400 Bad gateway of ours"],
  ["a text", "plainly no", "plainly no"],
  ["null", "null", "null"],
  ["nothing", "", "no reason given"],
];

for (const wire of ["chat_completions", "codex_responses", "anthropic_messages"] as const) {
  Deno.test(`${wire}: the reason of a refusal is told, whatever shape it has`, async () => {
    for (const [name, body, said] of BODIES) {
      const answering: Platform = {
        ...platform,
        fetch: () => Promise.resolve(new Response(body, { status: 400 })),
      };
      const box = { base_url: "https://box.test/v1", api_key: "zz-0123456789", api_mode: wire, model: "m" };
      const models = makeModels({ config: { providers: { box } }, platform: answering });
      const { failure } = await play(
        models.client(models.resolve({ provider: "custom:box" })),
        requestOf("x"),
      );
      assertEquals([failure?.kind, failure?.status, failure?.message], [
        "format_error",
        400,
        `HTTP 400 from custom:box: ${said}`,
      ], name);
    }
  });

  Deno.test(`${wire}: of an endless error page a part is read, and its connection is closed`, async () => {
    let cancelled = false;
    let read = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        read += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x61));
      },
      cancel: () => void (cancelled = true),
    });
    const answering: Platform = {
      ...platform,
      fetch: () => Promise.resolve(new Response(endless, { status: 503 })),
    };
    const box = { base_url: "https://box.test/v1", api_key: "zz-0123456789", api_mode: wire, model: "m" };
    const models = makeModels({ config: { providers: { box } }, platform: answering });
    const { failure } = await play(models.client(models.resolve({ provider: "custom:box" })), requestOf("x"));
    assertEquals([failure?.kind, failure?.status, cancelled], ["overloaded", 503, true]);
    assert(read <= 512 << 10, `${read} bytes`);
  });
}

Deno.test("Retry-After of a refusal is kept in the wires of OpenAI too", async () => {
  const error = { status: 429, message: "slow down", headers: { "Retry-After": "7" } };
  await using server = await startModelServer({ turns: [{ steps: [{ error }] }] });
  const models = makeModels({
    config: { model: { default: "scripted", provider: "custom", base_url: server.url } },
  });
  const { failure } = await play(models.client(models.resolve()), requestOf("x"));
  assertEquals([failure?.kind, failure?.retryAfterMs], ["rate_limit", 7_000]);
});
