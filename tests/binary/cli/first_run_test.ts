/**
 * The first start of the compiled program on a machine leaves the compiled code of every door's start, whatever command
 * it was; the next ones only read it. Needs the compiled program.
 */
import { assert, assertEquals } from "../../support/assert.ts";
import { makeRig } from "../../support/program.ts";

const BINARY = Deno.env.get("HERMES_BIN");

interface Place extends AsyncDisposable {
  readonly cache: string;
  /** The exit code of `--version`. */
  start(env?: Record<string, string>): Promise<number>;
}

async function place(): Promise<Place> {
  const rig = await makeRig();
  const binary = `${rig.workspace}/program`;
  // A copy, so that its times are the test's own.
  await Deno.copyFile(BINARY!, binary);
  return {
    cache: `${rig.env.TMPDIR}/deno-compile-program.cache`,
    start: async (env = {}) => {
      const { code } = await new Deno.Command(binary, {
        args: ["--version"],
        env: { ...rig.env, ...env },
        clearEnv: true,
      }).output();
      return code;
    },
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

/** How many files of code the cache has something of. */
async function filesIn(cache: string): Promise<number> {
  const text = new TextDecoder("latin1").decode(await Deno.readFile(cache));
  return new Set(text.match(/bundle[^/\s]*\/[\w.-]+\.js/g)).size;
}

function compiledTest(name: string, run: () => Promise<void>): void {
  Deno.test({ name: BINARY ? name : `${name} [skipped: needs HERMES_BIN]`, ignore: !BINARY, fn: run });
}

compiledTest("first run: --version leaves the compiled code that the servers start with", async () => {
  await using at = await place();
  assertEquals(await at.start(), 0);
  const first = await Deno.stat(at.cache);
  assert(await filesIn(at.cache) > 8, "only what --version itself needs was kept");
  assertEquals(await at.start(), 0);
  assertEquals((await Deno.stat(at.cache)).mtime, first.mtime);
});

compiledTest("first run: a program that takes the place of another one leaves its own", async () => {
  await using at = await place();
  await Deno.writeTextFile(at.cache, "of the program that was here before");
  await Deno.utime(at.cache, 1_700_000_000, 1_700_000_000);
  assertEquals(await at.start(), 0);
  assert(await filesIn(at.cache) > 8);
  assert((await Deno.stat(at.cache)).mtime!.getTime() > 1_700_000_000_000);
});

compiledTest(
  "first run: what another user could have left in the place of the cache is not touched",
  async () => {
    await using at = await place();
    const mine = `${at.cache}.mine`;
    await Deno.writeTextFile(mine, "mine");
    await Deno.utime(mine, 1_700_000_000, 1_700_000_000);
    await Deno.symlink(mine, at.cache);
    assertEquals(await at.start(), 0);
    assertEquals(await Deno.readTextFile(mine), "mine");
    assertEquals((await Deno.stat(mine)).mtime!.getTime(), 1_700_000_000_000);
  },
);

compiledTest("first run: a temporary folder that cannot be written is no reason to fail", async () => {
  await using at = await place();
  assertEquals(await at.start({ TMPDIR: "/proc/1" }), 0);
});
