/** Plain Chat Completions against the real program and a scripted model. */
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { API_KEY, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";

const HI = { messages: [{ role: "user", content: "hi" }] };
const ONE_TRY = { agent: { api_max_retries: 1 } };

interface WireMessage {
  role: string;
  content: unknown;
}

Deno.test("api 14: a plain answer, whose usage sums every call of the turn", async () => {
  await using model = await startModelServer({
    turns: [
      {
        steps: [
          { text: "looking" },
          { tool: "todo", args: {} },
          { usage: { prompt_tokens: 30, completion_tokens: 4 } },
        ],
      },
      { steps: [{ text: "All done." }, { usage: { prompt_tokens: 50, completion_tokens: 6 } }] },
    ],
  });
  await using api = await startApi({ model });
  const response = await api.chat(HI);
  assertEquals(response.status, 200);
  assertMatch(response.headers.get("x-hermes-session-id") ?? "", /^api-[0-9a-f]{16}$/);
  const { id, created, ...body } = await response.json();
  assertMatch(id, /^chatcmpl-[0-9a-f]{29}$/);
  assert(Math.abs(created - Date.now() / 1000) < 60);
  assertEquals(body, {
    object: "chat.completion",
    model: "hermes-agent",
    choices: [{
      index: 0,
      message: { role: "assistant", content: "All done.", refusal: null },
      logprobs: null,
      finish_reason: "stop",
    }],
    usage: { prompt_tokens: 80, completion_tokens: 10, total_tokens: 90 },
  });
});

Deno.test("api 15: system and developer texts stand on top of the core prompt, in order", async () => {
  await using model = await startModelServer({ turns: ["ok", "ok"] });
  await using api = await startApi({ model });
  const messages = [
    { role: "system", content: "FIRST" },
    { role: "system", content: "SECOND" },
    { role: "developer", content: "THIRD" },
    { role: "user", content: "hi" },
  ];
  await (await api.chat({ messages })).text();
  await (await api.chat(HI)).text();
  const system = (n: number) => model.calls()[n]!.body.messages[0].content as string;
  const [layered, core] = [system(0), system(1)];
  assert(core.length > 100);
  assertEquals(layered.replace("FIRST\nSECOND\nTHIRD\n\n", ""), core);
  // Before what changes from day to day (core A.4).
  assert(layered.indexOf("THIRD") < layered.indexOf("Conversation started: "));
  assertEquals(core.includes("FIRST"), false);
});

Deno.test("api 16: an image reaches the provider as a part", async () => {
  await using model = await startModelServer({ turns: ["a cat"] });
  await using api = await startApi({
    model,
    config: {
      model: {
        default: "scripted",
        provider: "custom",
        base_url: model.url,
        context_length: 128000,
        supports_vision: true,
      },
    },
  });
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const content = [{ type: "text", text: "what is it?" }, { type: "image_url", image_url: { url } }];
  await (await api.chat({ messages: [{ role: "user", content }] })).text();
  const last = (model.calls()[0]!.body.messages as WireMessage[]).at(-1)!;
  assertEquals(last.content, content);
});

Deno.test("api 18, 34: stream false as text is no stream; fields without effect are named", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({ model });
  const tool = { type: "function", function: { name: "mine", parameters: {} } };
  const response = await api.chat({
    ...HI,
    stream: "false",
    tools: [tool, { type: "web_search" }],
    tool_choice: "required",
    functions: [{ name: "old" }],
    temperature: 0.1,
    n: 1,
    logprobs: false,
  });
  assertEquals([response.status, response.headers.get("x-hermes-ignored")], [
    200,
    "tools, tool_choice, functions",
  ]);
  assertEquals((await response.json()).choices[0].message.content, "hello");
  const offered = model.calls()[0]!.body.tools.map((entry: typeof tool) => entry.function.name);
  assertEquals([offered.at(-1), offered.includes("old")], ["mine", false]);
});

