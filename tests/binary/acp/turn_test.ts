/** One turn on the wire (acp.md E, rows 15–22, 33–37; FC-01.2, FC-03.1, FC-04, FC-27). */
import { calls, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";

/** Answers to the client must be seen only where the case wants one. */
function shapes(updates: Json[]): string[] {
  return updates.map((u) => u.sessionUpdate).filter((kind) => !kind.endsWith("usage_update"))
    .filter((kind) => kind !== "available_commands_update");
}

function lastUser(request: Json): string {
  const content = request.body.messages.findLast((m: Json) => m.role === "user").content;
  return typeof content === "string" ? content : content.map((p: Json) => p.text ?? p.type).join("|");
}

const SLOW = (text: string): ScriptTurn => ({ steps: [{ text: "…" }, { delay_ms: 1_500, text }] });

Deno.test("acp 15: three deltas are three chunks of one message, then end_turn, text not repeated", async () => {
  await withAcp({
    turns: [{ steps: [{ text: "a" }, { text: "b", delay_ms: 30 }, { text: "c", delay_ms: 30 }] }],
  }, async (
    { acp, sessionId },
  ) => {
    const sent = acp.startPrompt(sessionId, "hi");
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    const chunks = acp.updates(sessionId).filter((u) => u.sessionUpdate === "agent_message_chunk");
    assertEquals(chunks.map((u) => u.content.text), ["a", "b", "c"]);
    assertEquals(new Set(chunks.map((u) => u.messageId)).size, 1);
    const before = acp.updates(sessionId).length;
    const end = acp.indexOfAnswer(sent.id);
    assertEquals(
      acp.frames.slice(end + 1).filter(({ frame }) => frame.method === "session/update").length,
      0,
    );
    assertEquals(acp.updates(sessionId).at(-1).sessionUpdate, "usage_update");
    assertEquals(acp.updates(sessionId).length, before);
  });
});

Deno.test("acp 16: thought, message, call, result, and a new message", async () => {
  const first: ScriptTurn = {
    steps: [{ reasoning: "hm" }, { text: "look: " }, { tool: "read_file", args: { path: "a.txt" } }],
  };
  await withAcp({ turns: [first, "done"] }, async ({ acp, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "one\n");
    const result = await acp.prompt(sessionId, "go");
    assertEquals(result.stopReason, "end_turn");
    assertEquals(shapes(acp.updates(sessionId)), [
      "agent_thought_chunk",
      "agent_message_chunk",
      "tool_call",
      "tool_call_update",
      "agent_message_chunk",
    ]);
    const [thought, before, call, end, after] = acp.updates(sessionId).filter((u) =>
      /chunk|tool/.test(u.sessionUpdate)
    );
    assertEquals(new Set([thought.messageId, before.messageId, after.messageId]).size, 3);
    assertEquals([call.name, call.kind, call.status], ["read_file", "read", "in_progress"]);
    assertEquals(call.locations, [{ path: `${rig.workspace}/a.txt` }]);
    assertEquals([end.toolCallId, end.status], [call.toolCallId, "completed"]);
    assertMatch(end.content[0].content.text, /1\|one/);
  });
});

Deno.test("acp 17: an unknown session is -32002; an empty prompt ends without a model call", async () => {
  await withAcp({}, async ({ acp, model, sessionId }) => {
    assertEquals((await acp.prompt(sessionId, [])).stopReason, "end_turn");
    assertEquals((await acp.prompt(sessionId, "")).stopReason, "end_turn");
    const { error } = await acp.ask("session/prompt", { sessionId: "nope", prompt: [] });
    assertEquals([error?.code, error?.data], [-32002, { sessionId: "nope" }]);
    assertEquals(model.calls().length, 0);
  });
});

Deno.test("acp 18, acp 19: attachments reach the model, the display text has only their labels", async () => {
  await withAcp({ turns: ["one", "two"] }, async ({ acp, model, rig, sessionId, again }) => {
    await Deno.writeTextFile(`${rig.workspace}/small.txt`, "small body");
    await Deno.writeTextFile(`${rig.workspace}/big.txt`, "x".repeat(600 * 1024));
    await Deno.writeFile(`${rig.workspace}/b.bin`, new Uint8Array([1, 0, 2]));
    const link = (name: string) => ({ type: "resource_link", uri: `file://${rig.workspace}/${name}`, name });
    await acp.prompt(sessionId, [
      { type: "text", text: "read these" },
      link("small.txt"),
      link("big.txt"),
      link("b.bin"),
      link("missing.txt"),
      { type: "resource_link", uri: "https://example.org/x", name: "x" },
      { type: "resource_link", uri: `file://${rig.workspace}`, name: "dir" },
      { type: "resource", resource: { uri: "file:///z.txt", text: "embedded" } },
      { type: "resource", resource: { uri: "mem://blob", blob: btoa("\0\x01") } },
    ]);
    const text = lastUser(model.calls()[0]);
    assertMatch(text, /small body/);
    assertMatch(text, /big\.txt\] \(truncated to 524288 of 614400 bytes\)/);
    assertMatch(text, /Binary file omitted: 3 bytes/);
    assertMatch(text, /missing\.txt\]\nURI: .*\n\n\[Cannot read the file: it does not exist\]/);
    assertMatch(text, /only local files are read/);
    assertMatch(text, /\(directory, \d+ entries\)/);
    assertMatch(text, /embedded/);
    assertMatch(text, /Binary file omitted: 2 bytes/);
    await using other = await again();
    await other.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const shown = other.updates(sessionId).filter((u) => u.sessionUpdate === "user_message_chunk");
    assertEquals(shown.map((u) => u.content.text), [
      "read these\n[Attached file: small.txt]\n[Attached file: big.txt]\n[Attached file: b.bin]\n" +
      "[Attached file: missing.txt]\n[Attached file: x]\n[Attached file: dir]\n[Attached file: z.txt]\n" +
      "[Attached file: blob]",
    ]);
  });
});

