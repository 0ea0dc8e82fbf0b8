/** Turns against the real program: gateway rows 19–22, 36–41, 54, FC-04, FC-06.1–2, FC-27. */
import { startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { processesOfHome, untilHomeIsLeft } from "../../support/processes.ts";
import { eventually, makeRig } from "../../support/program.ts";
import { exists, sentTexts, terminal, toolTurn, withGateway } from "./scene.ts";

Deno.test("gateway 19: a turn is streaming, start, deltas, one completion, info; the row is then listed", async () => {
  await withGateway({
    model: { turns: [{ steps: [{ text: "Hello " }, { text: "world." }] }] },
  }, async ({ host }) => {
    const { sid, stored } = await host.session();
    const id = await host.post("prompt.submit", { session_id: sid, text: "hi" });
    assertEquals((await host.response(id)).result, { status: "streaming" });
    const complete = await host.event("message.complete", sid);
    await host.idle(sid);
    assertEquals([complete.status, complete.text, complete.usage.calls], ["complete", "Hello world.", 1]);
    assertEquals(host.streamed(sid), "Hello world.");
    assertEquals(host.eventsOf("message.start", sid).map((event) => "payload" in event), [false]);
    assertEquals(host.eventsOf("message.complete", sid).length, 1);
    const order = [
      host.indexOfResponse(id),
      host.indexOfEvent("message.start", sid),
      host.indexOfEvent("message.delta", sid),
      host.indexOfEvent("message.complete", sid),
    ];
    assertEquals(order, order.toSorted((a, b) => a - b));
    assertEquals(host.events.filter((e) => e.session_id === sid).at(-1)!.payload.running, false);
    const { sessions } = await host.request("session.list");
    assertEquals(sessions.map((row: { id: string }) => row.id), [stored]);
  });
});

Deno.test("gateway 20: an unknown session is 4001, nothing to say is 4012", async () => {
  await withGateway({}, async ({ host, model }) => {
    const { sid } = await host.session();
    assertEquals((await host.refused("prompt.submit", { session_id: "ffffffff", text: "x" })).code, 4001);
    for (const text of ["", "  \n", null, []]) {
      assertEquals((await host.refused("prompt.submit", { session_id: sid, text })).code, 4012);
    }
    assertEquals((await host.refused("prompt.submit", { session_id: sid })).code, 4012);
    assertEquals((await host.refused("prompt.submit", { session_id: sid, text: 5 })).code, -32602);
    assertEquals(model.requests.length, 0);
    assertEquals(host.eventsOf("message.start").length, 0);
  });
});

Deno.test("prompt.submit takes content parts; text that starts with a slash is text", async () => {
  await withGateway({ model: { turns: ["1", "2"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.turn(sid, "/model other");
    assertEquals(sentTexts(model.calls()[0], "user"), ["/model other"]);
    const text = [{ type: "text", text: "part one" }];
    await host.request("prompt.submit", { session_id: sid, text });
    await host.event("message.complete", sid, 1);
    assertMatch(sentTexts(model.calls()[1], "user").at(-1)!, /part one/);
  });
});

Deno.test("gateway 21, FC-04.1: errors of the provider are an error event and a failed completion; the next works", async () => {
  const error = (status: number) => ({ steps: [{ error: { status, message: `broken ${status}` } }] });
  await withGateway({
    model: { turns: [error(401), error(400), "Fine again."] },
    config: { agent: { api_max_retries: 1 } },
  }, async ({ host }) => {
    const { sid } = await host.session();
    for (const status of [401, 400]) {
      const complete = await host.turn(sid, `try ${status}`);
      assertEquals(complete.status, "error");
      assertMatch(complete.text, new RegExp(`^Error: .*${status}`));
    }
    assertEquals(host.eventsOf("error", sid).length, 2);
    assert(host.indexOfEvent("error", sid) < host.indexOfEvent("message.complete", sid));
    const complete = await host.turn(sid, "now?");
    assertEquals([complete.status, complete.text], ["complete", "Fine again."]);
    const { messages } = await host.request("session.history", { session_id: sid });
    const users = messages.filter((row: { role: string }) => row.role === "user");
    assertEquals(users.map((row: { text: string }) => row.text), ["try 401", "try 400", "now?"]);
  });
});

Deno.test("FC-04.1: a connection that is refused is a failed turn, too", async () => {
  await withGateway({ config: { agent: { api_max_retries: 1 } } }, async ({ host, model }) => {
    const { sid } = await host.session();
    await model.close();
    const complete = await host.turn(sid, "anyone?", 30_000);
    assertEquals(complete.status, "error");
    assertMatch(complete.text, /^Error: ./);
  });
});

Deno.test("FC-04.2: a stream that breaks off is no normal end", async () => {
  const torn = { steps: [{ text: "a " }, { text: "b " }, { text: "c " }, { reset: true as const }] };
  await withGateway({
    model: { turns: [torn, torn, torn, torn] },
    config: { agent: { api_max_retries: 1 } },
  }, async ({ host }) => {
    const { sid } = await host.session();
    const complete = await host.turn(sid, "tell", 30_000);
    assertEquals([complete.status, complete.partial], ["error", true]);
    assertEquals(host.eventsOf("error", sid).length, 1);
  });
});

Deno.test("gateway 22: a provider without its key fails the turn with advice and does not stick", async () => {
  await using rig = await makeRig({ config: { model: { default: "gpt-5.4", provider: "openai-api" } } });
  await using host = await startGateway({ rig });
  const { sid } = await host.session();
  for (let turn = 0; turn < 2; turn++) {
    const complete = await host.turn(sid, "hi");
    assertEquals(complete.status, "error");
    assertMatch(complete.text, /OPENAI_API_KEY/);
  }
  assertEquals((await host.request("session.status", { session_id: sid })).running, false);
});

Deno.test("gateway 22: nothing configured fails with advice; after choosing the demo the turn runs on it", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig });
  const { sid } = await host.session();
  const started = host.eventsOf("error", sid)[0]!;
  assertMatch(started.payload.message, /^agent init failed: /);
  const failed = await host.turn(sid, "hi");
  assertEquals(failed.status, "error");
  assertMatch(failed.text, /hermes setup/);
  assertMatch(failed.text, /--demo/);
  assertEquals(await host.request("setup.status"), { provider_configured: false });
  const set = await host.request("config.set", { key: "model", value: "builtin:demo", session_id: sid });
  assertEquals([set.key, set.value], ["model", "demo"]);
  const info = host.eventsOf("session.info", sid).at(-1)!.payload;
  assertEquals([info.provider, info.model], ["builtin", "demo"]);
  const complete = await host.turn(sid, "hello");
  assertEquals(complete.status, "complete");
  assert(complete.text.length > 0);
});

