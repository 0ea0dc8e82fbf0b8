import type { TurnResult } from "@/core/mod.ts";
import { HermesError } from "@/core/mod.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { createClient, createFakeHermes, resultOf, userSays } from "./fake_hermes.ts";

// deno-lint-ignore no-explicit-any
async function bodyOf(response: Response): Promise<any> {
  return await response.json();
}

const FAILURE = {
  kind: "server_error",
  message: "500 upstream said sk-secret-0123456789",
  provider: "custom",
  model: "scripted",
  retryable: true,
} as const;

Deno.test("api 9: a body that is not a JSON object is 400 in the error shape", async () => {
  const { chat } = createClient(createFakeHermes());
  for (
    const [body, message] of [
      ["{", "Invalid JSON in request body"],
      ["", "Invalid JSON in request body"],
      ["[]", "Request body must be a JSON object"],
      ['"x"', "Request body must be a JSON object"],
      ["null", "Request body must be a JSON object"],
    ] as const
  ) {
    const response = await chat(body);
    assertEquals([body, response.status], [body, 400]);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(await bodyOf(response), {
      error: { message, type: "invalid_request_error", param: null, code: null },
    });
  }
});

Deno.test("api 12: messages must be a non-empty list of objects", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  for (const body of [{}, { messages: [] }, { messages: "x" }, { messages: {} }]) {
    const response = await chat(body);
    assertEquals(response.status, 400);
    assertEquals((await bodyOf(response)).error.message, "Missing or invalid 'messages' field");
  }
  const response = await chat({ messages: [1] });
  assertEquals([response.status, (await bodyOf(response)).error.param], [400, "messages[0]"]);
  assertEquals(fake.submitted, []);
});

Deno.test("api 13: without a visible user message there is no turn", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  for (
    const messages of [
      [{ role: "system", content: "be kind" }],
      [{ role: "user", content: "  " }],
      [{ role: "user", content: null }],
      [{ role: "user", content: [{ type: "text", text: "\n" }] }],
    ]
  ) {
    const response = await chat({ messages });
    assertEquals(response.status, 400);
    assertEquals((await bodyOf(response)).error.message, "No user message found in messages");
  }
  assertEquals(fake.submitted, []);
});

Deno.test("api 14: a plain answer has exactly the documented shape", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const response = await chat(userSays("hi"));
  assertEquals(response.status, 200);
  assertMatch(response.headers.get("x-hermes-session-id") ?? "", /^api-[0-9a-f]{16}$/);
  assertEquals(response.headers.get("x-hermes-completed"), null);
  const { id, created, ...rest } = await bodyOf(response);
  assertMatch(id, /^chatcmpl-[0-9a-f]{29}$/);
  assertEquals(Number.isInteger(created), true);
  assertEquals(rest, {
    object: "chat.completion",
    model: "hermes-agent",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "Hello!", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  });
  assertEquals(fake.submitted[0]!.options.asks, { approval: false, edit: false, clarify: false });
  assertEquals(fake.submitted[0]!.options.scope, id);
});

Deno.test("usage counts cached tokens as prompt tokens and names the details it has", async () => {
  const fake = createFakeHermes();
  fake.play = () => resultOf({ usage: { input: 5, output: 9, cacheRead: 40, cacheWrite: 3, reasoning: 4 } });
  const { usage } = await bodyOf(await createClient(fake).chat(userSays("hi")));
  assertEquals(usage, {
    prompt_tokens: 48,
    completion_tokens: 9,
    total_tokens: 57,
    prompt_tokens_details: { cached_tokens: 40 },
    completion_tokens_details: { reasoning_tokens: 4 },
  });
});

Deno.test("api 15: system and developer texts are one layer on top, in order", async () => {
  const fake = createFakeHermes();
  await createClient(fake).chat({
    messages: [
      { role: "system", content: "one" },
      { role: "user", content: "hi" },
      { role: "assistant", content: [{ type: "text", text: "ho" }, "hum"] },
      { role: "tool", content: "ignored", tool_call_id: "x" },
      { role: "system", content: [{ type: "text", text: "two" }] },
      { role: "developer", content: "three" },
      { role: "user", content: 5 },
      { role: "assistant", content: "after the prompt: ignored" },
    ],
  });
  const { input, options } = fake.submitted[0]!;
  assertEquals(options.systemExtra, "one\ntwo\nthree");
  assertEquals(options.history, [
    { role: "user", content: "hi" },
    { role: "assistant", content: "ho\nhum" },
  ]);
  assertEquals(input.content, "5");
});

