/** The test rig itself: what other black-box tests rely on. */
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { type ModelServer, type ScriptTurn, startModelServer } from "../support/model_server.ts";
import { eventually } from "../support/program.ts";

function chat(
  server: ModelServer,
  body: Record<string, unknown> = {},
  signal: AbortSignal | null = null,
): Promise<Response> {
  return fetch(`${server.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k" },
    body: JSON.stringify({ model: "m", stream: true, messages: [], ...body }),
    signal,
  });
}

function deltas(text: string): { content?: string; reasoning_content?: string }[] {
  return text.split("\n\n").filter((e) => e.startsWith("data: {"))
    .flatMap((e) => JSON.parse(e.slice(6)).choices).map((c) => c.delta);
}

Deno.test("startModelServer() plays one turn per call, then says that the script is used up", async () => {
  await using server = await startModelServer({ turns: ["one", { steps: [{ text: "a", repeat: 3 }] }] });
  const texts: string[] = [];
  for (let n = 0; n < 3; n++) {
    texts.push(deltas(await (await chat(server)).text()).map((d) => d.content ?? "").join(""));
  }
  assertEquals(texts, ["one", "aaa", "(script exhausted)"]);
  assertEquals(server.calls().map((r) => [r.done, r.aborted]), [[true, false], [true, false], [true, false]]);
  assertEquals(server.requests[0]!.headers["authorization"], "Bearer k");
});

Deno.test("startModelServer() folds the same script for a request without stream", async () => {
  const turn: ScriptTurn = {
    steps: [{ reasoning: "hm" }, { text: "x" }, { tool: "t", args: { a: 1 } }, {
      usage: { prompt_tokens: 7 },
    }],
  };
  await using server = await startModelServer({ turns: [turn] });
  const body = await (await chat(server, { stream: false })).json();
  assertEquals(body.choices[0].message, {
    role: "assistant",
    content: "x",
    reasoning_content: "hm",
    tool_calls: [{ id: "call_1", type: "function", function: { name: "t", arguments: '{"a":1}' } }],
  });
  assertEquals([body.choices[0].finish_reason, body.usage.prompt_tokens], ["tool_calls", 7]);
});

Deno.test("startModelServer() answers errors with their status and tears connections", async () => {
  const turns: ScriptTurn[] = [
    { steps: [{ error: { status: 429, headers: { "retry-after": "3" } } }] },
    { steps: [{ text: "part" }, { reset: true }] },
    { steps: [{ reset: true }] },
  ];
  await using server = await startModelServer({ turns });
  const limited = await chat(server);
  await limited.body?.cancel();
  assertEquals([limited.status, limited.headers.get("retry-after")], [429, "3"]);
  const torn = await chat(server);
  await assertRejects(() => torn.text());
  const tornEarly = await chat(server);
  await assertRejects(() => tornEarly.text());
});

Deno.test("startModelServer() sees a client leave while it waits, before and after the first byte", async () => {
  await using server = await startModelServer({
    turns: [{ steps: [{ stall: true }] }, { steps: [{ text: "a" }, { stall: true }] }],
  });
  const early = new AbortController();
  const first = chat(server, {}, early.signal);
  await eventually(() => server.calls().length === 1);
  early.abort();
  await assertRejects(() => first);
  await eventually(() => server.calls()[0]!.aborted, 1000);
  const response = await chat(server);
  await response.body!.cancel();
  await eventually(() => server.calls()[1]!.aborted, 1000);
  assert(!server.calls()[1]!.done);
});

Deno.test("startModelServer() sends 20,000 deltas in writes of their own", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ text: "tok ", repeat: 20_000 }] }] });
  const text = await (await chat(server)).text();
  assertEquals(deltas(text).filter((d) => d.content === "tok ").length, 20_000);
});
