/** `HERMES_EXEC_ASK` (core.md E.5): in the real program no form of yolo lifts a question, and every surface says so. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { calling, type Json, lastResult, shell, withCore } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

const ENV = { HERMES_EXEC_ASK: "1" };
const RISKY = calling(shell("rm -rf build"));

Deno.test("gateway: --yolo, /yolo and approvals.mode off do not lift the question, and none of them claims to", async () => {
  await withCore({
    model: { turns: [RISKY, "ok"] },
    config: { approvals: { mode: "off" } },
    args: ["--yolo"],
    env: { ...ENV, HERMES_YOLO_MODE: "1" },
  }, async ({ rig, host, model, open }) => {
    const { sid } = await open();
    assertEquals((await host.event("session.info", sid)).yolo, false);
    const said = await host.request("slash.exec", { session_id: sid, command: "yolo on" });
    assertMatch(JSON.stringify(said), /HERMES_EXEC_ASK is set: dangerous commands are asked about/);
    const set = (params: Json) => host.request("config.set", { key: "yolo", value: "on", ...params });
    assertEquals((await set({ session_id: sid })).value, "0");
    assertEquals((await set({ scope: "global" })).value, "0");
    for (const params of [{}, { session_id: sid }]) {
      assertEquals((await host.request("config.get", { key: "yolo", ...params })).value, "0");
    }
    await Deno.mkdir(`${rig.workspace}/build`);
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("approval.request", sid);
    assertEquals(await exists(`${rig.workspace}/build`), true);
    await host.request("approval.respond", { session_id: sid, request_id, choice: "once" });
    await host.event("message.complete", sid);
    assertEquals([lastResult(model.calls()[1]).exit_code, await exists(`${rig.workspace}/build`)], [
      0,
      false,
    ]);
  });
});

Deno.test("core D10: where nobody can be asked it is refused", async () => {
  await using model = await startModelServer({ turns: [RISKY, "ok"] });
  await using rig = await makeRig({ config: modelConfig(model.url), env: { ...ENV } });
  await Deno.mkdir(`${rig.workspace}/build`);
  const { code, stderr } = await runProgram(["run", "--yolo", "go"], { rig, cwd: rig.workspace });
  assertMatch(stderr, /commands: allow one kind for good by answering "always"/);
  assertEquals([code, await exists(`${rig.workspace}/build`)], [3, true]);
  assertEquals(lastResult(model.calls()[1]).outcome, "unattended");
});

Deno.test("core C.4: in smart mode the person is asked, no model", async () => {
  await withCore({
    model: { turns: [RISKY, "ok"] },
    config: { approvals: { mode: "smart" } },
    env: ENV,
  }, async ({ host, model, open }) => {
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("approval.request", sid);
    assertEquals(model.calls().length, 1);
    await host.request("approval.respond", { session_id: sid, request_id, choice: "deny" });
    await host.event("message.complete", sid);
    assertEquals(lastResult(model.calls()[1]).outcome, "denied");
  });
});

Deno.test("policy explain says it", async () => {
  await using rig = await makeRig({ config: { approvals: { mode: "off" } } });
  const explain = async (env: Record<string, string>, ...more: string[]) =>
    (await runProgram(["policy", "explain", ...more, "rm -rf build"], { rig, env })).stdout;
  assertMatch(await explain({}), /^allow {2}rm -rf build\n/);
  assertMatch(
    await explain(ENV),
    /^ask {2}rm -rf build\n[\s\S]*\n {2}HERMES_EXEC_ASK is set: yolo and smart mode do not/,
  );
  const json = JSON.parse(await explain(ENV, "--json"));
  assertEquals([json.effect, json.exec_ask], ["ask", true]);
  assertEquals(JSON.parse(await explain({}, "--json")).exec_ask, undefined);
});

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
