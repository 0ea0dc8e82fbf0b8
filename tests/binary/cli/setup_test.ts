/** `hermes setup` without a terminal, `hermes model`, `hermes doctor`. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

Deno.test("setup without a terminal and without options explains itself, exit 1, and writes nothing", async () => {
  await using rig = await makeRig();
  for (const args of [["setup"], ["--setup"]]) {
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, /needs a terminal[\s\S]*--provider/);
  }
  assertEquals([...Deno.readDirSync(rig.home)], []);
});

Deno.test("setup --provider writes the config after a test call, and run uses it", async () => {
  await using server = await startModelServer({ respond: () => "hi" });
  await using rig = await makeRig();
  const args = ["setup", "--provider", "custom", "--base-url", server.url, "--model", "scripted"];
  const setup = await runProgram(args, { rig });
  assertEquals([setup.code, setup.stderr], [0, ""]);
  assertMatch(setup.stdout, /scripted \(custom\) is the default model/);
  const run = await runProgram(["run", "hello"], { rig });
  assertEquals([run.code, run.stdout], [0, "hi\n"]);
});

Deno.test("setup --key-env sends the key of that variable and never writes it to the config", async () => {
  const key = "zz-UNIQUE-0123456789abcdef";
  await using server = await startModelServer({ respond: () => "hi", key });
  await using rig = await makeRig({ env: { MY_KEY: key } });
  const args = [
    "--provider",
    "custom",
    "--base-url",
    server.url,
    "--model",
    "scripted",
    "--key-env",
    "MY_KEY",
  ];
  const setup = await runProgram(["setup", ...args], { rig });
  assertEquals([setup.code, setup.stderr], [0, ""]);
  const file = await Deno.readTextFile(`${rig.home}/config.jsonc`);
  assertEquals([file.includes(key), file.includes("${MY_KEY}")], [false, true]);
  assertEquals((await runProgram(["run", "hello"], { rig })).stdout, "hi\n");
});

Deno.test("setup that fails its test call leaves the config as it was, exit 1", async () => {
  await using server = await startModelServer({ respond: () => "hi", key: "right" });
  await using rig = await makeRig({ config: modelConfig("http://127.0.0.1:9/v1") });
  const before = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const args = ["setup", "--provider", "custom", "--base-url", server.url, "--model", "other"];
  const { code, stdout, stderr } = await runProgram(args, { rig });
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /nothing was written/);
  assertEquals(JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`)), before);
});

Deno.test("setup refuses options that cannot be meant, exit 2", async () => {
  await using rig = await makeRig();
  const cases: [string[], RegExp][] = [
    [["--model", "m"], /needs --provider/],
    [["--provider", "custom"], /needs --base-url/],
    [["--provider", "custom", "--base-url", "ftp://x"], /http/],
    [["--provider", "openrouter", "--key-env", "sk-or-v1-x"], /name of an environment variable/],
    [["--provider", "builtin"], /--demo/],
  ];
  for (const [args, pattern] of cases) {
    const { code, stderr } = await runProgram(["setup", ...args], { rig });
    assertEquals([args, code], [args, 2]);
    assertMatch(stderr, pattern);
  }
});

Deno.test("setup --demo says how to use it and does not count as configured, exit 1", async () => {
  await using rig = await makeRig();
  const { code, stdout } = await runProgram(["setup", "--demo"], { rig });
  assertEquals(code, 1);
  assertMatch(stdout, /hermes chat --demo/);
});

Deno.test("model shows, sets and refuses", async () => {
  await using server = await startModelServer({ respond: () => "hi", models: ["scripted", "second"] });
  await using rig = await makeRig({ config: modelConfig(server.url) });
  const shown = JSON.parse((await runProgram(["model", "--json"], { rig })).stdout);
  assertEquals([shown.model, shown.provider, shown.is_demo], ["scripted", "custom", false]);
  const set = await runProgram(["model", "set", "second"], { rig });
  assertEquals([set.code, set.stderr], [0, ""]);
  assertEquals((await runProgram(["config", "get", "model.default"], { rig })).stdout, "second\n");
  assertEquals((await runProgram(["config", "get", "model.base_url"], { rig })).stdout, `${server.url}\n`);
  const demo = JSON.parse((await runProgram(["model", "--demo", "--json"], { rig })).stdout);
  assertEquals(demo.is_demo, true);
  const none = await makeRig();
  const missing = await runProgram(["model"], { rig: none });
  assertEquals([missing.code, missing.stdout], [1, ""]);
  await none[Symbol.asyncDispose]();
});

type Finding = { check: string; status: string };

Deno.test("doctor fails without a provider and passes with one", async () => {
  await using server = await startModelServer({ respond: () => "hi" });
  await using bare = await makeRig();
  const failed = await runProgram(["doctor", "--json"], { rig: bare });
  const report = JSON.parse(failed.stdout);
  assertEquals([failed.code, report.ok], [1, false]);
  const status = (findings: Finding[], check: string) => findings.find((one) => one.check === check)?.status;
  assertEquals(status(report.findings, "model"), "fail");
  assertEquals(status(report.findings, "shell"), "ok");
  assertEquals([...Deno.readDirSync(bare.home)], []);

  await using rig = await makeRig({ config: modelConfig(server.url) });
  await runProgram(["run", "hello"], { rig });
  const ok = await runProgram(["doctor", "--online", "--json"], { rig });
  const { findings } = JSON.parse(ok.stdout);
  assertEquals(ok.code, 0);
  assertEquals(
    ["config", "database", "model", "test call"].map((check) => status(findings, check)),
    ["ok", "ok", "ok", "ok"],
  );
});

Deno.test("doctor names a broken config file and a readable .env, exit 1", async () => {
  await using rig = await makeRig({ config: "{ broken" });
  await Deno.writeTextFile(`${rig.home}/.env`, "A=1\n", { mode: 0o644 });
  await Deno.chmod(`${rig.home}/.env`, 0o644);
  const { code, stdout } = await runProgram(["doctor", "--demo"], { rig });
  assertEquals(code, 1);
  assertMatch(stdout, /✗ config/);
  assertMatch(stdout, /✗ permissions .*\.env[\s\S]*chmod 600/);
});
