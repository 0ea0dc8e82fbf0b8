/** Every wire gives the same answer to the same script: the matrix over Chat Completions, Responses and Messages. */
import type { ModelClient, ModelFailureKind } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type ModelServer, type ScriptTurn, startModelServer } from "../support/model_server.ts";
import { eventually } from "../support/program.ts";
import { fold, makeModels, play, requestOf } from "./helpers.ts";

const KEY = "zz-UNIQUE-0123456789abcdef";
const WIRES = ["chat_completions", "codex_responses", "anthropic_messages"] as const;
type Wire = typeof WIRES[number];

function clientOf(
  wire: Wire,
  url: string,
  env: Record<string, string> = {},
  model = "scripted",
): ModelClient {
  const box = { base_url: url, api_key: KEY, api_mode: wire, model };
  const models = makeModels({ config: { providers: { box } }, env });
  return models.client(models.resolve({ provider: "custom:box" }));
}

/** One test per wire. */
function onAllWires(
  name: string,
  turns: readonly ScriptTurn[],
  run: (client: ModelClient, server: ModelServer, wire: Wire) => Promise<void>,
  env: Record<string, string> = {},
): void {
  for (const wire of WIRES) {
    Deno.test(`${wire}: ${name}`, async () => {
      await using server = await startModelServer({ turns, key: KEY });
      await run(clientOf(wire, server.url, env), server, wire);
    });
  }
}

const PATHS: Readonly<Record<Wire, string>> = {
  chat_completions: "/v1/chat/completions",
  codex_responses: "/v1/responses",
  anthropic_messages: "/v1/messages",
};

onAllWires("core 2: text, thought, calls and usage without the cached tokens", [{
  steps: [
    { reasoning: "hm" },
    { text: "I " },
    { text: "read." },
    { tool: "read_file", args: { path: "ä.txt" }, id: "call_x" },
    { tool: "list", id: "call_y" },
    { usage: { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 40, reasoning_tokens: 2 } },
  ],
}], async (client, server, wire) => {
  const got = await play(client, requestOf("hi"));
  assertEquals([got.reasoning, got.text, got.names], ["hm", "I read.", ["read_file", "list"]]);
  assertEquals(got.done?.finish, "tool_calls");
  assertEquals(got.done?.toolCalls, [
    { id: "call_x", name: "read_file", arguments: '{"path":"ä.txt"}' },
    { id: "call_y", name: "list", arguments: "{}" },
  ]);
  assertEquals(got.done?.usage, { input: 60, output: 5, cacheRead: 40, cacheWrite: 0, reasoning: 2 });
  const [call] = server.calls();
  assertEquals([call!.path, call!.done, call!.body.stream], [PATHS[wire], true, true]);
});

onAllWires(
  "the same answer however the bytes are cut",
  [1, 2, 3, 7, 64, 1000].map((split) => ({
    steps: [{ reasoning: "x🚀" }, { text: "Grüße 🚀 y" }, { tool: "t", args: { a: "ä\n" } }],
    split,
  })),
  async (client) => {
    for (let n = 0; n < 6; n++) {
      const { text, reasoning, names, done } = await play(client, requestOf("x"));
      assertEquals([text, reasoning, names], ["Grüße 🚀 y", "x🚀", ["t"]]);
      assertEquals([done?.finish, done?.toolCalls[0]?.arguments], ["tool_calls", '{"a":"ä\\n"}']);
    }
  },
);

onAllWires("core 14: think tags are thought in every wire", ["<think>x</think>y"], async (client) => {
  const { text, reasoning } = await play(client, requestOf("x"));
  assertEquals([text, reasoning], ["y", "x"]);
});

onAllWires("the reason of the end", [
  { steps: [{ text: "a" }, { finish: "length" }] },
  { steps: [{ text: "a" }, { finish: "content_filter" }] },
  { steps: [{ text: "a" }, { finish: "stop" }] },
], async (client) => {
  const reasons = [];
  for (let n = 0; n < 3; n++) reasons.push((await play(client, requestOf("x"))).done?.finish);
  assertEquals(reasons, ["length", "content_filter", "stop"]);
});

const REFUSALS: readonly (readonly [number, string, ModelFailureKind, boolean])[] = [
  [401, "no", "auth", false],
  [402, "pay", "billing", false],
  [404, "The model `x` does not exist", "model_not_found", false],
  [413, "big", "payload_too_large", false],
  [429, "Rate limit reached", "rate_limit", true],
  [400, "This model's maximum context length is 65536 tokens", "context_overflow", false],
  [400, "prompt is too long: 209000 tokens > 200000 maximum", "context_overflow", false],
  [400, "bad field", "format_error", false],
  [500, "oops", "server_error", true],
  [503, "busy", "overloaded", true],
  [529, "overloaded", "overloaded", true],
];

onAllWires(
  "core 15, FC-04: every refusal has its kind, its status, and whether it is worth another try",
  REFUSALS.map(([status, message]): ScriptTurn => ({ steps: [{ error: { status, message } }] })),
  async (client) => {
    for (const [status, message, kind, retryable] of REFUSALS) {
      const { failure, done, text } = await play(client, requestOf("x"));
      assertEquals([failure?.kind, failure?.status, failure?.retryable], [kind, status, retryable], message);
      assertEquals([done, text], [null, ""]);
      assertMatch(failure!.message, new RegExp(`^HTTP ${status} from custom:box: `));
    }
  },
);

onAllWires("core 15: Retry-After is kept", [
  { steps: [{ error: { status: 429, headers: { "retry-after": "1" } } }] },
], async (client) => {
  assertEquals((await play(client, requestOf("x"))).failure?.retryAfterMs, 1000);
});

