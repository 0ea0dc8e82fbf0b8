/** `hermes sessions import` and `hermes sessions prune` on the running program (core.md D.10). */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";
import { hasTerminal, KEY, onTerminal } from "./terminal_rig.ts";

const DAY = 86_400;
const lines = (stdout: string) => stdout.trim().split("\n").map((line) => JSON.parse(line));

function exported(id: string, days: number, secret = ""): string {
  const at = Date.now() / 1000 - days * DAY;
  return JSON.stringify({
    id,
    source: "acp",
    title: `Title of ${id}`,
    started_at: at,
    last_activity_at: at,
    ended_at: at,
    end_reason: "closed",
    messages: [{ role: "user", content: `hello ${secret}` }, { role: "assistant", content: "there" }],
  });
}

Deno.test("core D.10: sessions import, then prune: looked at, asked about, done", async () => {
  await using rig = await makeRig({ config: { sessions: { retention_days: 30 } } });
  const file = `${rig.workspace}/sessions.jsonl`;
  await Deno.writeTextFile(
    file,
    [exported("old", 40), exported("older", 80), exported("young", 20)].join("\n"),
  );
  const imported = await runProgram(["sessions", "import", file, "--json"], { rig });
  assertEquals([imported.code, lines(imported.stdout)], [0, [{ imported: 3, skipped: 0 }]]);
  const again = await runProgram(["sessions", "import", file], { rig });
  assertEquals([again.code, again.stdout], [0, "imported 0 of 3 sessions\n"]);

  const look = await runProgram(["sessions", "prune", "--dry-run", "--json"], { rig });
  assertEquals(lines(look.stdout).map((row) => row.id ?? row.would_remove), ["older", "old", 2]);
  const fewer = await runProgram(["sessions", "prune", "--dry-run", "--older-than", "60"], { rig });
  assertMatch(
    fewer.stdout,
    /^1 session ended more than 60 days ago:\n {2}older, 2 messages, "Title of older"\n$/,
  );
  const asked = await runProgram(["sessions", "prune"], { rig });
  assertEquals(asked.code, 2);
  assertMatch(asked.stderr, /--yes/);
  assertEquals((await runProgram(["sessions", "prune", "--older-than", "0"], { rig })).code, 2);

  const done = await runProgram(["sessions", "prune", "--yes", "--json"], { rig });
  assertEquals(lines(done.stdout).map((row) => row.id ?? [row.removed, row.kept]), ["older", "old", [2, 0]]);
  const left = lines((await runProgram(["sessions", "list", "--json"], { rig })).stdout);
  assertEquals(left.map((row) => row.id), ["young"]);
  const none = await runProgram(["sessions", "prune", "--yes"], { rig });
  assertEquals([none.code, none.stdout], [0, "deleted 0 sessions\n"]);
});

Deno.test("core D.10: an import that is wrong in one line brings nothing in and names the line", async () => {
  await using rig = await makeRig();
  const file = `${rig.workspace}/sessions.jsonl`;
  await Deno.writeTextFile(file, `${exported("good", 1)}\n{"id": 5}\n`);
  const { code, stderr } = await runProgram(["sessions", "import", file], { rig });
  assertEquals(code, 2);
  assertMatch(stderr, /sessions\.jsonl, line 2: a session needs an id; nothing was imported\n/);
  assertEquals((await runProgram(["sessions", "list", "--json"], { rig })).stdout, "");
  assertEquals((await runProgram(["sessions", "import", `${file}.none`], { rig })).code, 2);
});

Deno.test("core D.10: with auto_prune old sessions go after a turn, once; off by default", async () => {
  for (const auto_prune of [false, true]) {
    await using rig = await makeRig({ config: { sessions: { auto_prune } } });
    const file = `${rig.workspace}/sessions.jsonl`;
    await Deno.writeTextFile(file, exported("old", 100));
    await runProgram(["sessions", "import", file], { rig });
    assertEquals((await runProgram(["run", "--demo", "hello"], { rig })).code, 0);
    const left = lines((await runProgram(["sessions", "list", "--json"], { rig })).stdout);
    assertEquals(left.some((row) => row.id === "old"), !auto_prune);
  }
});

Deno.test({
  name:
    "core D.10: prune and delete say that nothing was deleted, and ask beside a stdout that goes to a file",
  ignore: !hasTerminal,
  fn: async () => {
    await using rig = await makeRig();
    const file = `${rig.workspace}/sessions.jsonl`;
    await Deno.writeTextFile(file, exported("old", 100));
    await runProgram(["sessions", "import", file], { rig });
    const to = `${rig.workspace}/out.jsonl`;
    const ask = async (args: string[], keys: string, code: number, more: { to?: string } = {}) => {
      await using terminal = onTerminal(["sessions", ...args], { rig, ...more });
      await terminal.see(/old[, ]+2 messages, "Title of old"[\s\S]*\[y\/N\] /);
      await terminal.send(keys);
      if (code !== 0) await terminal.see(/hermes: nothing was deleted/);
      assertEquals(await terminal.exitCode, code, args.join(" "));
    };
    await ask(["delete", "old"], `n${KEY.enter}`, 1);
    await ask(["delete", "old"], KEY.ctrlC, 130);
    await ask(["prune"], KEY.ctrlC, 130);
    await ask(["prune", "--json"], KEY.enter, 1, { to });
    assertEquals(await Deno.readTextFile(to), "");
    await ask(["prune", "--json"], `y${KEY.enter}`, 0, { to });
    const told = lines(await Deno.readTextFile(to));
    assertEquals(told.map((row) => row.id ?? row.removed), ["old", 1]);
  },
});
