/** Files through the client's buffers (acp.md C8.5; E row 48), and diffs of edits that nobody is asked about. */
import { calls, DENY, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const BOTH = { fs: { readTextFile: true, writeTextFile: true } };

function lastResult(model: { calls(): { body: Json }[] }, n: number): string {
  return JSON.stringify(model.calls()[n]!.body.messages.at(-1));
}

Deno.test("acp 48: an open buffer is what is read, not the disk", async () => {
  const turns = [calls(["read_file", { path: "a.txt" }]), "done"];
  await withAcp({ turns, capabilities: BOTH }, async ({ acp, model, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "saved text\n");
    acp.onReadFile = () => ({ content: "unsaved text\nline two\n" });
    assertEquals((await acp.prompt(sessionId, "read")).stopReason, "end_turn");
    assertEquals(acp.requests("fs/read_text_file").map((r) => r.params), [{ sessionId, path }]);
    assertMatch(lastResult(model, 1), /1\|unsaved text/);
    assert(!/\|saved text/.test(lastResult(model, 1)));
  });
});

Deno.test("acp 48: an error of the client is the tool's error; the disk is not read instead", async () => {
  const turns = [calls(["read_file", { path: "a.txt" }]), "done"];
  await withAcp({ turns, capabilities: BOTH }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text on disk\n");
    acp.onReadFile = () => ({ error: { code: -32603, message: "buffer is gone" } });
    assertEquals((await acp.prompt(sessionId, "read")).stopReason, "end_turn");
    const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
    assertEquals(end.status, "failed");
    assertMatch(lastResult(model, 1), /could not read .*buffer is gone/);
    assert(!lastResult(model, 1).includes("text on disk"));
  });
});

Deno.test("acp 48: a malformed answer and a silent client are failures within acp.fs_timeout_s", async () => {
  const turns = [calls(["read_file", { path: "a.txt" }]), calls(["read_file", { path: "a.txt" }]), "done"];
  const config = { acp: { fs_timeout_s: 1 } };
  await withAcp({ turns, config, capabilities: BOTH }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "text on disk\n");
    let count = 0;
    acp.onReadFile = () => count++ === 0 ? { content: 42 } : undefined;
    assertEquals((await acp.prompt(sessionId, "read")).stopReason, "end_turn");
    assertMatch(lastResult(model, 1), /gave no text/);
    assertMatch(lastResult(model, 2), /did not answer fs\/read_text_file within 1 s/);
    const withdrawn = acp.notifications("$/cancel_request").map((p) => p.requestId);
    assertEquals(withdrawn, [acp.requests("fs/read_text_file")[1].id]);
  });
});

Deno.test("acp 48: a cancel withdraws an open question to the client's files", async () => {
  await withAcp({ turns: [calls(["read_file", { path: "a.txt" }]), "never"], capabilities: BOTH }, async (
    { acp, rig, sessionId },
  ) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "x");
    acp.onReadFile = () => undefined;
    const sent = acp.startPrompt(sessionId, "read");
    await eventually(() => acp.requests("fs/read_text_file").length === 1);
    const before = acp.now;
    await acp.cancel(sessionId);
    const answer = await sent.answer;
    assertEquals(answer.result.stopReason, "cancelled");
    assertWithin(answer.at - before, 2_000);
    assertEquals(acp.notifications("$/cancel_request").length, 1);
  });
});

Deno.test("acp 48: outside the roots, and for a client that offers nothing, it is the disk", async () => {
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.role === "user" ? calls(["read_file", { path: last.content }]) : "done";
  };
  await withAcp({ respond, capabilities: BOTH }, async ({ acp, model, rig, sessionId }) => {
    const outside = `${rig.workspace}/../outside.txt`;
    await Deno.writeTextFile(outside, "outside text");
    await acp.prompt(sessionId, outside);
    assertEquals(acp.requests("fs/read_text_file"), []);
    assertMatch(lastResult(model, 1), /outside text/);
  });
  await withAcp({ respond, capabilities: { fs: { readTextFile: "yes" } } }, async (
    { acp, model, rig, sessionId },
  ) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "on disk");
    await acp.prompt(sessionId, "a.txt");
    assertEquals(acp.requests("fs/read_text_file"), []);
    assertMatch(lastResult(model, 1), /on disk/);
  });
});

Deno.test("acp 48: an edit shows the buffer's text in its diff and is written through the client, which may format it", async () => {
  const turns = [calls(["patch", { path: "a.txt", old_string: "unsaved", new_string: "edited" }]), "done"];
  await withAcp({ turns, capabilities: BOTH }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "saved\n");
    let buffer = "unsaved text\n";
    acp.onReadFile = () => ({ content: buffer });
    acp.onWriteFile = (params) => {
      buffer = `${params.content}// formatted\n`;
      return {};
    };
    assertEquals((await acp.prompt(sessionId, "edit")).stopReason, "end_turn");
    const [request] = acp.requests("session/request_permission");
    assertEquals(request.params.toolCall.content, [
      { type: "diff", path, oldText: "unsaved text\n", newText: "edited text\n" },
    ]);
    assertEquals(acp.requests("fs/write_text_file").map((r) => r.params), [
      { sessionId, path, content: "edited text\n" },
    ]);
    const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
    assertEquals(end.status, "completed");
    assertEquals(await Deno.readTextFile(path), "saved\n");
  });
});