Deno.test("api 16: images stay parts, with their detail", async () => {
  const fake = createFakeHermes();
  await createClient(fake).chat({
    messages: [{
      role: "user",
      content: [
        { type: "text", text: "what is this?" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
        { type: "input_image", image_url: "https://img.test/a.png" },
        { type: "text", text: null },
        7,
        null,
      ],
    }],
  });
  assertEquals(fake.submitted[0]!.input.content, [
    { type: "text", text: "what is this?" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } },
    { type: "image_url", image_url: { url: "https://img.test/a.png" } },
  ]);
});

Deno.test("api 17: parts that cannot be used are refused by their code, and say where they stand", async () => {
  const { chat } = createClient(createFakeHermes());
  const image = (image_url: unknown) => ({ type: "image_url", image_url });
  for (
    const [part, code] of [
      [{ type: "file", file: {} }, "unsupported_content_type"],
      [{ type: "input_file" }, "unsupported_content_type"],
      [image({ url: "data:text/plain;base64,AAAA" }), "unsupported_content_type"],
      [image({ url: "data:image/png" }), "unsupported_content_type"],
      [image({ url: "ftp://host/a.png" }), "invalid_image_url"],
      [image({ url: "" }), "invalid_image_url"],
      [image(5), "invalid_image_url"],
      [image({ url: "https://x.test/a.png", detail: "" }), "invalid_content_part"],
      [{ ...image("https://x.test/a.png"), detail: 3 }, "invalid_content_part"],
      [{ type: "input_audio" }, "unsupported_content_type"],
    ] as const
  ) {
    const response = await chat({ messages: [{ role: "user", content: [part] }] });
    const { error } = await bodyOf(response);
    assertEquals([response.status, error.code, error.param], [400, code, "messages[0].content"]);
  }
  const many = await chat({ messages: [{ role: "user", content: Array(1001).fill("x") }] });
  assertEquals([many.status, (await bodyOf(many)).error.code], [400, "invalid_content_part"]);
});

Deno.test("a text of any size is passed on whole", async () => {
  const fake = createFakeHermes();
  const text = "x".repeat(300_000);
  await createClient(fake).chat(userSays(text));
  assertEquals(fake.submitted[0]!.input.content, text);
});

Deno.test("api 18: stream takes loose booleans", async () => {
  const { chat } = createClient(createFakeHermes());
  for (
    const [stream, type] of [
      ["false", "application/json"],
      ["OFF", "application/json"],
      [0, "application/json"],
      ["maybe", "application/json"],
      ["yes", "text/event-stream"],
      [1, "text/event-stream"],
      [true, "text/event-stream"],
    ] as const
  ) {
    const response = await chat({ ...userSays("hi"), stream });
    assertEquals([stream, response.headers.get("content-type")], [stream, type]);
    await response.text();
  }
});

Deno.test("api 25: a failed turn without text is 502 that SDKs must not repeat", async () => {
  const fake = createFakeHermes();
  fake.play = () => resultOf({ outcome: "failed", text: "", failure: FAILURE });
  const response = await createClient(fake).chat(userSays("hi"));
  assertEquals(response.status, 502);
  assertEquals(response.headers.get("x-should-retry"), "false");
  assertEquals(response.headers.get("x-hermes-completed"), "false");
  assertEquals(response.headers.get("x-hermes-error"), "500 upstream said ***");
  assertEquals(await bodyOf(response), {
    error: {
      message: "500 upstream said ***",
      type: "server_error",
      param: null,
      code: "agent_incomplete",
      hermes: { completed: false, partial: false, failed: true },
    },
  });
});

