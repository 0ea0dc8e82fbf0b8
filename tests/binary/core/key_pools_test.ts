/** Several keys of one provider through the real program (core.md F.3): rotation, failover, `hermes auth`, `doctor`. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { failing, textsBelow } from "../../support/core_driver.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, type Rig, runProgram } from "../../support/program.ts";

const A = "pool-key-aaaa-1111", B = "pool-key-bbbb-2222", C = "pool-key-cccc-3333";

const configOf = (url: string, more: Record<string, unknown> = {}) => ({
  model: { default: "scripted", provider: "custom:box" },
  providers: { box: { base_url: url, key_env: "BOX_KEY", context_length: 128_000 } },
  auxiliary: { title_generation: { provider: "none" } },
  ...more,
});

const add = (rig: Rig, key: string, ...more: string[]) =>
  runProgram(["auth", "add", "custom:box", ...more], { rig, input: `${key}\n` });
const keyOf = (request: { headers: Readonly<Record<string, string>> }) =>
  request.headers["authorization"]?.replace("Bearer ", "");

/** Answers by the key of the request. */
function byKey(
  turns: Record<string, ScriptTurn>,
): (request: { headers: Readonly<Record<string, string>> }) => ScriptTurn {
  return (request) => turns[keyOf(request) ?? ""] ?? "Answered.";
}

Deno.test("core F.3: a key at its limit makes way for the next, later processes know it, and no key is seen anywhere", async () => {
  await using model = await startModelServer({
    respond: byKey({ [A]: failing(429, "slow down", { "Retry-After": "0" }), [B]: failing(402, "no money") }),
  });
  await using rig = await makeRig({ config: configOf(model.url), env: { BOX_KEY: A } });
  for (const [key, label] of [[B, "second"], [C, "third"]]) {
    const { code, stdout, stderr } = await add(rig, key!, "--label", label!);
    assertEquals(code, 0);
    assertMatch(stdout, /^added [0-9a-f]{6} to custom:box, which has \d keys? in auth\.json\n$/);
    assert(!(stdout + stderr).includes(key!));
  }
  const first = await runProgram(["run", "--json", "go"], { rig });
  assertEquals([first.code, model.calls().map(keyOf)], [0, [A, A, B, C]]);
  const second = await runProgram(["run", "--json", "again"], { rig });
  assertEquals([second.code, model.calls().map(keyOf).slice(4)], [0, [C]]);

  const list = await runProgram(["auth", "list", "--json"], { rig });
  const keys: Record<string, unknown>[] = JSON.parse(list.stdout).keys;
  assertEquals(
    keys.map((
      { label, source, requests, status, error_code },
    ) => [label, source, requests, status, error_code]),
    [
      ["second", "manual", 1, "resting", 402],
      ["third", "manual", 2, "ok", null],
      ["BOX_KEY", "env:BOX_KEY", 1, "resting", 429],
    ],
  );
  assertEquals(Deno.statSync(`${rig.home}/auth.json`).mode! & 0o777, 0o600);
  const doctor = await runProgram(["doctor"], { rig });
  assertMatch(doctor.stdout, /keys +custom:box: 3 keys, 2 rest until \d{4}-/);
  const told = [first, second, list, doctor].map(({ stdout, stderr }) => stdout + stderr).join("");
  for (const key of [A, B, C]) assert(!told.includes(key));
  for (const { path, text } of await textsBelow(rig.home)) {
    assert(!text.includes(A), `the borrowed key is in ${path}`);
    if (!path.endsWith("auth.json")) {
      for (const key of [B, C]) assert(!text.includes(key), `a key is in ${path}`);
    }
  }
  assertEquals(
    (await runProgram(["auth", "wake", "custom:box"], { rig })).stdout,
    "2 keys of custom:box rested, and will be used again\n",
  );
  await runProgram(["run", "--json", "third"], { rig });
  assertEquals(model.calls().map(keyOf)[5], A);
});

