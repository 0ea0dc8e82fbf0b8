/** Edits and commands that are asked about (acp.md E, rows 23–30, 44; FC-13.2, FC-15, FC-17). */
import { ALLOW, calls, DENY, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

function statuses(updates: Json[], toolCallId: string): string[] {
  return updates.filter((u) => u.toolCallId === toolCallId && u.status).map((u) => u.status);
}

function callOf(updates: Json[], name: string): Json {
  return updates.find((u) => u.sessionUpdate === "tool_call" && u.name === name);
}

const DANGEROUS = "rm -rf ./build";

Deno.test("acp 23, FC-13.2: an allowed write shows its diff, under the session's cwd, then the file is there", async () => {
  const turns = [calls(["write_file", { path: "a.txt", content: "new\n" }]), "done"];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    assertEquals((await acp.prompt(sessionId, "write")).stopReason, "end_turn");
    const call = callOf(acp.updates(sessionId), "write_file");
    assertEquals([call.status, call.kind], ["pending", "edit"]);
    const [request] = acp.requests("session/request_permission");
    assertEquals(request.params.sessionId, sessionId);
    assertEquals(request.params.toolCall, {
      toolCallId: call.toolCallId,
      title: `Approve edit: ${path}`,
      kind: "edit",
      status: "pending",
      name: "write_file",
      content: [{ type: "diff", path, oldText: null, newText: "new\n" }],
      locations: [{ path }],
      rawInput: { tool: "write_file", arguments: { path: "a.txt", content: "new\n" } },
    });
    assertEquals(request.params.options, [
      { optionId: "allow_once", name: "Allow edit", kind: "allow_once" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
    ]);
    assertEquals(statuses(acp.updates(sessionId), call.toolCallId), ["pending", "in_progress", "completed"]);
    const end = acp.updates(sessionId).findLast((u) => u.toolCallId === call.toolCallId);
    assertEquals(end.content.at(-1), { type: "diff", path, oldText: null, newText: "new\n" });
    assertEquals(await Deno.readTextFile(path), "new\n");
  });
});

const REFUSALS: readonly (readonly [string, unknown])[] = [
  ["deny", DENY],
  ["an option that was not offered", { outcome: { outcome: "selected", optionId: "allow_always" } }],
  ["garbage", { outcome: { outcome: "weird", optionId: "allow_once" } }],
  ["null", null],
  ["an error", { error: { code: -32603, message: "no" } }],
];

for (const [name, answer] of REFUSALS) {
  Deno.test(`acp 24: the answer ${name} is a refusal and the turn goes on`, async () => {
    await withAcp({ turns: [calls(["write_file", { path: "a.txt", content: "x" }]), "on"] }, async (
      { acp, model, rig, sessionId },
    ) => {
      acp.onPermission = () => answer;
      assertEquals((await acp.prompt(sessionId, "write")).stopReason, "end_turn");
      const call = callOf(acp.updates(sessionId), "write_file");
      assertEquals(statuses(acp.updates(sessionId), call.toolCallId), ["pending", "failed"]);
      assert(!(await exists(`${rig.workspace}/a.txt`)));
      assertEquals(acp.text(sessionId), "on");
      assertEquals(model.calls().length, 2);
    });
  });
}

Deno.test("acp 24: the answer cancelled stops this call, the later ones and the turn", async () => {
  const turns = [
    calls(["write_file", { path: "a.txt", content: "x" }], ["write_file", { path: "b.txt", content: "y" }]),
    "never",
  ];
  await withAcp({ turns }, async ({ acp, model, rig, sessionId }) => {
    acp.onPermission = () => ({ outcome: { outcome: "cancelled" } });
    assertEquals((await acp.prompt(sessionId, "write")).stopReason, "cancelled");
    assertEquals(acp.requests("session/request_permission").length, 1);
    for (const name of ["a.txt", "b.txt"]) assert(!(await exists(`${rig.workspace}/${name}`)));
    assertEquals(model.calls().length, 1);
    const open = new Map<string, string>();
    for (const u of acp.updates(sessionId)) if (u.toolCallId && u.status) open.set(u.toolCallId, u.status);
    assertEquals([...new Set(open.values())], ["failed"]);
  });
});