Deno.test("acp 18: an image reaches a model that can see as a data URL", async () => {
  const vision = { default: "scripted", provider: "custom", supports_vision: true };
  await withAcp({ turns: ["seen"] }, async ({ model, rig, again }) => {
    await rig.writeConfig({ model: { ...vision, base_url: model.url, context_length: 128000 } });
    await using acp = await again();
    const session = await acp.newSession(rig.workspace);
    await acp.prompt(session, [
      { type: "text", text: "what is it" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ]);
    const content = model.calls()[0]!.body.messages.findLast((m: Json) => m.role === "user").content;
    assertEquals(content.map((p: Json) => p.type), ["text", "image_url"]);
    assertEquals(content[1].image_url.url, "data:image/png;base64,iVBORw0KGgo=");
  });
});

Deno.test("acp 20: /help and /version are answered without the model, an unknown word goes to it", async () => {
  await withAcp({ turns: ["model says"] }, async ({ acp, model, sessionId }) => {
    const ask = async (text: string) => {
      const from = acp.frames.length;
      assertEquals((await acp.prompt(sessionId, text)).stopReason, "end_turn");
      return acp.text(sessionId, from);
    };
    assertMatch(await ask("/help"), /\/version/);
    assertMatch(await ask(" /VERSION "), /^Hermes Agent v\d+\.\d+\.\d+$/);
    assertMatch(await ask("/context"), /tokens/);
    assertMatch(await ask("/tools"), /read_file/);
    assertMatch(await ask("/steer"), /Usage/);
    assertEquals(model.calls().length, 0);
    assertEquals(await ask("/nope x"), "model says");
    assertEquals(lastUser(model.calls()[0]), "/nope x");
  });
});

Deno.test("acp 21: /model shows, switches with an update, and refuses what it cannot use", async () => {
  await withAcp({}, async ({ acp, sessionId }) => {
    await acp.prompt(sessionId, "/model");
    assertMatch(acp.text(sessionId), /scripted/);
    const from = acp.frames.length;
    await acp.prompt(sessionId, "/model builtin:demo");
    const changed = acp.updates(sessionId, from).find((u) => u.sessionUpdate === "config_option_update");
    assertEquals(changed.configOptions[0].currentValue, "builtin:demo");
    const wrong = acp.frames.length;
    await acp.prompt(sessionId, "/model no such model");
    assert(acp.text(sessionId, wrong).length > 5);
    assertEquals(acp.updates(sessionId, wrong).filter((u) => u.sessionUpdate === "config_option_update"), []);
    const { configOptions } = await acp.request("session/set_config_option", {
      sessionId,
      configId: "edit_approval_policy",
      value: "ask",
    });
    assertEquals(configOptions[0].currentValue, "builtin:demo");
  });
});

Deno.test("acp 22: modes and config options are kept in step; what is not offered changes nothing", async () => {
  await withAcp({}, async ({ acp, sessionId }) => {
    assertEquals(await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" }), {});
    const options = await acp.update((u) => u.sessionUpdate === "config_option_update");
    assertEquals(options.configOptions.at(-1).currentValue, "workspace_session");
    assertEquals((await acp.ask("session/set_mode", { sessionId, modeId: "bogus" })).error?.code, -32602);
    const set = (configId: string, value: unknown, more = {}) =>
      acp.ask("session/set_config_option", { sessionId, configId, value, ...more });
    const { result } = await set("edit_approval_policy", "session");
    assertEquals(result.configOptions.map((o: Json) => o.id), ["model", "edit_approval_policy"]);
    assertEquals(result.configOptions.at(-1).currentValue, "session");
    const mode = await acp.update((u) => u.sessionUpdate === "current_mode_update");
    assertEquals(mode.currentModeId, "dont_ask");
    assertEquals((await set("bogus", "x")).error?.code, -32602);
    assertEquals((await set("edit_approval_policy", true, { type: "boolean" })).error?.code, -32602);
    assertEquals((await set("edit_approval_policy", "bogus")).error?.code, -32602);
    assertEquals((await set("model", "")).error?.code, -32602);
    assertEquals(
      (await set("edit_approval_policy", "session")).result.configOptions[0].currentValue,
      "custom:scripted",
    );
  });
});

Deno.test("acp 33: a second prompt runs as its own turn, after the answer of the first", async () => {
  await withAcp({ turns: [SLOW("A"), "B"] }, async ({ acp, model, sessionId }) => {
    const a = acp.startPrompt(sessionId, "a");
    await acp.update((u) => u.content?.text === "…");
    const b = acp.startPrompt(sessionId, "b");
    assertEquals((await a.answer).result.stopReason, "end_turn");
    assertEquals((await b.answer).result.stopReason, "end_turn");
    const [answerA, answerB] = [acp.indexOfAnswer(a.id), acp.indexOfAnswer(b.id)];
    const textB = acp.frames.findIndex(({ frame }) => frame.params?.update?.content?.text === "B");
    assert(answerA < textB && textB < answerB);
    assertEquals(model.calls().map(lastUser), ["a", "b"]);
  });
});

Deno.test("acp 33: a cancel ends the running turn and answers every queued prompt cancelled", async () => {
  await withAcp({ turns: [SLOW("A"), "later"] }, async ({ acp, model, sessionId }) => {
    const a = acp.startPrompt(sessionId, "a");
    await acp.update((u) => u.content?.text === "…");
    const b = acp.startPrompt(sessionId, "b");
    const c = acp.startPrompt(sessionId, "/queue c");
    await acp.update((u) => /^Queued: \d/.test(u.content?.text ?? ""));
    await acp.cancel(sessionId);
    for (const one of [a, b, c]) assertEquals((await one.answer).result.stopReason, "cancelled");
    assertEquals(model.calls().map(lastUser), ["a"]);
    assertMatch(acp.text(sessionId), /2 queued prompts were dropped\./);
    assertEquals((await acp.prompt(sessionId, "d")).stopReason, "end_turn");
    assertEquals(model.calls().map(lastUser), ["a", "d"]);
  });
});

Deno.test("acp 33: /queue tells its depth at once and is answered after its own turn", async () => {
  await withAcp({ turns: [SLOW("A"), "C"] }, async ({ acp, sessionId }) => {
    const a = acp.startPrompt(sessionId, "a");
    await acp.update((u) => u.content?.text === "…");
    const c = acp.startPrompt(sessionId, "/queue c");
    const depth = await acp.update((u) => /^Queued: 1 /.test(u.content?.text ?? ""));
    assert(depth);
    assertEquals(acp.indexOfAnswer(a.id), -1);
    await Promise.all([a.answer, c.answer]);
    const textC = acp.frames.findIndex(({ frame }) => frame.params?.update?.content?.text === "C");
    assert(acp.indexOfAnswer(a.id) < textC && textC < acp.indexOfAnswer(c.id));
    assertEquals((await acp.prompt(sessionId, "/queue d")).stopReason, "end_turn");
    assertMatch(acp.text(sessionId), /script exhausted/);
  });
});

Deno.test("acp 34: /steer is injected at the next tool result, a rest runs in the same prompt, idle it is a prompt", async () => {
  const turns = [calls(["terminal", { command: "sleep 2" }]), SLOW("ended"), "more done", "plain"];
  await withAcp({ turns }, async ({ acp, model, sessionId }) => {
    const running = acp.startPrompt(sessionId, "go");
    await acp.update((u) => u.sessionUpdate === "tool_call");
    assertEquals((await acp.prompt(sessionId, "/steer use tabs")).stopReason, "end_turn");
    await acp.update((u) => u.content?.text === "…");
    const tool = model.calls()[1]!.body.messages.findLast((m: Json) => m.role === "tool").content;
    assertMatch(JSON.stringify(tool), /OUT-OF-BAND USER MESSAGE.*use tabs/s);
    assertEquals((await acp.prompt(sessionId, "/steer more")).stopReason, "end_turn");
    assertEquals(acp.indexOfAnswer(running.id), -1);
    assertEquals((await running.answer).result.stopReason, "end_turn");
    assertEquals(lastUser(model.calls()[2]), "more");
    const done = acp.frames.findIndex(({ frame }) => frame.params?.update?.content?.text === "more done");
    assert(done < acp.indexOfAnswer(running.id));
    await acp.prompt(sessionId, "/steer hello");
    assertEquals(lastUser(model.calls()[3]), "hello");
  });
});

Deno.test("acp 34: /steer after a cancelled turn takes its text up again", async () => {
  await withAcp({ turns: [SLOW("x"), "ok"] }, async ({ acp, model, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "write a poem");
    await acp.update((u) => u.content?.text === "…");
    await acp.cancel(sessionId);
    await sent.answer;
    await acp.prompt(sessionId, "/steer in German");
    assertEquals(lastUser(model.calls()[1]), "write a poem\n\nCorrection by the user: in German");
  });
});

Deno.test("acp 35, FC-04: a failed turn is an error; the message is stored and the next prompt works", async () => {
  const config = { agent: { api_max_retries: 1 } };
  const turns: ScriptTurn[] = [
    { steps: [{ error: { status: 401, message: "bad key" } }] },
    { steps: [{ error: { status: 500, message: "broken" } }] },
    { steps: [{ error: { status: 500, message: "broken" } }] },
    "fine",
  ];
  await withAcp({ turns, config }, async ({ acp, model, sessionId }) => {
    const unauthorized = await acp.startPrompt(sessionId, "one").answer;
    assertEquals(unauthorized.error?.code, -32000);
    const broken = await acp.inTime(acp.startPrompt(sessionId, "two").answer, 30_000, "the failure");
    assertEquals(broken.error?.code, -32603);
    assertEquals(broken.error?.data.status, 500);
    assert(broken.error!.data.details.length > 3);
    assertEquals(acp.text(sessionId), "");
    model.reset();
    model.push("fine");
    assertEquals((await acp.prompt(sessionId, "three")).stopReason, "end_turn");
    const users = model.calls()[0]!.body.messages.filter((m: Json) => m.role === "user");
    assertMatch(JSON.stringify(users), /one.*two.*three/s);
  });
});

Deno.test("acp 36: output cap, content filter and iteration budget have their stop reasons", async () => {
  const cut: ScriptTurn = { steps: [{ text: "half" }, { finish: "length" }] };
  await withAcp({ turns: [cut, cut, cut, cut, cut] }, async ({ acp, sessionId }) => {
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "max_tokens");
  });
  const filtered: ScriptTurn = { steps: [{ finish: "content_filter" }] };
  await withAcp({ turns: [filtered] }, async ({ acp, sessionId }) => {
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "refusal");
  });
  const list = calls(["search_files", { pattern: "*", target: "files" }]);
  await withAcp(
    { turns: [list, "summary"], config: { agent: { max_turns: 1 } } },
    async ({ acp, sessionId }) => {
      assertEquals((await acp.prompt(sessionId, "go")).stopReason, "max_turn_requests");
      assertEquals(acp.text(sessionId), "summary");
    },
  );
});

