/** How a person and an IDE get in: `--setup` on a terminal, the doctor, a desktop's environment (acp.md C1, C2, D5). */
import { startAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import {
  eventually,
  makeRig,
  modelConfig,
  programCommand,
  type Rig,
  runProgram,
} from "../../support/program.ts";

const hasScript = await Deno.stat("/usr/bin/script").then(() => true, () => false);
const UP = "\x1b[A";

/** A program on a terminal of its own, made by script(1). */
class OnTerminal implements AsyncDisposable {
  output = "";
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;

  constructor(args: readonly string[], rig: Rig, env: Record<string, string> = {}) {
    const command = [...programCommand(), ...args].map((word) => `'${word}'`).join(" ");
    this.#child = new Deno.Command("script", {
      args: ["-qefc", command, "/dev/null"],
      cwd: rig.workspace,
      clearEnv: true,
      env: { ...rig.env, TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) this.output += text;
  }

  async type(keys: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(keys));
  }

  async sees(pattern: RegExp): Promise<void> {
    await eventually(() => pattern.test(this.output), 15_000, `${pattern} in:\n${this.output.slice(-1_500)}`);
  }

  async code(): Promise<number> {
    const { code } = await this.#child.status;
    await this.#reading;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#child.status;
    await this.#reading;
    await this.#writer.close().catch(() => {});
  }
}

Deno.test({
  name:
    "C1: --setup on a terminal: arrow keys, the key unseen, one test call, exit 0, and the agent can be used",
  ignore: !hasScript,
  fn: async () => {
    const key = "zz-UNIQUE-0123456789abcdef";
    await using model = await startModelServer({ respond: () => "hi", key });
    await using rig = await makeRig();
    await using terminal = new OnTerminal(["acp", "--setup"], rig);
    await terminal.sees(/Where should the model come from\?[\s\S]*navigate/);
    // The list goes round: the third from the end is "Another endpoint".
    await terminal.type(UP + UP + UP);
    await terminal.sees(/●.{0,10} Another endpoint/);
    await terminal.type("\r");
    await terminal.sees(/Base URL/);
    await terminal.type(`${model.url}\r`);
    await terminal.sees(/API key/);
    await terminal.type(`${key}\r`);
    await terminal.sees(/its only model: scripted/);
    assertEquals(await terminal.code(), 0);
    assertMatch(terminal.output, /Written to/);
    assert(!terminal.output.includes(key));
    assertMatch(await Deno.readTextFile(`${rig.home}/.env`), new RegExp(key));
    assert(!(await Deno.readTextFile(`${rig.home}/config.jsonc`)).includes(key));
    await using acp = startAcp(rig);
    const { authMethods } = await acp.initialize({ auth: { terminal: true } });
    assertEquals(authMethods[0].id, "custom");
    const sessionId = await acp.newSession(rig.workspace);
    assertEquals((await acp.prompt(sessionId, "hello")).stopReason, "end_turn");
  },
});

Deno.test({
  name: "C1: Ctrl-C leaves --setup with exit 1 and nothing written",
  ignore: !hasScript,
  fn: async () => {
    await using rig = await makeRig();
    await using terminal = new OnTerminal(["acp", "--setup"], rig);
    await terminal.sees(/Where should the model come from\?[\s\S]*navigate/);
    await terminal.type("\x03");
    assertEquals(await terminal.code(), 1);
    assertMatch(terminal.output, /nothing was changed/);
    assertEquals([...Deno.readDirSync(rig.home)].map((entry) => entry.name).includes("config.jsonc"), false);
  },
});

Deno.test({
  name: "C1: a terminal without a movable cursor is asked by numbers",
  ignore: !hasScript,
  fn: async () => {
    await using rig = await makeRig();
    await using terminal = new OnTerminal(["setup"], rig, { TERM: "dumb" });
    await terminal.sees(/1\. [\s\S]*Number \(1-\d+\), or q to leave/);
    await terminal.type("q\n");
    assertEquals(await terminal.code(), 1);
  },
});

