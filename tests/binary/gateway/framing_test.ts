/** Frames in and out against the real program: gateway rows 1–13, 15, FC-01, FC-02.1. */
import { startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { makeRig, runProgram, startProgram } from "../../support/program.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";

Deno.test("gateway 1: the first line is gateway.ready, and silence brings nothing else", async () => {
  await using rig = await makeRig();
  const { code, stdout } = await runProgram(["gateway"], { rig });
  const lines = stdout.split("\n");
  assertEquals([code, lines.length, lines[1]], [0, 2, ""]);
  const { jsonrpc, method, params } = JSON.parse(lines[0]!);
  assertEquals([jsonrpc, method, params.type], ["2.0", "event", "gateway.ready"]);
  assertEquals(Object.keys(params), ["type", "payload"]);
  assertEquals(params.payload.skin.name, "default");
  assertMatch(params.payload.replay_epoch, /^[0-9a-f]{32}$/);
});

Deno.test("gateway 2–7, 9, FC-02.1: malformed input gets its error, in order, and the gateway lives on", async () => {
  const input = [
    "not json",
    "{bad",
    "",
    "   ",
    "[]",
    '[{"id":1,"method":"ping"}]',
    "3",
    '"x"',
    "null",
    '{"id":1}',
    '{"id":1,"method":""}',
    '{"id":1,"method":5}',
    '{"jsonrpc":"2.0","id":7,"method":42}',
    '{"id":1,"method":"session.list","params":[]}',
    '{"id":"x","method":"no.such"}',
    '{"jsonrpc":"2.0","id":8,"method":"no.such"}',
    '{"method":"ping"}',
    '{"id":"r","method":"ping","params":null}\r',
  ];
  await using rig = await makeRig();
  const { code, stdout } = await runProgram(["gateway"], { rig, input: input.join("\n") + "\n" });
  const answers = stdout.trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));
  assertEquals(code, 0);
  assertEquals(answers.map((frame) => [frame.id, frame.error?.code ?? frame.result]), [
    [null, -32700],
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [1, -32600],
    [1, -32600],
    [1, -32600],
    [7, -32600],
    [1, -32602],
    ["x", -32601],
    [8, -32601],
    [null, { pong: true }],
    ["r", { pong: true }],
  ]);
  assertEquals(answers[12].error.message, "unknown method: no.such");
});

Deno.test("gateway 8: ids come back as they were sent", async () => {
  const ids = ['"é"', "0", "9007199254740993", "null", `"${"x".repeat(100_000)}"`, '{"a":1}', "true"];
  await using rig = await makeRig();
  const input = ids.map((id) => `{"id":${id},"method":"ping"}\n`).join("");
  const { stdout } = await runProgram(["gateway"], { rig, input });
  const lines = stdout.trimEnd().split("\n").slice(1);
  assertEquals(lines, ids.map((id) => `{"jsonrpc":"2.0","id":${id},"result":{"pong":true}}`));
});

Deno.test("gateway 10, 11: a parameter of a wrong type is -32602, a session id that is none is 4001", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig, args: ["--demo"] });
  const { sid } = await host.session();
  const cols = await host.refused("terminal.resize", { session_id: sid, cols: "wide" });
  assertEquals([cols.code, cols.message], [-32602, "invalid params: cols must be a number"]);
  assertEquals((await host.refused("session.steer", { session_id: sid, text: {} })).code, -32602);
  for (const session_id of [{ a: 1 }, "", null, 5, "ffffffff"]) {
    assertEquals((await host.refused("session.usage", { session_id })).code, 4001);
  }
  assertEquals(await host.request("terminal.resize", { session_id: sid, cols: 120 }), { cols: 120 });
});

Deno.test("gateway 12: requests that were read are answered at the end of input; exit 0 within 2 s", async () => {
  await using rig = await makeRig();
  const child = startProgram(["gateway", "--demo"], { rig });
  const started = performance.now();
  const writer = child.stdin.getWriter();
  await writer.write(
    new TextEncoder().encode('{"id":1,"method":"session.create"}\n{"id":2,"method":"session.list"}'),
  );
  await writer.close();
  const [status, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).filter((frame) =>
    "id" in frame
  );
  assertEquals(answers.map((frame) => [frame.id, frame.error]).sort(), [[1, undefined], [2, undefined]]);
  assertEquals(status.code, 0);
  assertWithin(performance.now() - started, 2_000 + 3_000, "start and end together");
  assertMatch(stderr, /^\[gateway-exit\] stdin EOF/m);
});

Deno.test("gateway 13: a closed stdout ends the gateway with exit 0", async () => {
  await using rig = await makeRig();
  const child = startProgram(["gateway"], { rig });
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode('{"id":1,"method":"ping"}\n'));
  const [status, stderr] = await Promise.all([child.status, new Response(child.stderr).text()]);
  await writer.close().catch(() => {/* it has ended */});
  assertEquals(status.code, 0);
  assertMatch(stderr, /^\[gateway-exit\] stdout closed/m);
});