Deno.test("text of a step with tools is streamed but not part of the answer; a blank line parts the two", async () => {
  await withGateway({
    model: {
      turns: [{ steps: [{ text: "Looking." }, { tool: "terminal", args: { command: "echo hi" } }] }, "Done."],
    },
  }, async ({ host }) => {
    const { sid } = await host.session();
    const complete = await host.turn(sid, "look");
    assertEquals(complete.text, "Done.");
    assertEquals(host.streamed(sid), "Looking.\n\nDone.");
    const types = host.events.filter((event) => event.session_id === sid).map((event) => event.type);
    const of = (type: string) => types.indexOf(type);
    assert(of("tool.generating") < of("tool.start") && of("tool.start") < of("tool.complete"));
    const start = host.eventsOf("tool.start", sid)[0]!.payload;
    assertEquals([start.name, start.context], ["terminal", "echo hi"]);
    const done = host.eventsOf("tool.complete", sid)[0]!.payload;
    assertEquals([done.tool_id, done.args, done.result.exit_code], [
      start.tool_id,
      { command: "echo hi" },
      0,
    ]);
    assert(typeof done.duration_s === "number");
  });
});

Deno.test("an edit is shown as a diff, a todo list as a list, reasoning as deltas and whole", async () => {
  const todos = [{ id: "1", content: "write", status: "in_progress" }];
  await withGateway({
    model: {
      turns: [
        { steps: [{ reasoning: "Let me " }, { reasoning: "think." }, { tool: "todo", args: { todos } }] },
        toolTurn({ tool: "write_file", args: { path: "new.txt", content: "hello\n" } }),
        "Written.",
      ],
    },
  }, async ({ host, rig }) => {
    const { sid } = await host.session();
    assertEquals((await host.turn(sid, "write")).text, "Written.");
    assertEquals(await Deno.readTextFile(`${rig.workspace}/new.txt`), "hello\n");
    const [todo, write] = host.eventsOf("tool.complete", sid).map((event) => event.payload);
    assertEquals(todo.todos, todos);
    assertEquals(write.inline_diff.split("\n").slice(1), [
      `+++ ${rig.workspace}/new.txt`,
      "@@ -0,0 +1,1 @@",
      "+hello",
      "",
    ]);
    const deltas = host.eventsOf("reasoning.delta", sid).map((event) => event.payload.text);
    assertEquals(deltas.join(""), "Let me think.");
    assertEquals(host.eventsOf("reasoning.available", sid)[0]!.payload.text, "Let me think.");
  });
});