for (
  const [name, patch, expected] of [
    [
      "api 26: an answer cut by the output cap is 200 with finish reason length",
      { outcome: "max_tokens", text: "half", partial: true },
      ["length", { partial: true, failed: false, error_code: "output_truncated" }],
    ],
    [
      "a used-up iteration budget is length with its own code",
      { outcome: "max_turns", text: "summary", partial: true, exitReason: "max_iterations_reached(1/1)" },
      ["length", {
        partial: true,
        failed: false,
        error_code: "max_iterations",
        limit: {
          kind: "iterations",
          setting: "agent.max_turns",
          text: "The iteration budget is used up (1 model call in one turn); agent.max_turns raises it",
        },
      }],
    ],
    [
      "a budget that ends the turn is length with a code of its own",
      { outcome: "max_turns", text: "Stopped", partial: true, exitReason: "budget_exhausted(day.usd)" },
      ["length", {
        partial: true,
        failed: false,
        error_code: "budget_exhausted",
        limit: {
          kind: "usd",
          setting: "budgets.day.usd",
          text: "The budget of money for today is used up; budgets.day.usd raises it",
        },
      }],
    ],
    [
      "a refusal by the provider's filter is content_filter",
      { outcome: "refused", text: "I can", failure: { ...FAILURE, message: "filtered" } },
      ["content_filter", { partial: false, failed: true, error_code: "content_filter" }],
    ],
    [
      "FC-04: a failed turn with some text is 200 with finish reason error",
      { outcome: "failed", text: "half", failure: FAILURE },
      ["error", { partial: true, failed: true, error_code: "agent_error" }],
    ],
  ] as [string, Partial<TurnResult>, [string, Record<string, unknown>]][]
) {
  Deno.test(name, async () => {
    const fake = createFakeHermes();
    fake.play = () => resultOf(patch);
    const response = await createClient(fake).chat(userSays("hi"));
    const body = await bodyOf(response);
    const { error, completed, ...block } = body.hermes;
    assertEquals([response.status, body.choices[0].finish_reason, completed], [200, expected[0], false]);
    assertEquals(block, expected[1]);
    assertEquals(body.choices[0].message.content, patch.text);
    assertEquals(typeof error, "string");
    assertEquals(response.headers.get("x-hermes-completed"), "false");
    assertEquals(response.headers.get("x-hermes-partial"), String(expected[1].partial));
  });
}

Deno.test("FC-04: a failure text in the place of an answer is not shown as the assistant's words", async () => {
  const fake = createFakeHermes();
  fake.play = () => resultOf({ outcome: "refused", text: FAILURE.message, failure: FAILURE });
  const body = await bodyOf(await createClient(fake).chat(userSays("hi")));
  assertEquals(body.choices[0].message.content, "");
  assertEquals(body.hermes.error, "500 upstream said ***");
});

Deno.test("reasoning is shown only with the gate on", async () => {
  const fake = createFakeHermes();
  fake.play = () => resultOf({ reasoning: "because" });
  const { chat } = createClient(fake);
  assertEquals("reasoning_content" in (await bodyOf(await chat(userSays("hi")))).choices[0].message, false);
  fake.settings.show_reasoning = true;
  assertEquals((await bodyOf(await chat(userSays("hi")))).choices[0].message.reasoning_content, "because");
});

Deno.test("api 34: fields without effect are named, the others accepted in silence", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  const ignored = async (extra: Record<string, unknown>) =>
    (await chat({ ...userSays("hi"), ...extra })).headers.get("x-hermes-ignored");
  assertEquals(
    await ignored({ tools: [{}], temperature: 0.5, n: 2, logprobs: true, stop: ["x"], user: "me" }),
    "tools",
  );
  assertEquals(
    await ignored({ tools: [], tool_choice: "auto", functions: [] }),
    "tools, tool_choice, functions",
  );
  assertEquals(await ignored({ temperature: 1 }), null);
  assertEquals(await ignored({ model_options: { fast: true } }), "model_options.fast");
});

Deno.test("reasoning effort is taken from each of its places", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  for (
    const [extra, effort] of [
      [{ reasoning_effort: "high" }, "high"],
      [{ model_options: { reasoning_effort: "LOW" } }, "low"],
      [{ model_options: { reasoning: { effort: "max" } } }, "max"],
      [{ model_options: { reasoning: { enabled: false } } }, "none"],
      [{ reasoning_effort: "enormous" }, undefined],
    ] as const
  ) {
    await chat({ ...userSays("hi"), ...extra });
    assertEquals(fake.submitted.at(-1)!.options.reasoningEffort, effort);
  }
});

