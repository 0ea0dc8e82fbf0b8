/** Background processes as clients that show them see them (acp.md C11 "background process", C2 `background`). */
import { calls, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const SHOWS = { _meta: { hermes: { background: {} } } };

Deno.test("acp C2: the agent says that it tells of background processes", async () => {
  await withAcp({}, async ({ acp }) => {
    const { agentCapabilities } = await acp.initialize();
    assertEquals(agentCapabilities._meta, { hermes: { sessionProvenance: {}, background: {} } });
  });
});

Deno.test("acp C11: a background process is told when it starts and ends, its news once while idle, and the model hears it", async () => {
  const command = "read -t 30 line < fifo; echo made it; exit 3";
  const turns = [
    calls(["terminal", { command, background: true, notify_on_complete: true }]),
    "started",
    "I see",
  ];
  await withAcp({ turns, capabilities: SHOWS }, async ({ acp, sessionId, rig, model }) => {
    await new Deno.Command("mkfifo", { args: [`${rig.workspace}/fifo`] }).output();
    await acp.prompt(sessionId, "go");
    const news = (name: string) => acp.notifications(`_hermes/${name}`);
    const callId = acp.updates(sessionId).find((u) => u.sessionUpdate === "tool_call").toolCallId;
    const started = await eventually(() => news("process")[0]);
    assertMatch(started.processId, /^proc_/);
    assertEquals(started, {
      sessionId,
      toolCallId: callId,
      processId: started.processId,
      command,
      status: "running",
    });
    assertEquals(news("notification"), []);
    await Deno.writeTextFile(`${rig.workspace}/fifo`, "go on\n");
    const ended = await eventually(() => news("process")[1]);
    assertEquals([ended.processId, ended.toolCallId, ended.status], [started.processId, callId, "exited"]);
    assertEquals([ended.exitCode, ended.reason], [3, "exited"]);
    const [told] = await eventually(() => news("notification").length > 0 && news("notification"));
    assertEquals([told.kind, told.notificationIds.length], ["process_complete", 1]);
    assertMatch(told.title, /^Background process proc_\w+ completed \(exit code 3\)/);
    assert(told.text.includes("made it") && !told.text.includes("IMPORTANT"), told.text);
    await acp.prompt(sessionId, "and now?");
    assertEquals([news("process").length, news("notification").length], [2, 1]);
    const request = JSON.stringify(model.requests.at(-1)!.body);
    assert(request.includes("made it"), request);
  });
});

Deno.test("acp C11: a client without the capability gets no such frame, and none for foreground commands", async () => {
  const turns = [
    calls(["terminal", { command: "true", background: true, notify_on_complete: true }]),
    "started",
    calls(["terminal", { command: "echo here" }]),
    "done",
  ];
  const frames = async (capabilities: Json, prompts: number) => {
    let found: Json[] = [];
    await withAcp(
      { turns: prompts === 1 ? turns.slice(2) : turns, capabilities },
      async ({ acp, sessionId }) => {
        for (let i = 0; i < prompts; i++) await acp.prompt(sessionId, "go");
        await acp.request("session/list", {});
        found = acp.frames.filter(({ frame }) => String(frame.method).startsWith("_hermes/"));
      },
    );
    return found;
  };
  assertEquals(await frames({}, 2), []);
  assertEquals(await frames({ _meta: { hermes: { background: true } } }, 2), []);
  assertEquals(await frames(SHOWS, 1), []);
});

Deno.test("acp C11: a process that its session's close ends is not told any more", async () => {
  const turns = [calls(["terminal", { command: "sleep 60", background: true }]), "started"];
  await withAcp({ turns, capabilities: SHOWS }, async ({ acp, sessionId }) => {
    await acp.prompt(sessionId, "go");
    await eventually(() => acp.notifications("_hermes/process").length === 1);
    await acp.request("session/close", { sessionId });
    await acp.request("session/list", {});
    assertEquals(acp.notifications("_hermes/process").map((one) => one.status), ["running"]);
  });
});
