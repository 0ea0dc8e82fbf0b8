/** Sessions against the real program: gateway rows 12, 16–18, 40, 55–57 and reads (FC-24 gateway side). */
import { type Json, startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, modelConfig } from "../../support/program.ts";
import { startModelServer } from "../../support/model_server.ts";
import { withGateway } from "./scene.ts";

Deno.test("gateway 16: session.create answers at once, tells about itself later, and stores nothing", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const id = await host.post("session.create");
    const { result } = await host.response(id);
    assertMatch(result.session_id, /^[0-9a-f]{8}$/);
    assertMatch(result.stored_session_id, /^\d{8}_\d{6}_[0-9a-f]{6}$/);
    assertEquals([result.message_count, result.messages], [0, []]);
    assertEquals(result.info, {
      model: "scripted",
      provider: "custom",
      tools: {},
      skills: {},
      cwd: rig.workspace,
      branch: "",
      lazy: true,
      desktop_contract: 3,
      profile_name: "default",
    });
    const info = await host.event("session.info", result.session_id);
    assertEquals(["lazy" in info, info.running, info.model], [false, false, "scripted"]);
    assert(info.tools.terminal.includes("terminal"));
    assert(host.indexOfResponse(id) < host.indexOfEvent("session.info", result.session_id));
    assertEquals(await host.request("session.list"), { sessions: [] });
  });
});

Deno.test("gateway 17: an unusable cwd is 4017 and makes no session; none at all falls back", async () => {
  await withGateway({ config: { terminal: { cwd: "/does/not/exist" } } }, async ({ host, rig }) => {
    await Deno.writeTextFile(`${rig.workspace}/file.txt`, "x");
    for (const cwd of ["/does/not/exist", "", `${rig.workspace}/file.txt`]) {
      assertEquals((await host.refused("session.create", { cwd })).code, 4017, cwd);
    }
    assertEquals(await host.request("session.active_list"), { sessions: [] });
    assertEquals((await host.request("session.create")).info.cwd, rig.workspace);
    assertEquals((await host.request("session.create", { cwd: rig.home })).info.cwd, rig.home);
  });
});

Deno.test("gateway 18: the limit on sessions is 4090, and closing one makes room", async () => {
  await withGateway({ config: { max_concurrent_sessions: 1 } }, async ({ host }) => {
    const [first, second] = await Promise.all([host.post("session.create"), host.post("session.create")]);
    const { result } = await host.response(first);
    assertEquals((await host.response(second)).error.code, 4090);
    assertEquals(await host.request("session.close", { session_id: result.session_id }), { closed: true });
    await host.request("session.create");
  });
});

Deno.test("session.create takes history, model and effort for this session", async () => {
  await withGateway({ model: { turns: ["ok"] } }, async ({ host, model }) => {
    const created = await host.request("session.create", {
      messages: [
        { role: "user", content: "earlier" },
        { role: "assistant", text: "I know" },
        { role: "system", content: "be brief" },
        { role: "tool", content: "skipped" },
        { role: "user", content: "secretly", display_kind: "hidden" },
        "nonsense",
      ],
      reasoning_effort: "high",
      model: "other",
    });
    assertEquals(created.messages.map((row: { role: string; text: string }) => [row.role, row.text]), [
      ["user", "earlier"],
      ["assistant", "I know"],
      ["system", "be brief"],
    ]);
    const info = await host.event("session.info", created.session_id);
    assertEquals([info.model, info.reasoning_effort], ["other", "high"]);
    await host.turn(created.session_id, "go on");
    const [call] = model.calls();
    assertEquals(call!.body.model, "other");
    const said = JSON.stringify(call!.body.messages);
    for (const text of ["earlier", "I know", "be brief", "secretly", "go on"]) {
      assert(said.includes(text), text);
    }
    assert(!said.includes("skipped"));
  });
});