Deno.test("core F.3: pools come before the failover chain, which is used when no key is left", async () => {
  await using spare = await startModelServer({ turns: ["From the spare.", "Never."] });
  await using model = await startModelServer({
    respond: byKey({ [A]: failing(401, "bad key"), [B]: failing(401, "bad key") }),
  });
  await using rig = await makeRig({
    config: configOf(model.url, {
      fallback_providers: [{ provider: "custom", model: "spare", base_url: spare.url }],
    }),
    env: { BOX_KEY: A },
  });
  await add(rig, B);
  await add(rig, C);
  const pooled = await runProgram(["run", "go"], { rig });
  assertEquals([pooled.stdout.trim(), model.calls().map(keyOf), spare.calls().length], ["Answered.", [
    A,
    B,
    C,
  ], 0]);
  const id = JSON.parse((await runProgram(["auth", "list", "--json"], { rig })).stdout).keys[1].id;
  assertEquals((await runProgram(["auth", "remove", "custom:box", id], { rig })).code, 0);
  const failed = await runProgram(["run", "go"], { rig });
  assertEquals([failed.code, failed.stdout.trim(), spare.calls().map(keyOf)], [0, "From the spare.", [
    "no-key-required",
  ]]);
});

Deno.test("core F.2, F.3: keys of a pool go to their own provider's address only; one alone is enough for it", async () => {
  await using model = await startModelServer({ turns: ["one", "two"] });
  await using other = await startModelServer({ turns: ["three"] });
  await using rig = await makeRig({ config: configOf(model.url) });
  await add(rig, A);
  const own = await runProgram(["run", "go"], { rig });
  assertEquals([own.stdout.trim(), model.calls().map(keyOf)], ["one", [A]]);
  await rig.writeConfig({
    ...configOf(model.url),
    model: { default: "scripted", provider: "custom", base_url: other.url, context_length: 128_000 },
  });
  await runProgram(["run", "go"], { rig });
  assertEquals(other.calls().map(keyOf).includes(A), false);
  assertEquals(other.calls().length, 1);
});

Deno.test("core F.3: credential_pool_strategies: least_used over processes", async () => {
  await using model = await startModelServer({ respond: () => "ok" });
  await using rig = await makeRig({
    config: configOf(model.url, { credential_pool_strategies: { "custom:box": "least_used" } }),
  });
  for (const key of [A, B, C]) await add(rig, key);
  for (let n = 0; n < 4; n++) await runProgram(["run", "go"], { rig });
  assertEquals(model.calls().map(keyOf), [A, B, C, A]);
});

Deno.test("core F.3: hermes auth refuses what is no provider, no key, a key as an argument; a broken file is told", async () => {
  await using rig = await makeRig();
  const auth = (args: string[], input = "") => runProgram(["auth", ...args], { rig, input });
  assertEquals((await auth(["list"])).code, 0);
  for (
    const args of [["nonsense"], ["add"], ["add", "nowhere"], ["add", "openrouter", A], [
      "remove",
      "openrouter",
    ]]
  ) {
    assertEquals((await auth(args, `${A}\n`)).code, 2, args.join(" "));
  }
  assertEquals((await auth(["add", "openrouter"], "your-key\n")).code, 2);
  assertEquals((await auth(["add", "openrouter"])).code, 1);
  assertEquals(await Deno.stat(`${rig.home}/auth.json`).catch(() => null), null);
  await Deno.writeTextFile(`${rig.home}/auth.json`, "{broken", { mode: 0o600 });
  assertMatch((await auth(["list"])).stderr, /is broken/);
  const doctor = await runProgram(["doctor"], { rig });
  assertMatch(doctor.stdout, /✗ keys .*auth\.json is broken/s);
  assertEquals((await auth(["add", "openrouter"], `${A}\n`)).code, 0);
  assertEquals((await auth(["add", "openrouter"], `${A}\n`)).code, 1, "it is there already");
  assertEquals(await Deno.readTextFile(`${rig.home}/auth.json.corrupt`), "{broken");
  const model = await runProgram(["model", "--json"], { rig });
  assert(!(model.stdout + model.stderr).includes(A));
  assertEquals((await auth(["remove", "openrouter", "key 1"])).stdout, "removed 1 key of openrouter\n");
  assertEquals((await auth(["remove", "openrouter", "key 1"])).code, 1);
});