Deno.test("acp 25: a replacement shows both whole texts, a patch over two files shows two diffs", async () => {
  const patch =
    "*** Begin Patch\n*** Update File: a.txt\n-one\n+ONE\n*** Add File: c.txt\n+new\n*** End Patch";
  const turns = [
    calls(["read_file", { path: "a.txt" }]),
    calls(["patch", { path: "a.txt", old_string: "two", new_string: "TWO" }]),
    calls(["patch", { mode: "patch", patch }]),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "one\ntwo\n");
    assertEquals((await acp.prompt(sessionId, "edit")).stopReason, "end_turn");
    const [first, second] = acp.requests("session/request_permission").map((r) => r.params.toolCall);
    assertEquals(first.content, [{ type: "diff", path, oldText: "one\ntwo\n", newText: "one\nTWO\n" }]);
    assertEquals(
      second.content.map((d: Json) => [d.path, d.oldText, d.newText.trimEnd()]),
      [[path, "one\nTWO\n", "ONE\nTWO"], [`${rig.workspace}/c.txt`, null, "new"]],
    );
    assertEquals(await Deno.readTextFile(path), "ONE\nTWO\n");
  });
});

/** Runs one edit in a mode and says whether it was asked about. */
async function asked(
  mode: string,
  path: (workspace: string) => string,
  prepare?: (w: string) => Promise<void>,
) {
  let count = -1;
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.role === "user" ? calls(["write_file", { path: last.content, content: "x" }]) : "ok";
  };
  await withAcp({ respond }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => DENY;
    await prepare?.(rig.workspace);
    await acp.request("session/set_mode", { sessionId, modeId: mode });
    await acp.prompt(sessionId, path(rig.workspace));
    count = acp.requests("session/request_permission").length;
    if (count === 0) {
      const target = path(rig.workspace);
      assert(await exists(target.startsWith("/") ? target : `${rig.workspace}/${target}`));
    }
  });
  return count;
}

const MODES: readonly (readonly [string, string, (w: string) => string, number])[] = [
  ["accept_edits", "a file in cwd", () => "a.txt", 0],
  ["accept_edits", "a file outside", (w) => `${w}/../outside.txt`, 1],
  ["accept_edits", ".env in cwd", () => ".env", 1],
  ["accept_edits", "sub/../../out", () => "sub/../../out", 1],
  ["accept_edits", "a link to outside", () => "link/x.txt", 1],
  ["dont_ask", "a file outside", (w) => `${w}/../outside.txt`, 0],
  ["dont_ask", "~/.ssh/config", () => "~/.ssh/config", 1],
  ["dont_ask", "id_rsa", () => "id_rsa", 1],
  ["dont_ask", ".git/config", () => ".git/config", 1],
  ["default", "a file in cwd", () => "a.txt", 1],
];

for (const [mode, what, path, wanted] of MODES) {
  Deno.test(`acp 26: ${mode}: ${what} is ${wanted ? "asked about" : "written without a question"}`, async () => {
    const prepare = async (workspace: string) => {
      await Deno.mkdir(`${workspace}/../elsewhere`);
      await Deno.symlink(`${workspace}/../elsewhere`, `${workspace}/link`);
    };
    assertEquals(await asked(mode, path, prepare), wanted);
  });
}

