/** `approvals.mode: smart` against the real program: core C.4, C.1 step 9. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { eventually, runProgram } from "../../support/program.ts";
import { dangerous, exists, sentTexts, terminal, toolTurn, withGateway } from "../gateway/scene.ts";

const SMART = { config: { approvals: { mode: "smart" } } };
const KEY = "ghp_" + "A1b2C3d4E5".repeat(4);

async function folder(workspace: string, name: string): Promise<string> {
  await Deno.mkdir(`${workspace}/${name}`);
  return `${workspace}/${name}`;
}

Deno.test("core C.4 smart: APPROVE runs the command without a question, on redacted text, and the audit tells it", async () => {
  const config = { approvals: { mode: "smart", smart_policy: "Never on Fridays." } };
  await withGateway({ config }, async ({ host, model, rig }) => {
    const dir = await folder(rig.workspace, "build");
    model.push(toolTurn(terminal(`TOKEN=${KEY} ${dangerous(dir)}`)), "APPROVE build output only", "Gone.");
    const { sid } = await host.session();
    assertEquals((await host.turn(sid, "clean")).text, "Gone.");
    assertEquals(host.eventsOf("approval.request", sid).length, 0);
    assertEquals(await exists(dir), false);
    const [, judged] = model.requests;
    assert(!JSON.stringify(judged!.body).includes(KEY));
    assertEquals(judged!.body.tools, undefined);
    assertMatch(sentTexts(judged, "system")[0]!, /Never on Fridays\.$/);
    assertMatch(sentTexts(judged, "user")[0]!, /"flagged_as":"/);
    const { result } = host.eventsOf("tool.complete", sid)[0]!.payload;
    assertEquals(result.approval, "Approved by smart mode (custom:scripted): build output only");
    await host.end();
    const audit = await runProgram(["audit", "--json"], { rig });
    const tool = audit.stdout.trim().split("\n").map((line) => JSON.parse(line)).find((row) =>
      row.kind === "tool"
    );
    assertEquals(tool.approval, "Approved by smart mode (custom:scripted): build output only");
  });
});

Deno.test("core C.4 smart: DENY may be overruled once and only once; the audit keeps the word and the answer", async () => {
  await withGateway(SMART, async ({ host, model, rig }) => {
    const dir = await folder(rig.workspace, "data");
    model.push(toolTurn(terminal(dangerous(dir))), "DENY: destroys data", "Gone.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "clean" });
    const asked = await host.event("approval.request", sid);
    assertEquals(
      [asked.smart_denied, asked.choices, asked.allow_permanent],
      [true, ["once", "deny"], false],
    );
    for (const choice of ["session", "always"]) {
      assertEquals((await host.refused("approval.respond", { session_id: sid, choice })).code, 4002);
    }
    assertEquals(await exists(dir), true);
    await host.request("approval.respond", { session_id: sid, choice: "once" });
    await host.event("message.complete", sid);
    assertEquals(await exists(dir), false);
    await host.end();
    const rows = (await runProgram(["audit", "--json"], { rig })).stdout.trim().split("\n")
      .map((line) => JSON.parse(line));
    assertEquals(rows.find((row) => row.kind === "ask").smart, {
      verdict: "deny",
      reason: "destroys data",
      model: "custom:scripted",
    });
    assertEquals(rows.find((row) => row.kind === "answer").choice, "once");
    const shown = (await runProgram(["audit"], { rig })).stdout;
    assertMatch(shown, /smart: deny, destroys data/);
  });
});

Deno.test("core C.4 smart: an error, silence and prose are no verdict: the person is asked as ever", async () => {
  const config = { approvals: { mode: "smart" }, auxiliary: { approval: { timeout: 0.3 } } };
  await withGateway({ config }, async ({ host, model, rig }) => {
    const { sid } = await host.session();
    const answers = [
      { steps: [{ error: { status: 500, message: "broken" } }] },
      { steps: [{ stall: true as const }] },
      "I would APPROVE this.",
      "ESCALATE not sure",
    ];
    for (const [at, answer] of answers.entries()) {
      const dir = await folder(rig.workspace, `d${at}`);
      model.push(toolTurn(terminal(dangerous(dir))), answer, "Left.");
      await host.request("prompt.submit", { session_id: sid, text: "clean" });
      const asked = await host.event("approval.request", sid, at);
      assertEquals([asked.smart_denied, asked.choices.length], [undefined, 4]);
      await host.request("approval.respond", { session_id: sid, choice: "deny" });
      assertEquals((await host.event("message.complete", sid, at)).text, "Left.");
      await host.idle(sid);
      assertEquals(await exists(dir), true);
    }
  });
});

Deno.test("core C.4 smart: blocked outright, denied by policy and asked by policy are never judged", async () => {
  const config = {
    approvals: { mode: "smart" },
    policy: {
      rules: [
        { effect: "deny", command: "git push *" },
        { effect: "ask", command: "make release" },
      ],
    },
  };
  await withGateway({ config }, async ({ host, model }) => {
    model.push(
      toolTurn(terminal("rm -rf /")),
      toolTurn(terminal("git push --force origin main")),
      toolTurn(terminal("make release")),
      "Done.",
    );
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("approval.request", sid);
    await host.request("approval.respond", { session_id: sid, choice: "deny" });
    assertEquals((await host.event("message.complete", sid)).text, "Done.");
    assertEquals(model.requests.length, 4);
  });
});

Deno.test("core C.4 smart: an interrupt ends the turn while the verdict is awaited", async () => {
  await withGateway(SMART, async ({ host, model, rig }) => {
    const dir = await folder(rig.workspace, "build");
    model.push(toolTurn(terminal(dangerous(dir))), { steps: [{ stall: true }] });
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "clean" });
    await eventually(() => model.requests.length === 2);
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    assertEquals(await exists(dir), true);
  });
});
