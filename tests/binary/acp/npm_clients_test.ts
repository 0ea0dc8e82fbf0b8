/** Other client libraries from npm, which carry older SDKs of the protocol inside (acp.md D1). */
import { calls, type Json } from "../../support/acp_driver.ts";
import { assertEquals } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { installClient } from "../../support/npm_client.ts";
import { processesOfHome } from "../../support/processes.ts";
import { eventually, makeRig, modelConfig, programCommand, type Rig } from "../../support/program.ts";

/** What a host would write with the library; its findings go to stdout as one JSON line. */
const SCRIPT = `
import { AgentFactory } from "acp-factory";
import { readFile, writeFile } from "node:fs/promises";
const [command, ...args] = JSON.parse(process.argv[2]);
const cwd = process.argv[3];
AgentFactory.register("hermes", { command, args: [...args, "acp"], env: {} });
const seen = { reads: [], writes: [], asked: [], kinds: [] };
const agent = await AgentFactory.spawn("hermes", {
  permissionMode: "interactive",
  onFileRead: async (path) => {
    seen.reads.push(path);
    return await readFile(path, "utf8");
  },
  onFileWrite: async (path, content) => {
    seen.writes.push(path);
    await writeFile(path, content);
  },
});
const session = await agent.createSession(cwd);
seen.modes = session.modes;
async function run(target, text, onText = () => {}) {
  let answer = "";
  for await (const update of target.prompt(text)) {
    seen.kinds.push(update.sessionUpdate);
    if (update.sessionUpdate === "agent_message_chunk") {
      answer += update.content.text;
      onText();
    }
    if (update.sessionUpdate === "permission_request") {
      seen.asked.push(update.toolCall.title);
      target.respondToPermission(update.requestId, "allow_once");
    }
  }
  return answer;
}
seen.first = await run(session, "write a file");
await session.setMode("accept_edits");
seen.slow = await run(session, "slow", () => session.cancel());
const fork = await agent.forkSession(session.id, cwd);
seen.forked = fork.id !== session.id && await run(fork, "in the fork");
const loaded = await agent.loadSession(session.id, cwd);
seen.loaded = loaded.id === session.id;
await agent.close();
console.log(JSON.stringify(seen));
process.exit(0);
`;

/** Runs a host script beside the installed library; its last line of stdout, as JSON. */
async function runHost(folder: string, rig: Rig, source: string): Promise<Json> {
  const script = `${folder}/host-${crypto.randomUUID()}.mjs`;
  await Deno.writeTextFile(script, source);
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: [script, JSON.stringify(programCommand()), rig.workspace],
    cwd: rig.workspace,
    clearEnv: true,
    env: rig.env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).output().finally(() => Deno.remove(script));
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, err);
  return JSON.parse(out!.trim().split("\n").at(-1)!);
}

async function allGone(rig: Rig): Promise<void> {
  const gone = async () => (await processesOfHome(rig.home)).length === 0;
  await eventually(gone, 5_000, "the end of the program");
}

Deno.test("acp-factory opens, prompts with a permission, cancels, forks and loads, with its own file access", async (t) => {
  const folder = await installClient("acp-factory@0.1.14");
  await t.step({
    name: folder ? "a host on acp-factory" : "skipped: the package cannot be had from npm",
    ignore: folder === null,
    fn: async () => {
      const turns: ScriptTurn[] = [
        calls(["write_file", { path: "a.txt", content: "by the library" }]),
        "written",
        { steps: [{ text: "begun" }, { stall: true }] },
        "forked",
      ];
      await using model = await startModelServer({ turns });
      await using rig = await makeRig({ config: modelConfig(model.url) });
      const seen = await runHost(folder!, rig, SCRIPT);
      assertEquals(seen.modes, ["default", "accept_edits", "dont_ask", "plan"]);
      assertEquals(seen.asked, [`Approve edit: ${rig.workspace}/a.txt`]);
      assertEquals([seen.first, seen.slow, seen.forked, seen.loaded], ["written", "begun", "forked", true]);
      assertEquals(seen.writes, [`${rig.workspace}/a.txt`]);
      assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "by the library");
      await allGone(rig);
    },
  });
});

/** The agent as a language model of the AI SDK. */
const AI_SDK_SCRIPT = `
import { createACPProvider } from "@mcpc-tech/acp-ai-provider";
import { streamText } from "ai";
const [command, ...args] = JSON.parse(process.argv[2]);
const provider = createACPProvider({
  command,
  args: [...args, "acp"],
  env: process.env,
  session: { cwd: process.argv[3], mcpServers: [] },
});
const parts = {};
let text = "";
const result = streamText({ model: provider.languageModel(), prompt: "look", tools: provider.tools });
for await (const part of result.fullStream) {
  parts[part.type] = (parts[part.type] ?? 0) + 1;
  if (part.type === "text-delta") text += part.text;
  if (part.type === "error") parts.failure = String(part.error);
}
provider.cleanup?.();
console.log(JSON.stringify({ text, parts }));
process.exit(0);
`;

Deno.test("acp-ai-provider streams a turn with a tool call as a model of the AI SDK", async (t) => {
  const folder = await installClient("@mcpc-tech/acp-ai-provider@0.2.9");
  await t.step({
    name: folder ? "a host on the AI SDK" : "skipped: the package cannot be had from npm",
    ignore: folder === null,
    fn: async () => {
      const turns: ScriptTurn[] = [
        calls(["read_file", { path: "a.txt" }]),
        { steps: [{ text: "it says " }, { text: "hello", delay_ms: 20 }] },
      ];
      await using model = await startModelServer({ turns });
      await using rig = await makeRig({ config: modelConfig(model.url) });
      await Deno.writeTextFile(`${rig.workspace}/a.txt`, "hello\n");
      const seen = await runHost(folder!, rig, AI_SDK_SCRIPT);
      assertEquals([seen.text, seen.parts.failure], ["it says hello", undefined]);
      assertEquals([seen.parts["tool-call"], seen.parts["tool-result"]], [1, 1]);
      await allGone(rig);
    },
  });
});