Deno.test("acp 26, FC-15: a patch that touches .env asks, in either order and as a move; refused, nothing changes", async () => {
  const update = (name: string) => `*** Update File: ${name}\n-old\n+new\n`;
  const patches = [
    update("a.txt") + update(".env"),
    update(".env") + update("a.txt"),
    "*** Move File: a.txt -> .env.local\n",
  ];
  const turns = patches.flatMap((patch) => [
    calls(["patch", { mode: "patch", patch: `*** Begin Patch\n${patch}*** End Patch` }]),
    "ok",
  ]);
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => DENY;
    for (const name of ["a.txt", ".env"]) await Deno.writeTextFile(`${rig.workspace}/${name}`, "old\n");
    await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
    for (let n = 0; n < patches.length; n++) await acp.prompt(sessionId, `go ${n}`);
    const requests = acp.requests("session/request_permission");
    assertEquals(requests.map((r) => r.params.toolCall.content.length), [2, 2, 2]);
    for (const name of ["a.txt", ".env"]) {
      assertEquals(await Deno.readTextFile(`${rig.workspace}/${name}`), "old\n");
    }
  });
});

Deno.test("acp 50: in accept_edits an edit inside an additional directory is not asked about", async () => {
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.role === "user" ? calls(["write_file", { path: last.content, content: "x" }]) : "ok";
  };
  await withAcp({ respond }, async ({ acp, rig }) => {
    const extra = `${rig.home}/../extra`;
    await Deno.mkdir(extra);
    const sessionId = await acp.newSession(rig.workspace, { additionalDirectories: [extra] });
    await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
    const path = `${await Deno.realPath(extra)}/a.txt`;
    await acp.prompt(sessionId, path);
    assertEquals(acp.requests("session/request_permission").length, 0);
    assertEquals(await Deno.readTextFile(path), "x");
  });
});

Deno.test("acp 27, FC-17: a change made while the question is open is not overwritten", async () => {
  const turns = [
    calls(["read_file", { path: "a.txt" }]),
    calls(["write_file", { path: "a.txt", content: "mine" }]),
    "ok",
  ];
  await withAcp({ turns }, async ({ acp, model, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "old");
    acp.onPermission = async () => {
      await Deno.writeTextFile(path, "theirs");
      return ALLOW;
    };
    assertEquals((await acp.prompt(sessionId, "write")).stopReason, "end_turn");
    assertEquals(await Deno.readTextFile(path), "theirs");
    const call = callOf(acp.updates(sessionId), "write_file");
    assertEquals(statuses(acp.updates(sessionId), call.toolCallId), ["pending", "in_progress", "failed"]);
    assertMatch(JSON.stringify(model.calls().at(-1)!.body.messages.at(-1)), /changed/i);
  });
});

Deno.test("FC-17: a file that changed after it was read is asked about with what is in it now", async () => {
  const turns = [
    calls(["read_file", { path: "a.txt" }]),
    "read",
    calls(["write_file", { path: "a.txt", content: "mine" }]),
    "ok",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "old");
    await acp.prompt(sessionId, "read it");
    await Deno.writeTextFile(path, "theirs");
    acp.onPermission = () => DENY;
    await acp.prompt(sessionId, "write it");
    const [request] = acp.requests("session/request_permission");
    assertEquals(request.params.toolCall.content, [{
      type: "diff",
      path,
      oldText: "theirs",
      newText: "mine",
    }]);
    assertEquals(await Deno.readTextFile(path), "theirs");
  });
});

