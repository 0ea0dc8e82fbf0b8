/** `insights.get` (tui-gateway.md B.18): counts of the last days, from what is stored. */
import { assertEquals } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { withGateway } from "./scene.ts";

/** Stored conversations as other doors and other days left them. */
async function fill(home: string, rows: readonly Json[]): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(`${home}/hermes.db`, { timeout: 10_000 });
  const add = db.prepare(
    `INSERT INTO sessions (id, source, root_id, started_at, last_activity_at, message_count, model)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const [id, source, at, messages, model] of rows) add.run(id, source, id, at, at, messages, model);
  db.close();
}

Deno.test("B.18 insights.get: sessions, messages and calls of the period, by source, model and day", async () => {
  const usage = { prompt_tokens: 100, completion_tokens: 20 };
  const turns = [{ steps: [{ text: "a" }, { usage }] }, { steps: [{ text: "b" }, { usage }] }];
  await withGateway({ model: { turns } }, async ({ host, rig }) => {
    const empty = await host.request("insights.get");
    assertEquals([empty.days, empty.sessions, empty.messages, empty.model_calls, empty.by_day], [
      30,
      0,
      0,
      0,
      [],
    ]);
    const { sid } = await host.session();
    await host.turn(sid, "one");
    await host.turn(sid, "two");
    const now = Date.now() / 1000;
    const day = 86_400;
    await fill(rig.home, [
      ["yesterday", "acp", now - day, 6, "other"],
      ["old", "cli", now - 20 * day, 10, null],
      ["older", "cli", now - 40 * day, 100, "other"],
      ["child", "subagent", now, 50, "other"],
      ["empty", "tui", now, 0, "other"],
    ]);
    const month = await host.request("insights.get", { days: 30 });
    assertEquals([month.sessions, month.messages], [3, 20]);
    assertEquals(month.by_source, {
      tui: { sessions: 1, messages: 4 },
      acp: { sessions: 1, messages: 6 },
      cli: { sessions: 1, messages: 10 },
    });
    assertEquals(month.by_model, {
      scripted: { sessions: 1, messages: 4 },
      other: { sessions: 1, messages: 6 },
      unknown: { sessions: 1, messages: 10 },
    });
    assertEquals([month.model_calls, month.tokens, month.cost_usd], [2, 240, 0]);
    assertEquals(month.by_day.length >= 1, true);
    assertEquals(month.by_day.reduce((sum: number, row: Json) => sum + row.tokens, 0), 240);
    const week = await host.request("insights.get", { days: 7 });
    assertEquals([week.days, week.sessions, week.messages], [7, 2, 10]);
    assertEquals((await host.request("insights.get", { days: 3660 })).messages, 120);
  });
});

Deno.test("B.18 insights.get: more conversations than one page are all counted", async () => {
  await withGateway({}, async ({ host, rig }) => {
    await host.request("session.list");
    const now = Date.now() / 1000;
    await fill(rig.home, Array.from({ length: 1_203 }, (_, n) => [`s${n}`, "tui", now - n, 2, "m"]));
    const { sessions, messages } = await host.request("insights.get");
    assertEquals([sessions, messages], [1_203, 2_406]);
  });
});

Deno.test("B.18 insights.get: days that are none are -32602, a store that cannot be read is 5017", async () => {
  await withGateway({}, async ({ host }) => {
    for (const days of [0, -1, "x", 1e9]) {
      assertEquals((await host.refused("insights.get", { days })).code, -32602, String(days));
    }
  });
  const prepare = async ({ home }: { home: string }) => {
    await Deno.mkdir(`${home}/hermes.db`);
    return {};
  };
  await withGateway({ prepare }, async ({ host }) => {
    assertEquals((await host.refused("insights.get")).code, 5017);
  });
});
