/** Past conversations of other profiles through the real program: core.md B.12 `profile`, `session_id` as `profile/id`. */
import { call, calling, type Json, lastResult, type Scene, withCore } from "../../support/core_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";

/** A conversation of the profile `work`; its stored id. */
async function talkAtWork({ rig, model }: Scene): Promise<string> {
  const home = `${rig.home}/profiles/work`;
  await Deno.mkdir(home, { recursive: true });
  await Deno.copyFile(`${rig.home}/config.jsonc`, `${home}/config.jsonc`);
  await using host = await startGateway({ rig, env: { HERMES_HOME: home } });
  const { sid, stored } = await host.session({ cwd: rig.workspace });
  model.push("In May.");
  await host.turn(sid, "when does the heron nest?");
  return stored;
}

Deno.test("core B.12: conversations of another profile are found, read and scrolled, and only when it is named", async () => {
  await withCore({}, async (scene) => {
    const { model, host, open } = scene;
    const stored = await talkAtWork(scene);
    const { sid } = await open();
    const search = async (args: Json): Promise<Json> => {
      model.push(calling(call("session_search", args)), "done");
      await host.turn(sid, "look");
      return lastResult(model.calls().at(-1));
    };
    assertEquals((await search({ query: "heron" })).count, 0);
    const { results } = await search({ query: "heron", profile: "work" });
    assertEquals(results.map((one: Json) => one.session_id), [`work/${stored}`]);
    assertEquals(results[0].messages.map((one: Json) => one.content), [
      "when does the heron nest?",
      "In May.",
    ]);
    const read = await search({ session_id: `work/${stored}` });
    assertEquals([read.mode, read.session_id, read.message_count], ["read", `work/${stored}`, 2]);
    const anchor = results[0].match_message_id;
    const at = await search({ session_id: `work/${stored}`, around_message_id: anchor });
    assertEquals([at.mode, at.messages.length, at.messages[0].anchor], ["scroll", 2, true]);
    assertEquals((await search({ profile: "work" })).results.map((one: Json) => one.session_id), [
      `work/${stored}`,
    ]);
    assertEquals((await search({ profile: "default" })).mode, "browse");
    for (const profile of ["nobody", "../work", "Work Place"]) {
      const none = await search({ query: "heron", profile });
      assertEquals(none.success, false);
      assertMatch(none.error, /^There is no profile '.*' with conversations$/);
    }
  });
});
