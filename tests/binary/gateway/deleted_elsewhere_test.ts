/**
 * A conversation that another program on the same home deletes while it is open here (core.md D.4): what runs goes on,
 * nothing else of it costs a model call, and the session itself stays usable (tui-gateway.md A.5, B.9, B.11).
 */
import { assertEquals } from "../../support/assert.ts";
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { eventually, type Rig } from "../../support/program.ts";
import { withGateway } from "./scene.ts";

const DELETED = "Another program has deleted this conversation";

async function deleteElsewhere(rig: Rig, stored: string): Promise<void> {
  await using other = await startGateway({ rig });
  assertEquals(await other.request("session.delete", { session_id: stored }), { deleted: stored });
}

Deno.test("gateway B.11: prompts that wait while another program deletes the conversation never reach the model", async () => {
  const first = Promise.withResolvers<void>();
  const respond = async (_: Json, n: number) => {
    if (n === 0) await first.promise;
    return `answer ${n}`;
  };
  await withGateway({ model: { respond } }, async ({ rig, host, model }) => {
    const { sid, stored } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "a" });
    await eventually(() => model.calls().length === 1);
    const queued = { session_id: sid, text: "b", queued: true };
    assertEquals(await host.request("prompt.submit", queued), { status: "queued" });
    await deleteElsewhere(rig, stored);
    first.resolve();
    const running = await host.event("message.complete", sid);
    assertEquals([running.status, running.text, running.warning], [
      "complete",
      "answer 0",
      `${DELETED}: nothing more of it is saved`,
    ]);
    const waiting = await host.event("message.complete", sid, 1);
    assertEquals([waiting.status, waiting.text], ["error", `Error: ${DELETED}`]);
    await host.until(
      () => host.eventsOf("session.info", sid).at(-1)?.payload.running === false || undefined,
      "idle",
    );
    assertEquals(host.eventsOf("message.start", sid).length, 2);
    assertEquals(host.eventsOf("error", sid).map(({ payload }) => payload.message), [DELETED]);
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("gateway B.9, B.11: an idle conversation that was deleted elsewhere takes no prompt and no compression", async () => {
  await withGateway({ model: { turns: ["1", "2", "3", "4"] } }, async ({ rig, host, model }) => {
    const { sid, stored } = await host.session();
    for (const text of ["a", "b", "c"]) await host.turn(sid, text);
    await deleteElsewhere(rig, stored);
    const calls = model.calls().length;
    for (const nth of [3, 4]) {
      assertEquals(await host.request("prompt.submit", { session_id: sid, text: "d" }), {
        status: "streaming",
      });
      const { status, text } = await host.event("message.complete", sid, nth);
      assertEquals([status, text], ["error", `Error: ${DELETED}`]);
    }
    assertEquals((await host.refused("session.compress", { session_id: sid })).code, 4007);
    assertEquals(model.calls().length, calls);
    assertEquals(await host.request("session.close", { session_id: sid }), { closed: true });
    const { sid: next } = await host.session();
    await host.turn(next, "e");
    assertEquals((await host.event("message.complete", next)).status, "complete");
  });
});
