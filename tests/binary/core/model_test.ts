/** Which model answers, and clean frames whatever happens: core rows 73 and 74. */
import { startAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { calling, exists, type Json, query, rows, shell, withCore } from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const ADVICE = [/hermes setup/, /--demo/];

Deno.test("core 74: nothing configured is an error that names hermes setup and --demo, on every surface", async () => {
  await using rig = await makeRig();
  const run = await runProgram(["run", "hi"], { rig });
  assertEquals([run.code, run.stdout], [1, ""]);
  await using host = await startGateway({ rig });
  const { sid } = await host.session({ cwd: rig.workspace });
  const complete = await host.turn(sid, "hi");
  assertEquals(complete.status, "error");
  await using acp = startAcp(rig);
  await acp.initialize();
  const opened = await acp.ask("session/new", { cwd: rig.workspace, mcpServers: [] });
  const refused = opened.error ?? (await acp.inTime(
    acp.startPrompt(opened.result.sessionId, "hi").answer,
    10_000,
    "the answer",
  )).error;
  assertEquals(refused?.code, -32000);
  await using api = await startApi({ rig });
  const answer = await api.chat({ messages: [{ role: "user", content: "hi" }] });
  assertEquals(answer.status, 503);
  const { error } = await answer.json();
  const told: [string, string][] = [
    ["run", run.stderr],
    ["gateway", complete.text],
    ["acp", JSON.stringify(refused)],
    ["api", error.message],
  ];
  for (const [surface, text] of told) {
    for (const word of ADVICE) assertMatch(text, word, `${surface}: ${text}`);
  }
});

Deno.test("core 74: a provider named without its key is an error that names the key, not the demo", async () => {
  await using rig = await makeRig({ config: { model: { default: "gpt-5.4", provider: "openai-api" } } });
  const run = await runProgram(["run", "--json", "list the files"], { rig });
  assertEquals(run.code, 1);
  assertMatch(run.stderr, /OPENAI_API_KEY/);
  assertEquals(run.stdout.includes("text.delta"), false);
});

const SCRIPT = {
  turns: [
    {
      steps: [
        { reasoning: "Let me think." },
        { text: "Look: " },
        { tool: "terminal", args: { command: "echo from the script" } },
        { usage: { prompt_tokens: 100, cached_tokens: 40, completion_tokens: 9, reasoning_tokens: 3 } },
      ],
    },
    { steps: [{ text: "All " }, { text: "done." }, { usage: { prompt_tokens: 20, completion_tokens: 2 } }] },
    { steps: [{ error: { status: 401, message: "scripted refusal" } }] },
  ],
};

Deno.test("core 74: builtin:script plays text, reasoning, tool calls, usage and errors as a provider would", async () => {
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/turns.jsonc`, `// a script\n${JSON.stringify(SCRIPT)}`);
  await using host = await startGateway({
    rig,
    args: ["--model", "builtin:script:./turns.jsonc"],
  });
  const { sid, stored } = await host.session({ cwd: rig.workspace });
  const complete = await host.turn(sid, "go");
  assertEquals([complete.status, complete.text], ["complete", "All done."]);
  const joined = (type: string) => host.eventsOf(type, sid).map((event) => event.payload.text).join("");
  assertEquals(joined("reasoning.delta"), "Let me think.");
  assertEquals(joined("message.delta").replace(/\s+/g, " "), "Look: All done.");
  const found = rows(rig, stored);
  assertEquals(found.map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
  assertEquals(JSON.parse(found[2]!.content!).output, "from the script");
  const [row] = query(rig, "SELECT * FROM sessions WHERE id = ?", stored);
  assertEquals([row.input_tokens, row.cache_read_tokens, row.output_tokens, row.reasoning_tokens], [
    80,
    40,
    11,
    3,
  ]);
  const failed = await host.turn(sid, "again");
  assertEquals(failed.status, "error");
  assertMatch(failed.text, /401.*scripted refusal/);
});

Deno.test("core 74: a script that is missing or malformed says which file and where", async () => {
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/bad.jsonc`, '{ "turns": [\n  { "stepz": [] }\n] }');
  for (const [name, word] of [["none.jsonc", /none\.jsonc/], ["bad.jsonc", /bad\.jsonc.*line 2/s]] as const) {
    const run = await runProgram(["run", "hi", "--model", `builtin:script:./${name}`], { rig });
    assertEquals([run.code, run.stdout], [1, ""]);
    assertMatch(run.stderr, word);
  }
});

Deno.test("core 73: stdout of the stdio servers holds protocol frames only, with debug logs and noisy tools", async () => {
  const noisy =
    "echo to stdout; echo to stderr >&2; printf '\\033[31mred\\r\\n'; echo '{\"not\":\"ours\"}' > /dev/stdout";
  await withCore({
    model: { turns: [calling(shell(noisy)), "ok", calling(shell(noisy)), "ok"] },
    config: { logging: { level: "DEBUG" } },
  }, async ({ rig, host, open }) => {
    const { sid } = await open();
    await host.turn(sid, "go");
    await host.sendLine("{bad");
    assertEquals((await host.response(null)).error.code, -32700);
    const exit = await host.end();
    assertEquals(exit.code, 0);
    for (const frame of host.frames as Json[]) assertEquals(frame.jsonrpc, "2.0");
    assert(host.lines.every((line) => !/[\u0085\u2028\u2029\r]/.test(line)));
    const acp = startAcp(rig);
    await acp.initialize();
    const id = await acp.newSession(rig.workspace);
    assertEquals((await acp.prompt(id, "go")).stopReason, "end_turn");
    await acp.close(); // Throws when a line was not a frame of the protocol.
    assert(await exists(`${rig.home}/hermes.db`));
  });
});
