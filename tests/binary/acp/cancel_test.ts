/** Cancel in every phase (acp.md E, rows 31, 32; FC-06, FC-08). */
import { ALLOW, calls, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertWithin } from "../../support/assert.ts";
import type { ScriptTurn } from "../../support/model_server.ts";
import { ownSleep, processesWith, untilGone, untilHomeIsLeft } from "../../support/processes.ts";
import { eventually } from "../../support/program.ts";

function lastStatuses(updates: Json[]): string[] {
  const last = new Map<string, string>();
  for (const u of updates) if (u.toolCallId && u.status) last.set(u.toolCallId, u.status);
  return [...last.values()];
}

Deno.test("acp 31, FC-06.1: a cancel during a slow stream, and before the first byte, ends it and its request", async () => {
  const slow: ScriptTurn = { steps: [{ text: "x", delay_ms: 100, repeat: 100 }] };
  const silent: ScriptTurn = { steps: [{ stall: true }] };
  await withAcp({ turns: [slow, silent, "after"] }, async ({ acp, model, sessionId }) => {
    const first = acp.startPrompt(sessionId, "one");
    await eventually(() => acp.text(sessionId).length >= 3);
    await acp.cancel(sessionId);
    const started = acp.now;
    assertEquals((await first.answer).result.stopReason, "cancelled");
    assertWithin(acp.now - started, 2_000);
    await eventually(() => model.calls()[0]!.aborted);
    const second = acp.startPrompt(sessionId, "two");
    await eventually(() => model.calls().length === 2);
    await acp.cancel(sessionId);
    assertEquals((await second.answer).result.stopReason, "cancelled");
    await eventually(() => model.calls()[1]!.aborted);
    const from = acp.frames.length;
    assertEquals((await acp.prompt(sessionId, "three")).stopReason, "end_turn");
    assertEquals(acp.text(sessionId, from), "after");
  });
});

Deno.test("acp 31, FC-06.2: a cancel during a tool leaves no process, and its call has failed before the answer", async () => {
  const sleep = ownSleep(60);
  const command = `sh -c '${sleep} & (sleep 61; echo LATE > late.txt)'`;
  await withAcp({ turns: [calls(["terminal", { command }]), "never"] }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => ALLOW;
    const sent = acp.startPrompt(sessionId, "run");
    await eventually(async () => (await processesWith(sleep)).length > 0);
    const started = acp.now;
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
    assertWithin(acp.now - started, 3_000);
    const before = acp.frames.slice(0, acp.indexOfAnswer(sent.id)).map(({ frame }) =>
      frame.params?.update ?? {}
    );
    assertEquals(lastStatuses(before), ["failed"]);
    await untilHomeIsLeft(rig.home, acp.child.pid);
    assert(!(await Deno.stat(`${rig.workspace}/late.txt`).then(() => true, () => false)));
  });
});

Deno.test("C10, D5: a cancel and the end of the program take along what has left the process group", async () => {
  for (const way of ["cancel", "close"]) {
    const [away, deaf, sleep] = [ownSleep(61), ownSleep(62), ownSleep(63)];
    const script = `setsid ${away} &\nsetsid bash -c "trap '' TERM; ${deaf}; true" &\n${sleep}\n`;
    await withAcp(
      { turns: [calls(["terminal", { command: "bash t.sh" }]), "x"] },
      async ({ acp, rig, sessionId }) => {
        await Deno.writeTextFile(`${rig.workspace}/t.sh`, script);
        acp.onPermission = () => ALLOW;
        const sent = acp.startPrompt(sessionId, "run");
        for (const text of [away, deaf, sleep]) {
          await eventually(async () => (await processesWith(text)).length > 0);
        }
        if (way === "cancel") {
          await acp.cancel(sessionId);
          assertEquals((await sent.answer).result.stopReason, "cancelled");
        } else await acp.close();
        for (const text of [away, deaf, sleep]) await untilGone(text);
      },
    );
  }
});

Deno.test("acp 32: $/cancel_request of the running prompt answers it cancelled, of a queued one only that one", async () => {
  const slow: ScriptTurn = { steps: [{ text: "x", delay_ms: 100, repeat: 20 }] };
  await withAcp({ turns: [slow, slow, "end"] }, async ({ acp, sessionId }) => {
    const running = acp.startPrompt(sessionId, "a");
    await eventually(() => acp.text(sessionId).length > 1);
    const queued = acp.startPrompt(sessionId, "b");
    await acp.notify("$/cancel_request", { requestId: queued.id });
    assertEquals((await queued.answer).result.stopReason, "cancelled");
    assertEquals(acp.indexOfAnswer(running.id), -1);
    assertEquals((await running.answer).result.stopReason, "end_turn");
    const other = acp.startPrompt(sessionId, "c");
    await eventually(() => acp.text(sessionId).length > 22);
    await acp.notify("$/cancel_request", { requestId: other.id });
    assertEquals((await other.answer).result.stopReason, "cancelled");
    assertEquals((await acp.prompt(sessionId, "d")).stopReason, "end_turn");
  });
});

