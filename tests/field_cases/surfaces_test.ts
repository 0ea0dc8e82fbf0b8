/** Class lines of the field cases on surfaces where the case itself does not arise, but its neighbours do. */
import { fingerprint } from "../../scripts/torture/judge.ts";
import { calls, startAcp } from "../support/acp_driver.ts";
import { type ApiServer, collectSse, startApi } from "../support/api_driver.ts";
import { assert, assertEquals, assertWithin } from "../support/assert.ts";
import { call, calling, shell, withCore } from "../support/core_driver.ts";
import { startGateway } from "../support/gateway_driver.ts";
import { type ModelServer, startModelServer } from "../support/model_server.ts";
import { ownSleep, processesWith, untilGone, untilHomeIsLeft } from "../support/processes.ts";
import { eventually, makeRig, modelConfig, type Rig } from "../support/program.ts";
import { ask, eventsUntil, startRun, untilStatus, type Wire } from "../binary/api/run_scene.ts";

// ── FC-27 ───────────────────────────────────────────────────────────────────────────────────────────────────

Deno.test("FC-27: responses tell calls apart that share the provider's id, in one reply and over replies", async () => {
  const echo = (word: string) => call("terminal", { command: `echo ${word}` }, "call_1");
  const turns = [calling(echo("one"), echo("two")), calling(echo("three")), "done"];
  await using model = await startModelServer({ turns });
  await using api = await startApi({ model });
  const frames = await collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
  const { output } = frames.filter((frame) => frame.json).at(-1)!.json.response;
  const of = (type: string) => output.filter((item: Wire) => item.type === type);
  const ids = of("function_call").map((item: Wire) => item.call_id);
  assertEquals([ids.length, new Set(ids).size], [3, 3]);
  assertEquals(of("function_call_output").map((item: Wire) => item.call_id), ids);
  const texts = of("function_call_output").map((item: Wire) => JSON.stringify(item.output));
  assertEquals(["one", "two", "three"].map((word, n) => texts[n].includes(word)), [true, true, true]);
  assertEquals(new Set(output.map((item: Wire) => item.id)).size, output.length);
});

// ── FC-07, FC-08 ────────────────────────────────────────────────────────────────────────────────────────────

/** Reads of the server that nothing outside may hold up. */
const READS = ["/health", "/health/detailed", "/v1/models", "/v1/capabilities", "/v1/runs", "/api/sessions"];

async function readAll(api: ApiServer): Promise<void> {
  for (const path of READS) {
    const asked = performance.now();
    assertEquals([path, (await ask(api, path)).status], [path, 200]);
    assertWithin(performance.now() - asked, 3_000, path);
  }
}

Deno.test("FC-07: a provider that takes connections and stays silent holds up no start, list or status of serve", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const held: Deno.Conn[] = [];
  const accepting = (async () => {
    for await (const connection of silent) held.push(connection);
  })().catch(() => {/* closed at the end */});
  {
    await using api = await startApi({ config: modelConfig(`http://127.0.0.1:${silent.addr.port}/v1`) });
    await readAll(api);
    const id = await startRun(api);
    await readAll(api);
    assertEquals((await ask(api, `/v1/runs/${id}/stop`, { method: "POST" })).status, 200);
    assertEquals((await untilStatus(api, id, "cancelled", "failed")).status, "cancelled");
  }
  silent.close();
  await accepting;
  for (const connection of held) connection.close();
});

Deno.test("FC-08: while a run works with a long tool every other request is answered, and its stop ends it", async () => {
  const sleep = ownSleep(60);
  await using model = await startModelServer({ turns: [calling(shell(sleep)), "never"] });
  await using api = await startApi({ model });
  const id = await startRun(api);
  await eventually(async () => (await processesWith(sleep)).length > 0, 10_000, "the tool");
  await readAll(api);
  assertEquals((await ask(api, `/v1/runs/${id}`)).body.status, "running");
  const refused = await ask(api, `/v1/runs/${id}/approval`, { body: { choice: "once" } });
  assert(refused.status >= 400 && refused.status < 500, `${refused.status}`);
  assertEquals((await ask(api, `/v1/runs/${id}/steer`, { body: { input: "faster" } })).status, 200);
  assertEquals((await ask(api, `/v1/runs/${id}/stop`, { method: "POST" })).status, 200);
  assertEquals((await untilStatus(api, id, "cancelled")).status, "cancelled");
  await untilGone(sleep);
});

// ── FC-10 ───────────────────────────────────────────────────────────────────────────────────────────────────

const EDITED = [
  "plain answer",
  calling(call("write_file", { path: "a.txt", content: "new\n" })),
  "edited",
];

