/** Pi's commands as this door has them, one test per row of tui-gateway.md F. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { sentTexts, terminal, toolTurn, withGateway } from "./scene.ts";

const SLOW = { steps: [{ text: "slow", delay_ms: 2_000 }] };

Deno.test("F prompt: prompt.submit, and the answer arrives as message events", async () => {
  await withGateway({ model: { turns: ["Hello."] } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await host.turn(sid, "hi")).text, "Hello.");
    assertEquals(host.streamed(sid), "Hello.");
  });
});

Deno.test("F steer: session.steer reaches the model behind the next tool result", async () => {
  const model = { turns: [toolTurn(terminal("sleep 2")), "done"] };
  await withGateway({ model }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("tool.start", sid);
    const steered = await host.request("session.steer", { session_id: sid, text: "to the left" });
    assertEquals(steered, { status: "queued", text: "to the left" });
    await host.event("message.complete", sid);
    assert(JSON.stringify(model.calls()[1]!.body.messages.at(-1)).includes("to the left"));
  });
});

Deno.test("F follow_up: prompt.submit with queued runs after the live turn and does not cut it", async () => {
  await withGateway({ model: { turns: [SLOW, "second"] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "first" });
    const { status } = await host.request("prompt.submit", { session_id: sid, text: "then", queued: true });
    assertEquals(status, "queued");
    assertEquals((await host.event("message.complete", sid, 0)).status, "complete");
    assertEquals((await host.event("message.complete", sid, 1)).text, "second");
  });
});

Deno.test("F abort: session.interrupt", async () => {
  await withGateway({ model: { turns: [SLOW] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "first" });
    await host.event("message.start", sid);
    assertEquals(await host.request("session.interrupt", { session_id: sid }), { status: "interrupted" });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
  });
});

Deno.test("F set_model: command.dispatch with /model stays in the session", async () => {
  const model = { models: ["scripted", "other"], turns: ["ok"] };
  await withGateway({ model }, async ({ host, model }) => {
    const { sid } = await host.session();
    const done = await host.request("command.dispatch", { session_id: sid, command: "/model custom:other" });
    assertEquals([done.type, done.value, done.scope], ["exec", "other", "session"]);
    await host.turn(sid, "hi");
    assertEquals(model.calls()[0]!.body.model, "other");
  });
});

Deno.test("F compact: session.compress shortens what the model is sent, under the same live id", async () => {
  await withGateway({ model: { respond: () => "a short answer" } }, async ({ host, model }) => {
    const { sid, stored } = await host.session();
    for (let n = 0; n < 8; n++) await host.turn(sid, `turn ${n} ${"word ".repeat(200)}`);
    const before = model.calls().at(-1)!.body.messages.length;
    const done = await host.request("session.compress", { session_id: sid });
    assertEquals([done.status, done.summary.noop, done.removed > 0], ["compressed", false, true]);
    await host.turn(sid, "and on");
    assert(model.calls().at(-1)!.body.messages.length < before + 2);
    assert((await host.request("session.status", { session_id: sid })).session_key !== stored);
  });
});

Deno.test("F get_state: session.status has members for programs, idle and while a turn runs", async () => {
  await withGateway({ model: { turns: [SLOW] } }, async ({ host }) => {
    const { sid, stored } = await host.session();
    const state = async () => {
      const { session_key, model, provider, running, status } = await host.request("session.status", {
        session_id: sid,
      });
      return [session_key, model, provider, running, status];
    };
    assertEquals(await state(), [stored, "scripted", "custom", false, "idle"]);
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    assertEquals(await state(), [stored, "scripted", "custom", true, "working"]);
    await host.event("message.complete", sid);
    await host.idle(sid);
    assertEquals(await state(), [stored, "scripted", "custom", false, "idle"]);
  });
});

Deno.test("F get_messages: session.history", async () => {
  await withGateway({ model: { turns: ["Hello."] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "hi");
    const { count, messages } = await host.request("session.history", { session_id: sid });
    assertEquals([count, messages.map((row: { text: string }) => row.text)], [2, ["hi", "Hello."]]);
  });
});

Deno.test("F switch_session: session.resume goes back to a conversation that was left", async () => {
  await withGateway({ model: { turns: ["one", "two", "three"] } }, async ({ host, model }) => {
    const first = await host.session();
    await host.turn(first.sid, "a");
    const second = await host.session();
    await host.turn(second.sid, "b");
    await host.request("session.close", { session_id: first.sid });
    const back = await host.request("session.resume", { session_id: first.stored });
    assertEquals([back.resumed, back.messages.length], [first.stored, 2]);
    await host.turn(back.session_id, "again");
    assertEquals(sentTexts(model.calls()[2], "user"), ["a", "again"]);
    const live = await host.request("session.resume", { session_id: second.stored });
    assertEquals(live.session_id, second.sid);
  });
});

Deno.test("F fork: session.branch copies the conversation, and the two go on apart", async () => {
  await withGateway({ model: { turns: ["one", "two", "three"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.turn(sid, "a");
    const branch = await host.request("session.branch", { session_id: sid });
    assertMatch(branch.session_id, /^[0-9a-f]{8}$/);
    await host.turn(branch.session_id, "b");
    await host.turn(sid, "c");
    assertEquals(sentTexts(model.calls()[1], "user"), ["a", "b"]);
    assertEquals(sentTexts(model.calls()[2], "user"), ["a", "c"]);
  });
});

Deno.test("F ui_request and ui_response: a question is an event, and a method answers it", async () => {
  const model = { turns: [toolTurn({ tool: "clarify", args: { question: "Which?" } }), "done"] };
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("clarify.request", sid);
    assertEquals(await host.request("clarify.respond", { request_id, answer: "that" }), { status: "ok" });
    assertEquals((await host.event("message.complete", sid)).text, "done");
  });
});
