/** Rewinding a stored conversation against the real program: gateway rows 42–51 (FC-11, core 51), undo and retry. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { makeRig, modelConfig } from "../../support/program.ts";
import { startModelServer } from "../../support/model_server.ts";
import { sentTexts, terminal, toolTurn, withGateway } from "./scene.ts";

const THREE = { turns: ["1", "2", "3", "4", "5", "6"] };

async function history(host: GatewayHost, sid: string): Promise<Json[]> {
  return (await host.request("session.history", { session_id: sid })).messages;
}

function shown(messages: Json[]): string[] {
  return messages.map((row) => `${row.role}: ${row.text ?? row.name}`);
}

/** Row ids of the user's turns. */
function turnIds(messages: Json[]): number[] {
  return messages.filter((row) => row.role === "user" && row.display_kind === undefined).map((row) =>
    row.row_id
  );
}

/** A session of three turns. */
async function threeTurns(host: GatewayHost): Promise<{ sid: string; stored: string; ids: number[] }> {
  const session = await host.session();
  for (const text of ["one", "two", "three"]) await host.turn(session.sid, text);
  return { ...session, ids: turnIds(await history(host, session.sid)) };
}

const ALL = ["user: one", "assistant: 1", "user: two", "assistant: 2", "user: three", "assistant: 3"];

Deno.test("gateway 42–47, 50, core 52: a rewind that is refused changes nothing", async () => {
  await withGateway({ model: THREE }, async ({ host, model }) => {
    const { sid, ids } = await threeTurns(host);
    const before = await history(host, sid);
    const submit = (params: Json) => host.refused("prompt.submit", { session_id: sid, text: "x", ...params });
    const row = (truncate_before_row_id: unknown, more: Json = {}) =>
      submit({ truncate_before_row_id, confirm_truncate: true, ...more });
    assertEquals((await submit({ truncate_before_row_id: ids[1] })).code, 4029);
    assertEquals((await submit({ confirm_truncate: true })).code, 4004);
    for (const ordinal of [true, 1.5]) {
      const refused = await submit({ truncate_before_user_ordinal: ordinal, confirm_truncate: true });
      assertEquals(refused.code, 4004, String(ordinal));
    }
    assertEquals((await submit({ truncate_before_user_ordinal: 1, confirm_truncate: true })).code, 4004);
    const stale = await row(999_999, { truncate_before_user_ordinal: 1 });
    assertEquals([stale.code, stale.data], [4018, {
      user_turn_count: 3,
      ordinal: 1,
      segment_ordinal: 1,
      prefix_user_count: 0,
    }]);
    assertEquals((await row(ids[2], { truncate_before_user_ordinal: 0 })).code, 4030);
    assertEquals((await row(before[1].row_id)).code, 4018);
    assertEquals((await row(ids[0])).code, 4028);
    assertEquals((await row(ids[1], { text: " " })).code, 4012);
    assertEquals(await history(host, sid), before);
    assertEquals(model.calls().length, 3);
  });
});

Deno.test("gateway 48, core 51: a rewind keeps what is before it under new row ids, and they work for the next one", async () => {
  await withGateway({ model: THREE }, async ({ host, model, rig }) => {
    const { sid, stored, ids } = await threeTurns(host);
    const result = await host.request("prompt.submit", {
      session_id: sid,
      text: "two again",
      truncate_before_row_id: ids[1],
      truncate_before_user_ordinal: 1,
      confirm_truncate: true,
    });
    assertEquals([result.status, result.survivor_user_row_ids.length], ["streaming", 1]);
    await host.event("message.complete", sid, 3);
    await host.idle(sid);
    const now = await history(host, sid);
    assertEquals(shown(now), ["user: one", "assistant: 1", "user: two again", "assistant: 4"]);
    assertEquals(turnIds(now)[0], result.survivor_user_row_ids[0]);
    assert(result.survivor_user_row_ids[0] > ids[2]!, "kept rows are new rows");
    assertEquals(sentTexts(model.calls()[3], "user"), ["one", "two again"]);

    const old = await host.refused("prompt.submit", {
      session_id: sid,
      text: "x",
      truncate_before_row_id: ids[1],
      confirm_truncate: true,
    });
    assertEquals(old.code, 4018);
    const again = await host.request("prompt.submit", {
      session_id: sid,
      text: "from the start",
      truncate_before_row_id: String(result.survivor_user_row_ids[0]),
      confirm_truncate: true,
      confirm_empty_truncate: true,
    });
    assertEquals([again.status, again.survivor_user_row_ids], ["streaming", []]);
    await host.event("message.complete", sid, 4);
    await host.idle(sid);
    assertEquals(shown(await history(host, sid)), ["user: from the start", "assistant: 5"]);

    await host.end();
    await using other = await startGateway({ rig });
    const resumed = await other.request("session.resume", { session_id: stored });
    assertEquals(shown(resumed.messages), ["user: from the start", "assistant: 5"]);
  });
});

