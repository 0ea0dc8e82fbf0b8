/** The command line itself: help, version, unknown words, completions. No agent is started. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, programCommand, runProgram } from "../../support/program.ts";
import denoConfig from "../../../deno.json" with { type: "json" };

const COMMANDS = [
  "acp",
  "gateway",
  "serve",
  "run",
  "chat",
  "demo",
  "setup",
  "model",
  "sessions",
  "config",
  "policy",
  "audit",
  "doctor",
  "version",
  "completions",
];

Deno.test("hermes --help lists every command on stdout and exits 0", async () => {
  await using rig = await makeRig();
  for (const args of [["--help"], ["-h"], ["help"], []]) {
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([code, stderr], [0, ""]);
    for (const name of COMMANDS) assertMatch(stdout, new RegExp(`^  ${name} +\\S`, "m"));
  }
});

Deno.test("hermes <command> --help teaches usage and options without starting the command", async () => {
  await using rig = await makeRig();
  for (const name of COMMANDS) {
    const { code, stdout, stderr } = await runProgram([name, "--help"], { rig });
    assertEquals([name, code, stderr], [name, 0, ""]);
    assertMatch(stdout, new RegExp(`^Usage\\n  hermes ${name}`, "m"));
    assert(stdout.split("\n").every((line) => line.length <= 100), `${name}: a line is too long`);
    // deno-lint-ignore no-control-regex -- colour must not reach a pipe
    assertEquals(/\x1b/.test(stdout), false);
  }
  assertEquals([...Deno.readDirSync(rig.home)], []);
});

Deno.test("hermes --version, -v and version print the version of deno.json", async () => {
  await using rig = await makeRig();
  for (const args of [["--version"], ["-v"], ["version"]]) {
    assertEquals(await runProgram(args, { rig }), {
      code: 0,
      stdout: `hermes ${denoConfig.version}\n`,
      stderr: "",
    });
  }
  const json = await runProgram(["version", "--json"], { rig });
  assertEquals(JSON.parse(json.stdout).version, denoConfig.version);
});

Deno.test("an unknown command or option exits 2, stdout empty, with the nearest word on stderr", async () => {
  await using rig = await makeRig();
  const cases: [string[], RegExp][] = [
    [["sesions"], /unknown command "sesions"; did you mean "hermes sessions"\?/],
    [["--bogus"], /unknown option "--bogus"/],
    [["run", "--jsno", "x"], /unknown option --jsno; did you mean --json\?/],
    [["run", "--timeout", "soon", "x"], /--timeout takes a number above 0; got "soon"/],
    [["sessions", "lst"], /unknown subcommand "lst"; did you mean "sessions list"\?/],
    [["config", "get"], /config get takes <key>/],
    [["completions", "tcsh"], /bash, zsh or fish/],
    [["model", "set"], /model set needs a name/],
    [["doctor", "now"], /doctor takes options only/],
    [["serve", "--port", "99999"], /--port/],
  ];
  for (const [args, pattern] of cases) {
    const { code, stdout, stderr } = await runProgram(args, { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
    assertMatch(stderr, pattern);
    assertMatch(stderr, /see: hermes .*--help/);
  }
});

Deno.test({
  name: "output that cannot be written is a failure, not a success",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    await using rig = await makeRig();
    const [command, ...prefix] = programCommand();
    const shell = new Deno.Command("sh", {
      args: ["-c", '"$0" "$@" > /dev/full', command!, ...prefix, "version"],
      env: rig.env,
      stderr: "piped",
    });
    const { code, stderr } = await shell.output();
    assertEquals(code, 1);
    assertMatch(new TextDecoder().decode(stderr), /cannot write to stdout/);
  },
});

Deno.test("hermes completions prints a script for each shell", async () => {
  await using rig = await makeRig();
  for (
    const [shell, pattern] of [["bash", /complete .*hermes$/], ["zsh", /^#compdef hermes/], [
      "fish",
      /complete -c hermes/,
    ]] as const
  ) {
    const { code, stdout } = await runProgram(["completions", shell], { rig });
    assertEquals(code, 0);
    assertMatch(stdout.trim(), pattern);
  }
});