Deno.test("acp 28: a command allowed for the session is not asked about again there, but elsewhere", async () => {
  const run = calls(["terminal", { command: DANGEROUS }]);
  await withAcp({ turns: [run, "1", run, "2", run, "3"] }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => ({ outcome: { outcome: "selected", optionId: "allow_session" } });
    await acp.prompt(sessionId, "one");
    const [request] = acp.requests("session/request_permission");
    const call = callOf(acp.updates(sessionId), "terminal");
    const { toolCall, options } = request.params;
    assertEquals(toolCall.toolCallId, call.toolCallId);
    assertEquals([toolCall.kind, toolCall.status], ["execute", "pending"]);
    const { command, description } = toolCall.rawInput;
    assertEquals(command, DANGEROUS);
    assertEquals(toolCall.title, `${description}: ${DANGEROUS}`);
    assertEquals(toolCall.content, [
      { type: "content", content: { type: "text", text: `${description}\n$ ${DANGEROUS}` } },
    ]);
    assertEquals(options, [
      { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
      { optionId: "allow_session", name: "Allow for session", kind: "allow_always" },
      { optionId: "allow_always", name: "Allow always", kind: "allow_always" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
      { optionId: "deny_always", name: "Deny always", kind: "reject_always" },
    ]);
    await acp.prompt(sessionId, "two");
    assertEquals(acp.requests("session/request_permission").length, 1);
    const other = await acp.newSession(rig.workspace);
    await acp.prompt(other, "three");
    assertEquals(acp.requests("session/request_permission").length, 2);
  });
});

Deno.test("acp 29: an unanswered edit is withdrawn after the limit, the next one fails without a question", async () => {
  const turns = [
    calls(["write_file", { path: "a.txt", content: "x" }], ["write_file", { path: "b.txt", content: "y" }]),
    "on",
  ];
  await withAcp({ turns, config: { approvals: { timeout: 1 } } }, async ({ acp, model, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const result = await acp.prompt(sessionId, "write", 6_000);
    assertEquals(result.stopReason, "end_turn");
    const [request, ...others] = acp.requests("session/request_permission");
    assertEquals(others, []);
    assertEquals(acp.notifications("$/cancel_request"), [{ requestId: request.id }]);
    const withdrawn = acp.frames.find(({ frame }) => frame.method === "$/cancel_request")!.at;
    const opened = acp.frames.find(({ frame }) => frame.method === "session/request_permission")!.at;
    assertWithin(withdrawn - opened, 2_000);
    for (const name of ["a.txt", "b.txt"]) assert(!(await exists(`${rig.workspace}/${name}`)));
    const results = model.calls()[1]!.body.messages.filter((m: Json) => m.role === "tool");
    assertEquals(results.length, 2);
    assert(results.every((m: Json) => !/denied it/i.test(m.content)));
  });
});

Deno.test("acp 30, FC-06.3: a cancel withdraws an open question; the late answer is ignored; the next prompt works", async () => {
  const turns = [calls(["write_file", { path: "a.txt", content: "x" }]), "fresh"];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const sent = acp.startPrompt(sessionId, "write");
    const request = await acp.permission();
    const started = acp.now;
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
    assertWithin(acp.now - started, 2_000);
    assertEquals(acp.notifications("$/cancel_request"), [{ requestId: request.id }]);
    await acp.respond(request.id, ALLOW);
    await acp.respond(request.id, ALLOW);
    assertEquals((await acp.prompt(sessionId, "again")).stopReason, "end_turn");
    assertEquals(acp.text(sessionId), "fresh");
    assert(!(await exists(`${rig.workspace}/a.txt`)));
  });
});

Deno.test("acp 44, FC-14: two open questions, answered in reverse, each settle their own session", async () => {
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.role === "user" ? calls(["write_file", { path: last.content, content: "x" }]) : "ok";
  };
  await withAcp({ respond }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const other = await acp.newSession(rig.workspace);
    const first = acp.startPrompt(sessionId, "first.txt");
    const one = await acp.permission(1);
    const second = acp.startPrompt(other, "second.txt");
    const two = await acp.permission(2);
    assertEquals([one.params.sessionId, two.params.sessionId], [sessionId, other]);
    await acp.respond(two.id, ALLOW);
    assertEquals((await second.answer).result.stopReason, "end_turn");
    assert(await exists(`${rig.workspace}/second.txt`));
    assertEquals(acp.indexOfAnswer(first.id), -1);
    await acp.respond(one.id, DENY);
    assertEquals((await first.answer).result.stopReason, "end_turn");
    assert(!(await exists(`${rig.workspace}/first.txt`)));
  });
});

