/**
 * The program over its three model wires: the same turn with thought, a real tool call and the answer, and what a
 * server of the user's own is asked first (core rows 2, 60, 63).
 */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { calling, type Json, lastResult, query, rows, shell, withCore } from "../../support/core_driver.ts";
import type { ModelServerRequest, ScriptTurn } from "../../support/model_server.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const WIRES = ["chat_completions", "codex_responses", "anthropic_messages"] as const;

const TURNS: readonly ScriptTurn[] = [
  {
    steps: [
      { reasoning: "A command is wanted." },
      { text: "Running." },
      shell("echo from-the-tool"),
      { usage: { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 5 } },
    ],
  },
  { steps: [{ text: "done" }, { usage: { prompt_tokens: 10, completion_tokens: 1 } }] },
];

/** What the model was told that the tool gave, in the wire of the request. */
function toolResult({ body }: ModelServerRequest): string {
  if (body.input) return body.input.findLast((item: Json) => item.type === "function_call_output").output;
  const last = body.messages.at(-1);
  return last.role === "tool" ? last.content : last.content[0].content;
}

for (const wire of WIRES) {
  Deno.test(`core 2: a turn with thought, a tool and its result over ${wire}`, async () => {
    await using model = await startModelServer({ turns: TURNS, key: "box-key-0123456789" });
    const box = { base_url: model.url, api_mode: wire, api_key: "box-key-0123456789", model: "scripted" };
    const config = {
      model: { default: "scripted", provider: "custom:box" },
      providers: { box: { ...box, context_length: 128_000 } },
    };
    await using rig = await makeRig({ config });
    const run = await runProgram(["run", "--yolo", "go"], { rig });
    assertEquals([run.code, run.stdout.trim().endsWith("done")], [0, true], run.stderr);
    assertEquals(model.calls().length, 2);
    assertMatch(toolResult(model.calls()[1]!), /from-the-tool/);
    const [session] = query(rig, "SELECT * FROM sessions");
    assertEquals([session.input_tokens, session.cache_read_tokens, session.output_tokens], [70, 40, 6]);
    const stored = rows(rig, session.id);
    assertEquals(stored.map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
    assertEquals(stored[1]!.reasoning, "A command is wanted.");
    assert(!JSON.stringify(model.calls().map((call) => call.body)).includes("box-key"));
  });
}

Deno.test("core 60: a switch to another wire keeps the history", () =>
  withCore({
    model: { turns: [calling(shell("echo one")), "first"] },
  }, async ({ host, open, model, rig }) => {
    await using other = await startModelServer({ turns: ["second"], models: ["q"] });
    const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
    config.providers = { box: { base_url: other.url, api_mode: "anthropic_messages", models: ["q"] } };
    await Deno.writeTextFile(`${rig.home}/config.jsonc`, JSON.stringify(config));
    const { sid } = await open();
    assertEquals((await host.turn(sid, "go")).text, "first");
    await host.request("slash.exec", { session_id: sid, command: "/model custom:box:q" });
    assertEquals((await host.turn(sid, "and now?")).text, "second");
    assertMatch(JSON.stringify(lastResult(model.calls()[1])), /one/);
    const { messages } = other.calls()[0]!.body;
    assertEquals(messages.map((message: Json) => message.role), [
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    assertEquals([messages[1].content.at(-1).type, messages[2].content[0].type], ["tool_use", "tool_result"]);
  }));

Deno.test("core 63: Ollama with num_ctx 8192 is refused with advice about 64,000", async () => {
  await using model = await startModelServer({
    turns: ["never said"],
    routes: { "/api/show": { parameters: "num_ctx 8192", model_info: {} } },
  });
  await using rig = await makeRig({
    config: { model: { default: "qwen3", provider: "ollama", base_url: model.url } },
  });
  const run = await runProgram(["run", "hi"], { rig });
  assertEquals([run.code, run.stdout, model.calls().length], [1, "", 0]);
  assertMatch(run.stderr, /num_ctx.*64,000/);
});

Deno.test("hermes model refresh fetches lists and catalogue into the data home, and keeps them when nothing answers", async () => {
  const manifest = {
    openai: { models: { a: { id: "gpt-9", tool_call: true, cost: { input: 1, output: 2 } } } },
  };
  const model = await startModelServer({ routes: { "/api.json": manifest }, models: ["q", "r"] });
  const { port, url } = model;
  const config = {
    model: { default: "q", provider: "custom:box" },
    providers: { box: { base_url: url } },
    model_catalog: { url: `http://127.0.0.1:${port}/api.json` },
  };
  await using rig = await makeRig({ config });
  const first = await runProgram(["model", "refresh"], { rig });
  assertEquals([first.code, first.stdout], [0, "catalogue: 1 models\ncustom:box: 2 models\n"], first.stderr);
  await model.close();
  const second = await runProgram(["model", "refresh", "--json"], { rig });
  assertEquals([second.code, JSON.parse(second.stdout).models], [1, null]);
  const kept = JSON.parse(await Deno.readTextFile(`${rig.home}/cache/model_catalog.json`));
  assertMatch(kept.lines, /^openai-api\|gpt-9\|/);
  const lists = JSON.parse(await Deno.readTextFile(`${rig.home}/provider_models_cache.json`));
  assertEquals(lists.lists[url].models.length, 2);
});
