/** Servers that ask the model (core G.1 `sampling`) through the real program: whose word counts, and what it costs. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling, type Json, query, results, type Scene, withCore } from "../../support/core_driver.ts";
import { stdioServer } from "../../support/mcp_server.ts";
import type { ScriptTurn } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";

const QUESTION = {
  systemPrompt: "You name colours.",
  messages: [{ role: "user", content: { type: "text", text: "Which colour has the sky?" } }],
};
const TURNS: ScriptTurn[] = [calling(call("mcp__box__sample", QUESTION)), "blue", "done"];

async function withSampling(
  config: Record<string, unknown>,
  test: (scene: Scene & { turn(): Promise<{ sid: string; stored: string }> }) => Promise<void>,
  entry: Record<string, unknown> = { sampling: true },
  turns: ScriptTurn[] = TURNS,
): Promise<void> {
  const mcp_servers = { box: stdioServer({ tools: ["sample"] }, entry) };
  await withCore(
    { model: { turns }, config: { mcp_discovery_timeout: 20, mcp_servers, ...config } },
    async (scene) => {
      const turn = async () => {
        const opened = await scene.open();
        await scene.host.turn(opened.sid, "go");
        return opened;
      };
      await test({ ...scene, turn });
    },
  );
}

/** What the server was told, as its tool gave it to the model. */
function told(model: Scene["model"]): Json {
  const text = results(model.calls().at(-1))[0]!;
  const json = /\n\n(\{[\s\S]*\})\n<\/untrusted_tool_result>$/.exec(text)?.[1] ?? text;
  return JSON.parse(JSON.parse(json).result);
}

Deno.test("core G.1 sampling: a server gets an answer of the model, nothing of the conversation goes along, and it is counted", async () => {
  await withSampling({}, async ({ model, rig, turn }) => {
    const { stored } = await turn();
    const [, asked] = model.calls();
    assertEquals(asked!.body.messages, [
      { role: "system", content: "You name colours." },
      { role: "user", content: "Which colour has the sky?" },
    ]);
    assertEquals([asked!.body.tools, asked!.body.max_tokens], [undefined, 50]);
    assertEquals(told(model).content, { type: "text", text: "blue" });
    const [row] = query(rig, "select api_call_count as calls from sessions where id = ?", stored);
    assertEquals(row!.calls, 3);
  });
});

Deno.test("core G.1 sampling: without it in the entry the server is refused and the model is not asked", async () => {
  await withSampling({}, async ({ model, turn }) => {
    await turn();
    assertEquals([told(model).error.code, model.calls().length], [-32601, 2]);
  }, {});
});

Deno.test("core G.1 sampling: where the policy asks, a person decides; a no is told to the server", async () => {
  const policy = { rules: [{ effect: "ask", tool: "mcp__box__sampling", reason: "it costs" }] };
  for (const choice of ["once", "deny"]) {
    await withSampling({ policy }, async ({ model, host, open }) => {
      const { sid } = await open();
      await host.request("prompt.submit", { session_id: sid, text: "go" });
      const request = await host.event("approval.request", sid);
      assertMatch(JSON.stringify(request), /MCP server \\"box\\" asks the model: Which colour has the sky\?/);
      assertEquals(model.calls().length, 1);
      await host.request("approval.respond", { session_id: sid, choice });
      await host.event("message.complete", sid);
      const answer = told(model);
      if (choice === "once") assertEquals(answer.content.text, "blue");
      else assertMatch(answer.error.message, /the user does not allow it/);
      assertEquals(model.calls().length, choice === "once" ? 3 : 2);
    });
  }
});

Deno.test("core G.1 sampling: a deny of the policy refuses it, other tools of the server go on", async () => {
  const policy = { rules: [{ effect: "deny", tool: "mcp__box__sampling", reason: "it costs" }] };
  await withSampling({ policy }, async ({ model, turn }) => {
    await turn();
    assert(told(model).error, "an error");
    assertEquals(model.calls().length, 2);
  });
});

Deno.test("core G.1 sampling: its calls count into the budgets, and a budget that is used up refuses it", async () => {
  await withSampling({ budgets: { prompt: { model_calls: 2 } } }, async ({ model, host, turn }) => {
    const { sid } = await turn();
    assertEquals(model.calls().length, 2);
    assertMatch(JSON.stringify(host.eventsOf("message.complete", sid)), /used 2 of 2 model calls/);
  });
  await withSampling({ budgets: { session: { model_calls: 1 } } }, async ({ model, turn }) => {
    await turn();
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("core G.1 sampling: a model that does not answer in time is told; a cancel of the turn ends its call", async () => {
  const stalled: ScriptTurn[] = [TURNS[0]!, { steps: [{ stall: true }] }, "done"];
  await withSampling(
    {},
    async ({ model, turn }) => {
      await turn();
      assertMatch(told(model).error.message, /the model did not answer in 0\.5 s/);
    },
    { sampling: { timeout: 0.5 } },
    stalled,
  );
  await withSampling(
    {},
    async ({ model, host, open }) => {
      const { sid } = await open();
      await host.request("prompt.submit", { session_id: sid, text: "go" });
      await eventually(() => model.calls()[1], 10_000, "the call of the server");
      await host.request("session.interrupt", { session_id: sid });
      assertEquals((await host.event("message.complete", sid)).status, "interrupted");
      await eventually(() => model.calls()[1]!.aborted, 5_000, "the end of its call");
    },
    { sampling: true },
    stalled,
  );
});
