/** The Chat Completions client against a real HTTP server. */
import type { ModelFailureKind } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type ModelServerOptions, type ScriptTurn, startModelServer } from "../support/model_server.ts";
import { endpoint, makeModels, play, requestOf } from "./helpers.ts";

const KEY = "zz-UNIQUE-0123456789abcdef";

async function withServer(
  options: ModelServerOptions,
  run: (
    rig: Awaited<ReturnType<typeof startModelServer>>,
    client: ReturnType<typeof clientOf>,
  ) => Promise<void>,
): Promise<void> {
  await using server = await startModelServer(options);
  await run(server, clientOf(server.url));
}

function clientOf(url: string, model: Record<string, unknown> = {}) {
  const models = makeModels({ config: endpoint(url, { api_key: KEY, ...model }) });
  return models.client(models.resolve());
}

Deno.test("core 2: stream() delivers text, calls and usage without the cached tokens", () =>
  withServer({
    turns: [{
      steps: [
        { reasoning: "hm" },
        { text: "I read." },
        { tool: "read_file", args: { path: "a.txt" }, id: "call_x" },
        { usage: { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 40 } },
      ],
    }],
  }, async (server, client) => {
    const got = await play(client, requestOf("hi", { reasoningEffort: "low" }));
    assertEquals([got.reasoning, got.text, got.names], ["hm", "I read.", ["read_file"]]);
    assertEquals(got.done, {
      type: "done",
      finish: "tool_calls",
      toolCalls: [{ id: "call_x", name: "read_file", arguments: '{"path":"a.txt"}' }],
      usage: { input: 60, output: 5, cacheRead: 40, cacheWrite: 0, reasoning: 0 },
      reasoningContent: "hm",
    });
    const [call] = server.calls();
    assertEquals(call!.headers["authorization"], `Bearer ${KEY}`);
    assertEquals(call!.body, {
      model: "scripted",
      messages: [{ role: "system", content: "You help." }, { role: "user", content: "hi" }],
      max_tokens: 65_536,
      reasoning_effort: "low",
      stream: true,
      stream_options: { include_usage: true },
    });
    assertEquals([call!.done, call!.aborted], [true, false]);
  }));

Deno.test("a provider is told the key, the kind of body and hermes, with every request; nothing of the machine", () =>
  withServer(
    { turns: [{ steps: [{ text: "one" }] }, { steps: [{ text: "two" }] }] },
    async (server, client) => {
      await play(client, requestOf("hi"));
      await play(client, requestOf("again and longer"));
      const told = server.calls().map(({ headers }) => {
        const { host: _host, "content-length": _length, ...rest } = headers;
        return rest;
      });
      const expected = {
        accept: "application/json",
        "accept-encoding": "gzip,br",
        "accept-language": "*",
        authorization: `Bearer ${KEY}`,
        "content-type": "application/json",
        "user-agent": "hermes",
      };
      assertEquals(told, [expected, expected]);
    },
  ));

Deno.test("stream() gives the same answer however the bytes are cut", async () => {
  const steps = [{ text: "Grüße 🚀 " }, { text: "<think>x</think>y" }, { tool: "t", args: { a: "ä" } }];
  const turns: ScriptTurn[] = [1, 2, 3, 5, 7, 64, 1000].map((split) => ({ steps, split }));
  turns.push({ steps, pack: 100 });
  await withServer({ turns }, async (_, client) => {
    const first = await play(client, requestOf("x"));
    assertEquals([first.text, first.done?.toolCalls[0]?.arguments], [
      "Grüße 🚀 <think>x</think>y".replace("<think>x</think>", ""),
      '{"a":"ä"}',
    ]);
    for (let n = 1; n < turns.length; n++) {
      const { batches: _, ...next } = await play(client, requestOf("x"));
      const { batches: __, ...expected } = first;
      assertEquals(next, expected);
    }
  });
});