Deno.test("gateway 12: a session that was left is resumed in a new process, by id and by title", async () => {
  await using model = await startModelServer({ turns: ["Hello there.", "Still here."] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  let stored: string;
  {
    await using host = await startGateway({ rig });
    const session = await host.session();
    stored = session.stored;
    await host.turn(session.sid, "hi");
    await host.request("session.title", { session_id: session.sid, title: "Greeting" });
    assertEquals((await host.end()).code, 0);
  }
  await using host = await startGateway({ rig });
  const resumed = await host.request("session.resume", { session_id: stored });
  assertMatch(resumed.session_id, /^[0-9a-f]{8}$/);
  assertEquals(
    [
      resumed.resumed,
      resumed.session_key,
      resumed.running,
      resumed.status,
      resumed.message_count,
      resumed.inflight,
    ],
    [stored, stored, false, "idle", 2, null],
  );
  assertEquals(resumed.messages.map((row: { role: string; text: string }) => [row.role, row.text]), [
    ["user", "hi"],
    ["assistant", "Hello there."],
  ]);
  assert(resumed.messages.every((row: { row_id: unknown }) => Number.isInteger(row.row_id)));
  assertEquals(resumed.info.title, "Greeting");
  await host.turn(resumed.session_id, "again");
  assertEquals(model.calls()[1]!.body.messages.slice(1).map((m: { content: string }) => m.content), [
    "hi",
    "Hello there.",
    "again",
  ]);
  const list = await host.request("session.list");
  assertEquals(
    list.sessions.map((
      row: Record<string, unknown>,
    ) => [row["id"], row["title"], row["preview"], row["source"], row["message_count"]]),
    [
      [stored, "Greeting", "hi", "tui", 4],
    ],
  );
  assertEquals((await host.request("session.most_recent")).session_id, stored);
});

Deno.test("gateway 55: racing resumes of one id give one live session", async () => {
  await using model = await startModelServer({ turns: ["One."] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  let stored: string;
  {
    await using host = await startGateway({ rig });
    const session = await host.session();
    stored = session.stored;
    await host.turn(session.sid, "hi");
  }
  await using host = await startGateway({ rig });
  const ids = await Promise.all([1, 2, 3].map(() => host.post("session.resume", { session_id: stored })));
  const answers = await Promise.all(ids.map((id) => host.response(id)));
  const sids = new Set(answers.map((answer) => answer.result.session_id));
  assertEquals([sids.size, answers.map((answer) => answer.result.resumed)], [1, [stored, stored, stored]]);
  assertEquals((await host.request("session.active_list")).sessions.length, 1);
});

Deno.test("gateway 55: where one session may be live, racing resumes of one id need one place", async () => {
  const config = { max_concurrent_sessions: 1 };
  await withGateway({ model: { turns: ["One."] }, config }, async ({ host }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "hi");
    await host.request("session.close", { session_id: sid });
    const infos = host.eventsOf("session.info").length;
    const ids = await Promise.all([1, 2, 3].map(() => host.post("session.resume", { session_id: stored })));
    const answers = await Promise.all(ids.map((id) => host.response(id)));
    assertEquals(new Set(answers.map(({ result }) => result?.session_id)).size, 1);
    const live = answers[0].result.session_id;
    await host.turn(live, "more");
    // It has told about itself once, and at the end of its turn.
    assertEquals(host.eventsOf("session.info").length - infos, 2);
  });
});

Deno.test("gateway 56: resume by exact title; unknown is 4007, missing is 4006, and neither makes a session", async () => {
  await withGateway({ model: { turns: ["One."] } }, async ({ host }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "hi");
    await host.request("session.title", { session_id: sid, title: "My talk" });
    const resumed = await host.request("session.resume", { session_id: "My talk" });
    assertEquals([resumed.session_id, resumed.resumed], [sid, stored]);
    for (const session_id of ["does-not-exist", "my talk", "My tal"]) {
      const refused = await host.refused("session.resume", { session_id });
      assertEquals(refused.code, 4007);
      assert(refused.message.includes(session_id));
    }
    for (const params of [{}, { session_id: "" }, { session_id: null }]) {
      assertEquals((await host.refused("session.resume", params)).code, 4006);
    }
    assertEquals((await host.request("session.active_list")).sessions.length, 1);
  });
});

Deno.test("gateway 57: titles are set, read, unique, at most 100 characters, never empty", async () => {
  await withGateway({}, async ({ host }) => {
    const a = await host.session();
    const b = await host.session();
    const post = await host.post("session.title", { session_id: a.sid, title: "  A \u200b  name\n" });
    assertEquals((await host.response(post)).result, { pending: false, title: "A name" });
    const infos = host.eventsOf("session.info", a.sid);
    assertEquals(infos.at(-1)!.payload.title, "A name");
    assert(
      host.indexOfEvent("session.info", a.sid, 2) < host.indexOfResponse(post),
      "session.info comes first",
    );
    assertEquals(await host.request("session.title", { session_id: a.sid }), {
      title: "A name",
      session_key: a.stored,
    });
    const refused = async (sid: string, title: string | null) =>
      (await host.refused("session.title", { session_id: sid, title })).code;
    assertEquals(await refused(b.sid, "A name"), 4022);
    assertEquals(await refused(b.sid, "x".repeat(101)), 4022);
    assertEquals(await refused(b.sid, ""), 4021);
    assertEquals(await refused(b.sid, " \u200b\n"), 4021);
    assertEquals(await refused("ffffffff", "x"), 4001);
    assertEquals((await host.request("session.title", { session_id: b.sid })).title, "");
    assertEquals(
      (await host.request("session.title", { session_id: b.sid, title: "y".repeat(100) })).title.length,
      100,
    );
  });
});

Deno.test("a title given to session.create is set after the first turn; one that is taken is dropped with a warning", async () => {
  await withGateway({ model: { turns: ["1", "2"], loop: true } }, async ({ host }) => {
    const first = await host.session({ title: "Wanted" });
    await host.turn(first.sid, "hi");
    await host.until(
      () => host.eventsOf("session.info", first.sid).find((event) => event.payload.title === "Wanted"),
      "the title",
    );
    const second = await host.session({ title: "Wanted" });
    await host.turn(second.sid, "hi");
    const warning = await host.until(
      () => host.eventsOf("status.update", second.sid).find((event) => event.payload.kind === "warn"),
      "the warning",
    );
    assertMatch(warning.payload.text, /^Title not set: /);
  });
});

Deno.test("session.active_list shows what is live here, in creation order", async () => {
  await withGateway({ model: { turns: ["One."] } }, async ({ host }) => {
    const a = await host.session();
    const b = await host.session();
    await host.turn(a.sid, "first  question");
    const { sessions } = await host.request("session.active_list", { current_session_id: b.sid });
    assertEquals(
      sessions.map((
        row: Record<string, unknown>,
      ) => [
        row["id"],
        row["current"],
        row["status"],
        row["preview"],
        row["session_key"],
        row["message_count"],
      ]),
      [[a.sid, false, "idle", "first question", a.stored, 2], [b.sid, true, "idle", "", b.stored, 0]],
    );
    const activated = await host.request("session.activate", { session_id: a.sid });
    assertEquals([activated.session_id, activated.message_count, activated.messages.length], [a.sid, 2, 2]);
    assertEquals((await host.refused("session.activate", { session_id: "00000000" })).code, 4001);
  });
});

Deno.test("session.close ends a running turn as interrupted; unknown ids are closed:false", async () => {
  await withGateway({ model: { turns: [{ steps: [{ text: "a" }, { stall: true }] }] } }, async ({ host }) => {
    const { sid, stored } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("message.delta", sid);
    const id = await host.post("session.close", { session_id: sid });
    assertEquals((await host.response(id)).result, { closed: true });
    const complete = await host.event("message.complete", sid);
    assertEquals(complete.status, "interrupted");
    assert(host.indexOfEvent("message.complete", sid) < host.indexOfResponse(id));
    assertEquals(await host.request("session.close", { session_id: sid }), { closed: false });
    assertEquals((await host.refused("session.history", { session_id: sid })).code, 4001);
    const resumed = await host.request("session.resume", { session_id: stored });
    assertEquals(resumed.messages[0].text, "go");
  });
});

Deno.test("session.delete refuses a live session, deletes a closed one, and knows no other", async () => {
  await withGateway({ model: { turns: ["One."] } }, async ({ host }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "hi");
    assertEquals((await host.refused("session.delete", { session_id: stored })).code, 4023);
    await host.request("session.close", { session_id: sid });
    assertEquals(await host.request("session.delete", { session_id: stored }), { deleted: stored });
    assertEquals((await host.refused("session.delete", { session_id: stored })).code, 4007);
    assertEquals((await host.refused("session.delete", {})).code, 4006);
    assertEquals(await host.request("session.list"), { sessions: [] });
  });
});

Deno.test("session.status, session.usage and session.history tell the truth", async () => {
  await withGateway({
    model: {
      turns: [{ steps: [{ text: "Four." }, { usage: { prompt_tokens: 1200, completion_tokens: 34 } }] }],
    },
  }, async ({ host, rig }) => {
    const { sid, stored } = await host.session();
    assertEquals(await host.request("session.usage", { session_id: sid }), {
      calls: 0,
      input: 0,
      output: 0,
      total: 0,
    });
    await host.turn(sid, "2+2?");
    const usage = await host.request("session.usage", { session_id: sid });
    assertEquals([usage.calls, usage.input, usage.output, usage.total, usage.model], [
      1,
      1200,
      34,
      1234,
      "scripted",
    ]);
    const status = await host.request("session.status", { session_id: sid });
    const lines = status.output.split("\n");
    assertEquals(lines.slice(0, 4), ["Hermes TUI Status", "", `Session ID: ${stored}`, `Path: ${rig.home}`]);
    assert(lines.includes("Model: scripted (custom)"));
    assert(lines.includes("Tokens: 1,234"));
    assertEquals(lines.at(-1), "Agent Running: No");
    assertEquals([status.session_key, status.model, status.running, status.tokens], [
      stored,
      "scripted",
      false,
      1234,
    ]);
    const history = await host.request("session.history", { session_id: sid });
    assertEquals(history.count, 2);
    assertEquals(history.messages.map((row: { text: string }) => row.text), ["2+2?", "Four."]);
  });
});

Deno.test("gateway 40: an interrupt of an idle session is answered and ends nothing", async () => {
  await withGateway({ model: { turns: ["One."] } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals(await host.request("session.interrupt", { session_id: sid }), { status: "interrupted" });
    assertEquals((await host.turn(sid, "hi")).status, "complete");
    assertEquals(host.eventsOf("message.complete", sid).length, 1);
    assertEquals((await host.refused("session.interrupt", { session_id: "00000000" })).code, 4001);
  });
});

Deno.test("session.events.since gives the missed events, ascending, with the epoch of gateway.ready", async () => {
  await withGateway({ model: { turns: ["One."] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "hi");
    const mine = host.events.filter((event) => event.session_id === sid);
    assertEquals(mine.map((event) => event.seq), mine.map((_, i) => i + 1));
    const since = await host.request("session.events.since", { session_id: sid, last_seen: 2 });
    assertEquals(since.events, mine.slice(2));
    assertEquals(
      [since.latest_seq, since.truncated, since.count, since.epoch, since.open_requests],
      [mine.length, false, mine.length - 2, host.events[0]!.payload.replay_epoch, []],
    );
    assertEquals(
      (await host.refused("session.events.since", { session_id: sid, last_seen: 1.5 })).code,
      -32602,
    );
    assertEquals((await host.request("session.events.stats")).sessions, 1);
  });
});

Deno.test("session.list with a title finds that one session, and nothing for a title that nobody has", async () => {
  await withGateway({ model: { turns: ["a", "b"] } }, async ({ host }) => {
    for (const title of ["first", "second"]) {
      const { sid } = await host.session();
      await host.turn(sid, title);
      await host.request("session.title", { session_id: sid, title });
    }
    const { sessions } = await host.request("session.list", { title: "first" });
    assertEquals(sessions.map((row: Json) => [row.title, row.resolved_id === row.id]), [["first", true]]);
    assertEquals((await host.request("session.list", { title: "third" })).sessions, []);
  });
});

Deno.test("B.2 pinned: session.set_pinned by live or stored id or title, through a compression and a restart", async () => {
  const respond = (request: Json) =>
    JSON.stringify(request.body.messages).includes("Summarise the conversation") ? "THE SUMMARY" : "ok";
  await withGateway({ model: { respond } }, async ({ host, rig }) => {
    const pins = async (on: typeof host) =>
      (await on.request("session.list")).sessions.map((row: Json) => [row.id, row.pinned]);
    const { sid, stored } = await host.session();
    const other = await host.session();
    // Not stored yet: it is stored for it.
    const pin = (session_id: string, pinned: unknown = true) =>
      host.request("session.set_pinned", { session_id, pinned });
    assertEquals(await pin(sid), { session_id: stored, pinned: true, changed: true });
    assertEquals(await pin(stored), { session_id: stored, pinned: true, changed: false });
    await host.turn(other.sid, "hi");
    for (let n = 0; n < 8; n++) await host.turn(sid, `question ${n}`);
    assertEquals(await pins(host), [[stored, true], [other.stored, false]]);

    await host.request("session.compress", { session_id: sid });
    const { session_key: tip } = await host.request("session.title", { session_id: sid, title: "Kept" })
      .then(() => host.request("session.title", { session_id: sid }));
    assertEquals(tip === stored, false);
    const branch = await host.request("session.branch", { session_id: sid });
    assertEquals(
      new Map(await pins(host)),
      new Map([[tip, true], [other.stored, false], [branch.stored_session_id, false]]),
    );
    assertEquals(
      [
        await host.refused("session.set_pinned", {}),
        await host.refused("session.set_pinned", { session_id: "no" }),
      ]
        .map(({ code }) => code),
      [4006, 4007],
    );
    await host.end();
    await using again = await startGateway({ rig });
    assertEquals(
      (await again.request("session.list", { title: "Kept" })).sessions.map((row: Json) => row.pinned),
      [true],
    );
    const off = { session_id: "Kept", pinned: false };
    assertEquals(await again.request("session.set_pinned", off), {
      session_id: tip,
      pinned: false,
      changed: true,
    });
    assertEquals((await pins(again)).map(([, pinned]: Json) => pinned), [false, false, false]);
  });
});