Deno.test("acp 37: a todo list becomes a plan, cancelled items are marked", async () => {
  const todos = [{ id: "1", content: "a", status: "cancelled" }, {
    id: "2",
    content: "b",
    status: "in_progress",
  }];
  await withAcp({ turns: [calls(["todo", { todos }]), "ok"] }, async ({ acp, sessionId }) => {
    await acp.prompt(sessionId, "plan");
    const plan = acp.updates(sessionId).find((u) => u.sessionUpdate === "plan");
    assertEquals(plan.entries, [
      { content: "[cancelled] a", priority: "medium", status: "completed" },
      { content: "b", priority: "medium", status: "in_progress" },
    ]);
  });
});

Deno.test("acp 4, FC-01.2: raw U+2028, U+2029, U+0085 and an escaped CR come through unharmed", async () => {
  const text = "a\u2028b\u2029c\u0085d\re";
  await withAcp({ respond: (request) => lastUser(request) }, async ({ acp, model, sessionId }) => {
    assertEquals((await acp.prompt(sessionId, text)).stopReason, "end_turn");
    assertEquals(lastUser(model.calls()[0]), text);
    assertEquals(acp.text(sessionId), text);
    assert(acp.lines.some((line) => line.includes("\\u2028b\\u2029c\\u0085d\\re")));
  });
});