onAllWires("FC-26: a key that the provider repeats is not in the failure", [
  { steps: [{ error: { status: 401, message: `Incorrect API key provided: ${KEY}` } }] },
  { steps: [{ text: "a" }, { error: { message: `bad key ${KEY}` } }] },
], async (client) => {
  for (let n = 0; n < 2; n++) {
    const { failure } = await play(client, requestOf("x"));
    assert(failure !== null && !failure.message.includes("UNIQUE"), failure?.message);
  }
});

onAllWires("an error, a torn connection and a missing end are failures with the text that came", [
  { steps: [{ text: "a" }, { error: { status: 503, message: "overloaded" } }] },
  { steps: [{ text: "a", repeat: 3 }, { reset: true }] },
  { steps: [{ text: "half" }, { finish: null }] },
  { steps: [{ tool: "x", args: { a: 1 } }, { reset: true }] },
  { steps: [{ finish: null }] },
], async (client) => {
  const next = async () => {
    const { text, failure, toolInFlight } = await play(client, requestOf("x"));
    return [text, failure?.kind, toolInFlight];
  };
  assertEquals(await next(), ["a", "overloaded", false]);
  assertEquals(await next(), ["aaa", "connection", false]);
  assertEquals(await next(), ["half", "connection", false]);
  assertEquals(await next(), ["", "connection", true]);
  assertEquals(await next(), ["", "empty_stream", false]);
});

onAllWires("a silent provider ends as a timeout", [
  { steps: [{ stall: true }] },
  { steps: [{ text: "a" }, { stall: true }] },
], async (client, server) => {
  for (const expected of ["", "a"]) {
    const { text, failure } = await play(client, requestOf("x"));
    assertEquals([text, failure?.kind, failure?.retryable], [expected, "timeout", true]);
  }
  assert(server.calls().every((call) => !call.done));
}, { HERMES_API_TIMEOUT: "0.2" });

onAllWires("FC-06: an abort closes the connection, before the first byte and while it is silent", [
  { steps: [{ stall: true }] },
  { steps: [{ text: "a" }, { stall: true }] },
], async (client, server) => {
  for (const [n, seen] of [[0, []], [1, [{ type: "text", text: "a" }]]] as const) {
    const controller = new AbortController();
    const chunks: unknown[] = [];
    const reading = (async () => {
      for await (const batch of client.stream(requestOf("x"), { signal: controller.signal })) {
        chunks.push(...batch);
      }
    })();
    await eventually(() => server.calls().length === n + 1 && chunks.length === seen.length);
    controller.abort();
    await reading;
    await eventually(() => server.calls()[n]!.aborted, 2_000, "the server to see the close");
    assertEquals(chunks, [...seen]);
  }
});

/** What a server that cannot stream answers. */
const WHOLE: Readonly<Record<Wire, unknown>> = {
  chat_completions: {
    choices: [{
      message: {
        content: "whole",
        reasoning_content: "t",
        tool_calls: [{ id: "a", function: { name: "x", arguments: '{"b":1}' } }],
      },
      finish_reason: "tool_calls",
    }],
    usage: { prompt_tokens: 3, completion_tokens: 1 },
  },
  codex_responses: {
    object: "response",
    status: "completed",
    output: [
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "t" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "whole" }] },
      { type: "function_call", call_id: "a", name: "x", arguments: '{"b":1}' },
    ],
    usage: { input_tokens: 3, output_tokens: 1 },
  },
  anthropic_messages: {
    type: "message",
    content: [
      { type: "thinking", thinking: "t", signature: "s" },
      { type: "text", text: "whole" },
      { type: "tool_use", id: "a", name: "x", input: { b: 1 } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 3, output_tokens: 1 },
  },
};

for (const wire of WIRES) {
  Deno.test(`${wire}: core 18: a whole object is delivered, and the session does not stream again`, async () => {
    await using server = await startModelServer({
      turns: [
        { steps: [{ json: WHOLE[wire] }] },
        { steps: [{ reasoning: "r" }, { text: "second" }] },
        "third",
      ],
    });
    const client = clientOf(wire, server.url);
    const got = await play(client, requestOf("x"));
    assertEquals([got.text, got.reasoning, got.done?.finish, got.done?.usage?.input], [
      "whole",
      "t",
      "tool_calls",
      3,
    ]);
    assertEquals(got.done?.toolCalls, [{ id: "a", name: "x", arguments: '{"b":1}' }]);
    const second = await play(client, requestOf("y"));
    assertEquals([second.text, second.reasoning], ["second", "r"]);
    assertEquals((await play(client, requestOf("z", { sessionId: "s2" }))).text, "third");
    assertEquals(server.calls().map((c) => c.body.stream), [true, undefined, true]);
  });

  Deno.test(`${wire}: 20,000 deltas come in few batches`, async () => {
    await using server = await startModelServer({
      turns: [{ steps: [{ text: "tok ", repeat: 20_000 }], pack: 50 }],
    });
    const got = await play(clientOf(wire, server.url), requestOf("x"));
    assertEquals([got.text.length, got.done?.finish], [80_000, "stop"]);
    assert(got.batches <= 1_200, `${got.batches} batches`);
  });
}

Deno.test("an aborted signal sends nothing in any wire", async () => {
  await using server = await startModelServer({ turns: ["x"] });
  for (const wire of WIRES) {
    const chunks = [];
    const stream = clientOf(wire, server.url).stream(requestOf("x"), { signal: AbortSignal.abort() });
    for await (const batch of stream) chunks.push(...batch);
    assertEquals(fold(chunks).done, null);
  }
  assertEquals(server.requests.length, 0);
});