Deno.test("FC-04.1, api 25: each kind of provider failure is 502 agent_incomplete; the next prompt works", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [{ error: { status: 401, message: "bad key" } }] },
      { steps: [{ error: { status: 429, message: "slow down" } }] },
      { steps: [{ error: { status: 500, message: "oops" } }] },
      { steps: [{ reset: true }] },
      "healthy again",
    ],
  });
  await using api = await startApi({ model, config: ONE_TRY });
  const header = { "X-Hermes-Session-Id": "failing" };
  for (let n = 1; n <= 4; n++) {
    const response = await api.chat({ messages: [{ role: "user", content: `try ${n}` }] }, {
      headers: header,
    });
    const { error } = await response.json();
    assertEquals([n, response.status, error.code, error.type], [n, 502, "agent_incomplete", "server_error"]);
    assertEquals(error.hermes, { completed: false, partial: false, failed: true });
    assertEquals(response.headers.get("x-should-retry"), "false");
    assertEquals(model.calls().length, n);
  }
  const response = await api.chat(HI, { headers: header });
  assertEquals((await response.json()).choices[0].message.content, "healthy again");
  const sent = JSON.stringify(model.calls().at(-1)!.body.messages);
  for (let n = 1; n <= 4; n++) assert(sent.includes(`try ${n}`), `the stored message ${n} is missing`);
});

Deno.test("FC-04.1: a provider that refuses the connection is 502 as well", async () => {
  const model = await startModelServer();
  await model.close();
  await using api = await startApi({ model, config: ONE_TRY });
  const response = await api.chat(HI);
  assertEquals([response.status, (await response.json()).error.code], [502, "agent_incomplete"]);
});

Deno.test("api 26: an answer that the output cap cut is length, and says so", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "part " }, { finish: "length" }] }],
    loop: true,
  });
  await using api = await startApi({ model });
  const response = await api.chat(HI);
  const body = await response.json();
  assertEquals([response.status, body.choices[0].finish_reason], [200, "length"]);
  assertMatch(body.choices[0].message.content, /^(part )+$/);
  assertEquals(body.hermes.error_code, "output_truncated");
  assertEquals([body.hermes.completed, body.hermes.partial, body.hermes.failed], [false, true, false]);
  assertEquals(response.headers.get("x-hermes-partial"), "true");
  assertEquals(response.headers.get("x-hermes-completed"), "false");
});

Deno.test("api 27: a key in the provider's error text is in no answer and no log", async () => {
  const secret = "zz-UNIQUE-0123456789abcdef";
  await using model = await startModelServer({
    turns: [{ steps: [{ error: { status: 401, message: `Incorrect API key provided: ${secret}` } }] }],
    loop: true,
  });
  await using api = await startApi({
    model,
    config: {
      model: { default: "scripted", provider: "custom", base_url: model.url, api_key: secret },
      logging: { level: "DEBUG" },
      ...ONE_TRY,
    },
  });
  const plain = await api.chat(HI);
  const seen = [JSON.stringify([...plain.headers]), await plain.text()];
  seen.push(await (await api.chat({ ...HI, stream: true })).text(), api.stderr());
  assertEquals(model.calls()[0]!.headers.authorization, `Bearer ${secret}`);
  assertEquals(seen.some((text) => text.includes("UNIQUE")), false);
});

Deno.test("api 31: an unknown model name runs on the default; runtime names what ran", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({ model });
  const response = await api.chat({ ...HI, model: "gpt-4o" });
  const body = await response.json();
  assertEquals([response.status, body.model, body.choices[0].message.content], [200, "gpt-4o", "hello"]);
  assertEquals(body.runtime, {
    provider: "custom",
    model: "scripted",
    route_source: "global",
    requested: { model: "gpt-4o" },
  });
  assertEquals(model.calls()[0]!.body.model, "scripted");
});

