/** Approvals and path safety against the real program: core rows 39–45, FC-14.2. */
import { startApi } from "../../support/api_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import {
  call,
  calling,
  exists,
  type Json,
  lastResult,
  query,
  results,
  type Scene,
  shell,
  withCore,
} from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const REMOVE = calling(shell("rm -rf build"));

async function makeBuild({ rig }: Scene): Promise<string> {
  const path = `${rig.workspace}/build`;
  await Deno.mkdir(path, { recursive: true });
  return path;
}

/** Submits, answers the next approval of the session, and waits for the end; the request's payload. */
async function answered(scene: Scene, sid: string, choice: string): Promise<Json> {
  const before = scene.host.eventsOf("approval.request", sid).length;
  const ended = scene.host.eventsOf("message.complete", sid).length;
  await scene.host.request("prompt.submit", { session_id: sid, text: "go" });
  const ask = await scene.host.event("approval.request", sid, before);
  const answer = { session_id: sid, request_id: ask.request_id, choice };
  assertEquals(await scene.host.request("approval.respond", answer), { resolved: 1 });
  await scene.host.event("message.complete", sid, ended);
  await scene.host.idle(sid);
  return ask;
}

Deno.test("core 39: a dangerous command is asked about, runs on once, and is asked about again the next time", async () => {
  await withCore({ model: { turns: [REMOVE, "ok"], loop: true } }, async (scene) => {
    const { sid } = await scene.open();
    for (let round = 0; round < 2; round++) {
      const build = await makeBuild(scene);
      const ask = await answered(scene, sid, "once");
      assertEquals([ask.command, ask.description], ["rm -rf build", "recursive delete"]);
      assertEquals(await exists(build), false);
    }
    assertEquals(scene.host.eventsOf("approval.request", sid).length, 2);
    const result = lastResult(scene.model.calls()[1]);
    assertEquals([result.exit_code, typeof result.approval], [0, "string"]);
  });
});

Deno.test("core 39: a refused command does not run, and the model is told not to work around it", async () => {
  await withCore({ model: { turns: [REMOVE, "ok"] } }, async (scene) => {
    const { sid } = await scene.open();
    const build = await makeBuild(scene);
    await answered(scene, sid, "deny");
    assertEquals(await exists(build), true);
    const { status, exit_code, outcome, user_consent, message } = lastResult(scene.model.calls()[1]);
    assertEquals([status, exit_code, outcome, user_consent], ["blocked", -1, "denied", false]);
    assertMatch(message, /[Dd]o not retry/);
  });
});

Deno.test("core 40, core 41: session spares the question in this session only", async () => {
  await withCore({ model: { turns: [REMOVE, "ok"], loop: true } }, async (scene) => {
    const { sid } = await scene.open();
    await answered(scene, sid, "session");
    const build = await makeBuild(scene);
    await scene.host.turn(sid, "again");
    assertEquals([await exists(build), scene.host.eventsOf("approval.request", sid).length], [false, 1]);
    const other = await scene.open();
    await makeBuild(scene);
    await answered(scene, other.sid, "deny");
    assertEquals(await exists(build), true);
  });
});

Deno.test("core 40: always is kept in command_allowlist and holds in a new process", async () => {
  await withCore({ model: { turns: [REMOVE, "ok"], loop: true } }, async (scene) => {
    const { sid } = await scene.open();
    await answered(scene, sid, "always");
    await scene.host.end();
    const config = JSON.parse(await Deno.readTextFile(`${scene.rig.home}/config.jsonc`));
    assertEquals(config.command_allowlist, ["recursive delete"]);
    const build = await makeBuild(scene);
    await using again = await startGateway({ rig: scene.rig });
    const session = await again.session({ cwd: scene.rig.workspace });
    await again.turn(session.sid, "go");
    assertEquals([await exists(build), again.eventsOf("approval.request").length], [false, 0]);
  });
});

