/** `hermes chat` on a terminal: keys, pastes, questions, Ctrl-C, Ctrl-Z, and the state the terminal is left in. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { processesOfHome, processesWith } from "../../support/processes.ts";
import { makeRig, modelConfig } from "../../support/program.ts";
import { hasTerminal, KEY, onTerminal } from "./terminal_rig.ts";

const REMOVE: ScriptTurn = { steps: [{ tool: "terminal", args: { command: "rm -rf build" } }] };
const SLOW: ScriptTurn = { steps: [{ tool: "terminal", args: { command: "sleep 30" } }] };
const PROMPT = /› /;
/** In the answer of `stty -a`. */
const HAS_ECHO = /[^-]icanon[\s\S]*[^-]echo /;

type Message = { role: string; content: string };

function userTexts(messages: unknown): string[] {
  return (messages as Message[]).filter((message) => message.role === "user").map((message) =>
    message.content
  );
}

function terminalTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name, ignore: !hasTerminal, fn: run });
}

terminalTest(
  "chat on a terminal edits the line, keeps history, and leaves with Ctrl-D and exit code 0",
  async () => {
    await using server = await startModelServer({ turns: ["First.", "Second."] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await using terminal = onTerminal(["chat"], { rig, after: "stty -a" });
    await terminal.see(PROMPT);
    await terminal.send(`helo\x1b[Dl${KEY.enter}`);
    await terminal.see(/First\.[\s\S]*› /);
    await terminal.send("\x1b[A!" + KEY.enter);
    await terminal.see(/Second\.[\s\S]*› /);
    await terminal.send(KEY.ctrlD);
    assertEquals(await terminal.exitCode, 0);
    assertEquals(userTexts(server.calls()[1]!.body.messages), ["hello", "hello!"]);
    assertMatch(terminal.screen(), /[^-]icanon[\s\S]*[^-]echo /);
    assertMatch(terminal.screen(), /\[\?2004h[\s\S]*\[\?2004l/);
  },
);

terminalTest(
  "chat on a terminal takes a paste of many lines as one message, and only Enter sends it",
  async () => {
    await using server = await startModelServer({ turns: ["First.", "Second."] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await using terminal = onTerminal(["chat"], { rig });
    await terminal.see(PROMPT);
    await terminal.paste("one\n  two\nthree\n");
    await terminal.see(/one⏎ {2}two⏎three/);
    await terminal.send(`, 日本${KEY.altEnter}語 4${KEY.enter}`);
    await terminal.see(/First\.[\s\S]*› /);
    const long = Array.from({ length: 300 }, (_, i) => `line ${i}`).join("\n");
    await terminal.send("see ");
    await terminal.paste(long);
    await terminal.see(/see \[pasted 1: 300 lines\]/);
    await terminal.send(" end" + KEY.enter);
    await terminal.see(/Second\.[\s\S]*› /);
    assertEquals(userTexts(server.calls()[1]!.body.messages), [
      "one\n  two\nthree, 日本\n語 4",
      `see ${long} end`,
    ]);
  },
);

terminalTest(
  "chat on a terminal: nothing typed or pasted before a question answers it; Ctrl-C there ends the turn",
  async () => {
    await using server = await startModelServer({ turns: [REMOVE, "Finished.", REMOVE] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await Deno.mkdir(`${rig.workspace}/build`);
    await using terminal = onTerminal(["chat"], { rig });
    const there = () => [...Deno.readDirSync(rig.workspace)].length;
    await terminal.see(PROMPT);
    await terminal.send(`clean${KEY.enter}once${KEY.enter}`);
    await terminal.see(/May this run\?[\s\S]*\[d\]eny: /);
    await terminal.paste("once\n");
    await terminal.see(/once/);
    assertEquals(there(), 1);
    await terminal.send(KEY.enter);
    await terminal.see(/Finished\.[\s\S]*› /);
    assertEquals(there(), 0);
    await terminal.send(`again${KEY.enter}`);
    await terminal.see(/May this run\?[\s\S]*\[d\]eny: /);
    await terminal.send(KEY.ctrlC);
    await terminal.see(/stopped[\s\S]*› /);
    assertEquals(server.calls().length, 3);
  },
);

terminalTest(
  "chat on a terminal keeps what is typed during a turn, unseen, for the next prompt",
  async () => {
    const wait: ScriptTurn = {
      steps: [{ tool: "terminal", args: { command: "until [ -e go ]; do sleep 0.05; done" } }],
    };
    await using server = await startModelServer({ turns: [wait, "Waited.", "Second."] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await using terminal = onTerminal(["chat"], { rig });
    await terminal.see(PROMPT);
    await terminal.send("wait" + KEY.enter);
    await terminal.see(/● terminal: until/);
    await terminal.send("next");
    await Deno.writeTextFile(`${rig.workspace}/go`, "");
    const screen = await terminal.see(/Waited\.[\s\S]*› [\s\S]*next/);
    assertEquals(screen.match(/next/g)?.length, 1);
    await terminal.send(" one" + KEY.enter);
    await terminal.see(/Second\.[\s\S]*› /);
    assertEquals(userTexts(server.calls()[2]!.body.messages), ["wait", "next one"]);
  },
);

terminalTest("chat on a terminal: Ctrl-C stops a running command, twice leaves with 130", async () => {
  await using server = await startModelServer({ turns: [SLOW] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  await using terminal = onTerminal(["chat"], { rig, after: "stty -a" });
  await terminal.see(PROMPT);
  await terminal.send("wait" + KEY.enter);
  await terminal.see(/● terminal: sleep 30/);
  await terminal.send(KEY.ctrlC);
  await terminal.see(/stopped\r\n[\s\S]*› /);
  await terminal.send(KEY.ctrlC);
  await terminal.see(/Ctrl-C again leaves[\s\S]*› /);
  await terminal.send(KEY.ctrlC);
  assertEquals(await terminal.exitCode, 130);
  assertMatch(terminal.screen(), HAS_ECHO);
});

terminalTest("chat on a terminal completes a command by Tab, and SIGTERM leaves it tidy", async () => {
  await using rig = await makeRig();
  await using terminal = onTerminal(["chat", "--demo"], { rig, after: "stty -a" });
  await terminal.see(PROMPT);
  await terminal.send("/versi\t");
  await terminal.see(/\/version /);
  await terminal.send(KEY.enter);
  await terminal.see(/Hermes Agent v[\s\S]*› /);
  const shells = await processesWith("stty cols");
  const [program, ...others] = (await processesOfHome(rig.home)).filter((pid) => !shells.includes(pid));
  assertEquals(others, []);
  Deno.kill(program!, "SIGTERM");
  assertEquals(await terminal.exitCode, 0);
  assertMatch(terminal.screen(), HAS_ECHO);
});

terminalTest("chat on a terminal comes back from Ctrl-Z with its line", async () => {
  await using server = await startModelServer({ turns: ["First."] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  await using terminal = onTerminal(["chat"], { rig, after: "echo STOPPED; stty -a; fg; code=$?" });
  await terminal.see(PROMPT);
  await terminal.send("ab");
  await terminal.see(/ab/);
  await terminal.send(KEY.ctrlZ);
  await terminal.see(/\[\?2004l[\s\S]*STOPPED[\s\S]*[^-]icanon[\s\S]*[^-]echo /);
  await terminal.see(/\[\?2004h[\s\S]*› ab/);
  await terminal.send("c" + KEY.enter);
  await terminal.see(/First\.[\s\S]*› /);
  await terminal.send(KEY.ctrlD);
  assertEquals(await terminal.exitCode, 0);
  assertEquals(userTexts(server.calls()[0]!.body.messages), ["abc"]);
});