Deno.test("api 30: session headers of a bad form are 400, a good key is echoed", async () => {
  const { chat } = createClient(createFakeHermes());
  for (
    const [name, value, message] of [
      ["X-Hermes-Session-Id", "../x", "Invalid session ID"],
      ["X-Hermes-Session-Id", "a/b", "Invalid session ID"],
      ["X-Hermes-Session-Id", "c:x", "Invalid session ID"],
      ["X-Hermes-Session-Id", "x".repeat(257), "Session ID too long"],
      ["X-Hermes-Session-Key", "x".repeat(257), "Session key too long"],
    ] as const
  ) {
    const response = await chat(userSays("hi"), { [name]: value });
    assertEquals([response.status, (await bodyOf(response)).error.message], [400, message]);
  }
  for (const stream of [false, true]) {
    const response = await chat({ ...userSays("hi"), stream }, { "X-Hermes-Session-Key": "team:a/b" });
    assertEquals(response.headers.get("x-hermes-session-key"), "team:a/b");
    await response.text();
  }
});

Deno.test("a turn that raises is 500 with a redacted text", async () => {
  const fake = createFakeHermes();
  fake.resolve = () => {
    throw new Error("boom sk-secret-0123456789");
  };
  const response = await createClient(fake).chat(userSays("hi"));
  assertEquals([response.status, response.headers.get("x-should-retry")], [500, "false"]);
  assertEquals((await bodyOf(response)).error.message, "Internal server error: boom ***");
});

Deno.test("api 31: nothing configured is 503 that SDKs must not repeat, on streams as well", async () => {
  const fake = createFakeHermes();
  fake.resolve = () => {
    throw new HermesError("no_provider_configured", "No model provider is configured: run hermes setup");
  };
  for (const stream of [false, true]) {
    const response = await createClient(fake).chat({ ...userSays("hi"), stream });
    assertEquals([response.status, response.headers.get("x-should-retry")], [503, "false"]);
    assertEquals((await bodyOf(response)).error.code, "no_provider_configured");
  }
  assertEquals(fake.submitted, []);
});

Deno.test("at the limit a further turn is 429 and may come back; a refused request holds no slot", async () => {
  const fake = createFakeHermes({ max_concurrent_runs: 1 });
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  fake.play = async () => {
    started.resolve();
    await gate.promise;
    return resultOf();
  };
  const { chat, api } = createClient(fake);
  assertEquals((await chat("{")).status, 400);
  const first = chat(userSays("hi"));
  await started.promise;
  const second = await chat(userSays("again"));
  assertEquals([second.status, second.headers.get("retry-after")], [429, "1"]);
  assertEquals(second.headers.get("x-should-retry"), null);
  assertEquals((await bodyOf(second)).error, {
    message: "Too many concurrent runs (max 1)",
    type: "rate_limit_error",
    param: null,
    code: "rate_limit_exceeded",
  });
  gate.resolve();
  assertEquals((await first).status, 200);
  assertEquals((await chat(userSays("again"))).status, 200);
  assertEquals(api.admission.active, 0);
  fake.settings.max_concurrent_runs = -1;
  assertEquals((await chat(userSays("no limit"))).status, 200);
});

Deno.test("while draining turn-starting routes are 503 and reads still work", async () => {
  const { chat, call, api } = createClient(createFakeHermes());
  api.admission.drain();
  const response = await chat(userSays("hi"));
  assertEquals([response.status, response.headers.get("retry-after")], [503, "1"]);
  assertEquals((await bodyOf(response)).error.code, "gateway_draining");
  assertEquals((await call("/v1/models")).status, 200);
});

Deno.test("a plain request whose client has left cancels its turn; with an Idempotency-Key it goes on", async () => {
  for (const [key, cancelled] of [["", true], ["once", false]] as const) {
    const fake = createFakeHermes();
    const left = new AbortController();
    fake.play = async ({ signal }) => {
      left.abort();
      await Promise.resolve();
      return resultOf(signal.aborted ? { outcome: "cancelled", text: "" } : {});
    };
    const { app } = createClient(fake);
    const response = await app.request("http://127.0.0.1:8642/v1/chat/completions", {
      method: "POST",
      headers: { Authorization: `Bearer ${"k".repeat(32)}`, ...(key ? { "Idempotency-Key": key } : {}) },
      body: JSON.stringify(userSays("hi")),
      signal: left.signal,
    });
    await response.text();
    assertEquals(fake.submitted[0]!.cancelled, cancelled);
  }
});