Deno.test("core 42: no answer blocks as unanswered after the time; a late answer is refused", async () => {
  await withCore({
    model: { turns: [REMOVE, "ok"] },
    config: { approvals: { timeout: 1 } },
  }, async (scene) => {
    const { host, open } = scene;
    const { sid } = await open();
    const build = await makeBuild(scene);
    const start = performance.now();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const ask = await host.event("approval.request", sid);
    await host.event("message.complete", sid);
    assert(performance.now() - start >= 1_000);
    const result = lastResult(scene.model.calls()[1]);
    assertEquals([result.outcome, result.user_consent, result.deny_reason], ["timeout", false, undefined]);
    const late = { session_id: sid, request_id: ask.request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", late), { resolved: 0 });
    assertEquals(await exists(build), true);
  });
});

Deno.test("core 43: hard-blocked and denied commands do not run, not even in yolo", async () => {
  const blocked = ["rm -rf /", "r\\m -rf /", 'rm -rf "$HOME"', "rm -rf $HOME", "echo x; git push --mirror"];
  await withCore({
    model: { turns: [calling(...blocked.map((command) => shell(command)), shell("rm -rf build")), "ok"] },
    config: { approvals: { deny: ["*git push*"] } },
    args: ["--yolo"],
  }, async (scene) => {
    const { sid } = await scene.open();
    const build = await makeBuild(scene);
    await Deno.writeTextFile(`${scene.rig.env["HOME"]}/keep.txt`, "keep");
    await scene.host.turn(sid, "go");
    const found = results(scene.model.calls()[1]).map((text) => JSON.parse(text));
    assertEquals(found.slice(0, -1).map((one) => one.status), blocked.map(() => "blocked"));
    assertEquals([found.at(-1).exit_code, await exists(build)], [0, false]);
    assertEquals(scene.host.eventsOf("approval.request").length, 0);
    assertEquals(await exists(`${scene.rig.env["HOME"]}/keep.txt`), true);
  });
});

Deno.test("core 44: approvals of two sessions wait side by side and each answer settles its own", async () => {
  const respond = (request: { body: Json }) => {
    const [last] = request.body.messages.slice(-1);
    return last.role === "user" ? calling(shell(`rm -rf ${last.content}`)) : "ok";
  };
  await withCore({ model: { respond } }, async (scene) => {
    const { host, rig, open } = scene;
    const sessions = [await open(), await open()];
    for (const [n, { sid }] of sessions.entries()) {
      await Deno.mkdir(`${rig.workspace}/dir${n}`);
      await host.request("prompt.submit", { session_id: sid, text: `dir${n}` });
    }
    const asks = [];
    for (const { sid } of sessions) asks.push(await host.event("approval.request", sid));
    const crossed = { session_id: sessions[0]!.sid, request_id: asks[1].request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", crossed), { resolved: 0 });
    const right = { session_id: sessions[1]!.sid, request_id: asks[1].request_id, choice: "once" };
    assertEquals(await host.request("approval.respond", right), { resolved: 1 });
    await host.event("message.complete", sessions[1]!.sid);
    assertEquals([await exists(`${rig.workspace}/dir0`), await exists(`${rig.workspace}/dir1`)], [
      true,
      false,
    ]);
    assertEquals(host.eventsOf("message.complete", sessions[0]!.sid).length, 0);
    const deny = { session_id: sessions[0]!.sid, request_id: asks[0].request_id, choice: "deny" };
    assertEquals(await host.request("approval.respond", deny), { resolved: 1 });
    await host.event("message.complete", sessions[0]!.sid);
    assertEquals(await exists(`${rig.workspace}/dir0`), true);
  });
});

Deno.test("FC-14.2: of two waiting questions the one named is settled; a repeat and an unknown id change nothing", async () => {
  await withCore({
    model: { turns: [calling(shell("rm -rf one"), shell("rm -rf two")), "ok"] },
  }, async (scene) => {
    const { host, rig, open } = scene;
    for (const name of ["one", "two"]) await Deno.mkdir(`${rig.workspace}/${name}`);
    const { sid } = await open();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const [p1, p2] = [
      await host.event("approval.request", sid),
      await host.event("approval.request", sid, 1),
    ];
    assertEquals([p1.command, p2.command], ["rm -rf one", "rm -rf two"]);
    const answer = (request_id: string, choice = "once") =>
      host.request("approval.respond", { session_id: sid, request_id, choice });
    assertEquals(await answer(p2.request_id), { resolved: 1 });
    assertEquals(await answer(p2.request_id), { resolved: 0 });
    assertEquals(await answer(p2.request_id, "deny"), { resolved: 0 });
    assertEquals(await answer("0".repeat(32)), { resolved: 0 });
    assertEquals(await exists(`${rig.workspace}/one`), true);
    assertEquals(await answer(p1.request_id, "deny"), { resolved: 1 });
    await host.event("message.complete", sid);
    assertEquals([await exists(`${rig.workspace}/one`), await exists(`${rig.workspace}/two`)], [true, false]);
    const outcomes = results(scene.model.calls()[1]).map((one) => JSON.parse(one));
    assertEquals([outcomes[0].outcome, outcomes[1].exit_code], ["denied", 0]);
  });
});

Deno.test("core 45: authorized_keys is not written, neither by its name nor through a link", async () => {
  await withCore({
    model: {
      turns: [
        calling(
          call("write_file", { path: "~/.ssh/authorized_keys", content: "ssh-rsa x\n" }),
          call("write_file", { path: "innocent/authorized_keys", content: "ssh-rsa x\n" }),
          call("write_file", { path: "link.txt", content: "ssh-rsa x\n" }),
        ),
        "ok",
      ],
    },
    args: ["--yolo"],
  }, async ({ rig, model, host, open }) => {
    const ssh = `${rig.env["HOME"]}/.ssh`;
    await Deno.mkdir(ssh);
    await Deno.symlink(ssh, `${rig.workspace}/innocent`);
    await Deno.writeTextFile(`${ssh}/config`, "Host *\n");
    await Deno.symlink(`${ssh}/config`, `${rig.workspace}/link.txt`);
    const { sid } = await open();
    await host.turn(sid, "go");
    for (const one of results(model.calls()[1])) assertEquals(typeof JSON.parse(one).error, "string");
    assertEquals((await Array.fromAsync(Deno.readDir(ssh))).map((entry) => entry.name), ["config"]);
    assertEquals(await Deno.readTextFile(`${ssh}/config`), "Host *\n");
    assertEquals(host.eventsOf("approval.request").length, 0);
  });
});

Deno.test("core 45: authorized_keys is not written through the API, either", async () => {
  await using model = await startModelServer({
    turns: [
      calling(call("write_file", { path: "~/.ssh/authorized_keys", content: "ssh-rsa x\n" })),
      "I could not.",
    ],
  });
  await using rig = await makeRig();
  await using api = await startApi({ rig, model });
  const answer = await api.chat({ messages: [{ role: "user", content: "go" }] });
  assertEquals((await answer.json()).choices[0].message.content, "I could not.");
  assertEquals(lastResult(model.calls()[1]).status, "blocked");
  assertEquals(await exists(`${rig.env["HOME"]}/.ssh`), false);
});

Deno.test("core 45: a token in a tool's output is masked in events, store and next request", async () => {
  const token = "ghp_0123456789abcdefghijABCDEFGHIJ";
  await withCore({
    model: { turns: [calling(shell("cat note.txt")), "ok"] },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.workspace}/note.txt`, `token ${token} end\n`);
    const { sid } = await open();
    await host.turn(sid, "go");
    const { output } = lastResult(model.calls()[1]);
    assertMatch(output, /^token ghp_01\.\.\.GHIJ end$/);
    assertEquals(JSON.stringify(model.requests).includes(token), false);
    assertEquals(host.lines.some((line) => line.includes(token)), false);
    const stored = query<{ content: string }>(rig, "SELECT content FROM messages");
    assertEquals(JSON.stringify(stored).includes(token), false);
  });
});

Deno.test("core 39: where nobody can be asked the command is not run and the exit code says so", async () => {
  await withCore({ model: { turns: [REMOVE, "I could not."] } }, async (scene) => {
    const build = await makeBuild(scene);
    const { code, stdout } = await runProgram(["run", "go"], { rig: scene.rig });
    assertEquals([code, stdout.trim(), await exists(build)], [3, "I could not.", true]);
    assertEquals(lastResult(scene.model.calls()[1]).outcome, "unattended");
  });
});
