/** Servers that ask the model: only where it is configured, only while a call runs, within limits. */
import { type SampleRequest, textOf } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { stdioServer } from "../support/mcp_server.ts";
import { eventually } from "../support/program.ts";
import { makeBench, type RunOptions, type Seat, unwrap } from "./mcp_support.ts";

const TOOLS = { tools: ["sample", "sample_later", "seen", "client", "slow"] };
const QUESTION = { messages: [{ role: "user", content: { type: "text", text: "What is it?" } }] };

// deno-lint-ignore no-explicit-any
type Json = any;

/** What the server was told, when it asked while its tool ran. */
async function asked(seat: Seat, args: Record<string, unknown>, options: RunOptions = {}): Promise<Json> {
  const outcome = await seat.run("mcp__box__sample", args, options);
  return JSON.parse(JSON.parse(unwrap(textOf(outcome.content))).result);
}

function model(answer: Partial<{ text: string; finish: "stop" | "length" }> = {}) {
  const requests: SampleRequest[] = [];
  return {
    requests,
    sample: (request: SampleRequest) => {
      requests.push(request);
      return Promise.resolve({ text: "an answer", model: "m-1", finish: "stop" as const, ...answer });
    },
  };
}

Deno.test("core G.1 sampling: off unless it is configured; then nothing of it is announced and it is refused", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer(TOOLS) } });
  const seat = bench.session();
  const { requests, sample } = model();
  assertEquals(JSON.parse((await seat.json("mcp__box__client")).result).capabilities, {});
  assertEquals((await asked(seat, QUESTION, { sample })).error.code, -32601);
  assertEquals(requests, []);
});

Deno.test("core G.1 sampling: the request reaches the model as texts and images within the limits of the entry", async () => {
  const sampling = { model: "openai:small", max_tokens_cap: 20, timeout: 7 };
  await using bench = await makeBench({ servers: { box: stdioServer(TOOLS, { sampling }) } });
  const seat = bench.session();
  const { requests, sample } = model({ finish: "length" });
  assertEquals(JSON.parse((await seat.json("mcp__box__client")).result).capabilities, { sampling: {} });
  const answer = await asked(seat, {
    systemPrompt: "You are brief.",
    temperature: 0.5,
    messages: [
      { role: "user", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
      { role: "assistant", content: { type: "text", text: "A picture." } },
      { role: "user", content: [{ type: "text", text: "Of what?" }, { type: "text", text: "Say." }] },
    ],
  }, { sample });
  assertEquals(answer, {
    role: "assistant",
    content: { type: "text", text: "an answer" },
    model: "m-1",
    stopReason: "maxTokens",
  });
  const { signal: _signal, ...request } = requests[0]!;
  assertEquals(request, {
    server: "box",
    tool: "mcp__box__sampling",
    title: 'MCP server "box" asks the model: Of what? Say.',
    model: { provider: "openai", model: "small" },
    system: "You are brief.",
    messages: [
      { role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }] },
      { role: "assistant", content: "A picture." },
      { role: "user", content: "Of what?\nSay." },
    ],
    maxTokens: 20,
    temperature: 0.5,
    timeoutMs: 7_000,
  });
});

Deno.test("core G.1 sampling: a stop sequence ends the text; tools, odd roles and odd content are refused", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer(TOOLS, { sampling: true }) } });
  const seat = bench.session();
  const { requests, sample } = model({ text: "one END two" });
  const cut = await asked(seat, { ...QUESTION, stopSequences: ["END"] }, { sample });
  assertEquals([cut.content.text, cut.stopReason], ["one ", "stopSequence"]);
  const bad = [
    { messages: [] },
    { messages: [{ role: "system", content: { type: "text", text: "x" } }] },
    { messages: [{ role: "user", content: { type: "audio", data: "AAAA", mimeType: "audio/wav" } }] },
    { ...QUESTION, tools: [{ name: "t", inputSchema: { type: "object" } }] },
  ];
  for (const args of bad) assertEquals((await asked(seat, args, { sample })).error.code, -32602);
  assertEquals(requests.length, 1);
});

Deno.test("core G.1 sampling: at most max_rpm requests in a minute, and only while a tool runs", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer(TOOLS, { sampling: { max_rpm: 2 } }) } });
  const seat = bench.session();
  const { requests, sample } = model();
  await asked(seat, QUESTION, { sample });
  await seat.run("mcp__box__sample_later", QUESTION, { sample });
  const late = await eventually(
    async () => {
      const seen = JSON.parse((await seat.json("mcp__box__seen")).result);
      return seen.find((one: Json) => one.later)?.later;
    },
    5_000,
    "the answer to the late request",
  );
  assertMatch(late.error.message, /asked only while a tool runs|no model can be asked/);
  await asked(seat, QUESTION, { sample });
  const third = await asked(seat, QUESTION, { sample });
  assertMatch(third.error.message, /more than 2 requests in a minute/);
  assertEquals(requests.length, 2);
});

Deno.test("core G.1 sampling: with calls of two conversations at once nobody can be billed", async () => {
  const entry = stdioServer(TOOLS, { sampling: true, supports_parallel_tool_calls: true });
  await using bench = await makeBench({ servers: { box: entry } });
  const seat = bench.session();
  const { requests, sample } = model();
  await seat.offered("mcp__box__slow");
  const other = seat.run("mcp__box__slow", { ms: 1_500 }, { sample, sessionId: "s2" });
  const refused = await asked(seat, QUESTION, { sample });
  assertMatch(refused.error.message, /several conversations/);
  await other;
  assertEquals((await asked(seat, QUESTION, { sample })).model, "m-1");
  assertEquals(requests.length, 1);
});

Deno.test("core G.1 sampling: why there is no answer is told; a cancel of the call ends the model's too", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer(TOOLS, { sampling: true }) } });
  const seat = bench.session();
  const no = await asked(seat, QUESTION, {
    sample: () => Promise.reject(new Error("the user does not allow it")),
  });
  assertEquals(no.error, { code: -1, message: "the user does not allow it" });
  const controller = new AbortController();
  const started = Promise.withResolvers<AbortSignal>();
  const running = seat.run("mcp__box__sample", QUESTION, {
    signal: controller.signal,
    sample: ({ signal }) => {
      started.resolve(signal);
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));
    },
  });
  const signal = await started.promise;
  controller.abort();
  assertEquals((await running).isError, true);
  assert(signal.aborted);
});