Deno.test("FC-27: a model that repeats its call ids gets unique ones on this wire, each from start to end", async () => {
  const call = (n: number) => terminal(`echo ${n}`, "call_1");
  await withGateway({
    model: { turns: [toolTurn(call(1), call(2)), "First.", toolTurn(call(3)), "Second."] },
  }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "one");
    await host.turn(sid, "two");
    const starts = host.eventsOf("tool.start", sid).map((event) => event.payload);
    const ends = host.eventsOf("tool.complete", sid).map((event) => event.payload);
    assertEquals(new Set(starts.map((start) => start.tool_id)).size, 3);
    for (const start of starts) {
      const own = ends.filter((end) => end.tool_id === start.tool_id);
      assertEquals(own.length, 1);
      assertEquals(own[0].result.output.trim(), start.context.replace("echo ", ""));
    }
  });
});

// ── A busy session ──────────────────────────────────────────────────────────────────────────────────────────

/** A first turn that runs until the test lets its file appear. */
function untilFile(path: string): ReturnType<typeof toolTurn> {
  return toolTurn(terminal(`while [ ! -e ${path} ]; do sleep 0.05; done; echo released`));
}

Deno.test("gateway 36: in mode queue later texts wait, merged by a blank line, and the first turn is untouched", async () => {
  await withGateway({ config: { display: { busy_input_mode: "queue" } } }, async ({ host, model, rig }) => {
    model.push(untilFile(`${rig.workspace}/go`), "First.", "Second.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    await host.event("tool.start", sid);
    for (const text of ["two", "three"]) {
      assertEquals(await host.request("prompt.submit", { session_id: sid, text }), { status: "queued" });
    }
    const active = await host.request("session.activate", { session_id: sid });
    assertEquals([active.queued, active.running, active.status], [{ user: "two\n\nthree" }, true, "working"]);
    await Deno.writeTextFile(`${rig.workspace}/go`, "");
    assertEquals((await host.event("message.complete", sid, 0)).status, "complete");
    const second = await host.event("message.complete", sid, 1);
    assertEquals([second.status, second.text], ["complete", "Second."]);
    assertEquals(host.eventsOf("message.start", sid).length, 2);
    assertEquals(sentTexts(model.calls().at(-1), "user").at(-1), "two\n\nthree");
    const types = host.events.filter((event) => event.session_id === sid).map((event) => event.type);
    const firstEnd = types.indexOf("message.complete");
    assertEquals(types.slice(firstEnd, firstEnd + 3), ["message.complete", "session.info", "message.start"]);
  });
});

Deno.test("gateway 36: queued:true waits in every mode", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    model.push(untilFile(`${rig.workspace}/go`), "First.", "Second.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    await host.event("tool.start", sid);
    const queued = await host.request("prompt.submit", { session_id: sid, text: "two", queued: true });
    assertEquals(queued, { status: "queued" });
    await Deno.writeTextFile(`${rig.workspace}/go`, "");
    assertEquals((await host.event("message.complete", sid, 0)).text, "First.");
    assertEquals((await host.event("message.complete", sid, 1)).text, "Second.");
  });
});

