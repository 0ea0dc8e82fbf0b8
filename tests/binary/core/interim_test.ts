/** `display.interim_assistant_messages` (core.md E.4) at the doors of the real program. */
import { withAcp } from "../../support/acp_driver.ts";
import { collectSse, contentOf, startApi } from "../../support/api_driver.ts";
import { assertEquals } from "../../support/assert.ts";
import { type Json, withCore } from "../../support/core_driver.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";
import { eventsOf, startRun, untilStatus } from "../api/run_scene.ts";

const LOOK: ScriptTurn = {
  steps: [{ text: "Let me " }, { text: "look." }, {
    tool: "search_files",
    args: { pattern: "*", target: "files" },
  }],
};
const TURNS = [LOOK, { steps: [{ text: "All " }, { text: "done." }] }];
const OFF = { interim_assistant_messages: false };

Deno.test("gateway: what came with tool calls is not shown, and stays in the history", async () => {
  await withCore(
    { model: { turns: [...TURNS, "ok"] }, config: { display: OFF } },
    async ({ host, model, open }) => {
      const { sid } = await open();
      assertEquals((await host.turn(sid, "go")).text, "All done.");
      const deltas = host.eventsOf("message.delta").map((event: Json) => event.payload.text).join("");
      assertEquals(deltas, "All done.");
      await host.turn(sid, "next");
      assertEquals(model.calls()[2]!.body.messages[2].content, "Let me look.");
    },
  );
});

Deno.test("acp: the same; a surface's own setting wins over the one for all", async () => {
  await withAcp({ turns: TURNS, config: { display: OFF } }, async ({ acp, sessionId }) => {
    await acp.prompt(sessionId, "go");
    assertEquals(acp.text(sessionId), "All done.");
  });
  const display = { ...OFF, platforms: { acp: { interim_assistant_messages: true } } };
  await withAcp({ turns: TURNS, config: { display } }, async ({ acp, sessionId }) => {
    await acp.prompt(sessionId, "go");
    assertEquals(acp.text(sessionId), "Let me look.All done.");
  });
});

Deno.test("run --json: no such text; with display.platforms.cli alone, too", async () => {
  await using model = await startModelServer({ turns: TURNS, loop: true });
  await using rig = await makeRig();
  for (const display of [OFF, { platforms: { cli: OFF } }]) {
    await rig.writeConfig(modelConfig(model.url, { display }));
    const { stdout } = await runProgram(["run", "--json", "go"], { rig });
    const lines: Json[] = stdout.trim().split("\n").map((line) => JSON.parse(line));
    const texts = lines.filter(({ type }) => type === "text.delta" || type === "text.end");
    assertEquals(texts.map(({ type, text }) => [type, text]), [
      ["text.delta", "All done."],
      ["text.end", "All done."],
    ]);
  }
});

Deno.test("api A2: display.platforms.api_server hides it in streams and runs", async () => {
  await using model = await startModelServer({ turns: TURNS, loop: true });
  await using api = await startApi({ model, config: { display: { platforms: { api_server: OFF } } } });
  const body = { messages: [{ role: "user", content: "go" }], stream: true };
  assertEquals(contentOf(await collectSse(await api.chat(body))), "All done.");
  const id = await startRun(api);
  await untilStatus(api, id, "completed");
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  assertEquals(events.filter(({ event }) => event === "message.interim"), []);
  assertEquals(
    events.filter(({ event }) => event === "message.delta").map(({ delta }) => delta),
    ["All done."],
  );
});