/** Reads twice, in a new process: the same both times, and the store is as it was. */
async function readsTwice(rig: Rig, read: () => Promise<Wire[]>): Promise<Wire[]> {
  const before = fingerprint(rig);
  const [first, second] = [await read(), await read()];
  assertEquals(second, first);
  assertEquals(fingerprint(rig), before);
  return first;
}

Deno.test("FC-10: the gateway gives the history back whole, in order, once, as often as it is asked", async () => {
  await withCore({ model: { turns: EDITED } }, async ({ rig, host, open }) => {
    const { sid, stored } = await open();
    await host.turn(sid, "one");
    await host.turn(sid, "two");
    await host.end();
    await using again = await startGateway({ rig });
    const { session_id } = await again.request("session.resume", { session_id: stored });
    const messages = await readsTwice(
      rig,
      async () => (await again.request("session.history", { session_id })).messages,
    );
    const shown = messages.map((one) => one.role === "tool" ? `tool ${one.name}` : `${one.role} ${one.text}`);
    assertEquals(shown, [
      "user one",
      "assistant plain answer",
      "user two",
      "tool write_file",
      "assistant edited",
    ]);
  });
});

Deno.test("FC-10: serve gives the messages of a session back whole, in order, once, page by page too", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: EDITED });
  const headers = { "X-Hermes-Session-Id": "kept" };
  {
    await using api = await startApi({ rig, model });
    for (const content of ["one", "two"]) {
      assertEquals(
        (await ask(api, "/v1/chat/completions", { body: { messages: [{ role: "user", content }] }, headers }))
          .status,
        200,
      );
    }
  }
  await using api = await startApi({ rig, model });
  const page = async (query: string) =>
    (await ask(api, `/api/sessions/kept/messages${query}`)).body.data as Wire[];
  const whole = await readsTwice(rig, () => page(""));
  assertEquals(whole.filter(({ role }) => role === "user").map(({ content }) => content), ["one", "two"]);
  assertEquals(whole.filter(({ role }) => role === "tool").length, 1);
  assertEquals(whole.at(-1)!.content, "edited");
  const pages: Wire[] = [];
  for (let offset = 0; offset < whole.length; offset += 2) {
    pages.push(...await page(`?limit=2&offset=${offset}`));
  }
  assertEquals(pages, whole);
});

// ── FC-13 ───────────────────────────────────────────────────────────────────────────────────────────────────