Deno.test("FC-03.1: fifty fast answers are whole before their responses, nothing follows them", async () => {
  const words = Array.from({ length: 200 }, (_, i) => `w${i} `);
  const turn: ScriptTurn = { steps: words.map((text) => ({ text })), pack: 50 };
  await withAcp({ turns: Array.from({ length: 50 }, () => turn) }, async ({ acp, sessionId }) => {
    for (let n = 0; n < 50; n++) {
      const from = acp.frames.length;
      const sent = acp.startPrompt(sessionId, `p${n}`);
      assertEquals((await sent.answer).result.stopReason, "end_turn");
      assertEquals(acp.text(sessionId, from), words.join(""));
      assertEquals(acp.frames.at(-1)!.frame.id, sent.id);
    }
  });
});

Deno.test("FC-27: calls that share the provider's id are told apart, in one turn and over turns", async () => {
  const two = calls(["read_file", { path: "a.txt" }, "call_1"], ["read_file", { path: "b.txt" }, "call_1"]);
  const one = calls(["read_file", { path: "c.txt" }, "call_1"]);
  await withAcp({ turns: [two, "ok", one, "ok"] }, async ({ acp, rig, sessionId }) => {
    for (const name of ["a", "b", "c"]) {
      await Deno.writeTextFile(`${rig.workspace}/${name}.txt`, `content ${name}\n`);
    }
    await acp.prompt(sessionId, "go");
    await acp.prompt(sessionId, "go on");
    const started = acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call");
    assertEquals(new Set(started.map((u) => u.toolCallId)).size, 3);
    for (const [i, name] of ["a", "b", "c"].entries()) {
      const { toolCallId } = started[i];
      assertEquals(started[i].title, `read: ${name}.txt`);
      const ends = acp.updates(sessionId).filter((u) =>
        u.toolCallId === toolCallId && u.status === "completed"
      );
      assertEquals(ends.length, 1);
      assertMatch(ends[0].content[0].content.text, new RegExp(`content ${name}`));
    }
  });
});

