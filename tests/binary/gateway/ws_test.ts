/** The WebSocket transport against the real program: gateway rows 69–74, FC-20.1, FC-20.2, FC-22.2. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { eventually, makeRig, startProgram } from "../../support/program.ts";
import { dangerous, toolTurn } from "./scene.ts";
import { handshake, withWsGateway } from "./ws_scene.ts";

Deno.test("gateway 69, FC-22.2: who has no token, or comes from elsewhere, is refused before any frame", async () => {
  await withWsGateway({ config: { gateway: { allowed_hosts: ["ide.example"] } } }, async ({ port }) => {
    const refusals: [Parameters<typeof handshake>[1], number, string][] = [
      [{ path: "/api/ws" }, 401, "unauthorized"],
      [{ path: "/api/ws?token=wrong" }, 401, "unauthorized"],
      [{ path: "/api/ws", headers: { Authorization: "Bearer wrong" } }, 401, "unauthorized"],
      [{ host: "evil.test" }, 403, "host_not_allowed"],
      [{ host: "" }, 403, "host_not_allowed"],
      [{ headers: { Origin: "https://attacker.example" } }, 403, "origin_not_allowed"],
      [{ path: "/api/ws", headers: { Origin: "https://attacker.example" } }, 403, "origin_not_allowed"],
      [{ path: "/other" }, 404, "not_found"],
      [{ headers: { Upgrade: "h2c" } }, 426, "upgrade_required"],
    ];
    for (const [options, status, code] of refusals) {
      const answer = await handshake(port, options);
      assertEquals(
        [answer.status, JSON.parse(answer.body).error.code],
        [status, code],
        JSON.stringify(options),
      );
    }
    const accepted: Parameters<typeof handshake>[1][] = [
      {},
      { host: "localhost" },
      { host: `[::1]:${port}` },
      { host: "ide.example" },
      { path: "//api/ws/?token=a-token-of-the-test" },
      { path: "/api/ws", headers: { Authorization: "Bearer a-token-of-the-test" } },
      { headers: { Origin: `http://localhost:${port}` } },
      { headers: { Origin: "https://ide.example" } },
      { headers: { Origin: "null" } },
      { headers: { Origin: "app://host" } },
    ];
    for (const options of accepted) {
      const answer = await handshake(port, options);
      assertEquals(answer.status, 101, JSON.stringify(options));
      assertMatch(answer.body, /"type":"gateway.ready"/);
    }
  });
});

Deno.test("without a token in the environment one is made and printed once on stderr", async () => {
  await using rig = await makeRig();
  const child = startProgram(["gateway", "--ws", "--port", "0", "--demo"], { rig });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: ready = "" } = await reader.read();
  child.kill("SIGTERM");
  await child.stdin.close();
  const [status, stderr] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    reader.cancel(),
  ]);
  assertMatch(ready, /^HERMES_BACKEND_READY port=\d+\n$/);
  assertEquals(status.code, 0);
  assertEquals(stderr.match(/token: [A-Za-z0-9_-]{43}$/gm)?.length, 1);
});

Deno.test("a port that is taken is said so, with exit 1", async () => {
  await using rig = await makeRig();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const child = startProgram(["gateway", "--ws", "--port", String(port), "--demo"], { rig });
  await child.stdin.close();
  const [status, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  assertEquals([status.code, stdout], [1, ""]);
  assertMatch(stderr, new RegExp(`cannot listen on 127.0.0.1:${port}`));
});

Deno.test("A.2: one message is one frame without a line end; several lines are a parse error, an empty one nothing", async () => {
  await withWsGateway({}, async ({ connect }) => {
    const host = await connect();
    assertEquals(host.events[0]!.payload.heartbeat, false);
    host.socket.send("   ");
    host.socket.send('{"id":1,"method":"ping"}\n{"id":2,"method":"ping"}');
    assertEquals(await host.request("ping"), { pong: true });
    assertEquals(host.frames.slice(1).map((frame) => frame.error?.code ?? frame.result), [-32700, {
      pong: true,
    }]);
  });
});

Deno.test("gateway 70: a message over the limit closes with 1009, a binary one with 1003", async () => {
  await withWsGateway({}, async ({ connect }) => {
    const big = await connect();
    big.socket.send(JSON.stringify({ id: 1, method: "ping", params: { x: "y".repeat(17 << 20) } }));
    assertEquals((await big.closed).code, 1009);
    const binary = await connect();
    binary.socket.send(new Uint8Array([1, 2, 3]));
    assertEquals((await binary.closed).code, 1003);
    assertEquals(await (await connect()).request("ping"), { pong: true });
  });
});

Deno.test("gateway 71, FC-20.1: a dropped line ends no turn; who resumes gets what was missed once, then the rest", async () => {
  const words = Array.from({ length: 30 }, (_, i) => ({ text: `w${i} `, delay_ms: 30 }));
  await withWsGateway({ model: { turns: [{ steps: words }] } }, async ({ connect }) => {
    const a = await connect();
    const created = await a.request("session.create");
    await a.request("prompt.submit", { session_id: created.session_id, text: "count" });
    await a.event("message.delta", created.session_id, 4);
    await a.close();
    const b = await connect();
    const resumed = await b.request("session.resume", { session_id: created.stored_session_id });
    assertEquals([resumed.session_id, resumed.running, resumed.status], [
      created.session_id,
      true,
      "working",
    ]);
    assertEquals([resumed.inflight.user, resumed.inflight.streaming], ["count", true]);
    assert(resumed.inflight.assistant.startsWith("w0 w1 w2 w3 w4 "));
    const complete = await b.event("message.complete", created.session_id);
    const whole = words.map((step) => step.text).join("");
    assertEquals([complete.status, complete.text], ["complete", whole]);
    assertEquals(resumed.inflight.assistant + b.streamed(created.session_id), whole);
  });
});

Deno.test("gateway 72: a dropped session is closed at once where asked for, after the grace where idle; both resume", async () => {
  await withWsGateway({
    model: { turns: ["1", "2"] },
    env: { HERMES_TUI_WS_ORPHAN_REAP_GRACE_S: "1" },
  }, async ({ connect }) => {
    const watcher = await connect();
    const a = await connect();
    const eager = await a.request("session.create", { close_on_disconnect: "yes" });
    const parked = await a.request("session.create");
    for (const { session_id } of [eager, parked]) {
      await a.request("prompt.submit", { session_id, text: "hi" });
      await a.event("message.complete", session_id);
    }
    await a.close();
    const live = async () =>
      (await watcher.request("session.active_list")).sessions.map((row: { id: string }) => row.id);
    await eventually(async () => !(await live()).includes(eager.session_id), 900, "the eager one closed");
    assertEquals(await live(), [parked.session_id]);
    await eventually(async () => (await live()).length === 0, 5_000, "the parked one reaped");
    for (const { stored_session_id } of [eager, parked]) {
      const resumed = await watcher.request("session.resume", { session_id: stored_session_id });
      assertEquals(resumed.messages.length, 2);
    }
  });
});

Deno.test("gateway 73: who activates a session gets its later events, alone", async () => {
  await withWsGateway({ model: { turns: ["Hello."] } }, async ({ connect }) => {
    const [a, b] = [await connect(), await connect()];
    const { session_id } = await a.request("session.create");
    await a.event("session.info", session_id);
    const before = a.events.length;
    await b.request("session.activate", { session_id });
    await b.request("prompt.submit", { session_id, text: "hi" });
    assertEquals((await b.event("message.complete", session_id)).text, "Hello.");
    await a.request("ping");
    assertEquals(a.events.length, before);
  });
});

Deno.test("gateway 74, FC-20.2: an open approval is asked again under its id, and can be answered once", async () => {
  await withWsGateway({}, async ({ connect, model, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    model.push(
      toolTurn({ tool: "terminal", args: { command: dangerous(`${rig.workspace}/build`) } }),
      "Gone.",
    );
    const a = await connect();
    const { session_id, stored_session_id } = await a.request("session.create");
    await a.request("prompt.submit", { session_id, text: "remove" });
    const asked = await a.event("approval.request", session_id);
    await a.close();
    const b = await connect();
    const resumed = await b.request("session.resume", { session_id: stored_session_id });
    assertEquals([resumed.status, resumed.open_requests.length], ["waiting", 1]);
    assertEquals(await b.event("approval.request", session_id), asked);
    const answer = { session_id, choice: "once", request_id: asked.request_id };
    assertEquals(await b.request("approval.respond", answer), { resolved: 1 });
    assertEquals(await b.request("approval.respond", answer), { resolved: 0 });
    assertEquals((await b.event("message.complete", session_id)).text, "Gone.");
  });
});
