/** `--record` against the real program, and the recording played again by `builtin:script` (docs/scripted-model.md). */
import { startAcp } from "../../support/acp_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";
import { terminal, toolTurn } from "../gateway/scene.ts";

type Line = Record<string, unknown>;

/** What `run --json` told, without what differs from run to run: ids, times, the pieces that output came in. */
function told(stdout: string): Line[] {
  return stdout.trim().split("\n").map((line) => {
    const { session_id, turn_id, duration_ms, model, provider, usage, total, seq, ...rest } = JSON.parse(
      line,
    );
    void [session_id, turn_id, duration_ms, model, provider, usage, total, seq];
    return rest as Line;
  }).filter((line) => line["type"] !== "tool.progress");
}

const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;

async function replay(rig: Rig, path: string, prompt = "go"): Promise<Line[]> {
  const done = await runProgram(["run", "--json", "--yolo", "--model", `builtin:script:${path}`, prompt], {
    rig,
  });
  return told(done.stdout);
}

Deno.test("--record: a turn with thought, tools and a retry is played again with the same events", async () => {
  await using model = await startModelServer({});
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const path = `${rig.home}/turn.jsonc`;
  model.push(
    { steps: [{ error: { status: 429, message: "slow down", headers: { "Retry-After": "0.05" } } }] },
    {
      steps: [
        { reasoning: "Look " },
        { reasoning: "first." },
        { text: "Let me " },
        { text: "look." },
        { tool: "write_file", args: { path: "a.txt", content: "one\n" }, id: "call_a" },
        { tool: "terminal", args: { command: "cat a.txt; echo two" }, id: "call_b" },
        { usage: { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 40 } },
      ],
    },
    { steps: [{ text: "All " }, { text: "done." }] },
  );
  const first = await runProgram(["run", "--json", "--yolo", "--record", path, "go"], { rig });
  assertEquals(first.code, 0);
  assertEquals(await mode(path), 0o600);
  await Deno.remove(`${rig.workspace}/a.txt`);
  const again = await replay(rig, path);
  const before = told(first.stdout);
  assertEquals(again.map((line) => line["type"]), before.map((line) => line["type"]));
  const withoutDemo = (lines: Line[]) =>
    lines.map((line) => JSON.stringify(line).replace(/from \w+: slow/, "slow"));
  assertEquals(withoutDemo(again).slice(0, -1), withoutDemo(before).slice(0, -1));
  assertEquals([again.at(-1)!["text"], again.at(-1)!["exit_code"]], ["All done.", 0]);
  assertEquals(await Deno.readTextFile(`${rig.workspace}/a.txt`), "one\n");
  assertEquals(model.requests.length, 3);
});

Deno.test("--record: refuses a file that is there, unless it is told to replace it; --record-overwrite alone is wrong usage", async () => {
  await using rig = await makeRig({});
  const path = `${rig.workspace}/notes.jsonc`;
  await Deno.writeTextFile(path, "precious", { mode: 0o644 });
  for (const command of ["run", "chat", "acp", "gateway", "serve"]) {
    const prompt = command === "run" ? ["hi"] : [];
    const refused = await runProgram([command, "--demo", "--record", path, ...prompt], { rig });
    assertEquals(refused.code, 2, command);
    assertMatch(refused.stderr, /already; add --record-overwrite/);
    assertEquals(refused.stdout, "");
  }
  assertEquals(await Deno.readTextFile(path), "precious");
  assertEquals((await runProgram(["run", "--demo", "--record-overwrite", "hi"], { rig })).code, 2);
  assertEquals(
    (await runProgram(["run", "--demo", "--record", `${rig.workspace}/no/such/x`, "hi"], { rig })).code,
    2,
  );
  const args = ["run", "--demo", "--record", path, "--record-overwrite", "hello"];
  assertEquals((await runProgram(args, { rig })).code, 0);
  assertEquals(await mode(path), 0o600);
  assertMatch(await Deno.readTextFile(path), /^\/\/ A recording of hermes[^]*\]\}\n$/);
});

Deno.test("--record: two conversations are two tracks, a killed program leaves a file that plays, secrets are out", async () => {
  const secret = "ghp_" + "Z9y8X7w6V5".repeat(4);
  await using model = await startModelServer({});
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const path = `${rig.home}/two.jsonc`;
  await using host = await startGateway({ rig, args: ["--record", path] });
  const [one, two] = [await host.session(), await host.session()];
  model.push({ steps: [{ text: `The key is ${secret.slice(0, 12)}` }, { text: `${secret.slice(12)}.` }] });
  await host.turn(one.sid, "a");
  model.push(toolTurn(terminal(`echo TOKEN=${secret} | wc -l`)), "Second.");
  await host.turn(two.sid, "b");
  await host.idle(one.sid);
  model.push("First again.");
  await host.request("prompt.submit", { session_id: one.sid, text: "c" });
  await host.event("message.complete", one.sid, 1);
  await host.idle(one.sid);
  model.push({ steps: [{ text: "never" }, { stall: true }] });
  await host.request("prompt.submit", { session_id: two.sid, text: "d" });
  await host.event("message.delta", two.sid, host.eventsOf("message.delta", two.sid).length);
  host.kill("SIGKILL");
  await host.exited();

  const text = await Deno.readTextFile(path);
  assert(!text.includes(secret) && !text.includes(secret.slice(12)));
  assert(!text.trimEnd().endsWith("]}"));
  await Deno.writeTextFile(path, `${text}  // torn\n  {"steps":[{"te`);

  await using player = await startGateway({ rig, args: ["--model", `builtin:script:${path}`] });
  const [a, b] = [await player.session(), await player.session()];
  assertMatch((await player.turn(a.sid, "a")).text, /^The key is (?!ghp_Z9y8X7w6V5Z)/);
  assertEquals((await player.turn(b.sid, "b")).text, "Second.");
  await player.idle(a.sid);
  assertEquals((await player.turn(a.sid, "c")).text, "First again.");
});

Deno.test("--record: acp, serve and chat end their file in good order, and it plays through another door", async () => {
  await using model = await startModelServer({ turns: ["From acp.", "From serve.", "From chat."] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const file = (name: string) => `${rig.home}/${name}.jsonc`;
  {
    await using acp = startAcp(rig, { args: ["--record", file("acp")] });
    await acp.initialize();
    await acp.prompt(await acp.newSession(rig.workspace), "go");
  }
  {
    await using api = await startApi({ model, rig, args: ["--record", file("serve")] });
    const answer = await api.chat({ messages: [{ role: "user", content: "go" }] });
    assertEquals((await answer.json()).choices[0].message.content, "From serve.");
    await api.stop();
  }
  await runProgram(["chat", "--record", file("chat"), "go"], { rig });
  for (const name of ["acp", "serve", "chat"]) {
    assertMatch(await Deno.readTextFile(file(name)), /\]\}\n$/);
    assertEquals((await replay(rig, file(name))).at(-1)!["text"], `From ${name}.`);
  }
});
