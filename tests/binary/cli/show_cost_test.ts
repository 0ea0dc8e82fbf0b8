/** `display.show_cost` (core.md E.4, F.9): what a turn has cost, at its end; what is not known is not called 0. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

const GOLD = { id: "gold", pricing: { prompt: "0.00001", completion: "0.00002" } };
const COUNTED: ScriptTurn = {
  steps: [{ text: "Done." }, { usage: { prompt_tokens: 12_000, completion_tokens: 345 } }],
};
/** 12,000 at 10 dollars a million and 345 at 20. */
const KNOWN = "cost: about $0.1269; 12,000 tokens in, 345 out, 1 model call";

function config(url: string, model: string, showCost = true): Record<string, unknown> {
  const config = modelConfig(url, { display: { show_cost: showCost } });
  Object.assign(config["model"] as object, { default: model });
  return config;
}

Deno.test("E.4: run and chat show what a turn has cost when display.show_cost is on", async () => {
  await using server = await startModelServer({ models: ["scripted", GOLD], respond: () => COUNTED });
  await using rig = await makeRig({ config: config(server.url, "gold") });
  await runProgram(["model", "list", "--refresh"], { rig });
  const ran = await runProgram(["run", "hi"], { rig });
  assertEquals([ran.code, ran.stdout, ran.stderr.trim()], [0, "Done.\n", `hermes: ${KNOWN}`]);
  const quiet = await runProgram(["run", "--quiet", "hi"], { rig });
  assertEquals([quiet.stdout, quiet.stderr], ["Done.\n", ""]);
  const chat = await runProgram(["chat"], { rig, input: "hi\n" });
  assertEquals([chat.stdout, chat.stderr.trim()], ["Done.\n", KNOWN]);

  const lines = (await runProgram(["run", "--json", "hi"], { rig })).stdout.trim().split("\n");
  const { cost } = JSON.parse(lines.at(-1)!);
  assertEquals([cost.estimated_cost_usd, cost.cost_status, cost.cost_source], [
    0.1269,
    "estimated",
    "provider_models_api",
  ]);
});

Deno.test("E.4: a price that nobody knows is said to be unknown; by default nothing is shown", async () => {
  await using server = await startModelServer({ models: ["scripted"], respond: () => COUNTED });
  await using rig = await makeRig({ config: config(server.url, "scripted") });
  const { stderr } = await runProgram(["run", "hi"], { rig });
  assertMatch(
    stderr,
    /^hermes: cost: unknown, not every price is known; 12,000 tokens in, 345 out, 1 model call$/m,
  );
  const lines = (await runProgram(["run", "--json", "hi"], { rig })).stdout.trim().split("\n");
  assertEquals(JSON.parse(lines.at(-1)!).cost, {
    estimated_cost_usd: null,
    cost_status: "unknown",
    cost_source: null,
    pricing_version: null,
  });
  const demo = await runProgram(["run", "--demo", "hi"], { rig });
  assertMatch(demo.stderr, /^hermes: cost: nothing per call; \d+ tokens in, \d+ out, 1 model call$/m);
  await using silent = await makeRig({ config: config(server.url, "scripted", false) });
  assertEquals((await runProgram(["run", "hi"], { rig: silent })).stderr, "");
});
