/** Keys that hosts keep, the user's own prompt, and the guard before an expensive model (tui-gateway.md B.14, D.3). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { sentTexts, withGateway } from "./scene.ts";

Deno.test("B.14: what only hosts show is kept over a restart, read by config.get, and refused when it is none", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const set = async (key: string, value: string) =>
      (await host.request("config.set", { key, value })).value;
    const get = async (key: string) => (await host.request("config.get", { key })).value;
    const defaults = {
      skin: "default",
      details_mode: "collapsed",
      thinking_mode: "collapsed",
      compact: "off",
      statusbar: "top",
      mouse: "all",
      indicator: "unicode",
    };
    for (const [key, value] of Object.entries(defaults)) assertEquals(await get(key), value, key);
    assertEquals(await set("details_mode", "expanded"), "expanded");
    assertEquals(await set("details_mode.tools", "hidden"), "hidden");
    assertEquals([await get("details_mode.tools"), await get("details_mode.thinking")], [
      "hidden",
      "expanded",
    ]);
    assertEquals(await set("details_mode.tools", ""), "expanded");
    assertEquals([await set("compact", ""), await set("compact", "toggle")], ["on", "off"]);
    assertEquals([await set("statusbar", "bottom"), await set("statusbar", "")], ["bottom", "bottom"]);
    assertEquals(await set("mouse", "on"), "all");
    assertEquals(await set("skin", "default"), "default");
    assertEquals(host.eventsOf("skin.changed", "")[0]?.payload.name, "default");
    const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    for (
      const [key, value] of [
        ["skin", "neon"],
        ["details_mode", "huge"],
        ["details_mode.nope", "hidden"],
        ["thinking_mode", "x"],
        ["compact", "maybe"],
        ["statusbar", "left"],
        ["mouse", "x"],
        ["indicator", "x"],
      ]
    ) assertEquals((await host.refused("config.set", { key, value })).code, 4002, key);
    assertEquals((await host.refused("config.get", { key: "details_mode.nope" })).code, 4002);
    assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
    await using again = await startGateway({ rig });
    assertEquals((await again.request("config.get", { key: "details_mode" })).value, "expanded");
    assertEquals((await again.request("config.get", { key: "statusbar" })).value, "bottom");
  });
});

Deno.test("B.14: config.set prompt is read by the model from the next turn on, until it is cleared", async () => {
  await withGateway({ model: { turns: ["1", "2"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    const set = (value: string) => host.request("config.set", { key: "prompt", value });
    assertEquals((await set("Answer in verse.")).value, "Answer in verse.");
    assertEquals(await host.request("config.get", { key: "prompt" }), { prompt: "Answer in verse." });
    await host.turn(sid, "a");
    assert(sentTexts(model.requests[0], "system").join("\n").includes("Answer in verse."));
    assertEquals((await set("clear")).value, "");
    await host.turn(sid, "b");
    assert(!sentTexts(model.requests[1], "system").join("\n").includes("Answer in verse."));
  });
});

Deno.test("D.3: a model far above the usual price is asked about first, and nothing changes until it is confirmed", async () => {
  const gold = { id: "gold", pricing: { prompt: "0.00003", completion: "0.00018" } };
  await withGateway({ model: { models: ["scripted", gold] } }, async ({ host }) => {
    const { sid } = await host.session();
    const model = async () => (await host.request("session.status", { session_id: sid })).model;
    const set = (more: Record<string, unknown> = {}) =>
      host.request("config.set", { key: "model", value: "gold", session_id: sid, ...more });
    const asked = await set();
    assertEquals([asked.confirm_required, asked.value], [true, "gold"]);
    assertMatch(asked.confirm_message, /\$30\.00 per million input.*Switch to gold all the same\?/);
    const dispatched = await host.request("command.dispatch", { session_id: sid, command: "/model gold" });
    assertEquals([dispatched.type, dispatched.confirm_required], ["exec", true]);
    const slashed = await host.request("slash.exec", { session_id: sid, command: "/model gold" });
    assertEquals([slashed.confirm_required, slashed.output], [true, slashed.confirm_message]);
    assertEquals(await model(), "scripted");
    const done = await set({ confirm_expensive_model: true });
    assertEquals([done.confirm_required, done.value, await model()], [false, "gold", "gold"]);
    assertEquals(
      (await host.request("config.set", { key: "model", value: "scripted", session_id: sid })).value,
      "scripted",
    );
    const command = { session_id: sid, command: "/model gold", confirm_expensive_model: true };
    assertEquals((await host.request("command.dispatch", command)).confirm_required, undefined);
    assertEquals(await model(), "gold");
  });
});

Deno.test("B.0 Usage: what a conversation has cost is told where the price is known, also after a resume", async () => {
  const gold = { id: "gold", pricing: { prompt: "0.00001", completion: "0.00002" } };
  const turns = ["one", "two"];
  await withGateway({ model: { models: ["scripted", gold], turns } }, async ({ host }) => {
    const { sid, stored } = await host.session();
    const cost = (usage: Json) => [usage.cost_usd, usage.cost_status];
    const free = await host.turn(sid, "a");
    assertEquals(cost(free.usage), [undefined, undefined]);
    await host.request("config.set", { key: "model", value: "gold", session_id: sid });
    const { usage } = await host.turn(sid, "b");
    const spent = usage.input - free.usage.input;
    const expected = Math.round((spent * 10 + (usage.output - free.usage.output) * 20) * 1000) / 1e9;
    assertEquals(cost(usage), [expected, "estimated"]);
    assertEquals(cost(await host.request("session.usage", { session_id: sid })), [expected, "estimated"]);
    await host.request("session.close", { session_id: sid });
    const resumed = await host.request("session.resume", { session_id: stored });
    assertEquals(cost(resumed.info.usage), [expected, "estimated"]);
  });
});

Deno.test("B.14 reasoning: every word for how much is shown, by config.set and by /reasoning", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const on = { session_id: sid };
    const shown = async () => [
      (await host.request("config.get", { key: "reasoning", ...on })).display,
      (await host.request("config.get", { key: "thinking_mode" })).value,
    ];
    const words: [word: string, value: string, shown: string[]][] = [
      ["off", "hide", ["hide", "collapsed"]],
      ["on", "show", ["show", "collapsed"]],
      ["all", "full", ["show", "full"]],
      ["hide", "hide", ["hide", "full"]],
      ["short", "clamp", ["show", "truncated"]],
      ["full", "full", ["show", "full"]],
      ["collapse", "clamp", ["show", "truncated"]],
      ["show", "show", ["show", "truncated"]],
      ["clamp", "clamp", ["show", "truncated"]],
    ];
    for (const [word, value, expected] of words) {
      const infos = host.eventsOf("session.info", sid).length;
      assertEquals(await host.request("config.set", { key: "reasoning", value: word, ...on }), {
        key: "reasoning",
        value,
      });
      assertEquals([word, await shown()], [word, expected]);
      assertEquals(host.eventsOf("session.info", sid).length, infos + 1);
    }
    for (const [word, expected] of [["full", ["show", "full"]], ["hide", ["hide", "full"]]] as const) {
      const { output } = await host.request("slash.exec", { command: `/reasoning ${word}`, ...on });
      assertEquals([output, await shown()], [`Reasoning: ${word}`, [...expected]]);
    }
    assertEquals((await host.request("config.get", { key: "reasoning", ...on })).value, "medium");
  });
});

Deno.test("B.0: session.info names the skills by category, and skills.reload tells every session what is new", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const write = async (path: string, name: string) => {
      await Deno.mkdir(`${rig.home}/skills/${path}`, { recursive: true });
      const text = `---\nname: ${name}\ndescription: Does ${name}.\n---\nDo it.\n`;
      await Deno.writeTextFile(`${rig.home}/skills/${path}/SKILL.md`, text);
    };
    await write("ops/deploy", "deploy");
    await write("greet", "greet");
    const { sid } = await host.session();
    assertEquals((await host.event("session.info", sid)).skills, { general: ["greet"], ops: ["deploy"] });
    await write("ops/watch", "watch");
    await host.request("skills.reload");
    const info = host.eventsOf("session.info", sid).at(-1)!.payload;
    assertEquals(info.skills, { general: ["greet"], ops: ["deploy", "watch"] });
  });
});
