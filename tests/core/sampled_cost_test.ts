import type { ModelCost } from "@/core/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { callTool, makeScriptedCore, openSession, prompt, say } from "../support/scripted_core.ts";
import { addTool } from "./turn_support.ts";

const INCLUDED: ModelCost = { usd: 0, status: "included", source: "none" };

Deno.test("core G.1, F.9: a call that a server of the outside wants costs its session what such a call costs", async () => {
  await using core = await makeScriptedCore();
  const { models } = core.services;
  Object.assign(models, { estimateCost: () => INCLUDED });
  addTool(core, "ask_model", async (_args, context) => {
    const { text } = await context.sample!({
      server: "box",
      tool: "mcp__box__ask",
      title: "box asks",
      model: null,
      system: "",
      messages: [{ role: "user", content: "?" }],
      maxTokens: 10,
      temperature: null,
      timeoutMs: 5_000,
      signal: context.signal,
    });
    return { content: text } as never;
  });
  const { session } = await openSession(core);
  core.push(callTool("ask_model", {}), say("sampled"), say("done"));
  const result = await prompt(session, "hi");
  assertEquals([result.outcome, core.requests.length], ["completed", 3]);
  assertEquals(core.services.store().getSession(session.headId)!.cost, INCLUDED);
});
