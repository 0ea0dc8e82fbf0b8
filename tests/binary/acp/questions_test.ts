/** What becomes of the questions that a client is asked (acp.md C7, C8, D3). */
import { ALLOW, calls, DENY, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const FORM = { elicitation: { form: {} } };
const WHICH = calls(["clarify", { question: "Which?", choices: ["red", "blue"] }]);

function toolResult(request: Json): Json {
  return JSON.parse(request.body.messages.findLast((m: Json) => m.role === "tool").content);
}

const SKIPS: [string, Json][] = [
  ["decline", { action: "decline" }],
  ["cancel", { action: "cancel" }],
  ["accept without content", { action: "accept" }],
  ["a choice that was not offered", { action: "accept", content: { answer: "green" } }],
  ["a number", { action: "accept", content: { answer: 7 } }],
  ["garbage", "garbage"],
  ["an error", { error: { code: -32603, message: "no form today" } }],
];

for (const [what, answer] of SKIPS) {
  Deno.test(`C8.4: a form that is answered by ${what} is a skipped question, and the turn goes on`, async () => {
    await withAcp({ turns: [WHICH, "ok"], capabilities: FORM }, async ({ acp, model, sessionId }) => {
      acp.onElicitation = () => answer;
      assertEquals((await acp.prompt(sessionId, "ask me")).stopReason, "end_turn");
      const result = toolResult(model.calls()[1]);
      assertEquals(result.user_response, "");
      assertMatch(result.note, /skipped/);
    });
  });
}

Deno.test("C8.4: a form that nobody answers is withdrawn after approvals.timeout, and the model is told so", async () => {
  const config = { approvals: { timeout: 1 } };
  await withAcp({ turns: [WHICH, "ok"], capabilities: FORM, config }, async ({ acp, model, sessionId }) => {
    acp.onElicitation = () => undefined;
    assertEquals((await acp.prompt(sessionId, "ask me")).stopReason, "end_turn");
    const [form] = acp.requests("elicitation/create");
    assertEquals(acp.notifications("$/cancel_request"), [{ requestId: form.id }]);
    const result = toolResult(model.calls()[1]);
    assertEquals(result.user_response, "");
    assertMatch(result.note, /Nobody answered in time/);
  });
});

Deno.test("C8.4, C11: a call that waits for a choice is pending, also in a load meanwhile; a command likewise", async () => {
  const command = calls(["terminal", { command: "rm -rf ./x" }]);
  for (const [turn, capabilities] of [[WHICH, {}], [command, FORM]] as const) {
    await withAcp({ turns: [turn, "ok"], capabilities }, async ({ acp, rig, sessionId }) => {
      const answer = Promise.withResolvers<Json>();
      acp.onPermission = () => answer.promise;
      const sent = acp.startPrompt(sessionId, "go");
      await eventually(() => acp.requests("session/request_permission")[0], 10_000, "the question");
      const started = () =>
        acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call").map((u) => u.status);
      assertEquals(started(), ["pending"]);
      await acp.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
      assertEquals(started(), ["pending", "pending"]);
      answer.resolve(DENY);
      assertEquals((await sent.answer).result.stopReason, "end_turn");
    });
  }
});

for (
  const [what, capabilities, method] of [
    ["form", FORM, "elicitation/create"],
    ["card of choices", {}, "session/request_permission"],
  ] as const
) {
  Deno.test(`C8.3, C10: a cancel withdraws a ${what}, and its call has failed before the answer, live and on replay`, async () => {
    await withAcp({ turns: [WHICH, "never"], capabilities }, async ({ acp, model, rig, sessionId }) => {
      acp.onElicitation = acp.onPermission = () => undefined;
      const sent = acp.startPrompt(sessionId, "ask me");
      const request = await eventually(() => acp.requests(method)[0], 10_000, "the question");
      await acp.cancel(sessionId);
      assertEquals((await sent.answer).result.stopReason, "cancelled");
      assertEquals(acp.notifications("$/cancel_request"), [{ requestId: request.id }]);
      const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
      assertEquals(end.status, "failed");
      const from = acp.frames.length;
      await acp.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
      const again = acp.updates(sessionId, from).findLast((u) => u.sessionUpdate === "tool_call_update");
      assertEquals(again, end);
      assertEquals(model.calls().length, 1);
    });
  });
}

Deno.test("C8.1: a smart denial may be overruled once only: two options, no session and no always", async () => {
  const turns = [calls(["terminal", { command: "rm -rf ./data" }]), "DENY: destroys data", "ok"];
  await withAcp({ turns, config: { approvals: { mode: "smart" } } }, async ({ acp, rig, sessionId }) => {
    await Deno.mkdir(`${rig.workspace}/data`);
    acp.onPermission = () => ({ outcome: { outcome: "selected", optionId: "allow_session" } });
    await acp.prompt(sessionId, "clean");
    const [request] = acp.requests("session/request_permission");
    assertEquals(request.params.options, [
      { optionId: "allow_once", name: "Allow once", kind: "allow_once" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
    ]);
    // What was not offered is a refusal.
    assert((await Deno.stat(`${rig.workspace}/data`)).isDirectory);
  });
});

Deno.test("C8.1: the question about a long command has a title of one line, and the whole command in its content", async () => {
  const command = `rm -rf ./data\n${"echo more of it\n".repeat(60)}true`;
  await withAcp({ turns: [calls(["terminal", { command }]), "ok"] }, async ({ acp, sessionId }) => {
    acp.onPermission = () => DENY;
    await acp.prompt(sessionId, "go");
    const { toolCall } = acp.requests("session/request_permission")[0].params;
    const { rawInput: { description }, title, content } = toolCall;
    assertEquals(content[0].content.text, `${description}\n$ ${command}`);
    assertEquals(toolCall.rawInput.command, command);
    assertEquals(title, `${`${description}: ${command.replace(/\s+/g, " ")}`.slice(0, 499)}…`);
  });
});

Deno.test("C8.1: a command is shown without its secrets", async () => {
  const secret = "sk-" + "A1b2C3d4".repeat(5);
  const command = `rm -rf ./x; echo 'Authorization: Bearer ${secret}'`;
  await withAcp({ turns: [calls(["terminal", { command }]), "ok"] }, async ({ acp, sessionId }) => {
    acp.onPermission = () => DENY;
    await acp.prompt(sessionId, "go");
    const [request] = acp.requests("session/request_permission");
    assertMatch(request.params.toolCall.rawInput.command, /^rm -rf \.\/x; echo 'Authorization: Bearer /);
    assert(!acp.lines.join("\n").includes(secret));
  });
});

Deno.test("C8.1: a refused file stays refused in that turn for every tool; another file and the next turn ask", async () => {
  const write = (path: string) => calls(["write_file", { path, content: "x" }]);
  const patch = calls(["patch", {
    mode: "patch",
    patch: "*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch",
  }]);
  const turns = [write("a.txt"), patch, write("b.txt"), "ok", write("a.txt"), "ok"];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    const asked = () => acp.requests("session/request_permission").map((r) => r.params.toolCall.title);
    acp.onPermission = () => DENY;
    await acp.prompt(sessionId, "go");
    const title = (name: string) => `Approve edit: ${rig.workspace}/${name}`;
    assertEquals(asked(), [title("a.txt"), title("b.txt")]);
    await acp.prompt(sessionId, "again");
    assertEquals(asked(), [title("a.txt"), title("b.txt"), title("a.txt")]);
  });
});

Deno.test("C8.1, FC-14: a refused file stays refused for commands, in the same answer and in later ones", async () => {
  const write = ["write_file", { path: "a.txt", content: "x" }] as const;
  const run = (command: string) => ["terminal", { command }] as const;
  const turns = [
    calls(write, run("echo one > a.txt")),
    calls(run("echo two | tee a.txt"), run("cd . && touch a.txt"), run("echo three > b.txt")),
    "ok",
    calls(run("echo four > a.txt")),
    "ok",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    const failed = () =>
      acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call_update" && u.status === "failed")
        .length;
    acp.onPermission = () => DENY;
    await acp.prompt(sessionId, "go");
    assertEquals(acp.requests("session/request_permission").length, 1);
    assertEquals(failed(), 4);
    const names = [...Deno.readDirSync(rig.workspace)].map(({ name }) => name);
    assertEquals([names.includes("a.txt"), names.includes("b.txt")], [false, true]);
    await acp.prompt(sessionId, "now you may");
    assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "four\n");
  });
});

