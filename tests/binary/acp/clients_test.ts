/** Clients that we did not write: the ACP SDK's own, and `acpx` from npm. */
import * as acp from "@agentclientprotocol/sdk";
import { calls } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { installClient } from "../../support/npm_client.ts";
import { processesOfHome } from "../../support/processes.ts";
import {
  eventually,
  makeRig,
  modelConfig,
  programCommand,
  type Rig,
  startProgram,
} from "../../support/program.ts";

Deno.test("the SDK's client opens a session, prompts, allows an edit and reads the answer", async () => {
  await using model = await startModelServer({
    turns: [calls(["write_file", { path: "a.txt", content: "from the sdk" }]), "all done"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const child = startProgram(["acp"], { rig });
  const stderr = new Response(child.stderr).text();
  const asked: acp.RequestPermissionRequest[] = [];
  const client = acp.client({ name: "test" }).onRequest(
    acp.methods.client.session.requestPermission,
    ({ params }) => {
      asked.push(params);
      return { outcome: { outcome: "selected", optionId: params.options[0]!.optionId } };
    },
  );
  const stream = acp.ndJsonStream(child.stdin, child.stdout);
  const seen: string[] = [];
  await client.connectWith(stream, async (context) => {
    const started = await context.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    assertEquals(started.agentInfo?.name, "hermes-agent");
    await context.buildSession(rig.workspace).withSession(async (session) => {
      const answer = session.prompt("write a file");
      seen.push(await session.readText());
      assertEquals((await answer).stopReason, "end_turn");
    });
  });
  // The SDK leaves the process, and its streams, to whoever started it.
  await child.stdin.close();
  assertEquals((await child.status).code, 0);
  await stderr;
  assertEquals(seen, ["all done"]);
  assertEquals(asked.length, 1);
  assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "from the sdk");
});

Deno.test("the SDK's client refuses an edit, switches the mode, lists, loads, and cancels in both ways", async () => {
  const write = (path: string): ScriptTurn => calls(["write_file", { path, content: path }]);
  const slow: ScriptTurn = { steps: [{ text: "begun" }, { stall: true }] };
  await using model = await startModelServer({
    turns: [write("no.txt"), "refused", write("yes.txt"), "allowed", slow, slow, "still here"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const child = startProgram(["acp"], { rig });
  const stderr = new Response(child.stderr).text();
  let asked = 0;
  const loaded: string[] = [];
  const client = acp.client({ name: "test" })
    .onRequest(acp.methods.client.session.requestPermission, () => {
      asked++;
      return { outcome: { outcome: "selected", optionId: "deny" } };
    })
    .onNotification(acp.methods.client.session.update, ({ params }) => {
      loaded.push(params.update.sessionUpdate);
    });
  const { agent } = acp.methods;
  await client.connectWith(acp.ndJsonStream(child.stdin, child.stdout), async (context) => {
    await context.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: {},
    });
    let sessionId = "";
    await context.buildSession(rig.workspace).withSession(async (session) => {
      ({ sessionId } = session);
      assertEquals(session.modes?.availableModes.map(({ id }) => id), [
        "default",
        "accept_edits",
        "dont_ask",
        "plan",
      ]);
      assertEquals((await session.prompt("write")).stopReason, "end_turn");
      await context.request(agent.session.setMode, { sessionId, modeId: "accept_edits" });
      assertEquals((await session.prompt("write")).stopReason, "end_turn");
      // A notification of the session, then the request itself taken back.
      const begun = async () => {
        for (;;) {
          const message = await session.nextUpdate();
          if (JSON.stringify(message).includes("begun")) return;
        }
      };
      const first = session.prompt("slow");
      await begun();
      await context.notify(agent.session.cancel, { sessionId });
      assertEquals((await first).stopReason, "cancelled");
      const taken = new AbortController();
      const second = session.prompt("slow", { cancellationSignal: taken.signal });
      await begun();
      taken.abort();
      assertEquals((await second).stopReason, "cancelled");
      assertEquals((await session.prompt("there?")).stopReason, "end_turn");
    });
    const { sessions } = await context.request(agent.session.list, { cwd: rig.workspace });
    assertEquals(sessions.map((one) => one.sessionId), [sessionId]);
    await context.request(agent.session.close, { sessionId });
    loaded.length = 0;
    const { modes } = await context.request(agent.session.load, {
      sessionId,
      cwd: rig.workspace,
      mcpServers: [],
    });
    assertEquals(modes?.currentModeId, "accept_edits");
    assertEquals(loaded.filter((one) => one === "user_message_chunk").length, 5);
  });
  await child.stdin.close();
  assertEquals((await child.status).code, 0);
  await stderr;
  assertEquals(asked, 1);
  assertEquals(await Deno.stat(`${rig.workspace}/no.txt`).catch(() => null), null);
  assertEquals(await Deno.readTextFile(`${rig.workspace}/yes.txt`), "yes.txt");
});

/** `acpx`, with a Node new enough for it. */
function installAcpx(): Promise<string | null> {
  return installClient("acpx@0.19.1", ["node@24"]);
}

/** Runs acpx against our program; `acpx` starts it with the rig's environment. */
async function runAcpx(folder: string, rig: Rig, args: readonly string[]) {
  const agent = [...programCommand(), "acp"].map((word) => JSON.stringify(word)).join(" ");
  const { code, stdout, stderr } = await new Deno.Command(`${folder}/node_modules/.bin/node`, {
    args: [
      `${folder}/node_modules/acpx/dist/cli.js`,
      "--agent",
      agent,
      // Longer than a slow machine takes between two commands: one that meets the end of the owner is lost.
      "--ttl",
      "10",
      "--format",
      "text",
      ...args,
    ],
    cwd: rig.workspace,
    clearEnv: true,
    env: rig.env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
  return { code, out, err };
}

Deno.test("acpx keeps a session over several commands, sets its mode, edits in it and cancels", async (t) => {
  const folder = await installAcpx();
  await t.step({
    name: folder ? "a session through acpx" : "skipped: npm cannot be reached",
    ignore: folder === null,
    fn: async () => {
      const turns: ScriptTurn[] = [
        "first answer",
        calls(["write_file", { path: "m.txt", content: "by mode" }]),
        "second answer",
        { steps: [{ text: "begun" }, { stall: true }] },
      ];
      await using model = await startModelServer({ turns });
      await using rig = await makeRig({ config: modelConfig(model.url) });
      const acpx = async (...args: string[]) => {
        const done = await runAcpx(folder!, rig, args);
        assertEquals([args, done.code], [args, 0], done.err);
        return done.out;
      };
      await acpx("sessions", "new");
      assertMatch(await acpx("prompt", "one"), /first answer[\s\S]*end_turn/);
      assertMatch(await acpx("set-mode", "accept_edits"), /accept_edits/);
      assertMatch(await acpx("--approve-all", "prompt", "write"), /second answer/);
      assertEquals(await Deno.readTextFile(`${rig.workspace}/m.txt`), "by mode");
      const slow = acpx("prompt", "slow");
      await eventually(() => model.calls().length === 4, 15_000, "the slow turn");
      await acpx("cancel");
      assertMatch(await slow, /cancelled/);
      await acpx("sessions", "close");
      // Its owner process outlives the command for the `--ttl`.
      await eventually(async () => (await processesOfHome(rig.home)).length === 0, 30_000, "the end of acpx");
      const texts = JSON.stringify(model.calls()[3]!.body.messages);
      assert(texts.includes("first answer") && texts.includes("second answer"));
    },
  });
});

Deno.test("acpx drives a prompt with a permission", async (t) => {
  const folder = await installAcpx();
  await t.step({
    name: folder ? "one prompt through acpx" : "skipped: npm cannot be reached",
    ignore: folder === null,
    fn: async () => {
      await using model = await startModelServer({
        turns: [calls(["write_file", { path: "a.txt", content: "from acpx" }]), "acpx is done"],
      });
      await using rig = await makeRig({ config: modelConfig(model.url) });
      const { code, out, err } = await runAcpx(folder!, rig, ["--approve-all", "exec", "write a file"]);
      assertEquals(code, 0, err);
      assertMatch(out, /acpx is done/);
      assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "from acpx");
      assert(model.calls().length === 2);
    },
  });
});