Deno.test("gateway 15, FC-01.1: whatever a tool prints, stdout holds one JSON object per line", async () => {
  const noise = "printf 'not json\\n'; printf '{\"id\":1}\\n' >&2; echo done";
  await withGateway({
    model: { turns: [toolTurn(terminal(noise)), "Finished."] },
    config: { logging: { level: "DEBUG" } },
  }, async ({ host }) => {
    const { sid } = await host.session();
    const complete = await host.turn(sid, "make noise");
    assertEquals([complete.status, complete.text], ["complete", "Finished."]);
    const [tool] = host.eventsOf("tool.complete", sid);
    assertMatch(JSON.stringify(tool!.payload.result), /not json/);
    for (const frame of host.frames) assertEquals(frame.jsonrpc, "2.0");
    assert(host.lines.every((line) => !line.includes("\r")));
  });
});

Deno.test("FC-01.2: a frame with U+2028, U+2029 and U+0085 is one frame, in and out, and comes back equal", async () => {
  const text = "a\u2028b\u2029c\u0085d\re é 漢 🙂";
  await withGateway({
    // deno-lint-ignore no-explicit-any
    model: { respond: (request) => (request.body.messages.at(-1) as any).content },
  }, async ({ host }) => {
    const { sid } = await host.session();
    const raw = `{"id":"u","method":"prompt.submit","params":{"session_id":"${sid}","text":"${
      text.replace("\r", "\\r")
    }"}}`;
    await host.sendLine(raw);
    const complete = await host.event("message.complete", sid);
    assertEquals(complete.text, text);
    assertEquals(host.streamed(sid), text);
    for (const line of host.lines) {
      assert(!/[\u2028\u2029\u0085\r]/.test(line), "no raw line break in a frame");
    }
    await host.idle(sid);
    const { messages } = await host.request("session.history", { session_id: sid });
    assertEquals(messages.map((row: { text: string }) => row.text), [text, text]);
  });
});

Deno.test("FC-01.3: bytes that are not UTF-8 are a parse error; what follows is answered", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig });
  await host.sendBytes(new Uint8Array([0xff, 0xfe, 0x7b, 0x0a]));
  assertEquals((await host.response(null)).error.code, -32700);
  assertEquals(await host.request("ping"), { pong: true });
});

Deno.test("A.6: a line over 96 MiB is refused and dropped, nesting beyond 512 levels is a parse error", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig });
  await host.sendLine(`{"id":1,"method":"ping","params":${"[".repeat(600)}${"]".repeat(600)}}`);
  await host.sendLine(`{"id":2,"method":"ping","params":{"x":"${"y".repeat(97 << 20)}"}}`);
  assertEquals(await host.request("ping"), { pong: true });
  const answers = host.frames.filter((frame) => frame.id === null);
  assertEquals(answers.map((frame) => [frame.error.code, frame.error.message]), [
    [-32700, "parse error: nested deeper than 512 levels"],
    [-32600, "frame too large"],
  ]);
});

Deno.test("an input without a final line end is a frame too, also when stdin is a file", async () => {
  await using rig = await makeRig();
  const path = `${rig.workspace}/input.jsonl`;
  await Deno.writeTextFile(path, '{"id":1,"method":"ping"}');
  const child = startProgram(["gateway"], { rig });
  await (await Deno.open(path)).readable.pipeTo(child.stdin);
  const [status, stdout] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    child.stderr.cancel(),
  ]);
  assertEquals(status.code, 0);
  assertEquals(stdout.trimEnd().split("\n")[1], '{"jsonrpc":"2.0","id":1,"result":{"pong":true}}');
});

Deno.test("an unknown option is a usage error: exit 2, nothing on stdout", async () => {
  await using rig = await makeRig();
  for (const args of [["--frobnicate"], ["extra"], ["--port", "9"], ["--ws", "--port", "x"]]) {
    const { code, stdout, stderr } = await runProgram(["gateway", ...args], { rig });
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assert(stderr.length > 0);
  }
});

Deno.test("gateway 14: SIGINT leaves a turn alone; SIGTERM ends with exit 0 and what was said is stored", async () => {
  await withGateway({
    model: { turns: [{ steps: [{ text: "one " }, { text: "two " }, { stall: true }] }] },
  }, async ({ host, rig }) => {
    const { sid, stored } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "count" });
    await host.event("message.delta", sid, 1);
    host.kill("SIGINT");
    assertEquals((await host.request("session.status", { session_id: sid })).running, true);
    assertEquals(host.eventsOf("message.complete", sid).length, 0);
    const started = performance.now();
    host.kill("SIGTERM");
    const exit = await host.exited();
    assertEquals([exit.code, exit.signal], [0, null]);
    assertWithin(performance.now() - started, 2_000);
    assertMatch(exit.stderr, /^\[gateway-signal\] SIGTERM/m);
    await using again = await startGateway({ rig });
    const resumed = await again.request("session.resume", { session_id: stored });
    assertEquals(resumed.messages.map((row: { text: string }) => row.text), ["count", "one two "]);
  });
});
