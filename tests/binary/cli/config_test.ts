/** `hermes config`: core rows 54 to 56 through the command line. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const COMMENTED = `{
  // how commands are approved
  "approvals": { "mode": "manual" /* careful */ },
  "agent": { "max_turns": 12 }
}
`;

Deno.test("config set: what can be no key is refused, and not repeated", async () => {
  await using rig = await makeRig();
  for (const value of [["sk-aaaabbbbccccdddd", "extra"], ["two words"], [""]]) {
    const args = ["config", "set", "OPENROUTER_API_KEY", ...value];
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([code, stdout], [2, ""]);
    assertMatch(
      stderr,
      /takes a key, which is one word without spaces; hermes config unset OPENROUTER_API_KEY/,
    );
    assertEquals(stderr.includes("aaaabbbb"), false);
  }
});

Deno.test("config set: a value before its setting is turned round in words, and nothing is written", async () => {
  await using rig = await makeRig();
  const { code, stdout, stderr } = await runProgram(["config", "set", "openai/x", "model.default"], { rig });
  assertEquals([code, stdout], [2, ""]);
  assertMatch(
    stderr,
    /"openai\/x" is no setting; did you mean "hermes config set model\.default openai\/x"\?/,
  );
  assertEquals([...Deno.readDirSync(rig.home)].filter(({ name }) => name.startsWith("config")), []);
});

Deno.test({
  name: "config set: a home that cannot be written is told as such, for settings and for keys",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using rig = await makeRig();
    for (const args of [["model.default", "x"], ["OPENROUTER_API_KEY", "sk-aaaabbbbccccdddd"]]) {
      const { code, stdout, stderr } = await runProgram(["config", "set", ...args], {
        rig,
        env: { HERMES_HOME: "/proc/none" },
      });
      assertEquals([code, stdout], [1, ""]);
      assertMatch(
        stderr,
        /Cannot write \/proc\/none\/\S+: .*Set HERMES_HOME to a folder that can be written/,
      );
      assertEquals(/unexpected|aaaabbbb/.test(stderr), false);
    }
  },
});

Deno.test("core 54: config set approvals.mode off writes the text and keeps comments and order", async () => {
  await using rig = await makeRig({ config: COMMENTED });
  const set = await runProgram(["config", "set", "approvals.mode", "off"], { rig });
  assertEquals([set.code, set.stderr], [0, ""]);
  const file = await Deno.readTextFile(`${rig.home}/config.jsonc`);
  assertEquals(file, COMMENTED.replace('"manual"', '"off"'));
  const get = await runProgram(["config", "get", "approvals.mode"], { rig });
  assertEquals(get, { code: 0, stdout: "off\n", stderr: "" });
});

Deno.test("core 55: a broken config file gives a warning, and config set refuses to overwrite it", async () => {
  const broken = '{ "agent": { "max_turns": ';
  await using rig = await makeRig({ config: broken });
  const get = await runProgram(["config", "get", "agent.max_turns"], { rig });
  assertEquals([get.code, get.stdout], [0, "90\n"]);
  assertMatch(get.stderr, /warning/);
  const set = await runProgram(["config", "set", "agent.max_turns", "5"], { rig });
  assertEquals([set.code, set.stdout], [1, ""]);
  assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), broken);
  const run = await runProgram(["run", "--demo", "list files"], { rig });
  assertEquals(run.code, 0);
  assertMatch(run.stderr, /warning: .*config\.jsonc cannot be read/);
});

Deno.test("core 56: config set of a key goes to .env with mode 0600, masked in the echo", async () => {
  await using rig = await makeRig({ config: "{}\n" });
  const key = "sk-or-v1-0123456789abcdef0123456789abcdef";
  const set = await runProgram(["config", "set", "OPENROUTER_API_KEY", key], { rig });
  assertEquals([set.code, set.stdout.includes(key), set.stderr.includes(key)], [0, false, false]);
  assertMatch(await Deno.readTextFile(`${rig.home}/.env`), new RegExp(`OPENROUTER_API_KEY="?${key}`));
  assertEquals((await Deno.stat(`${rig.home}/.env`)).mode! & 0o777, 0o600);
  assertEquals((await Deno.readTextFile(`${rig.home}/config.jsonc`)).includes(key), false);
});

