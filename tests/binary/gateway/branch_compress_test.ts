/** Branching, compressing, background prompts and saving against the real program: gateway rows 58 and 59. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { sentTexts, terminal, toolTurn, withGateway } from "./scene.ts";

function texts(messages: Json[]): string[] {
  return messages.filter((row) => row.display_kind === undefined).map((row) => row.text);
}

async function say(host: GatewayHost, sid: string, ...prompts: string[]): Promise<void> {
  for (const prompt of prompts) await host.turn(sid, prompt);
}

Deno.test("gateway 58: a branch needs a turn, copies the history and leaves the parent alone", async () => {
  await withGateway({ model: { turns: ["A", "B", "P", "C"] } }, async ({ host, model }) => {
    const { sid, stored } = await host.session();
    assertEquals((await host.refused("session.branch", { session_id: sid })).code, 4008);
    assertEquals((await host.refused("session.branch", { session_id: "nope" })).code, 4001);
    await say(host, sid, "a", "b");
    await host.request("session.title", { session_id: sid, title: "Plan" });
    const first = await host.request("session.branch", { session_id: sid });
    assertEquals(
      [first.title, first.parent, first.message_count, texts(first.messages)],
      ["Plan #2", stored, 4, ["a", "A", "b", "B"]],
    );
    assertMatch(first.session_id, /^[0-9a-f]{8}$/);
    assert(first.session_id !== sid && first.stored_session_id !== stored);
    assertEquals((await host.event("session.info", first.session_id)).title, "Plan #2");
    assertEquals((await host.request("session.branch", { session_id: sid })).title, "Plan #3");
    assertEquals((await host.request("session.branch", { session_id: sid, name: "Aside" })).title, "Aside");
    assertEquals((await host.refused("session.branch", { session_id: sid, name: "Plan #2" })).code, 4022);
    const short = await host.request("session.branch", { session_id: sid, count: 2, name: "Short" });
    assertEquals(texts(short.messages), ["a", "A"]);
    await say(host, sid, "parent goes on");
    await say(host, first.session_id, "child goes on");
    assertEquals(sentTexts(model.calls()[3], "user"), ["a", "b", "child goes on"]);
    const parent = await host.request("session.history", { session_id: sid });
    assertEquals(texts(parent.messages), ["a", "A", "b", "B", "parent goes on", "P"]);
    const listed = (await host.request("session.list")).sessions.map((row: Json) => row.title).sort();
    assertEquals(listed, ["Aside", "Plan", "Plan #2", "Plan #3", "Short"]);
  });
});

Deno.test("gateway 58: branches of an untitled session are called branch, with a number when that is taken", async () => {
  await withGateway({ config: { max_concurrent_sessions: 3 } }, async ({ host }) => {
    const { sid } = await host.session({ messages: [{ role: "user", text: "a" }] });
    assertEquals((await host.request("session.branch", { session_id: sid })).title, "branch");
    assertEquals((await host.request("session.branch", { session_id: sid })).title, "branch #2");
    assertEquals((await host.refused("session.branch", { session_id: sid })).code, 4090);
  });
});

Deno.test("a branch while the parent runs copies what is committed", async () => {
  const model = { turns: ["A", { steps: [{ text: "slow", delay_ms: 2_000 }] }] };
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await host.session();
    await say(host, sid, "a");
    await host.request("prompt.submit", { session_id: sid, text: "b" });
    await host.event("message.start", sid, 1);
    const branch = await host.request("session.branch", { session_id: sid });
    assertEquals(texts(branch.messages).slice(0, 2), ["a", "A"]);
    assertEquals((await host.event("message.complete", sid, 1)).status, "complete");
  });
});

// ── compress ────────────────────────────────────────────────────────────────────────────────────────────────

const isSummary = (request: Json) =>
  JSON.stringify(request.body.messages).includes("Summarise the conversation");
const summarising = { respond: (request: Json) => isSummary(request) ? "THE SUMMARY" : "ok" };
const LONG = ["a", "b", "c", "d", "e", "f", "g", "h"];

function updates(host: GatewayHost, sid: string): string[][] {
  return host.eventsOf("status.update", sid).map((event) => [event.payload.kind, event.payload.text]);
}

Deno.test("gateway 59: too little is a no-op, a long one gets shorter, moves its key and keeps its sid", async () => {
  await withGateway({ model: summarising }, async ({ host, model, rig }) => {
    const { sid, stored } = await host.session();
    await say(host, sid, "a");
    const noop = await host.request("session.compress", { session_id: sid });
    assertEquals(
      [noop.status, noop.removed, noop.before_messages, noop.after_messages, noop.summary.noop],
      ["compressed", 0, 2, 2, true],
    );
    assertEquals(updates(host, sid), [["status", "ready"]]);
    const told = host.events.filter((event) => event.session_id === sid).map((event) => event.type);
    assertEquals(told.slice(-3), ["session.info", "session.info", "status.update"]);

    await say(host, sid, ...LONG.slice(1));
    const done = await host.request("session.compress", { session_id: sid, focus_topic: "letters" });
    assertEquals([done.status, done.summary.noop, done.before_messages], ["compressed", false, 16]);
    assert(done.after_messages < 16);
    assertEquals(done.removed, 16 - done.after_messages);
    assertMatch(done.summary.headline, /^Compressed: 16 → \d+ messages$/);
    assertEquals(done.summary.note, "Focus: letters");
    assertEquals(done.messages.length, done.after_messages);
    assertEquals(updates(host, sid).slice(1).map(([kind]) => kind), ["compressing", "status"]);
    assertEquals(updates(host, sid).at(-1), ["status", "ready"]);
    assert(JSON.stringify(model.calls().at(-1)!.body).includes("letters"));

    assertEquals([noop.usage.compressions, done.usage.compressions, done.info.usage.compressions], [
      undefined,
      1,
      1,
    ]);
    const { session_key } = await host.request("session.status", { session_id: sid });
    assert(session_key !== stored);
    const again = await host.request("session.resume", { session_id: stored });
    assertEquals([again.session_id, again.resumed], [sid, session_key]);
    await say(host, sid, "after");
    const sent = JSON.stringify(model.calls().at(-1)!.body.messages);
    assert(sent.includes("THE SUMMARY") && !sent.includes('"content":"a"'));
    const history = await host.request("session.history", { session_id: sid });
    const said = texts(history.messages.filter((row: Json) => row.role === "user"));
    assertEquals(said, [...LONG, "after"]);

    await host.end();
    await using other = await startGateway({ rig });
    const resumed = await other.request("session.resume", { session_id: stored });
    assertEquals([resumed.session_key, resumed.info.usage.compressions], [session_key, 1]);
  });
});

Deno.test("gateway 59: compressing a running session is 4009", async () => {
  await withGateway(
    { model: { turns: [{ steps: [{ text: "slow", delay_ms: 2_000 }] }] } },
    async ({ host }) => {
      const { sid } = await host.session();
      await host.request("prompt.submit", { session_id: sid, text: "a" });
      assertEquals((await host.refused("session.compress", { session_id: sid })).code, 4009);
      assertEquals(
        (await host.refused("command.dispatch", { session_id: sid, name: "compress" })).code,
        4009,
      );
      const warned = await host.request("slash.exec", { session_id: sid, command: "/compress" });
      assertEquals([warned.output, warned.warning.startsWith("session busy")], ["", true]);
      await host.event("message.complete", sid);
    },
  );
});

Deno.test("session.interrupt ends a compression as aborted, and nothing has changed", async () => {
  const model = {
    respond: (request: Json) => isSummary(request) ? { steps: [{ text: "late", delay_ms: 60_000 }] } : "ok",
  };
  await withGateway({ model }, async ({ host }) => {
    const { sid, stored } = await host.session();
    await say(host, sid, ...LONG);
    const id = await host.post("session.compress", { session_id: sid });
    await host.until(() => updates(host, sid)[0], "status.update");
    assertEquals((await host.refused("session.undo", { session_id: sid })).code, 4009);
    assertEquals(await host.request("session.interrupt", { session_id: sid }), { status: "interrupted" });
    const { result } = await host.response(id);
    assertEquals([result.status, result.removed, result.messages.length], ["aborted", 0, 16]);
    assertEquals(updates(host, sid).at(-1), ["status", "ready"]);
    assertEquals((await host.request("session.status", { session_id: sid })).session_key, stored);
    await say(host, sid, "on");
  });
});

Deno.test("a compression that the model fails is 5005, by /compress 5009", async () => {
  const model = {
    respond: (request: Json) =>
      isSummary(request) ? { steps: [{ error: { status: 400, message: "no" } }] } : "ok",
  };
  await withGateway({ model }, async ({ host }) => {
    const { sid, stored } = await host.session();
    await say(host, sid, ...LONG);
    assertEquals((await host.refused("session.compress", { session_id: sid })).code, 5005);
    assertEquals((await host.refused("command.dispatch", { session_id: sid, name: "compact" })).code, 5009);
    assertEquals((await host.request("session.status", { session_id: sid })).session_key, stored);
  });
});

Deno.test("/compress answers the headline and the tokens, and the session tells about itself", async () => {
  await withGateway({ model: summarising }, async ({ host }) => {
    const { sid } = await host.session();
    await say(host, sid, ...LONG);
    const before = host.eventsOf("session.info", sid).length;
    const done = await host.request("command.dispatch", { session_id: sid, command: "/compress letters" });
    assertMatch(
      done.output,
      /^Compressed: 16 → \d+ messages\nAbout [\d,]+ → [\d,]+ tokens\nFocus: letters$/,
    );
    assertEquals(done.type, "exec");
    assert(host.eventsOf("session.info", sid).length > before);
  });
});

// ── background, save, cwd ───────────────────────────────────────────────────────────────────────────────────

Deno.test("prompt.background runs beside the turn, without the parent's history, and answers as an event", async () => {
  const model = {
    respond: (request: Json) => {
      const [said] = sentTexts(request, "user").slice(-1);
      if (said === "aside") return "beside it";
      if (said === "broken") return { steps: [{ error: { status: 400, message: "no such thing" } }] };
      return { steps: [{ text: "slow answer", delay_ms: 2_000 }] };
    },
  };
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await host.refused("prompt.background", { session_id: sid, text: " " })).code, 4012);
    await host.request("prompt.submit", { session_id: sid, text: "long" });
    const { task_id } = await host.request("prompt.background", { session_id: sid, text: "aside" });
    assertMatch(task_id, /^bg_[0-9a-f]{6}$/);
    assertEquals(await host.event("background.complete", sid), { task_id, text: "beside it" });
    assertEquals((await host.event("message.complete", sid)).text, "slow answer");
    const started = await host.request("slash.exec", { session_id: sid, command: "/btw broken" });
    assertMatch(started.output, /^Started in the background: bg_[0-9a-f]{6}$/);
    assertMatch((await host.event("background.complete", sid, 1)).text, /^error: .*no such thing/);
    assertEquals((await host.request("session.active_list")).sessions.length, 1);
    const listed = await host.request("session.list");
    assertEquals(listed.sessions.map((row: Json) => row.preview), ["long"]);
  });
});

Deno.test("a background task cannot ask, so a dangerous command is not run in it", async () => {
  const model = { turns: [toolTurn(terminal("rm -rf build")), "done"] };
  await withGateway({ model }, async ({ host, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    const { sid } = await host.session();
    await host.request("prompt.background", { session_id: sid, text: "clean" });
    assertEquals((await host.event("background.complete", sid)).text, "done");
    assert((await Deno.stat(`${rig.workspace}/build`)).isDirectory);
    assertEquals(host.eventsOf("approval.request").length, 0);
  });
});

Deno.test("session.save writes the conversation to a file, secrets out", async () => {
  await withGateway({ model: { turns: ["noted"] } }, async ({ host, rig }) => {
    const { sid, stored } = await host.session();
    await say(host, sid, "my key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH");
    const { file } = await host.request("session.save", { session_id: sid });
    assertMatch(file, /\/sessions\/saved\/hermes_conversation_\d{8}_\d{6}\.json$/);
    assert(file.startsWith(rig.home));
    const text = await Deno.readTextFile(file);
    const saved = JSON.parse(text);
    assertEquals([saved.model, saved.session_id], ["scripted", stored]);
    assertEquals(saved.messages.map((row: Json) => row.role), ["user", "assistant"]);
    assert(saved.system_prompt.length > 100);
    assertEquals(text, `${JSON.stringify(saved, null, 2)}\n`);
    assert(!text.includes("abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"));
    const again = await host.request("slash.exec", { session_id: sid, command: "/save" });
    assert(again.output.startsWith("Saved to ") && !again.output.endsWith(file));
  });
});

Deno.test("session.cwd.set moves the session, and refuses what is no directory", async () => {
  await withGateway({ model: { turns: [toolTurn(terminal("pwd")), "ok"] } }, async ({ host, rig }) => {
    const { sid } = await host.session();
    const set = (cwd: unknown) => host.refused("session.cwd.set", { session_id: sid, cwd });
    assertEquals((await set("/does/not/exist")).code, 4017);
    assertEquals((await set("")).code, 4016);
    assertEquals((await set(undefined)).code, 4016);
    const info = await host.request("session.cwd.set", { session_id: sid, cwd: rig.home });
    assertEquals([info.cwd, info.running], [rig.home, false]);
    await host.until(
      () => host.eventsOf("session.info", sid).find((e) => e.payload.cwd === rig.home),
      "info",
    );
    await host.turn(sid, "where");
    assertEquals((await host.event("tool.complete", sid)).result.output.trim(), rig.home);
  });
});
