/** What a session waits for before its first turn, and what a resume brings along (tui-gateway.md B.0, B.3, B.4). */
import { assert, assertEquals } from "../../support/assert.ts";
import { type GatewayHost, type Json, startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";
import { sentTexts } from "./scene.ts";

/** A skill whose text is there once the file is. */
async function addSlowSkill(rig: Rig): Promise<string> {
  const gate = `${rig.home}/gate`;
  const folder = `${rig.home}/skills/slow`;
  await Deno.mkdir(folder, { recursive: true });
  const text = `Heard: !\`until [ -e ${gate} ]; do sleep 0.02; done; echo gate\``;
  await Deno.writeTextFile(`${folder}/SKILL.md`, `---\nname: slow\ndescription: d\n---\n\n${text}\n`);
  return gate;
}

const SKILLS = { inline_shell: true, inline_shell_timeout: 60 };

Deno.test("B.0, B.4: a session is `starting` and lazy until its build is over; eager_build answers when it is", async () => {
  await using model = await startModelServer({ respond: () => "ok" });
  await using rig = await makeRig({ config: modelConfig(model.url, { skills: SKILLS }) });
  let stored: string;
  {
    await using host = await startGateway({ rig });
    const session = await host.session();
    stored = session.stored;
    await host.turn(session.sid, "hi");
    await host.end();
  }
  const gate = await addSlowSkill(rig);
  await using host = await startGateway({ rig, env: { HERMES_TUI_SKILLS: "slow" } });
  const { session_id: sid } = await host.request("session.create");
  const listed = async () =>
    (await host.request("session.active_list")).sessions.map((row: Json) => row.status);
  const shown = ({ status, running, info }: Json) => [status, running, info.lazy, info.tools, info.skills];
  const starting = ["starting", false, true, {}, {}];
  assertEquals(await listed(), ["starting"]);
  assertEquals(shown(await host.request("session.activate", { session_id: sid })), starting);

  const resumed = await host.request("session.resume", { session_id: stored });
  assertEquals(shown(resumed), starting);
  assertEquals(await listed(), ["starting", "starting"]);
  // A turn is taken at once, works and waits.
  await host.request("prompt.submit", { session_id: sid, text: "early" });
  assertEquals(await listed(), ["working", "starting"]);
  const eager = await host.post("session.resume", { session_id: stored, eager_build: true });
  assertEquals((await host.request("session.interrupt", { session_id: sid })).status, "interrupted");
  assert(host.frames.every((frame) => frame.id !== eager), "it has answered before the build");

  await Deno.writeTextFile(gate, "");
  const built = (await host.response(eager)).result;
  assertEquals([built.session_id, built.status, built.info.lazy], [resumed.session_id, "idle", undefined]);
  assert(Object.values(built.info.tools).flat().includes("terminal"));
  assertEquals(Object.values(built.info.skills).flat(), ["slow"]);
  const info = await host.event("session.info", resumed.session_id);
  assertEquals([info.lazy, info.running], [undefined, false]);
  assertEquals((await host.turn(resumed.session_id, "now")).text, "ok");
  assertEquals(sentTexts(model.calls().at(-1)!, "system").join("\n").includes("Heard: gate"), true);
  assertEquals((await listed())[1], "idle");
});

/** `count` exchanges, and a compression after the first `compressedAt` of them. */
async function talk(host: GatewayHost, sid: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await host.turn(sid, `question ${n}`);
}

Deno.test("B.3, B.4: omit_messages and defer_history leave the messages out; session.history still has them", async () => {
  const respond = (request: Json) =>
    JSON.stringify(request.body.messages).includes("Summarise the conversation") ? "THE SUMMARY" : "ok";
  await using model = await startModelServer({ respond });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  let stored: string;
  {
    await using host = await startGateway({ rig });
    const session = await host.session();
    await talk(host, session.sid, 8);
    const { status } = await host.request("session.compress", { session_id: session.sid });
    assertEquals(status, "compressed");
    stored = (await host.request("session.title", { session_id: session.sid })).session_key;
    await host.end();
  }
  const seen = async (extra: Json) => {
    await using host = await startGateway({ rig });
    const { session_id, messages, message_count, resumed } = await host.request("session.resume", {
      session_id: stored,
      ...extra,
    });
    const history = await host.request("session.history", { session_id });
    const activated = await host.request("session.activate", { session_id, omit_messages: true });
    await host.end();
    assertEquals(resumed, stored);
    assertEquals([activated.messages, activated.message_count], [[], history.count]);
    return [messages.length, message_count, history.messages.length, history.count];
  };
  const [shown, count, whole, rows] = await seen({});
  assertEquals([shown, count], [whole, whole]);
  assert(rows! >= 17, `${rows} rows over the chain`);
  assertEquals(await seen({ omit_messages: true }), [0, rows, whole, rows]);
  // Nothing is read for it: the tip has less than the whole chain.
  const [none, tip, ...later] = await seen({ defer_history: true });
  assertEquals([none, ...later], [0, whole, rows]);
  assert(tip! > 0 && tip! < rows!, `${tip} of ${rows} rows`);
  assertEquals(await seen({ defer_history: true, omit_messages: true }), [0, tip, whole, rows]);
});
