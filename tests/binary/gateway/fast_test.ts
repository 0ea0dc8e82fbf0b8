/** Fast mode (core.md F.10; tui-gateway.md B.0, B.1, B.14): who has it, what it sends, and where it is kept. */
import { assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import type { ModelServer, ScriptTurn } from "../../support/model_server.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";

interface Place {
  readonly rig: Rig;
  readonly model: ModelServer;
  readonly env: Record<string, string>;
}

async function withProvider(
  provider: "openai-api" | "anthropic",
  name: string,
  turns: readonly ScriptTurn[],
  test: (place: Place) => Promise<void>,
  more: Record<string, unknown> = {},
): Promise<void> {
  const prefix = provider === "anthropic" ? "ANTHROPIC" : "OPENAI";
  await using model = await startModelServer({ turns, loop: true, models: [name, "gpt-4", "gpt-5.3-codex"] });
  const config = { ...modelConfig(model.url), model: { default: name, provider }, ...more };
  await using rig = await makeRig({ config });
  await test({
    rig,
    model,
    env: { [`${prefix}_API_KEY`]: "sk-fast-12345678", [`${prefix}_BASE_URL`]: model.url },
  });
}

const tier = (model: ModelServer): Json[] => model.calls().map(({ body }) => body.service_tier ?? null);
const shown = ({ service_tier, fast }: Json): Json[] => [service_tier, fast];

async function set(host: GatewayHost, params: Json): Promise<Json> {
  return (await host.request("config.set", { key: "fast", ...params })).value;
}

Deno.test("B.14 fast: this session alone asks for the priority tier, its row keeps it, normal ends it", async () => {
  await withProvider("openai-api", "gpt-5.5", ["said"], async ({ rig, model, env }) => {
    const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    let stored = "";
    {
      await using host = await startGateway({ rig, env });
      const first = await host.session();
      const other = await host.session();
      stored = first.stored;
      const on = { session_id: first.sid };
      const get = async (more: Json) => (await host.request("config.get", { key: "fast", ...more })).value;
      assertEquals([await get(on), await get({})], ["normal", "normal"]);
      const mark = host.events.length;
      assertEquals(await set(host, { ...on, value: "fast" }), "fast");
      const told = host.events.slice(mark).filter(({ type }) => type === "session.info");
      assertEquals(told.map(({ session_id, payload }) => [session_id, ...shown(payload)]), [
        [first.sid, "priority", true],
      ]);
      await host.turn(first.sid, "one");
      await host.turn(other.sid, "two");
      assertEquals(await get(on), "fast");
      assertEquals([await get({ session_id: other.sid }), await get({})], ["normal", "normal"]);
    }
    await using host = await startGateway({ rig, env });
    const resumed = await host.request("session.resume", { session_id: stored });
    assertEquals(shown(resumed.info), ["priority", true]);
    const on = { session_id: resumed.session_id };
    await host.turn(resumed.session_id, "three");
    const branch = await host.request("session.branch", on);
    assertEquals(shown(branch.info), ["priority", true]);
    for (const [value, inForce] of [["toggle", "normal"], ["", "fast"], ["off", "normal"], ["on", "fast"]]) {
      assertEquals(await set(host, { ...on, value }), inForce, value);
    }
    assertEquals(await set(host, { ...on, value: "normal" }), "normal");
    assertEquals(await set(host, { ...on, value: "status" }), "normal");
    await host.turn(resumed.session_id, "four");
    assertEquals(tier(model), ["priority", null, "priority", null]);
    assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
  });
});

Deno.test("B.14 fast: without a session it is the configuration's, which a session may leave", async () => {
  await withProvider("openai-api", "gpt-5.5", ["said"], async ({ rig, model, env }) => {
    await using host = await startGateway({ rig, env });
    assertEquals(await set(host, { value: "on" }), "fast");
    assertEquals((await host.request("config.get", { key: "full" })).config.agent.service_tier, "priority");
    const { session_id: sid } = await host.request("session.create");
    await host.turn(sid, "one");
    const pinned = await host.request("session.create", { fast: false });
    await host.turn(pinned.session_id, "two");
    assertEquals(await set(host, { value: "off" }), "normal");
    await host.turn(sid, "three");
    const wished = await host.request("session.create", { fast: true });
    await host.turn(wished.session_id, "four");
    assertEquals(tier(model), ["priority", null, null, "priority"]);
  });
});

Deno.test("B.14 fast: 4002 where the model has no fast mode; a switch of the model takes the wish along", async () => {
  await withProvider("openai-api", "gpt-5.3-codex", ["said"], async ({ rig, model, env }) => {
    await using host = await startGateway({ rig, env });
    const { sid } = await host.session();
    const on = { session_id: sid };
    for (const params of [{ ...on, value: "fast" }, { ...on, value: "toggle" }, { value: "on" }]) {
      assertEquals((await host.refused("config.set", { key: "fast", ...params })).code, 4002);
    }
    assertEquals((await host.refused("config.set", { key: "fast", value: "warp", ...on })).code, 4002);
    for (const command of ["/fast fast", "/fast on"]) {
      assertEquals((await host.refused("slash.exec", { ...on, command })).code, 4002, command);
    }
    await host.request("config.set", { key: "model", value: "gpt-5.5", ...on });
    assertEquals((await host.request("slash.exec", { ...on, command: "/fast fast" })).output, "Mode: fast");
    await host.turn(sid, "one");
    await host.request("command.dispatch", { ...on, command: "/model gpt-5.3-codex" });
    assertEquals((await host.request("config.get", { key: "fast", ...on })).value, "normal");
    await host.turn(sid, "two");
    assertEquals(tier(model), ["priority", null]);
    const { providers } = await host.request("model.options", on);
    const { capabilities } = providers.find(({ slug }: Json) => slug === "openai-api");
    assertEquals([capabilities["gpt-5.3-codex"].fast, capabilities["gpt-5.5"]?.fast ?? true], [false, true]);
  });
});

Deno.test("F.10: on Anthropic the wish is a speed and a beta; a server that refuses it is asked without", async () => {
  const refusal = { steps: [{ error: { status: 400, message: "speed: fast mode is not supported here" } }] };
  const turns = ["fast", refusal as ScriptTurn, "slower", "slower still"];
  await withProvider("anthropic", "claude-opus-4-6", turns, async ({ rig, model, env }) => {
    await using host = await startGateway({ rig, env });
    const { session_id: sid } = await host.request("session.create", { fast: true });
    for (const text of ["one", "two", "three"]) {
      assertEquals((await host.turn(sid, text)).status, "complete", text);
    }
    const asked = model.calls().map(({ headers, body }) => [body.speed, headers["anthropic-beta"]]);
    const wish = ["fast", "fast-mode-2026-02-01"];
    assertEquals(asked, [wish, wish, [undefined, undefined], [undefined, undefined]]);
  });
});