Deno.test("api 31: nothing configured is 503 with advice; --demo answers and is named", async () => {
  {
    await using api = await startApi();
    for (const stream of [false, true]) {
      const response = await api.chat({ ...HI, stream });
      const { error } = await response.json();
      assertEquals([response.status, error.code], [503, "no_provider_configured"]);
      assertEquals(response.headers.get("x-should-retry"), "false");
      assertMatch(error.message, /hermes setup/);
    }
  }
  await using api = await startApi({ args: ["--demo"] });
  const body = await (await api.chat(HI)).json();
  assertEquals(body.choices[0].finish_reason, "stop");
  assert(body.choices[0].message.content.length > 0);
  assertEquals([body.runtime.provider, body.runtime.model], ["builtin", "demo"]);
});

Deno.test("api 33: an alias with a provider that contradicts it is 400", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({
    model,
    server: { model_routes: { quick: { model: "tiny", provider: "custom" } } },
  });
  const refused = await api.chat({ ...HI, model: "quick", provider: "openrouter" });
  assertEquals([refused.status, (await refused.json()).error.param], [400, "provider"]);
  assertEquals(model.calls().length, 0);
  const routed = await (await api.chat({ ...HI, model: "quick" })).json();
  assertEquals([routed.model, routed.runtime.route_source, routed.runtime.model], [
    "quick",
    "model_routes",
    "tiny",
  ]);
  assertEquals(model.calls()[0]!.body.model, "tiny");
});

Deno.test("api 35: one Idempotency-Key and body is one provider turn", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ delay_ms: 50, text: "one" }] }, "two", "three"],
  });
  await using api = await startApi({ model });
  const send = async (content: string) => {
    const headers = { "Idempotency-Key": "key-1" };
    return await (await api.chat({ messages: [{ role: "user", content }] }, { headers })).json();
  };
  const [first, second] = await Promise.all([send("hi"), send("hi")]);
  assertEquals(second, first);
  assertEquals(await send("hi"), first);
  assertEquals(model.calls().length, 1);
  const other = await send("something else");
  assertEquals([other.choices[0].message.content, model.calls().length], ["two", 2]);
});

Deno.test("FC-06: leaving a plain request cancels its turn; the server is free at once", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ stall: true }] }, "next"] });
  await using api = await startApi({ model, server: { max_concurrent_runs: 1 } });
  const left = new AbortController();
  const leaving = api.chat(HI, { signal: left.signal }).catch((error) => error.name);
  await eventually(() => model.calls().length === 1);
  const full = await api.chat({ messages: [{ role: "user", content: "meanwhile" }] });
  assertEquals([full.status, full.headers.get("retry-after")], [429, "1"]);
  assertEquals((await full.json()).error.code, "rate_limit_exceeded");
  left.abort();
  assertEquals(await leaving, "AbortError");
  await eventually(() => model.calls()[0]!.aborted, 2_000, "the provider to see the abort");
  const next = await eventually(async () => {
    const response = await api.chat({ messages: [{ role: "user", content: "next" }] });
    const text = await response.text();
    return response.status === 200 && text;
  });
  assertEquals(JSON.parse(next).choices[0].message.content, "next");
});

Deno.test("a dangerous command of a plain request is refused at once, since nobody can be asked", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "rm -rf precious" } }] }, "I could not."],
  });
  await using api = await startApi({ model });
  await Deno.mkdir(`${api.rig.workspace}/precious`);
  const before = performance.now();
  const body = await (await api.chat(HI)).json();
  assertWithin(performance.now() - before, 5_000);
  assertEquals(body.choices[0].message.content, "I could not.");
  assertEquals((await Deno.stat(`${api.rig.workspace}/precious`)).isDirectory, true);
  const result = (model.calls()[1]!.body.messages as WireMessage[]).at(-1)!;
  assertEquals(result.role, "tool");
  assertMatch(String(result.content), /"outcome":\s*"unattended"/);
});

Deno.test("the key of the server is in no child process of a turn", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "env" } }] }, "done"],
  });
  await using api = await startApi({ model });
  await (await api.chat(HI)).text();
  const result = (model.calls()[1]!.body.messages as WireMessage[]).at(-1)!;
  assertMatch(String(result.content), /PATH=/);
  assertEquals(String(result.content).includes(API_KEY), false);
});