Deno.test("gateway 49: emptying the conversation needs its own word, and rebind ids are answered by a map", async () => {
  await withGateway({ model: THREE }, async ({ host }) => {
    const { sid, ids } = await threeTurns(host);
    const params = {
      session_id: sid,
      text: "new",
      truncate_before_row_id: ids[2],
      confirm_truncate: true,
      rebind_survivor_row_ids: [ids[0], ids[2], 77],
    };
    const result = await host.request("prompt.submit", params);
    assertEquals("survivor_user_row_ids" in result, false);
    await host.event("message.complete", sid, 3);
    await host.idle(sid);
    const now = turnIds(await history(host, sid));
    assertEquals(result.survivor_row_id_map, { [ids[0]!]: now[0], [ids[2]!]: null, 77: null });
  });
});

Deno.test("gateway 51: a rewind during a turn is 4009 and writes nothing", async () => {
  const model = { turns: ["1", { steps: [{ text: "slow", delay_ms: 2_000 }] }] };
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "one");
    const [id] = turnIds(await history(host, sid));
    await host.request("prompt.submit", { session_id: sid, text: "two" });
    const refused = await host.refused("prompt.submit", {
      session_id: sid,
      text: "x",
      truncate_before_row_id: id,
      confirm_truncate: true,
      confirm_empty_truncate: true,
    });
    assertEquals([refused.code, refused.message.startsWith("session busy")], [4009, true]);
    assertEquals((await host.refused("session.undo", { session_id: sid })).code, 4009);
    assertEquals((await host.refused("command.dispatch", { session_id: sid, name: "retry" })).code, 4009);
    await host.event("message.complete", sid, 1);
    await host.idle(sid);
    const kept = ["user: one", "assistant: 1", "user: two", "assistant: slow"];
    assertEquals(shown(await history(host, sid)), kept);
  });
});

Deno.test("gateway 45: an ordinal works while the history is seeded and has no rows", async () => {
  await withGateway({ model: THREE }, async ({ host, model }) => {
    const { sid } = await host.session({
      messages: [
        { role: "user", text: "a" },
        { role: "assistant", text: "A" },
        { role: "user", text: "b" },
        { role: "assistant", text: "B" },
      ],
    });
    const result = await host.request("prompt.submit", {
      session_id: sid,
      text: "c",
      truncate_before_user_ordinal: 1,
      confirm_truncate: true,
    });
    await host.event("message.complete", sid);
    await host.idle(sid);
    const now = await history(host, sid);
    assertEquals(shown(now), ["user: a", "assistant: A", "user: c", "assistant: 1"]);
    assertEquals(result.survivor_user_row_ids, [turnIds(now)[0]]);
    assertEquals(sentTexts(model.calls()[0], "user"), ["a", "c"]);
  });
});

Deno.test("a rewind that cannot be written is 5008 and leaves memory as it was", async () => {
  await withGateway({ model: THREE }, async ({ host, rig }) => {
    const { sid, ids } = await threeTurns(host);
    const { DatabaseSync } = await import("node:sqlite");
    const other = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
    other.exec("CREATE TRIGGER stop BEFORE INSERT ON messages BEGIN SELECT RAISE(ABORT, 'stopped'); END");
    const refused = await host.refused("prompt.submit", {
      session_id: sid,
      text: "x",
      truncate_before_row_id: ids[1],
      confirm_truncate: true,
    });
    other.exec("DROP TRIGGER stop");
    other.close();
    assertEquals(refused.code, 5008);
    assertEquals(shown(await history(host, sid)), ALL);
    await host.turn(sid, "four");
    assertEquals(shown(await history(host, sid)), [...ALL, "user: four", "assistant: 4"]);
  });
});