Deno.test("doctor --acp starts the program as an editor would and says how it answered", async () => {
  await using rig = await makeRig({ config: modelConfig("http://127.0.0.1:9/v1") });
  const { code, stdout } = await runProgram(["doctor", "--acp", "--json"], { rig });
  const report = JSON.parse(stdout);
  const by = (name: string) => report.findings.find((f: { check: string }) => f.check === name);
  assertEquals([code, by("acp").status, by("acp start").status], [0, "ok", "ok"]);
  assertMatch(by("acp start").message, /^version \d+\.\d+\.\d+ answered after \d+ ms$/);
  assertEquals(by("acp sign-in").message, "an editor may sign in by: custom, builtin-demo");
});

Deno.test("doctor --acp tells what an editor started from a desktop would miss", async () => {
  const key = { OPENROUTER_API_KEY: "sk-or-only-in-this-shell" };
  await using rig = await makeRig({
    config: { model: { default: "x/y", provider: "openrouter" } },
    env: key,
  });
  const look = async () => {
    const { code, stdout } = await runProgram(["doctor", "--acp", "--json"], { rig });
    assert(!stdout.includes(key.OPENROUTER_API_KEY));
    const findings = JSON.parse(stdout).findings as { check: string; status: string; message: string }[];
    return { code, by: (name: string) => findings.find((finding) => finding.check === name) };
  };
  const missing = await look();
  assertEquals([missing.code, missing.by("acp desktop")?.status], [0, "warn"]);
  assertMatch(
    missing.by("acp desktop")!.message,
    /does not find openrouter: its key is set in this shell only/,
  );
  assertEquals(missing.by("acp home")?.message, `this shell sets HERMES_HOME=${rig.home}`);
  await Deno.writeTextFile(`${rig.home}/.env`, `OPENROUTER_API_KEY=${key.OPENROUTER_API_KEY}\n`);
  assertEquals((await look()).by("acp desktop")?.status, "ok");
});

Deno.test("doctor --acp fails for a data home that cannot be made, and says what to do", async () => {
  await using rig = await makeRig({ env: { HERMES_HOME: "/dev/null/hermes" } });
  const { code, stdout } = await runProgram(["doctor", "--acp", "--json"], { rig });
  const failed = JSON.parse(stdout).findings.filter((f: { status: string }) => f.status === "fail");
  assertEquals(code, 1);
  const home = failed.find((f: { check: string }) => f.check === "home");
  assertEquals(home.advice, "set HERMES_HOME to a folder that can be written");
  assert(
    failed.some((f: { message: string }) => /Cannot use the data home \/dev\/null\/hermes/.test(f.message)),
  );
});

/** What a desktop's launcher gives: next to nothing. */
const DESKTOP = { PATH: "/usr/bin:/bin", LANG: "C" };

Deno.test("a desktop's environment: cwd /, a short PATH, no home: it serves, and what fails says why", async () => {
  await using rig = await makeRig();
  const env = { ...DESKTOP, HOME: "/proc/nobody", HERMES_HOME: "" };
  await using acp = startAcp(rig, { args: ["--demo"], cwd: "/", env });
  assertEquals((await acp.initialize()).protocolVersion, 1);
  const { error } = await acp.ask("session/new", { cwd: rig.workspace, mcpServers: [] });
  assertEquals(error?.code, -32603);
  // Editors show the message; the details are the contract's place for it.
  for (const text of [error!.message, error!.data.details]) {
    assertMatch(text, /^Cannot use the data home \/proc\/nobody\/\.hermes: .*Set HERMES_HOME/);
  }
  assertEquals((await acp.close()).code, 0);
});

Deno.test("a desktop's environment with a home: a turn with a command runs in the session's folder", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "pwd" } }] }, "done"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig, { cwd: "/", env: DESKTOP });
  await acp.initialize();
  const sessionId = await acp.newSession(rig.workspace);
  assertEquals((await acp.prompt(sessionId, "where")).stopReason, "end_turn");
  const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
  assertEquals([end.status, end.content[0].content.text.trim()], ["completed", rig.workspace]);
});