Deno.test("C10: a quiet turn sends an empty chunk as a sign of life", async () => {
  const turn: ScriptTurn = { steps: [{ delay_ms: 2_500, text: "late" }] };
  await withAcp(
    { turns: [turn], config: { acp: { keepalive_interval_s: 1 } } },
    async ({ acp, sessionId }) => {
      const sent = acp.startPrompt(sessionId, "go");
      await eventually(
        () => acp.updates(sessionId).some((u) => u.content?.text === ""),
        2_400,
        "a sign of life",
      );
      assertEquals((await sent.answer).result.stopReason, "end_turn");
      assertEquals(acp.text(sessionId), "late");
    },
  );
});

Deno.test("C10: the sign of life comes after the interval, counted from the last frame, and not before", async () => {
  const turn: ScriptTurn = { steps: [{ delay_ms: 800, text: "a" }, { delay_ms: 5_000, text: "b" }] };
  await withAcp(
    { turns: [turn], config: { acp: { keepalive_interval_s: 2 } } },
    async ({ acp, sessionId }) => {
      const sent = acp.startPrompt(sessionId, "go");
      assertEquals((await sent.answer).result.stopReason, "end_turn");
      const chunks = acp.frames.filter(({ frame }) =>
        frame.params?.update?.sessionUpdate === "agent_message_chunk"
      );
      assertEquals(chunks.slice(0, 3).map(({ frame }) => frame.params.update.content.text), ["a", "", ""]);
      // Twice the interval would be 4 s.
      const waited = chunks[1]!.at - chunks[0]!.at;
      assert(waited > 1_500, `${waited} ms`);
      assertWithin(waited, 3_500);
    },
  );
});

