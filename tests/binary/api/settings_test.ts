/** Settings of the server and of one request that change what a client sees (api-server.md A2, D3, E1). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { modelConfig } from "../../support/program.ts";
import { ask, eventsOf, namesOf, startRun, untilStatus, type Wire } from "./run_scene.ts";

const TOOL = { tool: "terminal", args: { command: "echo abcdefghijklmnop" } };

Deno.test("A2: history_tool_output_max_chars cuts what is stored; responses_tool_items hides calls of the server", async () => {
  await using model = await startModelServer({ turns: [{ steps: [TOOL] }, "one", "two", "three"] });
  const server = { history_tool_output_max_chars: 20, responses_tool_items: "omit" };
  await using api = await startApi({ model, server });
  const first = await ask(api, "/v1/responses", { body: { input: "go" } });
  assertEquals(first.body.output.map((item: Wire) => item.type), ["message"]);
  const next = { input: "on", previous_response_id: first.body.id };
  // The second continuation of one response cannot use the transcript, which has gone on: it has the stored one.
  for (let i = 0; i < 2; i++) assertEquals((await ask(api, "/v1/responses", { body: next })).status, 200);
  const [whole, cut] = model.calls().slice(-2).map(({ body }) =>
    body.messages.find((message: Wire) => message.role === "tool").content
  );
  assertMatch(whole, /abcdefghijklmnop/);
  assertEquals(cut, `${whole.slice(0, 20)}… [cut]`);
});

Deno.test("§0: a negative max_concurrent_runs is no limit", async () => {
  await using model = await startModelServer({
    respond: () => ({ steps: [{ delay_ms: 1_500, text: "a" }] }),
  });
  await using api = await startApi({ model, server: { max_concurrent_runs: -1 } });
  const ids = await Promise.all(Array.from({ length: 12 }, () => startRun(api)));
  assertEquals(new Set(ids).size, 12);
  for (const id of ids) await untilStatus(api, id, "completed");
});

Deno.test("E1: the journal is as long as the configuration says, also over its end", async () => {
  const long = { steps: [{ text: "word ", repeat: 400 }, TOOL] };
  await using model = await startModelServer({ turns: [long, "end"] });
  await using api = await startApi({ model, server: { run_journal_events: 300 } });
  const id = await startRun(api);
  await untilStatus(api, id, "completed");
  const frames = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  const [notice, ...events] = frames;
  const last = events.at(-1);
  assertEquals([notice.event, events.length, last.event], ["replay.truncated", 300, "run.completed"]);
  assertEquals(events.map((event) => event.seq), events.map((_, i) => notice.oldest_retained_seq + i));
  assert(frames.some((event) => event.event === "tool.completed"));
});

Deno.test("E1: fewer than 256 events are not kept by anyone's wish", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "word ", repeat: 300 }] }] });
  await using api = await startApi({ model, server: { run_journal_events: 10 } });
  assertMatch(api.stderr(), /run_journal_events is 10/);
  const id = await startRun(api);
  await untilStatus(api, id, "completed");
  const names = namesOf(await eventsOf(api, id));
  assertEquals([names.length, names[0]], [301, "message.delta"]);
});

Deno.test("D3: fast and service_tier are sent to a model that has a fast mode, for that request only", async () => {
  await using model = await startModelServer({ respond: () => "said", models: ["gpt-5.5"] });
  await using api = await startApi({
    config: { ...modelConfig(model.url), model: { default: "gpt-5.5", provider: "openai-api" } },
    env: { OPENAI_API_KEY: "sk-fast-12345678", OPENAI_BASE_URL: model.url },
  });
  const messages = [{ role: "user", content: "hi" }];
  const ignored: (string | null)[] = [];
  for (
    const model_options of [{ fast: true }, { service_tier: "priority" }, { service_tier: "default" }, {}]
  ) {
    const response = await api.chat({ messages, model_options });
    assertEquals([response.status, (await response.json()).choices[0].message.content], [200, "said"]);
    ignored.push(response.headers.get("x-hermes-ignored"));
  }
  assertEquals(model.calls().map(({ body }) => body.service_tier ?? null), [
    "priority",
    "priority",
    null,
    null,
  ]);
  assertEquals(ignored, [null, null, null, null]);
});
