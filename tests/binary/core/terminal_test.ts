/** The terminal and its background processes as the model sees them: core rows 28–31. */
import { call, calling, lastResult, results, shell, withCore } from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";

Deno.test("core 28: directory and exported variables stay from one command to the next, also over turns", async () => {
  await withCore({
    model: {
      turns: [
        calling(shell("mkdir sub && cd sub && export A=1")),
        calling(shell("pwd; echo $A")),
        "ok",
        calling(shell("pwd; echo $A")),
        "ok",
      ],
    },
  }, async ({ rig, model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    const wanted = { output: `${rig.workspace}/sub\n1`, exit_code: 0, error: null };
    assertEquals(lastResult(model.calls()[2]), wanted);
    await host.turn(sid, "again");
    assertEquals(lastResult(model.calls()[4]), wanted);
  });
});

Deno.test("core 29: a command over its time is ended with 124 and the marker, well before it would end", async () => {
  await withCore(
    { model: { turns: [calling(shell("echo begun; sleep 60", { timeout: 1 })), "ok"] } },
    async (scene) => {
      const { sid } = await scene.open();
      const start = performance.now();
      await scene.host.turn(sid, "go");
      assertWithin(performance.now() - start, 3_000);
      const { exit_code, output } = lastResult(scene.model.calls()[1]);
      assertEquals([exit_code, output], [124, "begun\n[Command timed out after 1s]"]);
    },
  );
});

Deno.test("core B.3, E.5: TERMINAL_* names of the home's .env count, after those of the environment, before the config", async () => {
  await withCore({
    model: {
      turns: [
        calling(shell("true", { timeout: 8 }), shell("true", { timeout: 7 }), shell("echo begun; sleep 60")),
        "ok",
      ],
    },
    config: { terminal: { timeout: 170, max_foreground_timeout: 160 } },
    env: { TERMINAL_MAX_FOREGROUND_TIMEOUT: "7" },
  }, async ({ rig, model, host, open }) => {
    await Deno.writeTextFile(`${rig.home}/.env`, "TERMINAL_TIMEOUT=1\nTERMINAL_MAX_FOREGROUND_TIMEOUT=5\n");
    await host.request("reload.env");
    const { sid } = await open();
    await host.turn(sid, "go", 30_000);
    const [over, within, usual] = results(model.calls()[1]).map((text) => JSON.parse(text));
    assertMatch(over.error, /over the limit of 7s/);
    assertEquals([within.exit_code, within.error], [0, null]);
    assertEquals([usual.exit_code, usual.output], [124, "begun\n[Command timed out after 1s]"]);
  });
});

Deno.test("core B.3, E.5: the home's .env alone limits the foreground", async () => {
  await withCore(
    { model: { turns: [calling(shell("true", { timeout: 6 })), "ok"] } },
    async ({ rig, model, host, open }) => {
      await Deno.writeTextFile(`${rig.home}/.env`, "TERMINAL_MAX_FOREGROUND_TIMEOUT=5\n");
      await host.request("reload.env");
      const { sid } = await open();
      await host.turn(sid, "go");
      assertMatch(lastResult(model.calls()[1]).error, /over the limit of 5s/);
    },
  );
});

Deno.test("core 30: a server in the foreground is refused with the background advice; asking for its help is not", async () => {
  await withCore({
    model: {
      turns: [
        calling(shell("npm run dev"), shell("npm run dev --help || true"), shell("nohup sleep 1")),
        "ok",
      ],
    },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go", 30_000);
    const [server, help, nohup] = results(model.calls()[1]).map((text) => JSON.parse(text));
    assertEquals([server.status, server.exit_code, nohup.status], ["blocked", -1, "blocked"]);
    assertMatch(server.error, /background/);
    assertEquals(help.status, undefined);
  });
});

Deno.test("core 30: commands do not inherit provider keys", async () => {
  const key = "sk-or-v1-0123456789abcdef0123";
  await withCore({
    model: { turns: [calling(shell("env; echo [$OPENROUTER_API_KEY]; echo [$PLAIN]")), "ok"] },
    env: { OPENROUTER_API_KEY: key, API_SERVER_KEY: "serve-0123456789abcdef", PLAIN: "kept" },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    const { output } = lastResult(model.calls()[1]);
    assertEquals([output.includes(key), /OPENROUTER_API_KEY=|API_SERVER_KEY=/.test(output)], [false, false]);
    assert(output.endsWith("[]\n[kept]"), output.slice(-60));
  });
});

Deno.test("core 31: a background process is started, read, written to and killed; another session cannot see it", async () => {
  let id = "";
  const script = [
    () => calling(shell("echo ready; read line; echo got $line; sleep 30", { background: true })),
    () => calling(call("process", { action: "poll", session_id: id })),
    () => calling(call("process", { action: "submit", session_id: id, data: "hello" })),
    () => calling(shell("sleep 2")),
    () => calling(call("process", { action: "log", session_id: id }), call("process", { action: "list" })),
    () => "one",
    () => calling(call("process", { action: "list" }), call("process", { action: "kill", session_id: id })),
    () => "two",
    () => calling(call("process", { action: "kill", session_id: id })),
    () => calling(call("process", { action: "poll", session_id: id })),
    () => "three",
  ];
  await withCore({
    model: {
      respond: (request, n) => {
        if (n === 1) id = JSON.parse(results(request).at(-1)!).session_id;
        return script[n]!();
      },
    },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go", 20_000);
    const started = lastResult(model.calls()[1]);
    assertMatch(id, /^proc_[0-9a-f]+$/);
    assertEquals([started.output, started.exit_code, started.error], ["Background process started", 0, null]);
    const polled = lastResult(model.calls()[2]);
    assertEquals([polled.session_id, polled.status, polled.pid], [id, "running", started.pid]);
    assertEquals(lastResult(model.calls()[3]).status, "ok");
    const [log, list] = results(model.calls()[5]).slice(-2).map((text) => JSON.parse(text));
    assertEquals(log.output, "ready\ngot hello");
    assertEquals(list.processes.map((p: { session_id: string }) => p.session_id), [id]);
    const other = await open();
    await host.turn(other.sid, "look");
    const [none, refused] = results(model.calls()[7]).map((text) => JSON.parse(text));
    assertEquals(none.processes, []);
    assert(refused.status !== "killed", JSON.stringify(refused));
    await host.turn(sid, "end it");
    const killed = results(model.calls()[9]).at(-1)!;
    assertEquals([JSON.parse(killed).status, JSON.parse(killed).exit_code], ["killed", -15]);
    const gone = lastResult(model.calls()[10]);
    assertEquals([gone.status, gone.completion_reason], ["exited", "killed"]);
  });
});
