/** Commands in the client's own terminals (acp.md C8.6): only where both sides want it, and always given back. */
import { type AcpDriver, calls, type Json, withAcp } from "../../support/acp_driver.ts";
import { assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { ownSleep, untilGone } from "../../support/processes.ts";
import { eventually } from "../../support/program.ts";

const CAPABILITIES = { terminal: true };
const CONFIG = { acp: { use_client_terminal: true, fs_timeout_s: 2 } };

/** The terminals of an editor: real processes, both outputs in one. */
class Editor {
  readonly log: string[] = [];
  readonly created: Json[] = [];
  readonly #open = new Map<string, { child: Deno.ChildProcess; output: string; done: Promise<unknown> }>();

  serve(acp: AcpDriver): void {
    acp.onTerminal = (verb, params) => this.#answer(verb, params);
  }

  get open(): number {
    return this.#open.size;
  }

  #answer(verb: string, params: Json): unknown {
    this.log.push(verb);
    if (verb === "create") return this.#create(params);
    const terminal = this.#open.get(params.terminalId);
    if (!terminal) return { error: { code: -32002, message: "no such terminal" } };
    switch (verb) {
      case "output":
        return { output: terminal.output, truncated: false };
      case "wait_for_exit":
        return terminal.done;
      case "kill":
        Deno.kill(-terminal.child.pid, "SIGKILL");
        return {};
      default:
        this.#open.delete(params.terminalId);
        return {};
    }
  }

  #create(params: Json): unknown {
    this.created.push(params);
    const child = new Deno.Command("setsid", {
      args: [params.command, ...params.args],
      cwd: params.cwd,
      env: Object.fromEntries(params.env.map(({ name, value }: Json) => [name, value])),
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const terminal = { child, output: "", done: Promise.resolve<unknown>(null) };
    const read = async (stream: ReadableStream<Uint8Array>) => {
      for await (const chunk of stream) terminal.output += new TextDecoder().decode(chunk);
    };
    const streams = Promise.all([read(child.stdout), read(child.stderr)]);
    terminal.done = Promise.all([child.status, streams])
      .then(([{ code, signal }]) => signal ? { signal } : { exitCode: code });
    const terminalId = `t${this.created.length}`;
    this.#open.set(terminalId, terminal);
    return { terminalId };
  }
}

function resultOf(request: Json): Json {
  return JSON.parse(request.body.messages.findLast((m: Json) => m.role === "tool").content);
}

Deno.test("C8.6: a command runs in the client's terminal, is shown there, and its output reaches the model", async () => {
  const turns = [calls(["terminal", { command: "echo out; echo err >&2" }]), "done"];
  await withAcp({ turns, capabilities: CAPABILITIES, config: CONFIG }, async (one) => {
    const { acp, rig, model, sessionId } = one;
    const editor = new Editor();
    editor.serve(acp);
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
    const [created] = editor.created;
    assertEquals([created.sessionId, created.command, created.args, created.cwd], [
      sessionId,
      "bash",
      ["-c", "echo out; echo err >&2"],
      rig.workspace,
    ]);
    assertEquals(editor.log, ["create", "wait_for_exit", "output", "release"]);
    assertEquals(editor.open, 0);
    const updates = acp.updates(sessionId).filter((u) => u.toolCallId);
    assertEquals(updates.map((u) => [u.sessionUpdate, u.status, u.content?.[0]?.type]), [
      ["tool_call", "in_progress", "content"],
      ["tool_call_update", undefined, "terminal"],
      ["tool_call_update", "completed", "terminal"],
    ]);
    assertEquals(updates[1].content, [{ type: "terminal", terminalId: "t1" }]);
    assertEquals(updates[2].content, [{ type: "terminal", terminalId: "t1" }]);
    const result = resultOf(model.calls()[1]);
    assertEquals([result.exit_code, result.output.split("\n").sort()], [0, ["err", "out"]]);
    // Nothing of the hand-over is left behind: it holds an environment.
    assertEquals([...Deno.readDirSync(rig.env.TMPDIR!)].filter((e) => e.name.startsWith("hermes-shell")), []);
  });
});

Deno.test("C8.6: directory, exports and exit code go from one command to the next", async () => {
  const turns = [
    calls(["terminal", { command: "mkdir sub && cd sub && export MARK='a b' && exit 3" }]),
    calls(["terminal", { command: 'pwd; echo "$MARK"; echo "[$BASH_ENV]"' }]),
    calls(["terminal", { command: "kill -9 $$" }]),
    "done",
  ];
  await withAcp(
    { turns, capabilities: CAPABILITIES, config: CONFIG },
    async ({ acp, rig, model, sessionId }) => {
      new Editor().serve(acp);
      await acp.prompt(sessionId, "go");
      assertEquals(resultOf(model.calls()[1]).exit_code, 3);
      assertEquals(resultOf(model.calls()[2]).output, `${rig.workspace}/sub\na b\n[]`);
      assertEquals(resultOf(model.calls()[3]).exit_code, 137);
      const ends = acp.updates(sessionId).filter((u) => u.status === "failed");
      assertEquals(ends.length, 2);
      assertEquals(ends[0].content.map((item: Json) => item.type), ["terminal", "content"]);
    },
  );
});

Deno.test("C8.6: a command over its time, and a cancelled one, are killed and their terminals released", async () => {
  const [slow, slower] = [ownSleep(70), ownSleep(71)];
  const turns = [
    calls(["terminal", { command: `echo begun; ${slow}`, timeout: 1 }]),
    calls(["terminal", { command: slower }]),
  ];
  await withAcp({ turns, capabilities: CAPABILITIES, config: CONFIG }, async ({ acp, model, sessionId }) => {
    const editor = new Editor();
    editor.serve(acp);
    const sent = acp.startPrompt(sessionId, "go");
    await eventually(() => editor.created.length === 2, 10_000, "the second command");
    const result = resultOf(model.calls()[1]);
    assertEquals(result.exit_code, 124);
    assertMatch(result.output, /begun[\s\S]*timed out after 1s/);
    await eventually(() => editor.log.filter((verb) => verb === "wait_for_exit").length === 2);
    const started = acp.now;
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
    assertWithin(acp.now - started, 3_000);
    await eventually(() => editor.open === 0, 3_000, "the release");
    assertEquals(editor.log.filter((verb) => verb === "kill").length, 2);
    for (const sleep of [slow, slower]) await untilGone(sleep);
  });
});

Deno.test("C8.6: an error, a malformed answer and silence of the client are the tool's error, nothing runs here", async () => {
  const command = (n: number) => calls(["terminal", { command: `touch ran-${n}` }]);
  const answers: unknown[] = [{ error: { code: -32603, message: "no room" } }, { id: 7 }, undefined];
  const turns = [command(0), command(1), command(2), "done"];
  await withAcp(
    { turns, capabilities: CAPABILITIES, config: { acp: { use_client_terminal: true, fs_timeout_s: 1 } } },
    async ({ acp, rig, model, sessionId }) => {
      acp.onTerminal = () => answers.shift();
      assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
      const said = model.calls().slice(1).map((call) => JSON.stringify(call.body.messages.at(-1)));
      assertMatch(said[0]!, /could not open a terminal: no room/);
      assertMatch(said[1]!, /could not open a terminal: its answer was malformed/);
      assertMatch(said[2]!, /could not open a terminal: it did not answer in time/);
      assertEquals([...Deno.readDirSync(rig.workspace)].map((entry) => entry.name), []);
      assertEquals(acp.updates(sessionId).filter((u) => u.status === "failed").length, 3);
      assertEquals(acp.notifications("$/cancel_request").length, 1);
    },
  );
});

Deno.test("C8.6: a terminal that comes after the cancel is killed and released", async () => {
  const turns = [calls(["terminal", { command: "sleep 60" }])];
  await withAcp({ turns, capabilities: CAPABILITIES, config: CONFIG }, async ({ acp, sessionId }) => {
    const log: string[] = [];
    let create = -1;
    acp.onTerminal = (verb, _, id) => {
      log.push(verb);
      if (verb !== "create") return {};
      create = id;
      return undefined;
    };
    const sent = acp.startPrompt(sessionId, "go");
    await eventually(() => create >= 0, 10_000, "the request for a terminal");
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
    assertEquals(acp.notifications("$/cancel_request"), [{ requestId: create }]);
    await acp.respond(create, { terminalId: "late" });
    await eventually(() => log.length === 3, 3_000, "the release");
    assertEquals(log, ["create", "kill", "release"]);
  });
});

for (
  const [name, capabilities, config] of [
    ["that the configuration does not ask for", CAPABILITIES, {}],
    ["that the client does not offer", {}, CONFIG],
  ] as const
) {
  Deno.test(`C8.6: no terminal of the client is used ${name}`, async () => {
    const turns = [calls(["terminal", { command: "echo here" }]), "done"];
    await withAcp({ turns, capabilities, config }, async ({ acp, model, sessionId }) => {
      await acp.prompt(sessionId, "go");
      assertEquals(resultOf(model.calls()[1]).output, "here");
      assertEquals(acp.requests("terminal/create"), []);
    });
  });
}