Deno.test("config get of an unknown key fails, path, schema, show and init answer", async () => {
  await using rig = await makeRig();
  const unknown = await runProgram(["config", "get", "no.such.key"], { rig });
  assertEquals([unknown.code, unknown.stdout], [2, ""]);
  assertMatch(unknown.stderr, /no\.such\.key/);
  const path = await runProgram(["config", "path"], { rig });
  assertEquals(path, { code: 0, stdout: `${rig.home}/config.jsonc\n`, stderr: "" });
  const schema = await runProgram(["config", "schema"], { rig });
  assertEquals(typeof JSON.parse(schema.stdout).properties.approvals, "object");
  assertEquals(JSON.parse((await runProgram(["config", "show"], { rig })).stdout), {});
  assertEquals((await runProgram(["config", "init"], { rig })).code, 0);
  assertMatch(await Deno.readTextFile(`${rig.home}/config.jsonc`), /\$schema/);
});

Deno.test("config set takes a value that begins with a dash, config unset brings the default back", async () => {
  await using rig = await makeRig({ config: COMMENTED });
  assertEquals((await runProgram(["config", "set", "agent.environment_hint", "-v"], { rig })).code, 0);
  assertEquals((await runProgram(["config", "get", "agent.environment_hint"], { rig })).stdout, "-v\n");
  assertEquals((await runProgram(["config", "unset", "agent.max_turns"], { rig })).code, 0);
  assertEquals((await runProgram(["config", "get", "agent.max_turns"], { rig })).stdout, "90\n");
});

Deno.test("config unset of a key takes it out of .env, and set of a name that nobody knows says so", async () => {
  await using rig = await makeRig({ config: "{}\n" });
  await Deno.writeTextFile(`${rig.home}/.env`, "# mine\nEXA_API_KEY=abcdefgh\nOTHER=1\n");
  const unset = await runProgram(["config", "unset", "EXA_API_KEY"], { rig });
  assertEquals([unset.code, unset.stderr], [0, ""]);
  assertEquals(await Deno.readTextFile(`${rig.home}/.env`), "# mine\nOTHER=1\n");
  const again = await runProgram(["config", "unset", "EXA_API_KEY"], { rig });
  assertEquals(again, {
    code: 1,
    stdout: "",
    stderr: `hermes: EXA_API_KEY is not set, neither in the environment nor in ${rig.home}/.env\n`,
  });
  const typo = await runProgram(["config", "set", "nonsense", "1"], { rig });
  assertMatch(typo.stderr, /knows no key nonsense/);
});

Deno.test("core E.5: in safe mode doctor and config set say that config.jsonc is not read", async () => {
  await using rig = await makeRig({ config: COMMENTED });
  const env = { HERMES_SAFE_MODE: "1" };
  const doctor = await runProgram(["doctor", "--demo", "--json"], { rig, env });
  const config = JSON.parse(doctor.stdout).findings.find((one: { check: string }) => one.check === "config");
  assertEquals(config, {
    check: "config",
    status: "warn",
    message: `${rig.home}/config.jsonc is not read: HERMES_SAFE_MODE is set`,
  });
  const set = await runProgram(["config", "set", "agent.max_turns", "5"], { rig, env });
  assertEquals([set.code, set.stdout.startsWith("agent.max_turns = 5")], [0, true]);
  assertMatch(set.stderr, /warning: .*config\.jsonc is not read now: HERMES_SAFE_MODE is set/);
  assertEquals((await runProgram(["config", "get", "agent.max_turns"], { rig, env })).stdout, "90\n");
  assertEquals((await runProgram(["config", "get", "agent.max_turns"], { rig })).stdout, "5\n");
});