Deno.test("acp 49: clarify is a form where the client has forms, else a card of choices", async () => {
  const turns = [calls(["clarify", { question: "Which?", choices: ["red", "blue"] }]), "ok"];
  await withAcp({ turns, capabilities: { elicitation: { form: {} } } }, async ({ acp, model, sessionId }) => {
    acp.onElicitation = () => ({ action: "accept", content: { answer: "blue" } });
    await acp.prompt(sessionId, "ask me");
    const [request] = acp.requests("elicitation/create");
    assertEquals(request.params.message, "Which?");
    assertEquals(request.params.requestedSchema, {
      type: "object",
      properties: { answer: { type: "string", enum: ["red", "blue"] } },
      required: ["answer"],
    });
    assertMatch(JSON.stringify(model.calls()[1]!.body.messages.at(-1)), /user_response[^,]*blue/);
  });
  await withAcp({ turns, capabilities: { elicitation: {} } }, async ({ acp, model, sessionId }) => {
    acp.onPermission = () => ({ outcome: { outcome: "selected", optionId: "choice-0" } });
    await acp.prompt(sessionId, "ask me");
    assertEquals(acp.requests("elicitation/create"), []);
    const [request] = acp.requests("session/request_permission");
    assertEquals(request.params.options.map((o: Json) => o.optionId), ["choice-0", "choice-1", "skip"]);
    assertMatch(JSON.stringify(model.calls()[1]!.body.messages.at(-1)), /user_response[^,]*red/);
  });
});

Deno.test("C8.4: where the client has no forms and there are no choices, the tool says that nobody can be asked", async () => {
  const turns = [calls(["clarify", { question: "What now?" }]), "ok"];
  await withAcp({ turns }, async ({ acp, model, sessionId }) => {
    assertEquals((await acp.prompt(sessionId, "ask me")).stopReason, "end_turn");
    assertEquals(acp.requests("session/request_permission"), []);
    const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
    assertEquals(end.status, "failed");
    const result = JSON.parse(model.calls()[1]!.body.messages.at(-1).content);
    assertMatch(result.error, /^Nobody can be asked/);
    assertEquals(result.user_response, undefined);
  });
});

Deno.test("C8.4: a question with several answers is a form with a list; what was not offered is skipped", async () => {
  const ask = { question: "Which?", choices: ["red", "blue", "green"], multiple: true };
  const turns = [calls(["clarify", ask]), "ok", calls(["clarify", ask]), "ok"];
  await withAcp({ turns, capabilities: { elicitation: { form: {} } } }, async ({ acp, model, sessionId }) => {
    const answers = [["blue", "red"], ["blue", "black"]];
    acp.onElicitation = () => ({ action: "accept", content: { answer: answers.shift() } });
    await acp.prompt(sessionId, "ask me");
    await acp.prompt(sessionId, "again");
    const [request] = acp.requests("elicitation/create");
    assertEquals(request.params.requestedSchema.properties.answer, {
      type: "array",
      minItems: 1,
      items: { type: "string", enum: ["red", "blue", "green"] },
    });
    const said = [1, 3].map((n) => JSON.parse(model.calls()[n]!.body.messages.at(-1).content).user_response);
    assertEquals(said, ["blue, red", ""]);
  });
});

Deno.test("C8.1: several commands of one reply are asked about at once", async () => {
  const turns = [
    calls(["terminal", { command: DANGEROUS }], ["terminal", { command: "rm -rf ./other" }]),
    "ok",
  ];
  await withAcp({ turns }, async ({ acp, sessionId }) => {
    acp.onPermission = () => undefined;
    const sent = acp.startPrompt(sessionId, "go");
    await acp.permission(2);
    for (const request of acp.requests("session/request_permission")) await acp.respond(request.id, DENY);
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    await eventually(() => acp.indexOfAnswer(sent.id) > 0);
  });
});