Deno.test("C8.5: an editor that only writes is written through; what is read is the disk", async () => {
  const turns = [calls(["patch", { path: "a.txt", old_string: "saved", new_string: "edited" }]), "done"];
  const capabilities = { fs: { writeTextFile: true } };
  await withAcp({ turns, capabilities }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "saved\n");
    acp.onPermission = () => ({ outcome: { outcome: "selected", optionId: "allow_once" } });
    acp.onWriteFile = async (params) => {
      await Deno.writeTextFile(params.path, params.content);
      return {};
    };
    await acp.prompt(sessionId, "edit");
    assertEquals(acp.requests("fs/write_text_file").map((r) => r.params), [
      { sessionId, path, content: "edited\n" },
    ]);
    assertEquals(acp.requests("fs/read_text_file"), []);
    assertEquals(await Deno.readTextFile(path), "edited\n");
  });
});

Deno.test("acp 48, acp 27: a buffer that changes while the question is open is not overwritten", async () => {
  const turns = [calls(["patch", { path: "a.txt", old_string: "one", new_string: "two" }]), "done"];
  await withAcp({ turns, capabilities: BOTH }, async ({ acp, model, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "one\n");
    let buffer = "one\n";
    acp.onReadFile = () => ({ content: buffer });
    acp.onPermission = () => {
      buffer = "typed by the user\n";
      return { outcome: { outcome: "selected", optionId: "allow_once" } };
    };
    await acp.prompt(sessionId, "edit");
    assertEquals(acp.requests("fs/write_text_file"), []);
    assertMatch(lastResult(model, 1), /changed since approval/);
  });
});

Deno.test("acp 48: a new file is written through the client, its folder made first", async () => {
  const turns = [calls(["write_file", { path: "sub/new.txt", content: "hi\n" }]), "done"];
  await withAcp({ turns, capabilities: BOTH }, async ({ acp, rig, sessionId }) => {
    const path = `${rig.workspace}/sub/new.txt`;
    acp.onReadFile = () => ({ error: { code: -32002, message: "Resource not found" } });
    acp.onWriteFile = async (params) => {
      await Deno.writeTextFile(params.path, params.content);
      return null;
    };
    await acp.prompt(sessionId, "write");
    const [request] = acp.requests("session/request_permission");
    assertEquals(request.params.toolCall.content, [{ type: "diff", path, oldText: null, newText: "hi\n" }]);
    assertEquals(await Deno.readTextFile(path), "hi\n");
  });
});

Deno.test("acp 48: a client that only reads keeps its unsaved text: the disk is not changed behind it", async () => {
  const edit = calls(["patch", { path: "a.txt", old_string: "one", new_string: "two" }]);
  await withAcp({ turns: [edit, "no", edit, "yes"], capabilities: { fs: { readTextFile: true } } }, async (
    { acp, model, rig, sessionId },
  ) => {
    const path = `${rig.workspace}/a.txt`;
    await Deno.writeTextFile(path, "one\n");
    let buffer = "one, and more\n";
    acp.onReadFile = () => ({ content: buffer });
    await acp.prompt(sessionId, "edit");
    assertMatch(lastResult(model, 1), /changes of .* that are not saved/);
    assertEquals(await Deno.readTextFile(path), "one\n");
    buffer = "one\n";
    await acp.prompt(sessionId, "edit again");
    assertEquals(await Deno.readTextFile(path), "two\n");
    assertEquals(acp.requests("fs/write_text_file"), []);
  });
});

Deno.test("C11: an edit that is allowed unasked shows its diff from the start", async () => {
  const turns = [calls(["write_file", { path: "a.txt", content: "new\n" }]), "done"];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => DENY;
    await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
    await acp.prompt(sessionId, "write");
    const call = acp.updates(sessionId).find((u) => u.sessionUpdate === "tool_call");
    assertEquals([call.status, call.content], [
      "in_progress",
      [{ type: "diff", path: `${rig.workspace}/a.txt`, oldText: null, newText: "new\n" }],
    ]);
  });
});

Deno.test("C11: the output of a command is in its card while it runs", async () => {
  const turns = [
    calls(["terminal", { command: "for i in 1 2 3; do echo line $i; sleep 1; done" }]),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "go");
    const live = await acp.update((u) => u.sessionUpdate === "tool_call_update" && u.status === undefined);
    assertMatch(live.content.at(-1).content.text, /line 1/);
    assertEquals(acp.indexOfAnswer(sent.id), -1);
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
    assertEquals([end.status, end.content[0].content.text.trim()], ["completed", "line 1\nline 2\nline 3"]);
  });
});
