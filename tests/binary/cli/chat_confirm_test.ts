/** Commands that throw a conversation away are asked about on a terminal (core.md E.4 `destructive_slash_confirm`). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";
import { hasTerminal, KEY, onTerminal } from "./terminal_rig.ts";

const PROMPT = /› /;
const QUESTION = /\[y\]es, \[n\]o, \[a\]lways: /;

type Message = { role: string; content: string };

function said(body: { messages?: unknown }): string[] {
  return (body.messages as Message[]).filter(({ role }) => role !== "system").map(({ content }) => content);
}

async function isAsking(rig: Rig): Promise<string> {
  const key = "approvals.destructive_slash_confirm";
  return (await runProgram(["config", "get", key], { rig })).stdout.trim();
}

Deno.test({
  name: "E.4: /undo, /reset and /new are asked about; no keeps all, yes goes on, always is written down",
  ignore: !hasTerminal,
  fn: async () => {
    await using server = await startModelServer({ turns: ["First.", "Second.", "Third.", "Fourth."] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await using terminal = onTerminal(["chat"], { rig });
    const enter = async (text: string, then: RegExp) => {
      await terminal.send(text + KEY.enter);
      return await terminal.see(then);
    };
    await terminal.see(PROMPT);
    // Nothing was said yet: there is nothing to lose.
    await enter("/reset", /Cleared 0 messages\.[\s\S]*› /);
    await enter("one", /First\.[\s\S]*› /);

    await enter("/undo", /\? \/undo: Take back your last turns and what followed\. Go on\?[\s\S]*lways: /);
    await enter("maybe", /please pick one of these[\s\S]*lways: /);
    await enter("", /please pick one of these[\s\S]*lways: /);
    await enter("n", /nothing was changed[\s\S]*› /);
    await enter("/reset", QUESTION);
    await terminal.send(KEY.ctrlC);
    await terminal.see(/nothing was changed[\s\S]*› /);
    await enter("two", /Second\.[\s\S]*› /);
    assertEquals(said(server.calls()[1]!.body), ["one", "First.", "two"]);

    await enter("/undo", QUESTION);
    await enter("y", /Took back 1 turn \(2 messages\)[\s\S]*› [\s\S]*two/);
    await enter("!", /Third\.[\s\S]*› /);
    assertEquals(said(server.calls()[2]!.body), ["one", "First.", "two!"]);
    assertEquals(await isAsking(rig), "true");

    await enter("/new", /\? \/new: Start a new session\. Go on\?[\s\S]*lways: /);
    await enter("always", /not asked again[\s\S]*new session[\s\S]*› /);
    assertEquals(await isAsking(rig), "false");
    await enter("four", /Fourth\.[\s\S]*› /);
    assertEquals(said(server.calls()[3]!.body), ["four"]);
    await enter("/reset", /Cleared 2 messages\.[\s\S]*› /);
    await terminal.send(KEY.ctrlD);
    assertEquals(await terminal.exitCode, 0);
  },
});

Deno.test("E.4: in a pipe nobody is asked, and chat has /undo, /retry and /clear", async () => {
  await using server = await startModelServer({ turns: ["First.", "Again.", "Anew."] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const { code, stdout, stderr } = await runProgram(["chat"], {
    rig,
    input: "one\n/retry\n/undo\n/clear\ntwo\n/reset\n",
  });
  assertEquals([code, stdout], [0, "First.\nAgain.\nAnew.\n"]);
  assertEquals(server.calls().map(({ body }) => said(body)), [["one"], ["one"], ["two"]]);
  assertMatch(stderr, /Took back 1 turn[\s\S]*new session[\s\S]*Cleared 2 messages\./);
  assert(!stderr.includes("Go on?"));
});

Deno.test({
  name:
    "E.4: the question names what was typed, breaks at words on a narrow screen, and /help has the other names",
  ignore: !hasTerminal,
  fn: async () => {
    await using server = await startModelServer({ turns: ["First.", "Second."] });
    await using rig = await makeRig({ config: modelConfig(server.url) });
    await using terminal = onTerminal(["chat"], { rig, columns: 40 });
    const enter = async (text: string, then: RegExp) => {
      await terminal.send(text + KEY.enter);
      return await terminal.see(then);
    };
    await terminal.see(/Ctrl-C stops an\r?\nanswer, Ctrl-D leaves[\s\S]*› /);
    await enter("one", /First\.[\s\S]*› /);
    await enter(
      "/undo 7",
      /\? \/undo 7: Take back your last turns and\r?\nwhat followed\. Go on\?[\s\S]*lways: /,
    );
    await enter("n", /nothing was changed[\s\S]*› /);
    await enter("/help", /\/new, \/clear \[title\][\s\S]*\/quit, \/exit, \/q[\s\S]*› /);
    await terminal.send("/cle\t");
    await terminal.see(/\/clear /);
    await terminal.send(KEY.ctrlC);
    await terminal.see(/Ctrl-C again leaves[\s\S]*› /);
    await terminal.send(KEY.ctrlC);
    assertEquals(await terminal.exitCode, 130);
  },
});
