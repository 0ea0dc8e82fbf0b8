/** Models that are down, slash commands on two doors, and the model of a session over a restart: core rows 61, 68–70, 75. */
import { withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { calling, sessionRow, shell, withCore } from "../../support/core_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig } from "../../support/program.ts";

Deno.test("core 61: a saved endpoint that is down is not asked, unless all are; then its row says so and keeps its models", async () => {
  await using down = await startModelServer({
    routes: {
      "/v1/models": () => {
        throw new Error("down");
      },
    },
  });
  const port = down.port;
  await down[Symbol.asyncDispose]();
  await using quiet = await startModelServer({});
  await withCore({
    config: {
      providers: {
        gone: { base_url: `http://127.0.0.1:${port}/v1`, models: ["kept-model"] },
        other: { base_url: quiet.url, models: ["told"] },
      },
    },
  }, async ({ host, open }) => {
    const { sid } = await open();
    const rowOf = async (params: Record<string, unknown>) => {
      const { providers } = await host.request("model.options", { session_id: sid, ...params });
      return providers.find((row: { slug: string }) => row.slug === "custom:gone" || row.slug === "gone");
    };
    const plain = await rowOf({});
    assertEquals(plain.models, ["kept-model"]);
    assertEquals(quiet.requests.filter(({ path }) => path.endsWith("/models")).length, 0);
    const refreshed = await rowOf({ refresh: true });
    assertEquals([refreshed.models, typeof refreshed.warning], [["kept-model"], "string"]);
    assertEquals(quiet.requests.filter(({ path }) => path.endsWith("/models")).length > 0, true);
  });
});

Deno.test("core 68: over ACP an unknown slash word goes to the model; /context is answered without it", async () => {
  await withAcp({ turns: ["You said it."] }, async ({ acp, sessionId, model }) => {
    await acp.prompt(sessionId, "/unknown x");
    assertEquals(model.calls().length, 1);
    assertEquals(model.calls()[0]!.body.messages.at(-1).content, "/unknown x");
    const from = acp.updates(sessionId).length;
    await acp.prompt(sessionId, "/context");
    const told = acp.updates(sessionId).slice(from).map((update) => update.content?.text ?? "").join("");
    assertMatch(told, /tokens/);
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("core 60, 69: /model through command.dispatch works in both spellings; the row follows, the config does not", async () => {
  const spellings = [{ command: "/model other" }, { name: "model", arg: "other" }];
  const effects: unknown[] = [];
  for (const params of spellings) {
    await withCore(
      { model: { turns: ["one", "two"], models: ["scripted", "other"] } },
      async ({ rig, model, host, open }) => {
        const { sid, stored } = await open();
        await host.turn(sid, "first");
        const { type } = await host.request("command.dispatch", { session_id: sid, ...params });
        await host.turn(sid, "second");
        const config = await Deno.readTextFile(`${rig.home}/config.jsonc`);
        const asked = model.calls().map(({ body }) => body.model);
        effects.push([type, asked, sessionRow(rig, stored).model, config.includes("other")]);
      },
    );
  }
  assertEquals(effects, [
    ["exec", ["scripted", "other"], "other", false],
    ["exec", ["scripted", "other"], "other", false],
  ]);
});

Deno.test("core 70: /retry while a turn runs is refused as busy, and changes nothing", async () => {
  await withCore({ model: { turns: [calling(shell("read x < gate")), "done"] } }, async (scene) => {
    const { rig, model, host, open } = scene;
    await new Deno.Command("mkfifo", { args: [`${rig.workspace}/gate`] }).output();
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("tool.start", sid);
    const refused = await host.refused("command.dispatch", { session_id: sid, name: "retry" });
    assertEquals(refused.code, 4009);
    await Deno.writeTextFile(`${rig.workspace}/gate`, "on\n");
    assertEquals((await host.event("message.complete", sid)).text, "done");
    assertEquals(model.calls().length, 2);
  });
});

Deno.test("core 75: HERMES_MODEL seeds new sessions; a session's own choice outlives the program", async () => {
  await using model = await startModelServer({ turns: ["a", "b", "c"], models: ["m1", "m2"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const env = { HERMES_MODEL: "m1" };
  let stored = "";
  {
    await using host = await startGateway({ rig, env });
    const one = await host.session({ cwd: rig.workspace });
    stored = one.stored;
    await host.request("command.dispatch", { session_id: one.sid, command: "/model m2" });
    await host.turn(one.sid, "first");
  }
  await using host = await startGateway({ rig, env });
  const { session_id } = await host.request("session.resume", { session_id: stored });
  await host.turn(session_id, "again");
  const fresh = await host.session({ cwd: rig.workspace });
  await host.turn(fresh.sid, "new");
  assertEquals(model.calls().map(({ body }) => body.model), ["m2", "m2", "m1"]);
  assert(!(await Deno.readTextFile(`${rig.home}/config.jsonc`)).includes("m1"));
});