Deno.test("gateway 37: by default a new text interrupts, and runs next", async () => {
  await withGateway({
    model: { turns: [{ steps: [{ text: "Once upon" }, { stall: true }] }, "Second."] },
  }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "tell a tale" });
    await host.event("message.delta", sid);
    assertEquals(await host.request("prompt.submit", { session_id: sid, text: "stop, better" }), {
      status: "queued",
    });
    const first = await host.event("message.complete", sid, 0);
    assertEquals([first.status, first.text], ["interrupted", "Once upon"]);
    const second = await host.event("message.complete", sid, 1);
    assertEquals([second.status, second.text], ["complete", "Second."]);
    assertEquals(sentTexts(model.calls()[1], "user").at(-1), "stop, better");
  });
});

Deno.test("gateway 38: in mode steer the text reaches the model behind the tool result, without a turn of its own", async () => {
  await withGateway({}, async ({ host, model, rig }) => {
    model.push(untilFile(`${rig.workspace}/go`), "Noted.");
    const { sid } = await host.session();
    assertEquals(await host.request("config.set", { key: "busy", value: "steer" }), {
      key: "busy",
      value: "steer",
    });
    assertEquals(await host.request("config.get", { key: "busy" }), { value: "steer" });
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    await host.event("tool.start", sid);
    assertEquals(await host.request("prompt.submit", { session_id: sid, text: "use tabs" }), {
      status: "steered",
    });
    await Deno.writeTextFile(`${rig.workspace}/go`, "");
    assertEquals((await host.event("message.complete", sid)).text, "Noted.");
    await host.idle(sid);
    assertMatch(sentTexts(model.calls()[1], "tool").at(-1)!, /use tabs/);
    assertEquals(model.calls().length, 2);
    assertEquals(host.eventsOf("message.start", sid).length, 1);
  });
});

Deno.test("gateway 39: an interrupt forgets what was queued", async () => {
  await withGateway({
    model: { turns: [{ steps: [{ text: "a" }, { stall: true }] }, "Plain."] },
    config: { display: { busy_input_mode: "queue" } },
  }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    await host.event("message.delta", sid);
    await host.request("prompt.submit", { session_id: sid, text: "never" });
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    await host.idle(sid);
    assertEquals((await host.turn(sid, "plain question")).text, "Plain.");
    assert(!JSON.stringify(model.calls().map((call) => call.body)).includes("never"));
  });
});

Deno.test("gateway 41: steer refuses nothing to say, an unknown session, and an idle one", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await host.refused("session.steer", { session_id: sid, text: " " })).code, 4002);
    assertEquals((await host.refused("session.steer", { session_id: "ffffffff", text: "" })).code, 4002);
    assertEquals((await host.refused("session.steer", { session_id: "ffffffff", text: "x" })).code, 4001);
    assertEquals(await host.request("session.steer", { session_id: sid, text: "x" }), {
      status: "rejected",
      text: "x",
    });
  });
});

Deno.test("B.6: a session without a usable model cannot be steered: 4010, behind 4002 and 4001", async () => {
  await withGateway({ config: { model: {} } }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals((await host.refused("session.steer", { session_id: sid, text: "" })).code, 4002);
    assertEquals((await host.refused("session.steer", { session_id: sid, text: "x" })).code, 4010);
  });
});

