/** The audit trail and the policy of the configuration, through the gateway and `hermes audit`. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import {
  call,
  calling,
  exists,
  type Json,
  lastResult,
  type Scene,
  shell,
  withCore,
} from "../../support/core_driver.ts";
import { eventually, runProgram } from "../../support/program.ts";

async function audit({ rig }: Scene, ...args: string[]): Promise<Json[]> {
  const { code, stdout } = await runProgram(["audit", "--json", ...args], { rig });
  assertEquals(code, 0);
  return stdout.trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}

/** The trail once the turn's end is in it. */
async function ended(scene: Scene): Promise<Json[]> {
  return await eventually(async () => {
    const found = await audit(scene);
    return found.at(-1)?.kind === "turn.end" && found;
  });
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function answered(scene: Scene, sid: string, choice: string): Promise<void> {
  await scene.host.request("prompt.submit", { session_id: sid, text: "go" });
  const ask = await scene.host.event("approval.request", sid);
  await scene.host.request("approval.respond", { session_id: sid, request_id: ask.request_id, choice });
  await scene.host.event("message.complete", sid);
  await scene.host.idle(sid);
}

Deno.test("audit: who asked, what was asked and answered, what ran, which files changed", async () => {
  const turns = [
    calling(shell("rm -rf build")),
    calling(call("write_file", { path: "a.txt", content: "new\n" })),
    "ok",
  ];
  await withCore({ model: { turns } }, async (scene) => {
    const { sid } = await scene.open();
    await Deno.mkdir(`${scene.rig.workspace}/build`);
    await answered(scene, sid, "once");
    const rows = await ended(scene);
    assertEquals(rows.map((row) => row.kind), ["turn.start", "ask", "answer", "tool", "tool", "turn.end"]);
    assertEquals([...new Set(rows.map((row) => [row.surface, row.client].join()))], ["tui,tui"]);
    const [start, ask, answer, command, edit, end] = rows;
    assertEquals(start.text, "go");
    assertEquals([ask.command, ask.reason, ask.tool], ["rm -rf build", "recursive delete", "terminal"]);
    assertEquals([answer.ask_id, answer.outcome, answer.choice], [ask.ask_id, "answered", "once"]);
    assertEquals([command.refused, command.is_error, command.call_id], [null, false, ask.call_id]);
    assertMatch(command.approval, /Approved by the user \(once\)/);
    assertEquals(edit.files, [{
      path: `${scene.rig.workspace}/a.txt`,
      before: null,
      after: await sha256("new\n"),
    }]);
    assertEquals([end.outcome, end.api_calls], ["completed", 3]);
    assertEquals((await audit(scene, "--since", "2999-01-01")).length, 0);
    assertEquals((await audit(scene, "--session", rows[0].session_id, "-n", "2")).map((row) => row.kind), [
      "tool",
      "turn.end",
    ]);
    const text = await runProgram(["audit"], { rig: scene.rig });
    assertMatch(text.stdout, / {2}answer {6}once\n/);
    assertMatch(text.stdout, /changed .*a\.txt/);
  });
});

Deno.test("audit: secrets are out of it", async () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const turns = [calling(shell(`echo ${secret}`)), "ok"];
  await withCore({ model: { turns } }, async (scene) => {
    const { sid } = await scene.open();
    await scene.host.turn(sid, `my key is ${secret}`);
    const rows = await ended(scene);
    assertEquals(rows.length, 3);
    assert(!JSON.stringify(rows).includes(secret));
  });
});

Deno.test("policy.rules: a denied command and a denied tool do not run, and the trail says which rule", async () => {
  const turns = [
    calling(shell("touch made && true"), call("read_file", { path: "private/a" })),
    "ok",
  ];
  const rules = [
    { effect: "allow", command: "touch *" },
    { effect: "deny", command: "touch made*", reason: "not here" },
    { effect: "deny", tool: "read_file", path: "private/**" },
  ];
  await withCore({ model: { turns }, config: { policy: { rules } } }, async (scene) => {
    const { sid } = await scene.open();
    await Deno.mkdir(`${scene.rig.workspace}/private`);
    await Deno.writeTextFile(`${scene.rig.workspace}/private/a`, "hidden words");
    await scene.host.turn(sid, "go");
    assertEquals(await exists(`${scene.rig.workspace}/made`), false);
    const read = lastResult(scene.model.calls()[1]);
    assertEquals([read.status, read.outcome], ["blocked", "blocked"]);
    assertMatch(read.error, /policy rule 3/);
    const rows = (await ended(scene)).filter((row) => row.kind === "tool");
    assertEquals(rows.map((row) => row.refused), ["policy", "policy"]);
    assertMatch(rows.find((row) => row.tool === "terminal")!.reason, /policy rule 2 .*not here/);
  });
});

Deno.test("policy.rules: an ask about a tool that is never asked about otherwise waits for its answer", async () => {
  const turns = [calling(call("read_file", { path: "a.txt" })), "ok"];
  const rules = [{ effect: "ask", tool: "read_file" }];
  await withCore({ model: { turns }, config: { policy: { rules } } }, async (scene) => {
    const { sid } = await scene.open();
    await Deno.writeTextFile(`${scene.rig.workspace}/a.txt`, "words\n");
    await answered(scene, sid, "once");
    const ask = await scene.host.event("approval.request", sid);
    assertEquals(ask.description, 'policy rule 1 (ask tool "read_file")');
    assertMatch(JSON.stringify(lastResult(scene.model.calls()[1])), /words/);
  });
});

Deno.test("policy.rules: an ask in hermes run is not done, also with --yolo", async () => {
  const turns = [calling(shell("touch made")), "ok"];
  const rules = [{ effect: "ask", command: "touch *" }];
  await withCore({ model: { turns }, config: { policy: { rules } } }, async ({ rig }) => {
    const { code } = await runProgram(["run", "--yolo", "-C", rig.workspace, "go"], { rig });
    assertEquals([code, await exists(`${rig.workspace}/made`)], [3, false]);
  });
});