Deno.test("C9, C11, C12: a command is one chunk, then usage, then its answer; a load shows none of it", async () => {
  await withAcp({ turns: ["one"], models: ["scripted", "other"] }, async ({ acp, rig, sessionId }) => {
    await acp.prompt(sessionId, "hello");
    for (
      const [command, wanted] of [["/help", []], ["/model other", ["config_option_update", "usage_update"]]]
    ) {
      const from = acp.frames.length;
      const sent = acp.startPrompt(sessionId, command as string);
      await sent.answer;
      const seen = acp.updates(sessionId, from).map((u) => u.sessionUpdate);
      assertEquals(seen, [...wanted!, "agent_message_chunk", "usage_update"]);
      assertEquals(acp.indexOfAnswer(sent.id), acp.frames.length - 1);
    }
    const from = acp.frames.length;
    await acp.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const shown = acp.updates(sessionId, from).filter((u) => /message_chunk/.test(u.sessionUpdate));
    assertEquals(shown.map((u) => u.content.text), ["hello", "one"]);
  });
});

Deno.test("C10: prompts and /queue keep the order of their lines", async () => {
  await withAcp({ turns: [SLOW("A"), "C", "D", "E"] }, async ({ acp, model, sessionId }) => {
    const first = acp.startPrompt(sessionId, "a");
    await acp.update((u) => u.content?.text === "…");
    const rest = ["/queue c", "d", "/queue e"].map((line) => acp.startPrompt(sessionId, line));
    const ends = await Promise.all([first, ...rest].map((one) => one.answer));
    assertEquals(ends.map((end) => end.result.stopReason), Array(4).fill("end_turn"));
    assertEquals(model.calls().map(lastUser), ["a", "c", "d", "e"]);
  });
});

Deno.test("C5, C11: another model that takes over is a notice at once, else the first chunk of the turn", async () => {
  for (const notices of [false, true]) {
    const failing = { steps: [{ error: { status: 401, message: "nope" } }] };
    await using good = await startModelServer({ turns: ["from the other"] });
    const config = { fallback_providers: [{ provider: "custom", model: "scripted", base_url: good.url }] };
    const capabilities = notices ? { session: { notices: {} } } : {};
    await withAcp({ turns: [failing], config, capabilities }, async ({ acp, sessionId }) => {
      assertEquals((await acp.prompt(sessionId, "hello")).stopReason, "end_turn");
      const told = acp.updates(sessionId).filter((u) => /message_chunk|notice/.test(u.sessionUpdate));
      assertEquals(told.map((u) => u.sessionUpdate), [
        notices ? "notice" : "agent_message_chunk",
        "agent_message_chunk",
      ]);
      assertMatch(notices ? told[0].title : told[0].content.text, /401.*going on with scripted/);
      assertEquals(told[1].content.text, "from the other");
      assert(told[0].messageId !== told[1].messageId);
    });
  }
});

Deno.test("acp C3, C11: the list shows 80 characters of the first text, cards 80 of a command, none of them half", async () => {
  const face = "\u{1F600}";
  const respond = (request: Json): ScriptTurn => {
    const last = request.body.messages.at(-1);
    if (last.role !== "user") return { steps: [{ text: "one \ud83d" }, { text: "\ude00 two" }] };
    return calls(["terminal", { command: `: ${"x".repeat(76)}${face}${face}` }]);
  };
  await withAcp({ respond }, async ({ acp, sessionId }) => {
    await acp.prompt(sessionId, `${"long ".repeat(15)}1234${face}56789`);
    const { sessions } = await acp.request("session/list", {});
    assertEquals(sessions[0].title, `${"long ".repeat(15)}1234${face}`);
    const card = acp.updates(sessionId).find((u) => u.sessionUpdate === "tool_call");
    assertEquals(card.title, `terminal: : ${"x".repeat(76)}…`);
    assertEquals(acp.text(sessionId), `one ${face} two`);
    assertEquals(acp.lines.filter((line) => /\\ud[89a-f]|\ufffd/i.test(line)), []);
  });
});
