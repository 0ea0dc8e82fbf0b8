/**
 * A data home or a database that cannot be written (tui-gateway.md A.6, A.7): what fails by that has the number of its
 * method, not one for a fault of the program, and nothing has changed, in the store or in memory.
 */
import { assertEquals } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { exists, withGateway } from "./scene.ts";

const CASES: readonly (readonly [method: string, params: Json, code: number])[] = [
  ...[
    ["busy", "queue"],
    ["verbose", "off"],
    ["details_mode", "hidden"],
    ["skin", "default"],
    ["reasoning", "hide"],
    ["reasoning", "high"],
    ["approvals.mode", "off"],
    ["prompt", "Be brief."],
    ["cwd", "/tmp"],
    ["personality", "none"],
    ["model", "other"],
  ].map(([key, value]) => ["config.set", { key, value }, 5001] as const),
  ["config.set", { key: "yolo", value: "on", scope: "global" }, 5001],
  ["tools.configure", { action: "disable", names: ["web"] }, 5035],
  ["reload.mcp", { always: true }, 5015],
  ["model.save_key", { slug: "openrouter", api_key: "sk-or-v1-0123456789abcdef0123456789" }, 5034],
  ["session.save", { session_id: "SID" }, 5011],
  ["spawn_tree.save", { subagents: [1] }, 5000],
  ["paste.collapse", { text: "one\ntwo" }, 5027],
  ["slash.exec", { session_id: "SID", command: "/busy queue" }, 5030],
  ["slash.exec", { session_id: "SID", command: "/tools disable web" }, 5030],
  ["command.dispatch", { session_id: "SID", command: "/verbose off" }, 5030],
  ["command.dispatch", { session_id: "SID", command: "/model custom:other --global" }, 5001],
];

Deno.test("A.7: a home that cannot be written fails each method by its own number, and the session goes on", async () => {
  const model = { respond: () => "said", models: ["scripted", "other"] };
  await withGateway({ model }, async ({ host, rig }) => {
    const { sid } = await host.session();
    await host.turn(sid, "one");
    const settings = async () => {
      const values: Json = {};
      for (
        const key of ["busy", "verbose", "details_mode", "reasoning", "approvals.mode", "prompt", "model"]
      ) {
        values[key] = await host.request("config.get", { key, session_id: sid });
      }
      return [values, (await host.request("toolsets.list")).toolsets];
    };
    const before = await settings();
    // A folder where a file is wanted, and the other way round: root can write anything else.
    await Deno.rename(`${rig.home}/config.jsonc`, `${rig.home}/config.kept`);
    await Deno.mkdir(`${rig.home}/config.jsonc`);
    if (await exists(`${rig.home}/.env`)) await Deno.remove(`${rig.home}/.env`);
    await Deno.mkdir(`${rig.home}/.env`);
    for (const name of ["sessions", "spawn-trees", "pastes"]) {
      await Deno.writeTextFile(`${rig.home}/${name}`, "");
    }
    for (const [method, params, code] of CASES) {
      const sent = params.session_id === "SID" ? { ...params, session_id: sid } : params;
      const refused = await host.refused(method, sent);
      assertEquals([method, params, refused.code], [method, params, code], refused.message);
    }
    assertEquals(await settings(), before);
    assertEquals((await host.turn(sid, "two")).text, "said");
    assertEquals(host.stderr.includes("[gateway-crash]"), false, host.stderr);
  });
});

const STORED: readonly (readonly [method: string, params: Json, code: number])[] = [
  ["session.title", { title: "T" }, 5007],
  ["session.branch", {}, 5008],
  ["session.compress", {}, 5005],
  ["session.undo", {}, 5008],
  ["session.cwd.set", { cwd: "sub" }, 5000],
  ["config.set", { key: "cwd", value: "sub" }, 5001],
  ["config.set", { key: "model", value: "other" }, 5001],
  ["config.set", { key: "reasoning", value: "high" }, 5001],
  ["command.dispatch", { command: "/model custom:other" }, 5001],
  ["command.dispatch", { command: "/undo" }, 5008],
  ["command.dispatch", { command: "/retry" }, 5008],
  ["command.dispatch", { command: "/compress" }, 5009],
  ["command.dispatch", { command: "/title X" }, 5030],
  ["command.dispatch", { command: "/branch" }, 5008],
];

Deno.test("A.7: a database that cannot be written fails each method by its own number, and memory agrees with it", async () => {
  const model = { respond: () => "said", models: ["scripted", "other"] };
  await withGateway({ model }, async ({ host, rig, model }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    const on = { session_id: sid };
    for (const text of ["one", "two", "three", "four"]) await host.turn(sid, `${text} ${"word ".repeat(30)}`);
    await Deno.mkdir(`${rig.workspace}/sub`);
    const state = async () => {
      const values = [];
      for (const key of ["model", "reasoning", "cwd"]) {
        values.push(await host.request("config.get", { key, ...on }));
      }
      const history = await host.request("session.history", on);
      const live = (await host.request("session.active_list")).sessions.length;
      return [values, history, live, await host.request("session.title", on)];
    };
    const before = await state();
    const second = (before[1] as Json).messages.filter((row: Json) => row.role === "user")[1].row_id;
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
    const stops = ["sessions", "messages"].flatMap((table) =>
      ["INSERT", "UPDATE", "DELETE"].map((event) => [`stop_${table}_${event}`, `${event} ON ${table}`])
    );
    for (const [name, event] of stops) {
      db.exec(`CREATE TRIGGER ${name} BEFORE ${event} BEGIN SELECT RAISE(ABORT, 'stopped'); END`);
    }
    const rewind = { text: "again", truncate_before_row_id: second, confirm_truncate: true };
    for (const [method, params, code] of [...STORED, ["prompt.submit", rewind, 5008] as const]) {
      const at = params.cwd || params.key === "cwd" ? `${rig.workspace}/sub` : null;
      const sent = { ...params, ...on, ...(at && (params.cwd ? { cwd: at } : { value: at })) };
      const refused = await host.refused(method, sent);
      assertEquals([method, params, refused.code], [method, params, code], refused.message);
    }
    for (const [name] of stops) db.exec(`DROP TRIGGER ${name}`);
    db.close();
    assertEquals(await state(), before);
    const calls = model.calls().length;
    assertEquals((await host.turn(sid, "five")).text, "said");
    assertEquals(model.calls().length, calls + 1);
    const sent = model.calls().at(-1)!.body.messages.filter((message: Json) => message.role === "user");
    assertEquals(sent.map(({ content }: Json) => content.split(" ")[0]), [
      "one",
      "two",
      "three",
      "four",
      "five",
    ]);
  });
});