Deno.test("C7: in plan mode nothing is changed or run and nobody is asked; the switch back counts at once", async () => {
  const turns = [
    calls(["read_file", { path: "a.txt" }], ["todo", { todos: [] }]),
    calls(["write_file", { path: "b.txt", content: "x" }]),
    calls(["terminal", { command: "touch c.txt" }]),
    "here is my plan",
    calls(["write_file", { path: "b.txt", content: "x" }]),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text of a");
    await acp.request("session/set_mode", { sessionId, modeId: "plan" });
    assertEquals((await acp.prompt(sessionId, "plan it")).stopReason, "end_turn");
    const ends = acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call_update");
    assertEquals(ends.map((u) => u.status), ["completed", "completed", "failed", "failed"]);
    for (const n of [2, 3]) {
      assertMatch(model.calls()[n]!.body.messages.at(-1).content, /Plan mode: .* was not run/);
    }
    assertEquals(acp.requests("session/request_permission"), []);
    assertEquals([await exists(`${rig.workspace}/b.txt`), await exists(`${rig.workspace}/c.txt`)], [
      false,
      false,
    ]);
    const { configOptions } = await acp.request("session/set_config_option", {
      sessionId,
      configId: "edit_approval_policy",
      value: "workspace_session",
    });
    assertEquals(configOptions.at(-1).currentValue, "workspace_session");
    await acp.update((u) => u.sessionUpdate === "current_mode_update" && u.currentModeId === "accept_edits");
    await acp.prompt(sessionId, "do it");
    assert(await exists(`${rig.workspace}/b.txt`));
  });
});

Deno.test("acp C7: the question about an edit of a large file stays below what clients read in one line", async () => {
  const turns = [
    calls(["read_file", { path: "big.txt", limit: 2 }]),
    calls(["patch", { path: "big.txt", old_string: "line 70\n", new_string: "LINE 70\n" }]),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/big.txt`;
    const text = Array.from({ length: 1_600_000 }, (_, n) => `line ${n + 1}\n`).join("");
    await Deno.writeTextFile(path, text);
    assertEquals((await acp.prompt(sessionId, "go", 40_000)).stopReason, "end_turn");
    assertEquals(await Deno.readTextFile(path), text.replace("line 70\n", "LINE 70\n"));
    const { content } = (await acp.permission()).params.toolCall;
    const lines = Array.from({ length: 41 }, (_, n) => `line ${n + 50}\n`);
    assertEquals(content, [
      {
        type: "content",
        content: {
          type: "text",
          text: `Too large to be shown in whole. Shown is the part that changes:\n${path}: from line 50 on`,
        },
      },
      {
        type: "diff",
        path,
        oldText: lines.join(""),
        newText: lines.join("").replace("line 70\n", "LINE 70\n"),
      },
    ]);
    assertWithin(Math.max(...acp.lines.map((line) => line.length)), 20_000);
  });
});

Deno.test("acp C7: plan mode that is chosen while a question is open holds for all that follows in the same answer", async () => {
  const turns = [
    calls(
      ["write_file", { path: "a.txt", content: "x" }],
      ["write_file", { path: "b.txt", content: "x" }],
      ["terminal", { command: "touch c.txt" }],
      ["search_files", { pattern: "x" }],
    ),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const prompt = acp.startPrompt(sessionId, "go");
    const { id } = await acp.permission();
    await acp.request("session/set_mode", { sessionId, modeId: "plan" });
    await acp.respond(id, ALLOW);
    assertEquals((await acp.inTime(prompt.answer, 10_000, "the turn")).result.stopReason, "end_turn");
    assertEquals(acp.requests("session/request_permission").length, 1);
    const there = await Promise.all(["a", "b", "c"].map((name) => exists(`${rig.workspace}/${name}.txt`)));
    assertEquals(there, [true, false, false]);
    const ends = acp.updates(sessionId).filter((u) => /^(completed|failed)$/.test(u.status ?? ""));
    const of = (id: string) => ends.find((u) => u.toolCallId === id);
    assertEquals(["call_1", "call_2", "call_3", "call_4"].map((id) => of(id).status), [
      "completed",
      "failed",
      "failed",
      "completed",
    ]);
    for (const id of ["call_2", "call_3"]) assertMatch(of(id).content[0].content.text, /^Plan mode: /);
  });
});
