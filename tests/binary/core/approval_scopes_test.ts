/** Core row 41 against the real program: what one session was allowed, every other one is asked about. */
import { calling, exists, type Json, lastResult, shell, withCore } from "../../support/core_driver.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("core 41: a command allowed for one session is asked about in one that was open already, and in a later one", async () => {
  const turns = [calling(shell("rm -rf build")), "ok"];
  await withCore({ model: { turns, loop: true } }, async ({ host, model, open, rig }) => {
    const build = `${rig.workspace}/build`;
    const asked = (sid: string) => host.eventsOf("approval.request", sid).length;
    /** One turn; its question, where there is one, gets this choice. What became of the folder and of the call. */
    const turn = async (sid: string, choice: string | null): Promise<Json[]> => {
      await Deno.mkdir(build, { recursive: true });
      const [before, ended] = [asked(sid), host.eventsOf("message.complete", sid).length];
      await host.request("prompt.submit", { session_id: sid, text: "go" });
      if (choice !== null) {
        const { request_id } = await host.event("approval.request", sid, before);
        const answer = { session_id: sid, request_id, choice };
        assertEquals(await host.request("approval.respond", answer), { resolved: 1 });
      }
      await host.event("message.complete", sid, ended);
      await host.idle(sid);
      const { exit_code, outcome } = lastResult(model.calls().at(-1));
      return [await exists(build), exit_code, outcome, asked(sid)];
    };
    const [{ sid: first }, { sid: second }] = [await open(), await open()];
    assertEquals(await turn(first, "session"), [false, 0, undefined, 1]);
    assertEquals(await turn(first, null), [false, 0, undefined, 1]);
    assertEquals(await turn(second, "deny"), [true, -1, "denied", 1]);
    const { sid: later } = await open();
    assertEquals(await turn(later, "once"), [false, 0, undefined, 1]);
    assertEquals(await turn(later, "deny"), [true, -1, "denied", 2]);
    // And what the others were answered changes nothing for the first.
    assertEquals(await turn(first, null), [false, 0, undefined, 1]);
  });
});