Deno.test("FC-13: on the gateway a path is the session's, not the process's", async () => {
  await using model = await startModelServer({
    turns: [calling(shell("pwd; cat a.txt"), call("read_file", { path: "a.txt" })), "ok"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const [here, there] = [`${rig.workspace}/here`, `${rig.workspace}/there`];
  for (const folder of [here, there]) {
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/a.txt`, `of ${folder}\n`);
  }
  await using host = await startGateway({ rig, cwd: here });
  const { sid } = await host.session({ cwd: there });
  await host.turn(sid, "go");
  const seen = JSON.stringify(model.calls()[1]!.body.messages);
  assertEquals([seen.includes(`of ${there}`), seen.includes(`of ${here}`)], [true, false]);
});

// ── FC-18 ───────────────────────────────────────────────────────────────────────────────────────────────────

const FLOOD = calling(
  shell("yes 'a short line of text' | head -c 3000000"),
  shell("head -c 3000000 /dev/zero | tr '\\0' x"),
);
/** Well under the megabyte that all of it may be. */
const LONGEST = 300_000;

Deno.test("FC-18: output without end reaches an editor and the clients of serve in bounds", async () => {
  await using model = await startModelServer({ turns: [FLOOD, "done", FLOOD, "done", FLOOD, "done"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  {
    await using acp = startAcp(rig);
    await acp.initialize();
    assertEquals((await acp.prompt(await acp.newSession(rig.workspace), "go")).stopReason, "end_turn");
    assertEquals(acp.lines.filter((line) => line.length > LONGEST), []);
    assert(acp.lines.reduce((sum, line) => sum + line.length, 0) < 1_000_000);
  }
  await using api = await startApi({ rig, keepConfig: true });
  const streamed = await (await api.call("/v1/responses", { body: { input: "go", stream: true } })).text();
  const id = await startRun(api);
  await untilStatus(api, id, "completed");
  const events = await (await api.call(`/v1/runs/${id}/events`)).text();
  for (const text of [streamed, events]) {
    assertEquals(text.split("\n").filter((line) => line.length > LONGEST).length, 0);
    assert(text.length < 1_000_000, `${text.length} characters`);
  }
});

// ── FC-19 ───────────────────────────────────────────────────────────────────────────────────────────────────

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`FC-19: ${signal} ends serve together with the tool of a run, which is stored as interrupted`, async () => {
    const [sleep, inner] = [ownSleep(60), ownSleep(61)];
    await using rig = await makeRig();
    await using model = await startModelServer({ turns: [calling(shell(`${inner} & ${sleep}`)), "never"] });
    let id: string;
    {
      await using api = await startApi({ rig, model });
      id = await startRun(api);
      for (const text of [sleep, inner]) {
        await eventually(async () => (await processesWith(text)).length > 0, 10_000, "the tool");
      }
      assertEquals((await api.stop(signal)).code, 0);
    }
    for (const text of [sleep, inner]) await untilGone(text);
    await untilHomeIsLeft(rig.home);
    await using api = await startApi({ rig, model });
    assertEquals((await ask(api, `/v1/runs/${id}`)).body.status, "interrupted");
  });
}

// ── FC-03, FC-14 ────────────────────────────────────────────────────────────────────────────────────────────

Deno.test("FC-03: on the gateway no frame names a session before the answer that announces it", async () => {
  await using model = await startModelServer();
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using host = await startGateway({ rig });
  const ids = await Promise.all(Array.from({ length: 20 }, () => host.post("session.create")));
  for (const id of ids) {
    const { result } = await host.response(id);
    const first = host.indexOf((frame) => frame.params?.session_id === result.session_id);
    assert(first === -1 || host.indexOfResponse(id) < first, result.session_id);
  }
});

Deno.test("FC-14: of the runs that wait for leave only the one that is named goes on", async () => {
  const respond: NonNullable<Parameters<typeof startModelServer>[0]>["respond"] = ({ body }) => {
    const last = body.messages.at(-1);
    return last.role === "user" ? calling(shell(`rm -rf ./${last.content}`)) : "done";
  };
  await using model: ModelServer = await startModelServer({ respond });
  await using api = await startApi({ model });
  const names = ["a", "b", "c", "d"];
  for (const name of names) await Deno.mkdir(`${api.rig.workspace}/${name}`);
  const ids = await Promise.all(names.map((input) => startRun(api, { input })));
  for (const id of ids) await eventsUntil(api, id, (event) => event.event === "approval.request");
  const settle = (n: number, choice: string) => ask(api, `/v1/runs/${ids[n]}/approval`, { body: { choice } });
  assertEquals((await settle(2, "once")).body.resolved, 1);
  assertEquals((await settle(1, "deny")).body.resolved, 1);
  for (const n of [1, 2]) await untilStatus(api, ids[n]!, "completed");
  const left = [...Deno.readDirSync(api.rig.workspace)].map(({ name }) => name).sort();
  assertEquals(left, ["a", "b", "d"]);
  for (const n of [0, 3]) {
    assertEquals((await ask(api, `/v1/runs/${ids[n]}`)).body.status, "waiting_for_approval");
  }
});

Deno.test("FC-26: a key that the provider repeats is shown neither to an editor nor to the clients of serve", async () => {
  const KEY = "zz-UNIQUE-0123456789abcdef";
  const leak = { steps: [{ error: { status: 401, message: `Incorrect API key provided: ${KEY}.` } }] };
  await using model = await startModelServer({
    respond: ({ body }) => {
      const { role, content } = body.messages.at(-1);
      return role === "user" && /env$/.test(content) ? calls(["terminal", { command: "env" }]) : leak;
    },
  });
  const config = modelConfig(model.url, { logging: { level: "DEBUG" } });
  Object.assign(config["model"] as Wire, { api_key: KEY });
  await using rig = await makeRig({ config });
  const seen: string[] = [];
  {
    await using acp = startAcp(rig);
    await acp.initialize();
    const sessionId = await acp.newSession(rig.workspace);
    for (const text of ["env", "fail"]) {
      assert(
        (await acp.ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] }, 30_000)).error,
      );
    }
    await acp.close();
    seen.push(...acp.lines, acp.stderr);
  }
  {
    await using api = await startApi({ rig, keepConfig: true });
    for (const stream of [false, true]) {
      for (const content of ["env", "fail"]) {
        seen.push(await (await api.chat({ messages: [{ role: "user", content }], stream })).text());
      }
    }
    const id = await startRun(api, { input: "fail" });
    await untilStatus(api, id, "failed");
    seen.push(await (await api.call(`/v1/runs/${id}/events`)).text(), api.stderr(), api.stdout());
  }
  assertEquals(seen.filter((text) => text.includes(KEY)), []);
  assert(seen.some((text) => text.includes("401")), "the failure is told");
});