Deno.test("core 18: a whole object is delivered, and the session does not stream again", () =>
  withServer({
    turns: [
      {
        steps: [{
          json: {
            choices: [{
              message: {
                content: "<think>t</think>whole",
                tool_calls: [{ id: "a", function: { name: "x", arguments: "{}" } }],
              },
              finish_reason: "stop",
            }],
            usage: { prompt_tokens: 3, completion_tokens: 1 },
          },
        }],
      },
      "second",
      "other session",
    ],
  }, async (server, client) => {
    const got = await play(client, requestOf("x"));
    assertEquals([got.text, got.reasoning, got.done?.finish, got.done?.usage?.input], [
      "whole",
      "t",
      "tool_calls",
      3,
    ]);
    assertEquals((await play(client, requestOf("y"))).text, "second");
    await play(client, requestOf("z", { sessionId: "s2" }));
    assertEquals(server.calls().map((c) => c.body.stream), [true, undefined, true]);
  }));

Deno.test("core 15, FC-04: every refusal has its kind, its status, and whether it is worth another try", async () => {
  const cases:
    readonly (readonly [status: number, message: string, kind: ModelFailureKind, retryable: boolean])[] = [
      [401, "no", "auth", false],
      [402, "pay", "billing", false],
      [403, "forbidden", "auth", false],
      [404, "The model `x` does not exist", "model_not_found", false],
      [408, "slow", "timeout", true],
      [413, "big", "payload_too_large", false],
      [429, "Rate limit reached", "rate_limit", true],
      [429, "You exceeded your current quota", "billing", false],
      [400, "This model's maximum context length is 65536 tokens", "context_overflow", false],
      [400, "bad field", "format_error", false],
      [500, "oops", "server_error", true],
      [503, "busy", "overloaded", true],
      [529, "overloaded", "overloaded", true],
    ];
  const turns = cases.map(([status, message]): ScriptTurn => ({ steps: [{ error: { status, message } }] }));
  await withServer({ turns }, async (_, client) => {
    for (const [status, message, kind, retryable] of cases) {
      const { failure, done, text } = await play(client, requestOf("x"));
      assertEquals([failure?.kind, failure?.status, failure?.retryable], [kind, status, retryable], message);
      assertEquals([done, text], [null, ""]);
      assertMatch(failure!.message, new RegExp(`^HTTP ${status} from custom: `));
    }
  });
});

Deno.test("core 15: Retry-After is read as seconds, capped at ten minutes, and kept only where it helps", async () => {
  const after = (value: string, status = 429): ScriptTurn => ({
    steps: [{ error: { status, headers: { "retry-after": value } } }],
  });
  const inTwo = new Date(Date.now() + 120_000).toUTCString();
  await withServer(
    { turns: [after("1"), after("99999"), after("1", 401), after(inTwo), after("soon")] },
    async (_, client) => {
      const next = async () => (await play(client, requestOf("x"))).failure?.retryAfterMs;
      assertEquals([await next(), await next(), await next()], [1000, 600_000, undefined]);
      const dated = await next();
      assert(dated !== undefined && dated > 100_000 && dated <= 120_000, String(dated));
      assertEquals(await next(), undefined);
    },
  );
});

Deno.test("FC-04: a refused and a broken connection are failures that say where", async () => {
  const closed = await startModelServer();
  await closed.close();
  const gone = clientOf(closed.url);
  const refused = await play(gone, requestOf("x"));
  assertEquals([refused.failure?.kind, refused.failure?.retryable, refused.failure?.status], [
    "connection",
    true,
    undefined,
  ]);
  assertMatch(refused.failure!.message, /^Cannot reach 127\.0\.0\.1:\d+: .*refused/i);
  await withServer({
    turns: [{ steps: [{ text: "a", repeat: 3 }, { reset: true }] }, {
      steps: [{ tool: "x" }, { reset: true }],
    }],
  }, async (_, client) => {
    const torn = await play(client, requestOf("x"));
    assertEquals([torn.text, torn.failure?.kind, torn.toolInFlight], ["aaa", "connection", false]);
    assertEquals((await play(client, requestOf("x"))).toolInFlight, true);
  });
});

Deno.test("stream() takes empty answers, web pages and error events for what they are", () =>
  withServer({
    turns: [
      { steps: [{ raw: "data: [DONE]" }, { finish: null }] },
      { steps: [{ raw: "<html><title>Sign in</title></html>" }, { finish: null }] },
      { steps: [{ text: "a" }, { error: { status: 503, message: "gone" } }] },
      { steps: [{ json: { error: { message: "no such thing", code: 404 } } }] },
      { steps: [{ text: "half" }, { finish: null }] },
    ],
  }, async (_, client) => {
    const kinds = [];
    for (let n = 0; n < 5; n++) kinds.push((await play(client, requestOf("x"))).failure?.kind);
    assertEquals(kinds, [
      "empty_stream",
      "invalid_response",
      "server_error",
      "model_not_found",
      "connection",
    ]);
  }));