Deno.test("a rewind behind a compression leaves the ancestors and reaches only its own turns", async () => {
  const model = {
    respond: (request: Json) => {
      const last = JSON.stringify(request.body.messages.at(-1));
      return last.includes("Summarise the conversation") ? "THE SUMMARY" : "ok";
    },
  };
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await host.session();
    const texts = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const text of texts) await host.turn(sid, text);
    const before = turnIds(await history(host, sid));
    const compressed = await host.request("session.compress", { session_id: sid });
    assertEquals(compressed.status, "compressed");
    const messages = await history(host, sid);
    const ids = turnIds(messages);
    assertEquals(ids.length, 8, "every turn is shown once");
    const old = await host.refused("prompt.submit", {
      session_id: sid,
      text: "x",
      truncate_before_row_id: before[0],
      confirm_truncate: true,
    });
    assertEquals([old.code, old.data.user_turn_count], [4018, 8]);
    const result = await host.request("prompt.submit", {
      session_id: sid,
      text: "H",
      truncate_before_row_id: ids[7],
      truncate_before_user_ordinal: 7,
      confirm_truncate: true,
    });
    assertEquals(result.survivor_user_row_ids.length, 7);
    assertEquals(
      result.survivor_user_row_ids.slice(0, old.data.prefix_user_count),
      ids.slice(0, old.data.prefix_user_count),
    );
    await host.event("message.complete", sid, 8);
    await host.idle(sid);
    const now = await history(host, sid);
    assertEquals(turnIds(now).slice(0, 7), result.survivor_user_row_ids);
    const said = now.filter((row) => row.role === "user" && row.display_kind === undefined).map((row) =>
      row.text
    );
    assertEquals(said, [...texts.slice(0, 7), "H"]);
  });
});

Deno.test("session.undo drops the last turn from memory and store, with its tool calls", async () => {
  const model = { turns: ["1", toolTurn(terminal("true")), "2", "3"] };
  await withGateway({ model }, async ({ host, model, rig }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "one");
    await host.turn(sid, "two");
    const before = await history(host, sid);
    assertEquals(await host.request("session.undo", { session_id: sid }), { removed: 4 });
    assertEquals(await history(host, sid), before.slice(0, 2), "what stays keeps its row ids (core.md D.8)");
    assertEquals(shown(await history(host, sid)), ["user: one", "assistant: 1"]);
    await host.turn(sid, "three");
    assertEquals(sentTexts(model.calls()[3], "user"), ["one", "three"]);
    await host.end();
    await using other = await startGateway({ rig });
    const resumed = await other.request("session.resume", { session_id: stored });
    assertEquals(shown(resumed.messages), ["user: one", "assistant: 1", "user: three", "assistant: 3"]);
  });
});

Deno.test("gateway 63, core 51: /undo N gives the oldest text back, /retry the last one; bad counts are 4004", async () => {
  await withGateway({ model: THREE }, async ({ host }) => {
    const { sid } = await threeTurns(host);
    const dispatch = (params: Json) => host.request("command.dispatch", { session_id: sid, ...params });
    const refused = (params: Json) => host.refused("command.dispatch", { session_id: sid, ...params });
    assertEquals(await dispatch({ name: "undo", arg: "2" }), {
      type: "prefill",
      message: "two",
      notice: "Took back 2 turns (4 messages).",
    });
    assertEquals(await dispatch({ command: "/retry" }), { type: "send", message: "one" });
    assertEquals(await history(host, sid), []);
    assertEquals((await refused({ name: "undo" })).code, 4018);
    assertEquals((await refused({ name: "retry" })).code, 4018);
    for (const arg of ["0", "-1", "x", "1.5"]) {
      assertEquals((await refused({ name: "undo", arg })).code, 4004, arg);
    }
    assertEquals((await refused({ name: "queue" })).code, 4004);
    assertEquals((await host.refused("command.dispatch", { name: "undo" })).code, 4001);
    assertEquals(await host.request("session.undo", { session_id: sid }), { removed: 0 });
  });
});

Deno.test("FC-11: undo does not count markers as turns", async () => {
  await withGateway({ model: { ...THREE, models: ["scripted", "other"] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "one");
    await host.turn(sid, "two");
    await host.request("config.set", { session_id: sid, key: "model", value: "other" });
    const gone = await host.request("slash.exec", { session_id: sid, command: "/undo" });
    assertEquals([gone.type, gone.message], ["prefill", "two"]);
    assertEquals(shown(await history(host, sid)), ["user: one", "assistant: 1"]);
  });
});

Deno.test("a todo list goes back with the conversation", async () => {
  const todo = (content: string) => ({
    tool: "todo",
    args: { todos: [{ id: "1", content, status: "pending" }] },
  });
  const read = { tool: "todo", args: {} };
  await using model = await startModelServer({
    turns: [toolTurn(todo("first")), "1", toolTurn(todo("second")), "2", toolTurn(read), "3"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using host = await startGateway({ rig });
  const { sid } = await host.session();
  await host.turn(sid, "one");
  await host.turn(sid, "two");
  await host.request("session.undo", { session_id: sid });
  await host.turn(sid, "look");
  const last = host.eventsOf("tool.complete", sid).at(-1)!.payload;
  assertEquals(last.todos, [{ id: "1", content: "first", status: "pending" }]);
});