Deno.test("steer text that met no tool boundary runs as the next turn and is reported", async () => {
  await withGateway({
    model: { turns: [{ steps: [{ text: "a" }, { delay_ms: 2_000, text: "b" }] }, "Steered."] },
  }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    await host.event("message.delta", sid);
    assertEquals(await host.request("session.steer", { session_id: sid, text: "use tabs" }), {
      status: "queued",
      text: "use tabs",
    });
    assertEquals((await host.event("message.complete", sid, 0)).steer_requeued, "use tabs");
    assertEquals((await host.event("message.complete", sid, 1)).text, "Steered.");
    assertEquals(sentTexts(model.calls()[1], "user").at(-1), "use tabs");
  });
});

// ── Interrupt ───────────────────────────────────────────────────────────────────────────────────────────────

Deno.test("FC-06.1: an interrupt ends a stream within 2 s, before the first byte too, and closes the connection", async () => {
  await withGateway({
    model: {
      turns: [{ steps: [{ text: "x", repeat: 100, delay_ms: 100 }] }, { steps: [{ stall: true }] }, "Plain."],
    },
  }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    await host.event("message.delta", sid, 2);
    for (let nth = 0; nth < 2; nth++) {
      if (nth === 1) {
        await host.request("prompt.submit", { session_id: sid, text: "two" });
        await eventually(() => model.calls().length === 2, 5_000, "the second model call");
      }
      const started = performance.now();
      assertEquals(await host.request("session.interrupt", { session_id: sid }), { status: "interrupted" });
      assertEquals((await host.event("message.complete", sid, nth)).status, "interrupted");
      assertWithin(performance.now() - started, 2_000);
      await eventually(() => model.calls()[nth]!.aborted, 2_000, "the closed connection");
      await host.idle(sid);
    }
    assertEquals(host.eventsOf("error", sid).length, 0);
    assertEquals((await host.turn(sid, "three")).text, "Plain.");
  });
});

Deno.test("FC-06.2: an interrupt takes the whole process tree of a tool along", async () => {
  await withGateway({
    model: { turns: [toolTurn(terminal("sh -c 'sleep 30 & (sleep 60; echo LATE > late.txt)'"))] },
    args: ["--yolo"],
  }, async ({ host, rig }) => {
    const others = async () => (await processesOfHome(rig.home)).filter((pid) => pid !== host.child.pid);
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const start = await host.event("tool.start", sid);
    await eventually(async () => (await others()).length >= 3, 5_000, "the tool's processes");
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    const [end] = host.eventsOf("tool.complete", sid);
    assertEquals(end!.payload.tool_id, start.tool_id);
    assert(host.indexOfEvent("tool.complete", sid) < host.indexOfEvent("message.complete", sid));
    await untilHomeIsLeft(rig.home, host.child.pid);
    assertEquals(await exists(`${rig.workspace}/late.txt`), false);
  });
});

Deno.test("gateway 54: turns of two sessions run side by side, each event with its own session", async () => {
  const steps = (word: string) => ({ steps: [{ text: word, repeat: 5, delay_ms: 30 }] });
  await withGateway({
    // deno-lint-ignore no-explicit-any
    model: { respond: (request) => steps(((request.body.messages.at(-1) as any).content as string) + " ") },
  }, async ({ host }) => {
    const a = await host.session();
    const b = await host.session();
    await host.request("prompt.submit", { session_id: a.sid, text: "apple" });
    await host.request("prompt.submit", { session_id: b.sid, text: "berry" });
    await Promise.all([host.event("message.complete", a.sid), host.event("message.complete", b.sid)]);
    assertEquals([host.streamed(a.sid), host.streamed(b.sid)], ["apple ".repeat(5), "berry ".repeat(5)]);
    assert(host.indexOfEvent("message.start", b.sid) < host.indexOfEvent("message.complete", a.sid));
  });
});