Deno.test("C7, C8.1: a mode that is chosen while a question is open does not free what is refused by its answer", async () => {
  const write = (path: string) => calls(["write_file", { path, content: "x" }]);
  await withAcp(
    { turns: [write("a.txt"), write("a.txt"), write("b.txt"), "ok"] },
    async ({ acp, rig, sessionId }) => {
      acp.onPermission = async () => {
        await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
        return DENY;
      };
      await acp.prompt(sessionId, "go");
      assertEquals(acp.requests("session/request_permission").length, 1);
      const names = [...Deno.readDirSync(rig.workspace)].map(({ name }) => name);
      assertEquals([names.includes("a.txt"), names.includes("b.txt")], [false, true]);
    },
  );
});

Deno.test("C8.2: after an edit that timed out the next prompt asks again", async () => {
  const turns = [
    calls(["write_file", { path: "a.txt", content: "x" }]),
    "late",
    calls(["write_file", { path: "b.txt", content: "x" }]),
    "ok",
  ];
  await withAcp({ turns, config: { approvals: { timeout: 1 } } }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    await acp.prompt(sessionId, "one");
    acp.onPermission = () => ALLOW;
    await acp.prompt(sessionId, "two");
    assertEquals(acp.requests("session/request_permission").length, 2);
    assertEquals(await Deno.readTextFile(`${rig.workspace}/b.txt`), "x");
  });
});

