/** `hermes sessions` over conversations that `hermes run` stored. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig, runProgram } from "../../support/program.ts";

const lines = (stdout: string) => stdout.trim().split("\n").map((line) => JSON.parse(line));

async function runOne(rig: Rig, prompt: string): Promise<string> {
  const { stdout } = await runProgram(["run", "--json", prompt], { rig });
  return lines(stdout).at(-1).session_id;
}

Deno.test("sessions list, show, search, export and delete", async () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  await using server = await startModelServer({ turns: ["The zebra answer.", "Second answer."] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const first = await runOne(rig, `about zebras and ${secret}`);
  const second = await runOne(rig, "something else");

  const list = lines((await runProgram(["sessions", "list", "--json"], { rig })).stdout);
  assertEquals(list.map((row) => [row.id, row.source, row.message_count]), [[second, "cli", 2], [
    first,
    "cli",
    2,
  ]]);
  const one = lines((await runProgram(["sessions", "list", "--json", "-n", "1"], { rig })).stdout);
  assertEquals(one.map((row) => row.id), [second]);
  const text = await runProgram(["sessions", "list"], { rig });
  assertMatch(text.stdout, new RegExp(`^LAST USED.*\\n.*${second}`));

  const show = await runProgram(["sessions", "show", second], { rig });
  assertMatch(show.stdout, /you\n {2}something else\n\nhermes\n {2}Second answer\./);
  const json = JSON.parse((await runProgram(["sessions", "show", second, "--json"], { rig })).stdout);
  assertEquals(json.messages.map((m: { role: string; content: string }) => [m.role, m.content]), [
    ["user", "something else"],
    ["assistant", "Second answer."],
  ]);

  const hits = lines((await runProgram(["sessions", "search", "zebra", "--json"], { rig })).stdout);
  assertEquals(hits.map((hit) => [hit.session_id, hit.role]), [[first, "assistant"]]);
  assertMatch(hits[0].snippet, />>>zebra<<</);

  const exported = await runProgram(["sessions", "export", "--redact"], { rig });
  assertEquals(lines(exported.stdout).map((row) => row.id).sort(), [first, second].sort());
  assertEquals(exported.stdout.includes(secret), false);

  const asked = await runProgram(["sessions", "delete", first], { rig });
  assertEquals(asked.code, 2);
  assertMatch(asked.stderr, /--yes/);
  assertEquals((await runProgram(["sessions", "delete", first, "--yes"], { rig })).code, 0);
  const left = lines((await runProgram(["sessions", "list", "--json"], { rig })).stdout);
  assertEquals(left.map((row) => row.id), [second]);
  assertEquals((await runProgram(["sessions", "show", first], { rig })).code, 2);
});

Deno.test("sessions list without any says so on stderr and exits 0", async () => {
  await using rig = await makeRig();
  const { code, stdout, stderr } = await runProgram(["sessions", "list"], { rig });
  assertEquals([code, stdout], [0, ""]);
  assertMatch(stderr, /no sessions yet/);
});

Deno.test("sessions list of a door that has none does not say that there are none at all", async () => {
  await using rig = await makeRig();
  await runProgram(["run", "--demo", "hello"], { rig });
  const { code, stdout, stderr } = await runProgram(["sessions", "list", "--source", "acp"], { rig });
  assertEquals([code, stdout], [0, ""]);
  assertEquals(stderr, 'no sessions of "acp"; hermes sessions list shows those of every door\n');
});
