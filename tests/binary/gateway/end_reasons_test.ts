/** Under which reason a session ends, by what ended it (tui-gateway.md A.1, A.8, B.3), and tool output while it comes. */
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { openStore } from "../../../src/store/mod.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { eventually, type Rig } from "../../support/program.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

function endReason({ home }: Rig, key: string): string | null {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(`${home}/hermes.db`, { platform: createDenoPlatform(), log });
  try {
    return store.getSession(key)!.endReason;
  } finally {
    store.close();
  }
}

Deno.test("A.1, B.3: a session ends as tui_close when it is closed, as tui_shutdown with the program", async () => {
  await withGateway({ model: { respond: () => "ok" } }, async ({ host, rig }) => {
    const closed = await host.session();
    const open = await host.session();
    const keys: string[] = [];
    for (const { sid } of [closed, open]) {
      await host.turn(sid, "hello");
      await host.idle(sid);
      keys.push((await host.request("session.status", { session_id: sid })).session_key);
    }
    await host.request("session.close", { session_id: closed.sid });
    assertEquals([endReason(rig, keys[0]!), endReason(rig, keys[1]!)], ["tui_close", null]);
    await host.closeInput();
    assertEquals((await host.exited()).code, 0);
    assertEquals([endReason(rig, keys[0]!), endReason(rig, keys[1]!)], ["tui_close", "tui_shutdown"]);
  });
});

Deno.test("A.8: a dropped line ends its sessions as ws_disconnect or, after the grace, as ws_orphan_reap", async () => {
  const env = { HERMES_TUI_WS_ORPHAN_REAP_GRACE_S: "0.3" };
  await withWsGateway({ model: { respond: () => "ok" }, env }, async ({ connect, rig }) => {
    const host = await connect();
    const keys: string[] = [];
    for (const close_on_disconnect of [true, false]) {
      const { session_id: sid } = await host.request("session.create", { close_on_disconnect });
      await host.request("prompt.submit", { session_id: sid, text: "hello" });
      await host.event("message.complete", sid);
      keys.push((await host.request("session.status", { session_id: sid })).session_key);
    }
    await host.close();
    for (const [at, reason] of ["ws_disconnect", "ws_orphan_reap"].entries()) {
      await eventually(() => endReason(rig, keys[at]!) === reason || undefined, 10_000, reason);
    }
  });
});

Deno.test("C.2 tool.progress: what a command prints is told while it runs, with its id, at most four times a second", async () => {
  const command = "for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo line $n; sleep 0.1; done";
  const turns = [toolTurn(terminal(command)), "done"];
  await withGateway({ model: { turns } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "count");
    const types = host.events.filter((event) => event.session_id === sid).map((event) => event.type);
    const told = host.eventsOf("tool.progress", sid);
    const [start] = host.eventsOf("tool.start", sid);
    const [end] = host.eventsOf("tool.complete", sid);
    assert(
      told.length >= 2 && told.length <= Math.ceil(end!.payload.duration_s * 4) + 1,
      String(told.length),
    );
    for (const { payload } of told) {
      assertEquals([payload.name, payload.tool_id], ["terminal", start!.payload.tool_id]);
    }
    assert(told.at(-1)!.payload.preview.includes("line "));
    assert(types.indexOf("tool.start") < types.indexOf("tool.progress"));
    assert(types.lastIndexOf("tool.progress") < types.indexOf("tool.complete"));
  });
});
