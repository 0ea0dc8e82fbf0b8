/** `hermes demo` from end to end: three real servers, three approvals, one session in two doors. */
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";

Deno.test("demo plays all doors and the resumed session, exit 0, plain in a pipe", async () => {
  await using rig = await makeRig({
    env: { HERMES_MODEL: "nobody:nothing", OPENROUTER_API_KEY: "zz-UNIQUE-key" },
  });
  const started = performance.now();
  const { code, stdout, stderr } = await runProgram(["demo"], { rig, timeoutMs: 60_000 });
  assertEquals([code, stderr], [0, ""], stdout);
  for (const part of [/1 +hermes acp/, /2 +hermes gateway/, /3 +hermes serve/, /4 +one core/]) {
    assertMatch(stdout, part);
  }
  for (
    const frame of [
      /→ initialize/,
      /← session\/request_permission/,
      /← approval\.request/,
      /→ approval\.respond/,
      /→ POST \/v1\/chat\/completions/,
      /← event: approval\.request/,
      /→ session\.resume/,
    ]
  ) assertMatch(stdout, frame);
  assertMatch(stdout, /- Hello, world!/);
  assertMatch(stdout, /\+ Bonjour, world!/);
  assertMatch(stdout, /three turns, three approvals, one session in two doors/);
  // deno-lint-ignore no-control-regex -- colour must not reach a pipe
  assertEquals(/\x1b/.test(stdout), false);
  assert(stdout.split("\n").every((line) => [...line].length <= 80), "a line is wider than 80 columns");
  if (Deno.env.get("HERMES_BIN")) assertWithin(performance.now() - started, 10_000, "slower than 10 s");
});

Deno.test("demo leaves nothing behind: no file at home, no throw-away folder", async () => {
  await using rig = await makeRig();
  assertEquals((await runProgram(["demo"], { rig, timeoutMs: 60_000 })).code, 0);
  assertEquals([...Deno.readDirSync(rig.home)].map((entry) => entry.name), []);
  const left = [...Deno.readDirSync(rig.env.TMPDIR!)].map((entry) => entry.name);
  assertEquals(left.filter((name) => name.startsWith("hermes-demo")), []);
});
