/** Side tasks of the real program: titles by a model of their own, with its key, its fields and its chain (core A.18, E.4). */
import { withAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type Json, sessionRow, withCore } from "../../support/core_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { type ModelServerOptions, type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram } from "../../support/program.ts";

const KEY = "side-key-1234567890";

Deno.test("core A.18: the first exchange is named by the configured model, with its own key and fields; the chain helps", async () => {
  await using down = await startModelServer({
    respond: () => ({ steps: [{ error: { status: 401, message: "no" } }] }),
  });
  await using side = await startModelServer({ turns: ['Title: "Plans for lunch"'], key: KEY });
  await withCore({
    model: { turns: ["Soup.", "Bread."] },
    config: {
      auxiliary: {
        title_generation: {
          provider: "custom",
          model: "first",
          base_url: down.url,
          fallback_chain: [{
            provider: "custom",
            model: "second",
            base_url: side.url,
            api_key: KEY,
            extra_body: { top_k: 7 },
          }],
        },
      },
    },
  }, async ({ model, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "What is for lunch?");
    const { payload } = await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    assertEquals([payload.title, payload.session_id], ["Plans for lunch", stored]);
    assertEquals([down.calls().length, side.calls().length, model.calls().length], [1, 1, 1]);
    const { headers, body } = side.calls()[0]!;
    assertEquals(headers["authorization"], `Bearer ${KEY}`);
    assertEquals([body.model, body.temperature, body.max_tokens, body.top_k], ["second", 0.3, 500, 7]);
    assert(down.calls()[0]!.headers["authorization"] !== `Bearer ${KEY}`);
    await host.turn(sid, "And then?");
    assertEquals(side.calls().length, 1);
    for (const line of host.lines) assert(!line.includes(KEY));
  });
});

Deno.test("core A.18: provider main has the session's own model name the conversation", async () => {
  await withCore({
    model: {
      respond: (request) =>
        String(request.body.messages[0]?.content).startsWith("You name conversations")
          ? "A short name"
          : "Yes.",
    },
    config: { auxiliary: { title_generation: { provider: "main", language: "German" } } },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "Is it?");
    const { payload } = await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    assertEquals([payload.title, model.calls().length], ["A short name", 2]);
    assert(model.calls()[1]!.body.messages[0].content.includes("German"));
  });
});

// ── The default ─────────────────────────────────────────────────────────────────────────────────────────────

/** As a config without a word about titles. */
const DEFAULT = { auxiliary: { title_generation: {} } };

const isForTitle = (request: { body: Json }) =>
  String(request.body.messages[0]?.content).startsWith("You name conversations");

/** A model that answers turns with "Yes." and title requests with `title`. */
function naming(title: ScriptTurn): Required<Pick<ModelServerOptions, "respond">> {
  return { respond: (request) => isForTitle(request) ? title : "Yes." };
}

Deno.test("core A.18, E.4: by default the session's own model names a session of the gateway, and it is counted", async () => {
  await withCore({ model: naming("A fine name"), config: DEFAULT }, async ({ model, rig, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "Is it?");
    const { payload } = await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    assertEquals(payload, { session_id: stored, title: "A fine name" });
    const complete = host.indexOfEvent("message.complete", sid);
    assert(complete !== -1 && complete < host.indexOfEvent("session.title", sid));
    await host.turn(sid, "And now?");
    assertEquals(model.calls().map(isForTitle), [false, true, false]);
    const { body } = model.calls()[1]!;
    assertEquals([body.temperature, body.max_tokens, body.reasoning_effort], [0.3, 500, "none"]);
    const row = sessionRow(rig, stored);
    assertEquals([row.title, row.title_source, row.api_call_count], ["A fine name", "llm", 3]);
  });
});

Deno.test("core A.18: a title that does not come delays no turn, and the host may leave: its request is ended", async () => {
  const model = naming({ steps: [{ stall: true }] });
  await withCore({ model, config: DEFAULT }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "Is it?");
    await eventually(() => model.calls().some(isForTitle), 5_000, "the request for a title");
    assertEquals((await host.turn(sid, "And now?")).text, "Yes.");
    assertEquals(model.calls().filter(isForTitle).length, 1);
    assertEquals((await host.end()).code, 0);
    const asked = model.calls().find(isForTitle)!;
    await eventually(() => asked.aborted, 5_000, "the end of the request");
    assertEquals(host.eventsOf("session.title").length, 0);
  });
});

