/** Ways to end (acp.md E, rows 45 and 46; D5; FC-19): nothing hangs, nothing survives, exit code 0. */
import { AcpDriver, calls, withAcp } from "../../support/acp_driver.ts";
import { within } from "../../../src/lib/abort.ts";
import { assert, assertEquals, assertWithin } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { ownSleep, processesWith, untilGone, untilHomeIsLeft } from "../../support/processes.ts";
import { eventually, makeRig, modelConfig, programCommand, startProgram } from "../../support/program.ts";

Deno.test("D5: the end of input of an idle session exits 0 at once", async () => {
  await withAcp({}, async ({ acp }) => {
    const started = acp.now;
    assertEquals((await acp.close()).code, 0);
    assertWithin(acp.now - started, 1_000);
  });
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test(`D5: ${signal} during a turn answers it cancelled and exits 0`, async () => {
    const sleep = ownSleep(60);
    await withAcp(
      { turns: [calls(["terminal", { command: sleep }])] },
      async ({ acp, sessionId }) => {
        const sent = acp.startPrompt(sessionId, "run");
        await eventually(async () => (await processesWith(sleep)).length > 0);
        acp.child.kill(signal);
        assertEquals((await sent.answer).result.stopReason, "cancelled");
        assertEquals((await acp.exit(3_000)).code, 0);
        await untilGone(sleep);
      },
    );
  });
}

Deno.test("D5: a turn that ends within the grace is answered after the end of input", async () => {
  await withAcp(
    { turns: [{ steps: [{ text: "a" }, { text: "b", delay_ms: 800 }] }] },
    async ({ acp, sessionId }) => {
      const sent = acp.startPrompt(sessionId, "go");
      await eventually(() => acp.text(sessionId) === "a");
      assertEquals((await acp.close()).code, 0);
      assertEquals((await sent.answer).result.stopReason, "end_turn");
      assertEquals(acp.text(sessionId), "ab");
    },
  );
});

Deno.test("acp 45: the end of input with an open question denies it: file not written, exit 0 within 5 s", async () => {
  const turns = [calls(["write_file", { path: "a.txt", content: "x" }]), "on"];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const sent = acp.startPrompt(sessionId, "write");
    await acp.permission();
    const started = acp.now;
    assertEquals((await acp.close(5_000)).code, 0);
    assertWithin(acp.now - started, 5_000);
    assert(["end_turn", "cancelled"].includes((await sent.answer).result.stopReason));
    assert(!(await Deno.stat(`${rig.workspace}/a.txt`).then(() => true, () => false)));
  });
});

/** Resolves when the process has written something and then nothing more for a while: its stdout is full. */
async function untilStuck(pid: number): Promise<void> {
  let last = "";
  let same = 0;
  await eventually(
    async () => {
      const written = /wchar: (\d+)/.exec(await Deno.readTextFile(`/proc/${pid}/io`))![1]!;
      same = written === last && Number(written) > 60_000 ? same + 1 : 0;
      last = written;
      return same >= 20;
    },
    10_000,
    "a full stdout",
  );
}

Deno.test("acp 45: a client that stops reading, cancels and leaves: gone within 5 s, no children", async () => {
  const sleep = ownSleep(60);
  await using model = await startModelServer({
    turns: [
      calls(["terminal", { command: sleep, background: true }]),
      { steps: [{ text: "y".repeat(1_000), repeat: 20_000 }], pack: 100 },
    ],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const child = startProgram(["acp"], { rig });
  await using acp = new AcpDriver(child, true);
  void acp.send("initialize", { protocolVersion: 1 });
  void acp.send("session/new", { cwd: rig.workspace, mcpServers: [] });
  const sessionId = await eventually(() => firstSessionOf(rig.home));
  void acp.startPrompt(sessionId, "flood");
  await eventually(async () => (await processesWith(sleep)).length > 0);
  await untilStuck(child.pid);
  const started = performance.now();
  await acp.cancel(sessionId);
  await acp.closeInput();
  const status = await acp.inTime(child.status, 5_500, "the exit");
  assertEquals(status.code, 0);
  assertWithin(performance.now() - started, 5_000);
  await untilHomeIsLeft(rig.home);
});

async function firstSessionOf(home: string): Promise<string | undefined> {
  const { DatabaseSync } = await import("node:sqlite");
  try {
    using db = new DatabaseSync(`${home}/hermes.db`, { readOnly: true });
    return (db.prepare("SELECT id FROM sessions").get() as { id: string } | undefined)?.id;
  } catch {
    return undefined; // The database is not there yet.
  }
}

Deno.test("acp 46, FC-19: when the host is killed during a tool, program and children are gone within 5 s", async () => {
  const sleep = ownSleep(60);
  await using model = await startModelServer({ turns: [calls(["terminal", { command: sleep }])] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const [command, ...args] = programCommand();
  const host = `
    const child = new Deno.Command(${JSON.stringify(command)}, {
      args: ${JSON.stringify([...args, "acp"])}, stdin: "piped", stdout: "piped", stderr: "null",
    }).spawn();
    const writer = child.stdin.getWriter();
    const send = (id, method, params) =>
      writer.write(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n"));
    await send(1, "initialize", { protocolVersion: 1 });
    await send(2, "session/new", { cwd: ${JSON.stringify(rig.workspace)}, mcpServers: [] });
    let text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const id = /"id":2,"result":\\{"sessionId":"([^"]+)"/.exec(text)?.[1];
      if (!id) continue;
      text = "";
      await send(3, "session/prompt", { sessionId: id, prompt: [{ type: "text", text: "go" }] });
    }`;
  await Deno.writeTextFile(`${rig.home}/host.ts`, host);
  const parent = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", `${rig.home}/host.ts`],
    clearEnv: true,
    env: rig.env,
    stdout: "null",
    stderr: "null",
  }).spawn();
  await eventually(async () => (await processesWith(sleep)).length > 0, 10_000, "the tool");
  parent.kill("SIGKILL");
  await parent.status;
  await untilGone(sleep);
  await untilHomeIsLeft(rig.home);
});

Deno.test("D5: when nobody reads stdout any more the program ends, its children too", async () => {
  const sleep = ownSleep(60);
  await using model = await startModelServer({
    turns: [calls(["terminal", { command: sleep }]), "more"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const child = startProgram(["acp"], { rig });
  const writer = child.stdin.getWriter();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const send = (id: number, method: string, params: unknown) =>
    writer.write(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n"));
  await send(1, "initialize", { protocolVersion: 1 });
  await send(2, "session/new", { cwd: rig.workspace, mcpServers: [] });
  let text = "";
  while (!text.includes("available_commands_update")) text += (await reader.read()).value ?? "";
  const sessionId = /"id":2,"result":\{"sessionId":"([^"]+)"/.exec(text)![1]!;
  await send(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  await eventually(async () => (await processesWith(sleep)).length > 0);
  await reader.cancel();
  // The pipe is closed a moment later than `cancel` returns: an answer may still find its way into it.
  const { code } = await eventually(
    async () => {
      await send(4, "session/list", {}).catch(() => {/* it has ended */});
      return await within(child.status, 100);
    },
    5_000,
    "the exit",
  );
  assertEquals(code, 0);
  await untilGone(sleep);
  await child.stderr.cancel();
  await writer.close().catch(() => {/* nobody reads it any more */});
});
