/**
 * `agent.gateway_timeout` (core.md E.4) on every surface of the real program: a turn in which nothing happens ends
 * like an error that says so, its model request and its tools are ended, and the conversation goes on.
 */
import { withAcp } from "../../support/acp_driver.ts";
import { collectSse, startApi } from "../../support/api_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { call, calling, shell, withCore } from "../../support/core_driver.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram } from "../../support/program.ts";
import { ask, eventsOf, startRun, untilStatus } from "../api/run_scene.ts";

const CONFIG = { agent: { gateway_timeout: 1 } };
const STALL: ScriptTurn = { steps: [{ text: "Hm. " }, { stall: true }] };
const MESSAGE =
  "No activity for 1 second (agent.gateway_timeout), so the turn was stopped. Send the message again; if the model " +
  "or a tool needs longer, raise the setting (0: no limit)";

Deno.test("gateway: the turn ends with the error, the request is aborted, the text is kept", async () => {
  await withCore(
    { model: { turns: [STALL, "Here I am."] }, config: CONFIG },
    async ({ host, model, open }) => {
      const { sid } = await open();
      const end = await host.turn(sid, "go");
      assertEquals([end.status, end.error, end.failure_reason, end.recoverable, end.text], [
        "error",
        MESSAGE,
        "timeout",
        true,
        "Hm. ",
      ]);
      await eventually(() => model.calls()[0]!.aborted);
      const next = await host.turn(sid, "still there?");
      assertEquals([next.status, next.text], ["complete", "Here I am."]);
      const said = model.calls()[1]!.body.messages.slice(1).map((one: { content: string }) => one.content);
      assertEquals(said, ["go", "Hm.", "still there?"]);
    },
  );
});

Deno.test("gateway: a silent command may use up the limit that it has of its own", async () => {
  await withCore({
    model: { turns: [calling(shell("sleep 2.5; echo slept")), "Done."] },
    config: CONFIG,
  }, async ({ host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "go")).text, "Done.");
  });
});

Deno.test("core I.1: a silent subagent is ended by itself, and its parent goes on", async () => {
  await withCore({
    model: {
      respond: ({ body }) => {
        const texts = JSON.stringify(body.messages);
        if (!texts.includes("the parent's wish")) return STALL;
        return body.messages.at(-1).role === "tool"
          ? "It was silent."
          : calling(call("delegate_task", { goal: "wait", context: "none" }));
      },
    },
    config: CONFIG,
  }, async ({ rig, model }) => {
    const { code, stdout } = await runProgram(["run", "the parent's wish"], { rig });
    assertEquals([code, stdout], [0, "It was silent.\n"]);
    const result = model.calls().at(-1)!.body.messages.at(-1).content;
    assert(result.includes("No activity for 1 second"), result);
  });
});

Deno.test("run: exit code 1, and both outputs say why", async () => {
  await using model = await startModelServer({ turns: [STALL, STALL] });
  await using rig = await makeRig({ config: modelConfig(model.url, CONFIG) });
  const json = await runProgram(["run", "--json", "go"], { rig });
  const result = JSON.parse(json.stdout.trim().split("\n").at(-1)!);
  assertEquals([json.code, result.outcome, result.exit_reason], [1, "failed", "inactivity_timeout"]);
  assertEquals(result.error, { code: "timeout", message: MESSAGE });
  const text = await runProgram(["run", "go"], { rig });
  assertEquals([text.code, text.stderr.trim().split("\n").at(-1)], [1, `hermes: ${MESSAGE}`]);
});

Deno.test("acp C10: the prompt fails with the reason", async () => {
  await withAcp({ turns: [STALL, "ok"], config: CONFIG }, async ({ acp, sessionId }) => {
    const { error } = await acp.startPrompt(sessionId, "go").answer;
    assertEquals(error?.data?.details, MESSAGE);
    assertEquals((await acp.prompt(sessionId, "again")).stopReason, "end_turn");
  });
});

Deno.test("api: every route says it", async () => {
  await using model = await startModelServer({ turns: [STALL], loop: true });
  await using api = await startApi({ model, config: CONFIG });
  const body = { messages: [{ role: "user", content: "go" }] };
  const plain = await (await api.chat(body)).json();
  assertEquals([plain.hermes.failed, plain.hermes.error], [true, MESSAGE]);
  const chunks = await collectSse(await api.chat({ ...body, stream: true }));
  assert(chunks.some((frame) => frame.json?.error?.message === MESSAGE));
  const response = (await ask(api, "/v1/responses", { body: { input: "go" } })).body;
  assertEquals([response.status, response.error.message], ["failed", MESSAGE]);
  const id = await startRun(api);
  const run = await untilStatus(api, id, "failed");
  const end = (await eventsOf(api, id)).flatMap((frame) =>
    frame.json?.event === "run.failed" ? [frame.json] : []
  );
  assertEquals([run.error, end[0]?.error], [MESSAGE, MESSAGE]);
});