Deno.test("FC-26: a key that the provider repeats is not in the failure, nor in the record of the model", async () => {
  const message = `Incorrect API key provided: ${KEY}\nsecond line ${"x".repeat(2000)}`;
  await using server = await startModelServer({
    turns: [{ steps: [{ error: { status: 401, message } }] }, {
      steps: [{ text: "a" }, { error: { message } }],
    }],
  });
  const models = makeModels({ config: endpoint(server.url, { api_key: KEY }) });
  const model = models.resolve();
  assert(!JSON.stringify(model).includes(KEY));
  assert(!Deno.inspect(model, { depth: 9 }).includes(KEY));
  for (let n = 0; n < 2; n++) {
    const { failure } = await play(models.client(model), requestOf("x"));
    assert(!failure!.message.includes("UNIQUE"), failure!.message);
    assert(failure!.message.length <= 500 && !failure!.message.includes("\n"));
  }
});

Deno.test("stream() leaves out its own output cap where a server refuses it", () =>
  withServer({
    turns: [
      {
        steps: [{
          error: { status: 400, message: "max_tokens is too large: 65536. This model supports at most 4096" },
        }],
      },
      "one",
      "two",
    ],
  }, async (server, client) => {
    assertEquals((await play(client, requestOf("x"))).text, "one");
    assertEquals((await play(client, requestOf("x"))).text, "two");
    assertEquals(server.calls().map((c) => c.body.max_tokens), [65_536, undefined, undefined]);
    server.push({ steps: [{ error: { status: 400, message: "max_tokens is too large" } }] });
    assertEquals((await play(client, requestOf("x", { maxTokens: 9 }))).failure?.kind, "format_error");
  }));

Deno.test("stream() sends the headers and the extra body of the settings", async () => {
  await using server = await startModelServer({ turns: ["x", "y"] });
  const config = {
    model: {
      default: "m",
      provider: "custom",
      base_url: server.url,
      default_headers: { "x-a": "1", "x-b": "1" },
      extra_headers: { "x-b": "2" },
    },
    providers: {
      box: {
        base_url: server.url,
        model: "q",
        api_key: "box-key-1",
        extra_headers: { "x-c": "3" },
        extra_body: { top_k: 5 },
      },
    },
  };
  const models = makeModels({ config });
  await play(models.client(models.resolve()), requestOf("x"));
  await play(models.client(models.resolve({ provider: "custom:box" })), requestOf("x"));
  const [first, second] = server.calls();
  assertEquals(["x-a", "x-b", "x-c"].map((h) => first!.headers[h]), ["1", "2", undefined]);
  assertEquals(["x-a", "x-b", "x-c"].map((h) => second!.headers[h]), [undefined, undefined, "3"]);
  assertEquals([second!.headers["authorization"], second!.body.top_k, second!.body.model], [
    "Bearer box-key-1",
    5,
    "q",
  ]);
});

Deno.test("time limits: a provider that stays silent ends as a timeout, before and after the first byte", async () => {
  await using server = await startModelServer({
    turns: [{ steps: [{ stall: true }] }, { steps: [{ text: "a" }, { stall: true }] }],
  });
  const models = makeModels({ config: endpoint(server.url), env: { HERMES_API_TIMEOUT: "0.2" } });
  const client = models.client(models.resolve());
  const early = await play(client, requestOf("x"));
  assertEquals([early.failure?.kind, early.failure?.retryable], ["timeout", true]);
  const late = await play(client, requestOf("x"));
  assertEquals([late.text, late.failure?.kind], ["a", "timeout"]);
  assert(server.calls().every((call) => !call.done));
});

Deno.test("stream() carries 20,000 deltas in few batches", () =>
  withServer({ turns: [{ steps: [{ text: "tok ", repeat: 20_000 }], pack: 50 }] }, async (_, client) => {
    const got = await play(client, requestOf("x"));
    assertEquals(got.text.length, 80_000);
    assert(got.batches <= 600, `${got.batches} batches`);
  }));
