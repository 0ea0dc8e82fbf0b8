/** Pi's commands as this door has them, one test per row of tui-gateway.md F. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { sentTexts, terminal, toolTurn, withGateway } from "./scene.ts";

const SLOW = { steps: [{ text: "slow", delay_ms: 400 }] };

Deno.test("F prompt: prompt.submit, and the answer arrives as message events", async () => {
  await withGateway({ model: { turns: ["Hello."] } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await host.turn(sid, "hi")).text, "Hello.");
    assertEquals(host.streamed(sid), "Hello.");
  });
});

Deno.test("F steer: session.steer reaches the model behind the next tool result", async () => {
  const model = { turns: [toolTurn(terminal("sleep 0.4")), "done"] };
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

Deno.test("F compact: session.compress", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const done = await host.request("session.compress", { session_id: sid });
    assertEquals([done.status, done.summary.noop], ["compressed", true]);
  });
});

Deno.test("F get_state: session.status has members for programs", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid, stored } = await host.session();
    const { session_key, model, provider, running, status } = await host.request("session.status", {
      session_id: sid,
    });
    assertEquals([session_key, model, provider, running, status], [
      stored,
      "scripted",
      "custom",
      false,
      "idle",
    ]);
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

Deno.test("F switch_session and fork: session.resume and session.branch", async () => {
  await withGateway({ model: { turns: ["one", "two"] } }, async ({ host, model }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "a");
    const branch = await host.request("session.branch", { session_id: sid });
    assertMatch(branch.session_id, /^[0-9a-f]{8}$/);
    await host.turn(branch.session_id, "b");
    assertEquals(sentTexts(model.calls()[1], "user"), ["a", "b"]);
    const back = await host.request("session.resume", { session_id: stored });
    assertEquals([back.session_id, back.messages.length], [sid, 2]);
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
