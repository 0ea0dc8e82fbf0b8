/**
 * `display.file_mutation_verifier` (core.md A.8) on every surface of the real program: below an answer stands which
 * edits of its turn failed; the model never gets that text back.
 */
import { DENY, withAcp } from "../../support/acp_driver.ts";
import { collectSse, contentOf, startApi } from "../../support/api_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling, type Json, withCore } from "../../support/core_driver.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";
import { ask, eventsOf, startRun, untilStatus } from "../api/run_scene.ts";

const TRY: ScriptTurn = calling(call("patch", { path: "a.txt", old_string: "nowhere", new_string: "x" }));
const FOOTER = /^All done\.\n\nEdits that failed and were not made up for in this turn:\n- a\.txt: \S.*$/;

Deno.test("gateway: shown in the answer and in its deltas, not sent to the model, not in the history", async () => {
  await withCore({ model: { turns: [TRY, "All done.", "ok"] } }, async ({ rig, host, model, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text\n");
    const { sid } = await open();
    const { text } = await host.turn(sid, "go");
    assertMatch(text, FOOTER);
    const deltas = host.eventsOf("message.delta").map((event: Json) => event.payload.text).join("");
    assertEquals(deltas.trim(), text);
    await host.turn(sid, "next");
    const sent = model.calls()[2]!.body.messages;
    assertEquals(sent.at(-2), { role: "assistant", content: "All done." });
    assertEquals(JSON.stringify(sent).includes("made up for"), false);
    const { messages } = await host.request("session.history", { session_id: sid });
    assertEquals(JSON.stringify(messages).includes("made up for"), false);
  });
});

Deno.test("gateway: what was mended in the turn is not listed", async () => {
  const mend = calling(call("patch", { path: "a.txt", old_string: "text", new_string: "x" }));
  const look = calling(call("read_file", { path: "a.txt" }));
  await withCore({ model: { turns: [look, TRY, mend, "All done."] } }, async ({ rig, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text\n");
    assertEquals((await host.turn((await open()).sid, "go")).text, "All done.");
    assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "x\n");
  });
});

Deno.test("acp: as text of the message; an edit that the user denied is not listed", async () => {
  const write = calling(call("write_file", { path: "b.txt", content: "b" }));
  await withAcp({ turns: [TRY, "All done.", write, "As you like."] }, async ({ acp, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text\n");
    await acp.prompt(sessionId, "go");
    assertMatch(acp.text(sessionId), FOOTER);
    acp.onPermission = () => DENY;
    const from = acp.frames.length;
    await acp.prompt(sessionId, "go");
    assertEquals(acp.text(sessionId, from), "As you like.");
  });
});

Deno.test("run, chat: in the answer of all outputs; without the setting in none", async () => {
  await using model = await startModelServer({ turns: [TRY, "All done."], loop: true });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text\n");
  const here = { rig, cwd: rig.workspace };
  assertMatch((await runProgram(["run", "go"], here)).stdout.trimEnd(), FOOTER);
  const json = (await runProgram(["run", "--json", "go"], here)).stdout.trim().split("\n");
  assertMatch(JSON.parse(json.at(-1)!).text, FOOTER);
  assertMatch((await runProgram(["chat", "go"], here)).stdout, /made up for in this turn:\n- a\.txt: \S/);
  await rig.writeConfig(modelConfig(model.url, { display: { file_mutation_verifier: false } }));
  assertEquals((await runProgram(["run", "go"], here)).stdout, "All done.\n");
});

Deno.test("api: whole and streamed, on chat, responses and runs", async () => {
  await using model = await startModelServer({ turns: [TRY, "All done."], loop: true });
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text\n");
  await using api = await startApi({ model, rig, config: { terminal: { cwd: rig.workspace } } });
  const body = { messages: [{ role: "user", content: "go" }] };
  assertMatch((await (await api.chat(body)).json()).choices[0].message.content, FOOTER);
  assertMatch(contentOf(await collectSse(await api.chat({ ...body, stream: true }))), FOOTER);
  const whole = (await ask(api, "/v1/responses", { body: { input: "go" } })).body;
  assertMatch(whole.output.findLast((item: Json) => item.type === "message").content[0].text, FOOTER);
  const frames = await collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
  const deltas = frames.filter((frame) => frame.event === "response.output_text.delta");
  assertMatch(deltas.map((frame) => frame.json.delta).join(""), FOOTER);
  const id = await startRun(api);
  assertMatch((await untilStatus(api, id, "completed")).output, FOOTER);
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  const said = events.filter((event) => event.event === "message.delta").map((event) => event.delta).join("");
  assertMatch(said, FOOTER);
});

Deno.test("api B2.4: a chain of responses does not give it back to the model", async () => {
  await using model = await startModelServer({ turns: [TRY, "All done.", "ok"] });
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text\n");
  await using api = await startApi({ model, rig, config: { terminal: { cwd: rig.workspace } } });
  const first = (await ask(api, "/v1/responses", { body: { input: "go" } })).body;
  await ask(api, "/v1/responses", { body: { input: "next", previous_response_id: first.id } });
  assertEquals(JSON.stringify(model.calls()[2]!.body.messages).includes("made up for"), false);
});
