/** Skills on this wire: named by the start for every session (tui-gateway.md I), and as turns of a user (B.0, B.11, D.1). */
import { assert, assertEquals } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import type { ModelServerRequest } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { sentTexts, withGateway } from "./scene.ts";

async function addSkill(rig: Rig, name: string, body: string): Promise<void> {
  const dir = `${rig.home}/skills/${name}`;
  await Deno.mkdir(dir, { recursive: true });
  await Deno.writeTextFile(
    `${dir}/SKILL.md`,
    `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}\n`,
  );
}

function systemOf(request: ModelServerRequest): string {
  return sentTexts(request, "system").join("\n");
}

Deno.test("HERMES_TUI_SKILLS: the named skills are told to the model with every turn of every session", async () => {
  await using model = await startModelServer({ turns: ["one", "two", "three"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await addSkill(rig, "tidy", "Always sweep first.");
  await addSkill(rig, "brief", "Use few words.");
  await using host = await startGateway({ rig, env: { HERMES_TUI_SKILLS: " tidy,\nbrief, tidy" } });
  // The first prompt does not wait for the first session.info.
  const { session_id: sid } = await host.request("session.create");
  await host.turn(sid, "a");
  await host.turn(sid, "b");
  const { sid: other } = await host.session();
  await host.turn(other, "c");
  for (const request of model.calls()) {
    const system = systemOf(request);
    assert(system.indexOf("Always sweep first.") < system.indexOf("Use few words."), system.slice(-600));
    assertEquals(system.split("Always sweep first.").length, 2);
  }
  assertEquals(host.eventsOf("error"), []);
});

Deno.test("HERMES_TUI_SKILLS: a name that is no skill is an error event, once per session; turns go on", async () => {
  const env = { HERMES_TUI_SKILLS: "nowhere" };
  await withGateway({ model: { turns: ["one", "two"] }, env }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await host.turn(sid, "a")).text, "one");
    assertEquals((await host.turn(sid, "b")).text, "two");
    const told = host.eventsOf("error", sid).map((event) => event.payload.message);
    assertEquals(told, ["HERMES_TUI_SKILLS: there is no skill nowhere"]);
  });
});

Deno.test("B.0 skill_invocation, B.11: a skill's turn is shown as typed, counted, undone as typed, rewound as the skill", async () => {
  const turns = ["hi", "shipped", "shipped again", "and again", "last"];
  await withGateway({ model: { turns } }, async ({ host, model, rig }) => {
    await addSkill(rig, "deploy", "Run the deploy script.");
    const { sid } = await host.session();
    const on = { session_id: sid };
    await host.turn(sid, "hello");
    const { message } = await host.request("command.dispatch", { ...on, command: "/deploy to staging" });
    await host.turn(sid, message);
    const rows = async () => (await host.request("session.history", on)).messages;
    const shown = (await rows())[2];
    assertEquals(
      [shown.role, shown.text, shown.display_kind, shown.display_metadata],
      ["user", "/deploy to staging", "skill_invocation", { skill: "deploy" }],
    );

    const cut = {
      truncate_before_row_id: shown.row_id,
      truncate_before_user_ordinal: 1,
      confirm_truncate: true,
    };
    const done = await host.request("prompt.submit", { ...on, text: "/deploy to production", ...cut });
    assertEquals([done.status, done.survivor_user_row_ids.length], ["streaming", 1]);
    await host.event("message.complete", sid, 2);
    await host.idle(sid);
    const sent = sentTexts(model.calls()[2], "user").at(-1)!;
    assert(sent.includes("Run the deploy script.") && sent.endsWith("to production"), sent);
    assertEquals((await rows()).map((row: Json) => row.text), [
      "hello",
      "hi",
      "/deploy to production",
      "shipped again",
    ]);

    const again = await host.request("command.dispatch", { ...on, command: "/retry" });
    assertEquals([again.type, again.display], ["send", "/deploy to production"]);
    assert(again.message.includes("Run the deploy script."));
    await host.turn(sid, again.message);
    const back = await host.request("command.dispatch", { ...on, command: "/undo" });
    assertEquals([back.type, back.message], ["prefill", "/deploy to production"]);
    // Without a rewind a slash is text.
    await host.turn(sid, "/deploy it");
    assertEquals(sentTexts(model.calls().at(-1)!, "user").at(-1), "/deploy it");
  });
});
