/** What a refused request teaches, in the wire where it happens (core.md A.11). */
import type { Message, ModelClient, ModelRequest } from "@/core/mod.ts";
import { fittingCap, statedWindow } from "@/models/providers/refusals.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { type ModelServer, type ScriptTurn, startModelServer } from "../support/model_server.ts";
import { makeModels, play, requestOf } from "./helpers.ts";

async function withWire(
  api_mode: string,
  message: string,
  run: (client: ModelClient, server: ModelServer) => Promise<void>,
  status = 400,
): Promise<void> {
  const refusal: ScriptTurn = { steps: [{ error: { status, message } }] };
  await using server = await startModelServer({ turns: [refusal, "one", "two"] });
  const providers = { box: { base_url: server.url, api_mode, model: "claude-sonnet-4-6" } };
  const models = makeModels({ config: { providers } });
  await run(models.client(models.resolve({ provider: "custom:box" })), server);
}

/** The first request is refused, the changed one is answered, and the next one is changed from the start. */
async function cured(client: ModelClient, server: ModelServer, request: ModelRequest): Promise<unknown[]> {
  assertEquals((await play(client, request)).text, "one");
  assertEquals((await play(client, request)).text, "two");
  assertEquals(server.calls().length, 3);
  // deno-lint-ignore no-explicit-any
  return server.calls().map((call) => (call.body as any));
}

const IMAGE = { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } };

function thoughtful(details: readonly unknown[]): ModelRequest {
  const messages: Message[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: "went", reasoningDetails: details },
    { role: "user", content: "again" },
  ];
  return requestOf("", { messages });
}

Deno.test("thinking_signature: thoughts are left out after a refused signature", () =>
  withWire(
    "anthropic_messages",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    async (client, server) => {
      const bodies = await cured(
        client,
        server,
        thoughtful([{ type: "thinking", thinking: "t", signature: "s" }]),
      );
      assertEquals(bodies.map((body) => JSON.stringify(body).includes('"thinking"')), [true, false, false]);
    },
  ));

Deno.test("invalid_encrypted_content: sealed thoughts are left out after a refusal", () =>
  withWire(
    "codex_responses",
    "The encrypted content for item rs_1 could not be verified",
    async (client, server) => {
      const sealed = [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "e" }];
      const bodies = await cured(client, server, thoughtful(sealed));
      assertEquals(bodies.map((body) => JSON.stringify(body).includes("rs_1")), [true, false, false]);
    },
  ));

Deno.test("llama_cpp_grammar_pattern: pattern and format go, parameters of that name stay", () =>
  withWire(
    "chat_completions",
    "failed to parse grammar: unknown escape in pattern",
    async (client, server) => {
      const parameters = {
        type: "object",
        properties: {
          pattern: { type: "string", pattern: "^\\d+$" },
          at: { type: "string", format: "date" },
        },
      } as unknown as ModelRequest["tools"][number]["parameters"];
      const request = requestOf("x", { tools: [{ name: "t", description: "d", parameters }] });
      // deno-lint-ignore no-explicit-any
      const [first, ...later] = await cured(client, server, request) as any[];
      assertEquals(first.tools[0].function.parameters, parameters);
      for (const body of later) {
        assertEquals(body.tools[0].function.parameters, {
          type: "object",
          properties: { pattern: { type: "string" }, at: { type: "string" } },
        });
      }
    },
    500,
  ));

