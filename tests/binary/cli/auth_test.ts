/** `hermes auth` as a person meets it (core.md F.3): what it asks, what it refuses, and no key in anything it says. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, type Rig, runProgram } from "../../support/program.ts";
import { hasTerminal, KEY, onTerminal } from "./terminal_rig.ts";

const SECRET = "sk-or-v1-aaaabbbbccccdddd1111";

const auth = (rig: Rig, args: string[], input = "") => runProgram(["auth", ...args], { rig, input });

Deno.test("F.3: a key in the wrong place is refused and not repeated", async () => {
  await using rig = await makeRig();
  const refused: [args: string[], code: number, why: RegExp][] = [
    [["auth", "add", "openrouter", SECRET], 2, /a key is never an argument, it is asked for/],
    [["auth", "add", SECRET], 2, /no provider with keys/],
    [["auth", "list", SECRET], 2, /no provider with keys/],
    [["auth", "remove", "openrouter", SECRET], 1, /no key with this id or label; hermes auth list/],
    [["auth", "add", "openrouter", "--label", SECRET], 2, /--label takes a name, and this looks like a key/],
    [["auth", SECRET], 2, /unknown subcommand/],
    [[SECRET], 2, /unknown command/],
    [[`--api-key=${SECRET}`], 2, /unknown option/],
    [["sessions", "show", SECRET], 2, /no stored session/],
    [["config", "get", SECRET], 2, /Unknown key/],
  ];
  for (const [args, code, why] of refused) {
    const done = await runProgram(args, { rig, input: "sk-another-key-1234\n" });
    assertEquals([done.code, done.stdout], [code, ""], args.join(" "));
    assertMatch(done.stderr, why);
    assert(!(done.stdout + done.stderr).includes(SECRET), done.stderr);
  }
  assertMatch((await auth(rig, ["list", "openrouter"])).stderr, /^openrouter has no keys in auth\.json; /);
});

Deno.test("F.3: what is no key, and an endpoint that is none, are told with what to do", async () => {
  await using rig = await makeRig({ config: { providers: { box: { base_url: "http://127.0.0.1:1/v1" } } } });
  const blank = await auth(rig, ["add", "openrouter"], "two words\n");
  assertEquals(blank.code, 2);
  assertMatch(blank.stderr, /can be no key: it is too short, has a space in it or is a stand-in/);
  const none = await auth(rig, ["add", "openrouter"]);
  assertEquals([none.code, none.stderr], [1, "hermes: no key was given, nothing was changed\n"]);

  const own = await auth(rig, ["add", "custom"], `${SECRET}\n`);
  assertEquals(own.code, 2);
  assertMatch(own.stderr, /name it as providers\.<name>, and say custom:<name>/);
  assertEquals((await auth(rig, ["add", "custom:box"], `${SECRET}\n`)).stderr, "");
  const unknown = await auth(rig, ["add", "custom:bax"], `${SECRET}\n`);
  assertEquals(unknown.code, 0);
  assertMatch(
    unknown.stderr,
    /no endpoint of yours is called bax yet: hermes config set providers\.bax\.base_url/,
  );
});

Deno.test("F.3: a label that two keys have removes neither; wake says when nothing rests", async () => {
  await using rig = await makeRig();
  const wake = async () => await auth(rig, ["wake", "openrouter"]);
  assertMatch(
    (await wake()).stderr,
    /openrouter has no keys in auth\.json; hermes auth add openrouter adds one/,
  );
  const ids = [];
  for (const key of ["pool-key-aaaa-1111", "pool-key-bbbb-2222"]) {
    const { stdout } = await auth(rig, ["add", "openrouter", "--label", "work", "--json"], `${key}\n`);
    ids.push(JSON.parse(stdout).id);
  }
  assertEquals((await wake()).stdout, "no key of openrouter rests\n");
  const both = await auth(rig, ["remove", "openrouter", "work"]);
  assertEquals([both.code, both.stdout], [2, ""]);
  assertMatch(
    both.stderr,
    new RegExp(`2 keys of openrouter have this label; name one by its id: ${ids.join(", ")}`),
  );
  const one = await auth(rig, ["remove", "openrouter", ids[0]]);
  assertEquals([one.code, one.stdout], [0, "removed 1 key of openrouter\n"]);
  assertEquals((await auth(rig, ["remove", "openrouter", "work"])).code, 0);
});

Deno.test({
  name: "F.3: with stdout in a file the key is asked for on the terminal, unseen, and the file has JSON only",
  ignore: !hasTerminal,
  fn: async () => {
    await using rig = await makeRig();
    const to = `${rig.workspace}/out.json`;
    await using terminal = onTerminal(["auth", "add", "openrouter", "--json"], { rig, to });
    await terminal.see(/Key for openrouter \(not shown\): /);
    await terminal.send(SECRET + KEY.enter);
    assertEquals(await terminal.exitCode, 0);
    assert(!terminal.screen().includes(SECRET.slice(0, 8)), terminal.screen());
    assertEquals(JSON.parse(await Deno.readTextFile(to)).provider, "openrouter");
  },
});

Deno.test({
  name: "TERM=dumb: the key is not shown either, and Ctrl-C ends the question",
  ignore: !hasTerminal,
  fn: async () => {
    await using rig = await makeRig();
    for (const [key, code] of [[KEY.enter, 0], [KEY.ctrlC, 130]] as const) {
      await using terminal = onTerminal(["auth", "add", "openrouter"], { rig, env: { TERM: "dumb" } });
      await terminal.see(/Key for openrouter \(not shown\): /);
      await terminal.send(SECRET + key);
      assertEquals(await terminal.exitCode, code);
      assert(!terminal.screen().includes(SECRET.slice(0, 8)), terminal.screen());
    }
  },
});

Deno.test({
  name: "Ctrl-C at the question for a key ends with 130 and says that nothing was changed",
  ignore: !hasTerminal,
  fn: async () => {
    await using rig = await makeRig();
    await using terminal = onTerminal(["auth", "add", "openrouter"], { rig });
    await terminal.see(/Key for openrouter \(not shown\): /);
    await terminal.send(KEY.ctrlC);
    await terminal.see(/no key was given, nothing was changed/);
    assertEquals(await terminal.exitCode, 130);
  },
});