Deno.test("C10, FC-06: $/cancel_request of the running prompt drops what is queued, and says so, like session/cancel", async () => {
  const slow: ScriptTurn = { steps: [{ text: "x", delay_ms: 100, repeat: 50 }] };
  await withAcp({ turns: [slow, "never"] }, async ({ acp, sessionId, model }) => {
    const running = acp.startPrompt(sessionId, "a");
    await eventually(() => acp.text(sessionId).length > 1);
    const second = acp.startPrompt(sessionId, "b");
    const third = acp.startPrompt(sessionId, "/queue c");
    await eventually(() => acp.text(sessionId).includes("Queued: 2 waiting."));
    await acp.notify("$/cancel_request", { requestId: running.id });
    const stops = await Promise.all(
      [running, second, third].map(async ({ answer }) => (await answer).result.stopReason),
    );
    assertEquals(stops, ["cancelled", "cancelled", "cancelled"]);
    assert(acp.text(sessionId).includes("2 queued prompts were dropped."), acp.text(sessionId));
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("acp 32: a cancel while idle, or of an unknown session, is without effect and without a frame", async () => {
  await withAcp({ turns: ["ok"] }, async ({ acp, sessionId }) => {
    await acp.update((u) => u.sessionUpdate === "usage_update");
    const before = acp.lines.length;
    await acp.cancel(sessionId);
    await acp.cancel("who");
    await acp.notify("session/cancel", {});
    await acp.request("session/list", {});
    assertEquals(acp.lines.length, before + 1);
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
    assertEquals(acp.text(sessionId), "ok");
  });
});

Deno.test("a cancel on the line right after the prompt is not lost", async () => {
  await withAcp({ respond: () => ({ steps: [{ stall: true }] }) }, async ({ acp, sessionId, rig }) => {
    for (let n = 0; n < 20; n++) {
      const id = `p${n}`;
      const answer = acp.expect(id, "session/prompt");
      const prompt = [{ type: "resource_link", uri: `file://${rig.workspace}`, name: "d" }, {
        type: "text",
        text: "x",
      }];
      const lines = [
        { jsonrpc: "2.0", id, method: "session/prompt", params: { sessionId, prompt } },
        { jsonrpc: "2.0", method: "session/cancel", params: { sessionId } },
      ];
      await acp.raw(lines.map((line) => JSON.stringify(line) + "\n").join(""));
      assertEquals((await acp.inTime(answer, 2_000, "the cancelled answer")).result.stopReason, "cancelled");
    }
  });
});

Deno.test("FC-06.4: twenty times a tool is cancelled and a plain question is answered at once", async () => {
  const turns = Array.from(
    { length: 20 },
    (_, n) => [calls(["terminal", { command: "sleep 20" }]), `answer ${n}`],
  );
  await withAcp({ turns: turns.flat() }, async ({ acp, sessionId }) => {
    for (let n = 0; n < 20; n++) {
      const from = acp.frames.length;
      const sent = acp.startPrompt(sessionId, "run");
      await acp.update((u) => u.sessionUpdate === "tool_call", 5_000, from);
      await acp.cancel(sessionId);
      assertEquals((await sent.answer).result.stopReason, "cancelled");
      const next = acp.frames.length;
      assertEquals((await acp.prompt(sessionId, `plain ${n}`)).stopReason, "end_turn");
      assertEquals(acp.text(sessionId, next), `answer ${n}`);
    }
  });
});

Deno.test("FC-08: while a tool runs, other requests and the cancel are answered within a second", async () => {
  await withAcp(
    { turns: [calls(["terminal", { command: "sleep 60" }])] },
    async ({ acp, rig, sessionId }) => {
      const sent = acp.startPrompt(sessionId, "run");
      await acp.update((u) => u.sessionUpdate === "tool_call");
      const started = acp.now;
      await acp.request("session/list", {}, 1_000);
      await acp.newSession(rig.workspace);
      await acp.prompt(sessionId, "/version", 1_000);
      await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" }, 1_000);
      const busy = await acp.ask("session/set_model", { sessionId, modelId: "custom:other" }, 1_000);
      assertEquals([busy.error?.code, busy.error?.data.reason], [-32602, "busy"]);
      assertWithin(acp.now - started, 2_000);
      const from = acp.frames.length;
      await acp.prompt(sessionId, "/reset", 1_000);
      assert(/wait/.test(acp.text(sessionId, from)));
      await acp.cancel(sessionId);
      assertEquals((await acp.inTime(sent.answer, 3_000, "the end")).result.stopReason, "cancelled");
    },
  );
});
