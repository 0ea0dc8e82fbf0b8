/** FC-21 and FC-25 on the surfaces that have no tests of their own for them: one effect each, one session each. */
import { startApi } from "../support/api_driver.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { calling, type Json, query, shell, withCore } from "../support/core_driver.ts";
import { startGateway } from "../support/gateway_driver.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeRig, modelConfig } from "../support/program.ts";

const CONFIG = "config.jsonc";

Deno.test("FC-21: on the gateway each text and each decision takes effect once, or is visibly refused", async () => {
  const turns = [calling(shell("rm -rf build")), "refused", calling(shell("sleep 2")), "done"];
  await withCore({ model: { turns } }, async ({ model, host, open }) => {
    const { sid } = await open();
    const idle = await host.request("session.steer", { session_id: sid, text: "left" });
    assertEquals(idle.status, "rejected");
    assertEquals((await host.request("session.interrupt", { session_id: sid })).status, "interrupted");

    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("approval.request", sid);
    const answer = { session_id: sid, request_id, choice: "deny" };
    const taken = [];
    for (let n = 0; n < 2; n++) taken.push((await host.request("approval.respond", answer)).resolved);
    taken.push((await host.request("approval.respond", { ...answer, request_id: "0badc0de" })).resolved);
    assertEquals(taken, [1, 0, 0]);
    await host.event("message.complete", sid);
    await host.idle(sid);
    const started = host.eventsOf("tool.start", sid).length;
    await host.request("prompt.submit", { session_id: sid, text: "work" });
    await host.event("tool.start", sid, started);
    assertEquals((await host.request("session.steer", { session_id: sid, text: "left" })).status, "queued");
    await host.event("message.complete", sid, 1);
    await host.idle(sid);
    const seen = JSON.stringify(model.calls().at(-1)!.body.messages).split("left").length - 1;
    assertEquals(seen, 1);
    const after = await host.request("session.steer", { session_id: sid, text: "right" });
    assertEquals(after.status, "rejected");
    assertEquals(model.calls().length, 4);
  });
});

Deno.test("FC-21: a gateway that was killed leaves a turn that is over, and an answer to its question is too late", async () => {
  await using model = await startModelServer({ turns: [calling(shell("rm -rf build")), "goes on"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const first = await startGateway({ rig });
  const { sid, stored } = await first.session({ cwd: rig.workspace });
  await first.request("prompt.submit", { session_id: sid, text: "go" });
  const { request_id } = await first.event("approval.request", sid);
  first.child.kill("SIGKILL");
  await first.child.status;
  await using host = await startGateway({ rig });
  const live = await host.request("session.resume", { session_id: stored });
  assertEquals(live.running ?? false, false);
  const answer = { session_id: live.session_id, request_id, choice: "once" };
  assertEquals((await host.request("approval.respond", answer)).resolved, 0);
  assertEquals((await host.request("session.status", { session_id: live.session_id })).running, false);
  const end = await host.turn(live.session_id, "again");
  assertEquals([end.status, end.text], ["complete", "goes on"]);
  const results = model.calls()[1]!.body.messages.filter((m: Json) => m.role === "tool");
  assertEquals(results.length, 1);
  assertMatch(results[0].content, /interrupted/i);
});

Deno.test("FC-25: on the gateway each way to choose a model concerns that session alone, also after a restart", async () => {
  await using model = await startModelServer({ turns: ["ok"], loop: true, models: ["scripted", "m2"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const before = await Deno.readTextFile(`${rig.home}/${CONFIG}`);
  const chosen: string[] = [];
  {
    await using host = await startGateway({ rig });
    const ways: ((sid: string) => Promise<unknown>)[] = [
      (session_id) => host.request("config.set", { session_id, key: "model", value: "custom:m2" }),
      (session_id) => host.request("slash.exec", { session_id, command: "/model custom:m2" }),
    ];
    const other = await host.session({ cwd: rig.workspace });
    for (const choose of ways) {
      const one = await host.session({ cwd: rig.workspace });
      await choose(one.sid);
      await host.turn(one.sid, "hi");
      chosen.push(one.stored);
    }
    const made = await host.session({ cwd: rig.workspace, model: "m2", provider: "custom" });
    await host.turn(made.sid, "hi");
    chosen.push(made.stored);
    await host.turn(other.sid, "hi");
    await host.turn((await host.session({ cwd: rig.workspace })).sid, "hi");
    assertEquals(model.calls().map((c) => c.body.model), ["m2", "m2", "m2", "scripted", "scripted"]);
    // A choice that cannot work leaves the session as it was.
    await host.refused("config.set", { session_id: made.sid, key: "model", value: "no such model" });
    await host.turn(made.sid, "hi");
    assertEquals(model.calls().at(-1)!.body.model, "m2");
  }
  model.requests.length = 0;
  await using host = await startGateway({ rig });
  for (const session_id of chosen) {
    const live = await host.request("session.resume", { session_id });
    await host.turn(live.session_id, "hi");
  }
  assertEquals(model.calls().map((c) => c.body.model), ["m2", "m2", "m2"]);
  assertEquals(await Deno.readTextFile(`${rig.home}/${CONFIG}`), before);
});

Deno.test("FC-25: on the API a session keeps the model it was made with, and a request's own is for that request", async () => {
  await using model = await startModelServer({ turns: ["ok"], loop: true, models: ["scripted", "m2"] });
  await using rig = await makeRig();
  const config = modelConfig(model.url);
  const chat = async (api: Awaited<ReturnType<typeof startApi>>, id: string, more: Json = {}) => {
    const response = await api.call(`/api/sessions/${id}/chat`, { body: { message: "hi", ...more } });
    assertEquals([response.status, (await response.json()).error], [200, undefined]);
  };
  let before = "";
  {
    await using api = await startApi({ rig, config });
    before = await Deno.readTextFile(`${rig.home}/${CONFIG}`);
    const created = [];
    for (const body of [{ id: "with-m2", model: "m2", provider: "custom" }, { id: "plain" }]) {
      const response = await api.call("/api/sessions", { body });
      await response.body?.cancel();
      created.push(response.status);
    }
    assertEquals(created, [201, 201]);
    await chat(api, "with-m2");
    await chat(api, "plain");
    await chat(api, "plain", { model: "m2", provider: "custom" });
    await chat(api, "plain");
    assertEquals(model.calls().map((c) => c.body.model), ["m2", "scripted", "m2", "scripted"]);
  }
  model.requests.length = 0;
  await using api = await startApi({ rig, config });
  await chat(api, "with-m2");
  await chat(api, "plain");
  assertEquals(model.calls().map((c) => c.body.model), ["m2", "scripted"]);
  assertEquals(await Deno.readTextFile(`${rig.home}/${CONFIG}`), before);
  assertEquals(query(rig, "SELECT count(*) AS n FROM sessions"), [{ n: 2 }]);
});