Deno.test("multimodal_tool_content_unsupported: an image of a tool becomes a note", () =>
  withWire(
    "chat_completions",
    "messages.2.content: Input should be a valid string",
    async (client, server) => {
      const messages: Message[] = [
        { role: "user", content: "go" },
        { role: "assistant", content: null, toolCalls: [{ id: "c", name: "see", arguments: "{}" }] },
        { role: "tool", toolCallId: "c", toolName: "see", content: [{ type: "text", text: "here:" }, IMAGE] },
      ];
      // deno-lint-ignore no-explicit-any
      const bodies = await cured(client, server, requestOf("", { messages })) as any[];
      assertEquals(Array.isArray(bodies[0].messages[3].content), true);
      assertMatch(bodies[1].messages[3].content, /^here:\n\[An image was left out: .*only text/);
    },
  ));

Deno.test("a summary or an effort that the account or the model does not take is not asked for again", async () => {
  const request = requestOf("x", { reasoningEffort: "high" });
  const gpt = async (message: string) => {
    const refusal: ScriptTurn = { steps: [{ error: { status: 400, message } }] };
    await using server = await startModelServer({ turns: [refusal, "one"] });
    const providers = { box: { base_url: server.url, api_mode: "codex_responses", model: "gpt-5.5" } };
    const models = makeModels({ config: { providers } });
    assertEquals(
      (await play(models.client(models.resolve({ provider: "custom:box" })), request)).text,
      "one",
    );
    return server.calls().map((call) => call.body.reasoning);
  };
  const asked = { effort: "high", summary: "auto" };
  assertEquals(await gpt("Your organization must be verified to generate reasoning summaries"), [asked, {
    effort: "high",
  }]);
  assertEquals(await gpt("Argument not supported on this model: reasoning.effort"), [asked, undefined]);
});

Deno.test("image_too_large: an older image becomes a note, the user's newest one is refused in plain words", async () => {
  const message =
    "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes";
  const large = {
    type: "image_url" as const,
    image_url: { url: `data:image/png;base64,${"A".repeat(7 << 20)}` },
  };
  const picture: Message = { role: "user", content: [{ type: "text", text: "see" }, large] };
  await withWire("anthropic_messages", message, async (client, server) => {
    const { failure } = await play(client, requestOf("", { messages: [picture] }));
    assertEquals([failure?.kind, failure?.retryable, server.calls().length], ["format_error", false, 1]);
    assertMatch(
      failure!.message,
      /image is too large for this model: send a smaller one, at most 8000 pixels/,
    );
  });
  await withWire("anthropic_messages", message, async (client, server) => {
    const messages: Message[] = [picture, { role: "assistant", content: "no" }, {
      role: "user",
      content: "and now?",
    }];
    assertEquals((await play(client, requestOf("", { messages }))).text, "one");
    const content = server.calls()[1]!.body.messages[0].content;
    assertEquals([content[0].text, content[1].type], ["see", "text"]);
    assertMatch(content[1].text, /earlier image was left out.*too large/);
  });
  // Whoever can make it smaller is told instead.
  await withWire("anthropic_messages", message, async (client, server) => {
    const messages: Message[] = [picture, { role: "user", content: "and now?" }];
    const { failure } = await play(client, requestOf("", { messages, shrinks: true }));
    assertEquals([failure?.imageTooLarge, server.calls().length], [true, 1]);
  });
});

Deno.test("output cap: what is left of the window is asked for once, and no room at all is an overflow", async () => {
  const text =
    "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length";
  await withWire("anthropic_messages", text, async (client, server) => {
    assertEquals((await play(client, requestOf("x", { maxTokens: 21_333 }))).text, "one");
    assertEquals(server.calls().map((call) => call.body.max_tokens), [21_333, 11_696]);
    // The next request may have room again.
    assertEquals((await play(client, requestOf("x", { maxTokens: 21_333 }))).text, "two");
    assertEquals(server.calls()[2]!.body.max_tokens, 21_333);
  });
  await withWire("anthropic_messages", text.replace("188240", "199900"), async (client, server) => {
    const { failure } = await play(client, requestOf("x", { maxTokens: 21_333 }));
    assertEquals([failure?.kind, server.calls().length], ["context_overflow", 1]);
  });
});

Deno.test("a refusal that repeats itself ends after one changed request", async () => {
  const refusal: ScriptTurn = {
    steps: [{ error: { status: 400, message: "Invalid signature in thinking block" } }],
  };
  await using server = await startModelServer({ turns: [refusal, refusal, refusal] });
  const providers = { box: { base_url: server.url, api_mode: "anthropic_messages", model: "m" } };
  const models = makeModels({ config: { providers } });
  const request = thoughtful([{ type: "thinking", thinking: "t", signature: "s" }]);
  const { failure } = await play(models.client(models.resolve({ provider: "custom:box" })), request);
  assertEquals([failure?.kind, server.calls().length], ["format_error", 2]);
});

Deno.test("core 17: a window that an overflow states is known afterwards, and only a smaller one", async () => {
  const overflow = (n: number): ScriptTurn => ({
    steps: [{ error: { status: 400, message: `This model's maximum context length is ${n} tokens` } }],
  });
  await using server = await startModelServer({ turns: [overflow(65_536), overflow(9_000_000)] });
  const models = makeModels({
    config: { model: { default: "q", provider: "custom", base_url: server.url } },
  });
  assertEquals(models.resolve().contextWindow, 256_000);
  for (let n = 0; n < 2; n++) {
    assertEquals(
      (await play(models.client(models.resolve()), requestOf("x"))).failure?.kind,
      "context_overflow",
    );
    assertEquals(models.resolve().contextWindow, 65_536);
  }
});

Deno.test("statedWindow() and fittingCap() read only numbers that are said", () => {
  assertEquals(statedWindow("maximum context length is 65,536 tokens"), 65_536);
  assertEquals(statedWindow("prompt is too long: 209000 tokens > 200000 maximum"), 200_000);
  assertEquals(statedWindow("max_model_len: 32768"), 32_768);
  assertEquals(statedWindow("the prompt is too long"), null);
  assertEquals(
    fittingCap("max_tokens is too large: 65536. This model supports at most 4096 completion tokens"),
    4096,
  );
  assertEquals(fittingCap("'max_tokens' is too large: 65536 (65536 > 32768 - 1000)"), 31_704);
  assertEquals(fittingCap("max_tokens is too large"), null);
});
