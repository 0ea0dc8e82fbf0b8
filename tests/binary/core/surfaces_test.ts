/** Passwords, verdicts and names on every surface: core C.4, C.6, acp C8, api B4.5, exit code 3, the audit's clients. */
import { type Case, type Json, withAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { calling, results, shell } from "../../support/core_driver.ts";
import { installFakeSudo } from "../../support/fake_sudo.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";
import { startRun, untilStatus } from "../api/run_scene.ts";
import { dangerous, exists, terminal, toolTurn, withGateway } from "../gateway/scene.ts";

const SMART = { approvals: { mode: "smart" } };

/** The trail of a home once its last turn has ended. */
async function trail(rig: Rig): Promise<Json[]> {
  return await eventually(async () => {
    const { stdout } = await runProgram(["audit", "--json"], { rig });
    const rows = stdout.trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    return rows.at(-1)?.kind === "turn.end" && rows;
  });
}

Deno.test("acp C8: a password is never asked for; sudo that needs one does not run, and the model is told why", async () => {
  await using model = await startModelServer({ turns: [calling(shell("touch was-here; sudo id")), "Ok."] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const sudo = await installFakeSudo(rig, "pw-0123456");
  await using api = await startApi({ model, rig, env: { PATH: sudo.path } });
  const id = await startRun(api);
  const status = await untilStatus(api, id, "completed");
  assertEquals(status.output, "Ok.");
  const refused = JSON.parse(results(model.requests[1])[0]!);
  assertEquals([refused.status, refused.outcome, refused.user_consent], ["blocked", "unattended", false]);
  assertMatch(refused.error, /SUDO_PASSWORD/);
  assertEquals((await sudo.calls()).filter((call) => !call.startsWith("-n")), []);

  await withAcp({
    turns: [calling(shell("sudo id")), "On."],
    env: { PATH: sudo.path },
    capabilities: { elicitation: { form: {} } },
  }, async ({ acp, sessionId }: Case) => {
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
    assertEquals(acp.requests("session/request_permission").length, 0);
    assertEquals(acp.requests("elicitation/create").length, 0);
    const end = acp.updates(sessionId).findLast((u: Json) => u.toolCallId && u.status);
    assertEquals(end.status, "failed");
  });
});

Deno.test("run and chat: a password that nobody can type ends with exit code 3 and nothing run", async () => {
  for (const command of ["run", "chat"]) {
    await using model = await startModelServer({ turns: [calling(shell("touch was-here; sudo id")), "Ok."] });
    await using rig = await makeRig({ config: modelConfig(model.url) });
    const sudo = await installFakeSudo(rig, "pw-0123456");
    const done = await runProgram([command, "go"], { rig, env: { PATH: sudo.path }, input: "pw-0123456\n" });
    assertEquals(done.code, 3, done.stderr);
    assertEquals(await exists(`${rig.workspace}/was-here`), false);
    assertEquals((await sudo.calls()).filter((call) => !call.startsWith("-n")), []);
  }
});

Deno.test("acp C8 smart: a denied command offers once and deny only, an approved one asks nothing", async () => {
  await withAcp(
    { turns: [calling(shell("rm -rf ./a")), "DENY wipes", "On."], config: SMART },
    async (one) => {
      const { acp, sessionId, rig } = one;
      await Deno.mkdir(`${rig.workspace}/a`);
      await acp.prompt(sessionId, "go");
      const [request] = acp.requests("session/request_permission");
      assertEquals(request.params.options.map((o: Json) => o.optionId), ["allow_once", "deny"]);
      assertEquals(await exists(`${rig.workspace}/a`), false);
      one.model.push(calling(shell("rm -rf ./b")), "APPROVE fine", "On.");
      await Deno.mkdir(`${rig.workspace}/b`);
      await acp.prompt(sessionId, "again");
      assertEquals(acp.requests("session/request_permission").length, 1);
      assertEquals(await exists(`${rig.workspace}/b`), false);
      const rows = await trail(rig);
      assertEquals([...new Set(rows.map((row) => row.client))], ["driver 1"]);
      assertEquals(rows.find((row) => row.kind === "answer").answered_by, "driver 1");
    },
  );
});

Deno.test("api B4.5 smart: smart_denied on a run takes once or deny; the audit has the key and the program", async () => {
  await using model = await startModelServer({
    turns: [calling(shell("rm -rf ./gone")), "DENY wipes", "Ok."],
  });
  await using api = await startApi({ model, config: SMART });
  await Deno.mkdir(`${api.rig.workspace}/gone`);
  const agent = { "User-Agent": "ci-bot/2.1 (tests)" };
  const id = await startRun(api, { input: "go" }, agent);
  const { approval } = await untilStatus(api, id, "waiting_for_approval");
  assertEquals([approval.smart_denied, approval.choices], [true, ["once", "deny"]]);
  const path = `/v1/runs/${id}/approval`;
  const always = await api.call(path, { body: { choice: "always" }, headers: agent });
  assertEquals([always.status, (await always.json()).error.code], [400, "invalid_approval_choice"]);
  const deny = await api.call(path, { body: { choice: "deny", reason: "mine" }, headers: agent });
  assertEquals((await deny.json()).resolved, 1);
  await untilStatus(api, id, "completed");
  assertEquals(await exists(`${api.rig.workspace}/gone`), true);
  const rows = await trail(api.rig);
  assertEquals([...new Set(rows.map((row) => row.client))], ["api (ci-bot/2.1 (tests))"]);
  const answer = rows.find((row) => row.kind === "answer");
  assertEquals([answer.choice, answer.reason, answer.answered_by], [
    "deny",
    "mine",
    "api (ci-bot/2.1 (tests))",
  ]);
  assert(answer.asked_at <= answer.at);
});

Deno.test("audit: a gateway host that gives its name is in the trail, with its answers", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    await Deno.mkdir(`${rig.workspace}/x`);
    await host.request("client.capabilities", { client: { name: "my\nhost", version: "3" } });
    model.push(toolTurn(terminal(dangerous(`${rig.workspace}/x`))), "Ok.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("approval.request", sid);
    await host.request("approval.respond", { session_id: sid, choice: "deny" });
    await host.event("message.complete", sid);
    const rows = await trail(rig);
    assertEquals([...new Set(rows.map((row) => row.client))], ["my host 3"]);
    assertEquals(rows.find((row) => row.kind === "answer").answered_by, "my host 3");
    const shown = (await runProgram(["audit"], { rig })).stdout;
    assertMatch(shown, /turn\.start +go {2}from my host 3/);
    assertMatch(shown, /answer +deny {2}by my host 3/);
  });
});