Deno.test("core A.18: a model that refuses to name says nothing to anybody", async () => {
  const model = naming({ steps: [{ error: { status: 401, message: "no titles here" } }] });
  await withCore({ model, config: DEFAULT }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "Is it?");
    await eventually(() => model.calls().some(isForTitle), 5_000, "the request for a title");
    await host.turn(sid, "And now?");
    assertEquals((await host.end()).code, 0);
    for (const line of host.lines) assert(!line.includes("no titles here"), line);
  });
});

Deno.test("core A.18, acp C11: by default a session of an editor is named, after the answer of its prompt", async () => {
  await withAcp(
    { respond: naming("A fine name").respond, config: DEFAULT },
    async ({ acp, model, sessionId }) => {
      const sent = acp.startPrompt(sessionId, "Is it?");
      await sent.answer;
      const told = await acp.update((u) => u.sessionUpdate === "session_info_update" && u.title);
      assertEquals(told.title, "A fine name");
      const at = acp.frames.findIndex(({ frame }) => frame.params?.update?.title === "A fine name");
      const answered = acp.indexOfAnswer(sent.id);
      assert(answered !== -1 && answered < at);
      assertEquals(model.calls().map(isForTitle), [false, true]);
    },
  );
});

Deno.test("core A.18: whoever counts calls gets the one asked for: run, a piped chat, chat completions, responses", async () => {
  await using model = await startModelServer(naming("A name"));
  await using rig = await makeRig({ config: modelConfig(model.url, DEFAULT) });
  const ran = await runProgram(["run", "Is it?"], { rig });
  assertEquals([ran.code, ran.stdout], [0, "Yes.\n"]);
  assertEquals(model.calls().length, 1);
  const chatted = await runProgram(["chat"], { rig, input: "Is it?\n" });
  assertEquals([chatted.code, model.calls().length], [0, 2]);
  await using api = await startApi({ rig, config: modelConfig(model.url, DEFAULT) });
  for (
    const [path, body] of [
      ["/v1/chat/completions", { messages: [{ role: "user", content: "Is it?" }] }],
      ["/v1/responses", { input: "Is it?" }],
    ] as const
  ) {
    const answer = await api.call(path, { method: "POST", body });
    assertEquals(answer.status, 200);
    await answer.text();
  }
  await api.stop();
  assertEquals(model.calls().map(isForTitle), [false, false, false, false]);
});

Deno.test("core A.18, E.4: config set switches titles off and on again", async () => {
  await using model = await startModelServer(naming("A name"));
  await using rig = await makeRig({ config: modelConfig(model.url, DEFAULT) });
  for (const [value, calls] of [["none", 1], ["off", 1], ["auto", 2]] as const) {
    const set = await runProgram(["config", "set", "auxiliary.title_generation.provider", value], { rig });
    assertEquals(set.code, 0, set.stderr);
    model.reset();
    await using host = await startGateway({ rig });
    const { sid } = await host.session({ cwd: rig.workspace });
    await host.turn(sid, "Is it?");
    if (calls === 2) await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    await host.end();
    assertEquals(model.calls().length, calls, value);
  }
});

Deno.test("core A.18: a recording is without the titles that nobody asks for when it is played", async () => {
  await using model = await startModelServer(naming("A name"));
  await using rig = await makeRig({ config: modelConfig(model.url, DEFAULT) });
  {
    await using host = await startGateway({ rig, args: ["--record", "tape.jsonc"] });
    for (const said of ["one", "two"]) {
      const { sid } = await host.session({ cwd: rig.workspace });
      await host.turn(sid, said);
      await host.until(() => host.eventsOf("session.title", sid)[0], "a title");
    }
    assertEquals((await host.end()).code, 0);
  }
  const tape = await Deno.readTextFile(`${rig.workspace}/tape.jsonc`);
  assert(!tape.includes("A name"), tape);
  await using host = await startGateway({ rig, args: ["--model", "builtin:script:tape.jsonc"] });
  for (const said of ["one", "two"]) {
    const { sid } = await host.session({ cwd: rig.workspace });
    assertEquals((await host.turn(sid, said)).text, "Yes.");
  }
});