Deno.test("C7: a mode that changes while a question is open counts for the next edit of the same turn", async () => {
  const turns = [
    calls(["write_file", { path: "a.txt", content: "x" }]),
    calls(["write_file", { path: "b.txt", content: "x" }]),
    "ok",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = async () => {
      await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
      return ALLOW;
    };
    await acp.prompt(sessionId, "go");
    assertEquals(acp.requests("session/request_permission").length, 1);
    assertEquals(await Deno.readTextFile(`${rig.workspace}/b.txt`), "x");
  });
});

Deno.test("C7: an edit that cannot be prepared as a diff fails without a question, and nothing is written", async () => {
  const edits = calls(
    ["patch", { path: "none.txt", old_string: "a", new_string: "b" }],
    ["write_file", { path: ".", content: "x" }],
    ["write_file", { content: "x" }],
    ["patch", { mode: "patch", patch: "nothing" }],
  );
  await withAcp({ turns: [edits, "ok"] }, async ({ acp, model, rig, sessionId }) => {
    await acp.prompt(sessionId, "go");
    assertEquals(acp.requests("session/request_permission"), []);
    const ends = acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call_update");
    assertEquals(ends.map((u) => u.status), ["failed", "failed", "failed", "failed"]);
    const told = model.calls()[1]!.body.messages.filter((m: Json) => m.role === "tool");
    for (const { content } of told) assertMatch(JSON.parse(content).error, /could not be prepared as a diff/);
    assertEquals([...Deno.readDirSync(rig.workspace)], []);
  });
});

for (const method of ["session/close", "session/delete"]) {
  Deno.test(`D3: ${method} withdraws an open question, fails its call and answers the prompt before itself`, async () => {
    const turns = [calls(["write_file", { path: "a.txt", content: "x" }]), "never"];
    await withAcp({ turns }, async ({ acp, model, rig, sessionId }) => {
      acp.onPermission = () => undefined;
      const sent = acp.startPrompt(sessionId, "go");
      const request = await acp.permission();
      const from = acp.frames.length;
      const end = acp.send(method, { sessionId });
      assertEquals((await end.answer).result, {});
      assertEquals((await sent.answer).result.stopReason, "cancelled");
      const seen = acp.frames.slice(from).map(({ frame }) =>
        frame.method === "$/cancel_request"
          ? frame.params.requestId
          : frame.params?.update?.status ?? frame.result?.stopReason ?? frame.id
      ).filter((one) => one !== undefined);
      assertEquals(seen, [request.id, "failed", "cancelled", end.id]);
      // An answer that comes now changes nothing.
      await acp.respond(request.id, ALLOW);
      await acp.request("session/list", {});
      assertEquals([...Deno.readDirSync(rig.workspace)], []);
      assertEquals(model.calls().length, 1);
    });
  });
}

Deno.test("C8.4: the form offers each choice once, and an answer of another shape counts as skipped", async () => {
  const choices = ["red", "blue", "red"];
  const ask = (multiple: boolean) => calls(["clarify", { question: "Which?", choices, multiple }]);
  const cases: readonly [boolean, Json, string][] = [
    [false, { action: "accept", content: { answer: "blue" } }, "blue"],
    [true, { action: "accept", content: { answer: ["red", "blue"] } }, "red, blue"],
    [true, { action: "accept", content: { answer: "red" } }, ""],
    [true, { action: "accept", content: { answer: ["red", 4] } }, ""],
    [false, { action: "accept", content: { answer: "green" } }, ""],
    [false, { action: "accept", content: { answer: ["blue"] } }, ""],
    [false, { action: "accept" }, ""],
    [false, { action: "decline", content: { answer: "blue" } }, ""],
    [false, "accept", ""],
  ];
  const turns = cases.flatMap(([multiple]) => [ask(multiple), "ok"]);
  await withAcp({ turns, capabilities: { elicitation: { form: {} } } }, async ({ acp, model, sessionId }) => {
    for (const [at, [multiple, answer, expected]] of cases.entries()) {
      acp.onElicitation = () => answer;
      assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
      const one = { type: "string", enum: ["red", "blue"] };
      assertEquals(acp.requests("elicitation/create")[at].params.requestedSchema, {
        type: "object",
        properties: { answer: multiple ? { type: "array", minItems: 1, items: one } : one },
        required: ["answer"],
      });
      const result = JSON.parse(model.calls()[at * 2 + 1]!.body.messages.at(-1).content);
      assertEquals(result.user_response, expected);
    }
  });
});
