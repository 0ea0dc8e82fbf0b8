/** Things at the same time against the real program: gateway rows 52, 53, FC-06.4, FC-08, FC-19, FC-24. */
import { GatewayHost, startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals, assertWithin } from "../../support/assert.ts";
import { ownSleep, processesWith, untilHomeIsLeft } from "../../support/processes.ts";
import { eventually, makeRig, modelConfig, programCommand } from "../../support/program.ts";
import { startModelServer } from "../../support/model_server.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";

Deno.test("gateway 52: a slow shell.exec holds up nothing that was sent after it", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const { sid } = await host.session();
    const slow = await host.post("shell.exec", {
      command: `while [ ! -e ${rig.workspace}/go ]; do sleep 0.05; done; echo out; echo err >&2; exit 3`,
    });
    assertEquals((await host.request("session.active_list")).sessions.length, 1);
    assertEquals(await host.request("approval.respond", { session_id: sid, choice: "deny" }), {
      resolved: 0,
    });
    await Deno.writeTextFile(`${rig.workspace}/go`, "");
    assertEquals((await host.response(slow)).result, { stdout: "out\n", stderr: "err\n", code: 3 });
  });
});

Deno.test("shell.exec refuses nothing, and what is dangerous", async () => {
  await withGateway({}, async ({ host, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    assertEquals((await host.refused("shell.exec", { command: " " })).code, 4004);
    assertEquals((await host.refused("shell.exec", { command: `rm -rf ${rig.workspace}/build` })).code, 4005);
    assert((await Deno.stat(`${rig.workspace}/build`)).isDirectory);
    const long = await host.request("shell.exec", { command: "yes x | head -c 100000" });
    assertEquals([long.stdout.length, long.code], [4000, 0]);
  });
});

Deno.test("process.stop ends the background processes of the session it names", async () => {
  const background = { tool: "terminal", args: { command: "sleep 300", background: true } };
  await withGateway({ model: { turns: [toolTurn(background), "Started."] } }, async ({ host }) => {
    const [a, b] = [await host.session(), await host.session()];
    await host.turn(a.sid, "start it");
    assertEquals(await host.request("process.stop", { session_id: b.sid }), { killed: 0 });
    assertEquals(await host.request("process.stop", { session_id: a.sid }), { killed: 1 });
    assertEquals(await host.request("process.stop"), { killed: 0 });
    assertEquals((await host.refused("process.stop", { session_id: "ffffffff" })).code, 4001);
  });
});

Deno.test("gateway 53: 200 pipelined inline requests are answered in their order", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const methods = ["session.title", "session.status", "session.history", "config.get", "ping"];
    const lines = [...Array(200).keys()].map((n) =>
      JSON.stringify({ id: `n${n}`, method: methods[n % 5], params: { session_id: sid, key: "busy" } })
    );
    await host.sendLine(lines.join("\n"));
    await host.response("n199");
    const ids = host.frames.filter((frame) => typeof frame.id === "string").map((frame) => frame.id);
    assertEquals(ids, [...Array(200).keys()].map((n) => `n${n}`));
  });
});

Deno.test("FC-08: during a long tool the session answers within 1 s, and the interrupt ends it", async () => {
  await withGateway({ model: { turns: [toolTurn(terminal("sleep 60"))] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "wait" });
    await host.event("tool.start", sid);
    const timed = async (method: string, params: Record<string, unknown>) => {
      const started = performance.now();
      const result = await host.request(method, params);
      assertWithin(performance.now() - started, 1_000, method);
      return result;
    };
    assertEquals((await timed("session.status", { session_id: sid })).status, "working");
    assertEquals(await timed("approval.respond", { session_id: sid, choice: "once" }), { resolved: 0 });
    await timed("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid, 0, 2_000)).status, "interrupted");
  });
});

Deno.test("FC-06.4: twenty times a tool, an interrupt, and a plain question that is its own turn", async () => {
  await withGateway({
    model: {
      respond: (request) =>
        String(request.body.messages.at(-1).content).startsWith("wait")
          ? toolTurn(terminal("sleep 20"))
          : "Answer.",
    },
  }, async ({ host }) => {
    const { sid } = await host.session();
    for (let round = 0; round < 20; round++) {
      await host.request("prompt.submit", { session_id: sid, text: `wait ${round}` });
      await host.event("tool.start", sid, round);
      await host.request("session.interrupt", { session_id: sid });
      assertEquals((await host.event("message.complete", sid, 2 * round)).status, "interrupted");
      await host.idle(sid);
      const complete = await host.turn(sid, `question ${round}`);
      assertEquals([complete.status, complete.text], ["complete", "Answer."]);
    }
    assertEquals(host.eventsOf("message.start", sid).length, 40);
  });
});

/** A host of its own process: passes everything through, and can be killed. */
const HOST = `
  const [command, ...args] = Deno.args;
  const child = new Deno.Command(command, { args, stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  await Promise.all([Deno.stdin.readable.pipeTo(child.stdin), child.stdout.pipeTo(Deno.stdout.writable)]);
`;

Deno.test("FC-19: when the host is killed the gateway and its tools are gone within 5 s, and the turn is stored", async () => {
  const sleep = ownSleep(60);
  await using model = await startModelServer({ turns: [toolTurn(terminal(sleep))] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await Deno.writeTextFile(`${rig.home}/host.ts`, HOST);
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", `${rig.home}/host.ts`, ...programCommand(), "gateway"],
    cwd: rig.workspace,
    clearEnv: true,
    env: rig.env,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let stored = "";
  {
    await using host = new GatewayHost(child);
    const session = await host.session();
    stored = session.stored;
    await host.request("prompt.submit", { session_id: session.sid, text: "wait" });
    await eventually(async () => (await processesWith(sleep)).length > 0, 5_000, "the tool");
    host.kill("SIGKILL");
  }
  await untilHomeIsLeft(rig.home);
  await using again = await startGateway({ rig });
  const resumed = await again.request("session.resume", { session_id: stored });
  assertEquals([resumed.messages[0].text, resumed.running], ["wait", false]);
  assertEquals(
    resumed.messages.filter((row: { role: string }) => row.role === "tool").map((row: { name: string }) =>
      row.name
    ),
    ["terminal"],
  );
});

Deno.test("FC-24: two gateways on one home, turns at the same time: everything is stored, nobody hears of locks", async () => {
  const TURNS = 10;
  await using model = await startModelServer({ turns: ["An answer."], loop: true });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const stored: string[] = [];
  {
    await using a = await startGateway({ rig });
    await using b = await startGateway({ rig });
    await Promise.all([a, b].map(async (host) => {
      const session = await host.session();
      stored.push(session.stored);
      for (let turn = 0; turn < TURNS; turn++) {
        assertEquals((await host.turn(session.sid, `turn ${turn}`)).status, "complete");
      }
      assert(!/lock/i.test(host.lines.join("\n") + host.stderr));
    }));
  }
  await using host = await startGateway({ rig });
  for (const session_id of stored) {
    const { messages } = await host.request("session.resume", { session_id });
    const users = messages.filter((row: { role: string }) => row.role === "user");
    assertEquals(
      users.map((row: { text: string }) => row.text),
      [...Array(TURNS).keys()].map((n) => `turn ${n}`),
    );
    assertEquals(messages.length, 2 * TURNS);
  }
});
