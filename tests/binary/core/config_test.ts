/** `hermes config` as the core's rows want it: core rows 54–56. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const COMMENTED = `{
  // how commands are approved
  "approvals": {
    "timeout": 20, /* seconds */
    "mode": "manual", // ask
  },
  // last
  "display": { "tool_progress": "all" },
}
`;

Deno.test("core 54: config set keeps the text off, the comments and the order", async () => {
  await using rig = await makeRig({ config: COMMENTED });
  const set = await runProgram(["config", "set", "approvals.mode", "off"], { rig });
  assertEquals(set.code, 0);
  assertEquals(
    await Deno.readTextFile(`${rig.home}/config.jsonc`),
    COMMENTED.replace('"mode": "manual"', '"mode": "off"'),
  );
  const got = await runProgram(["config", "get", "approvals.mode"], { rig });
  assertEquals([got.code, got.stdout.trim()], [0, "off"]);
});

Deno.test("core 55: a broken file means defaults and a warning; config set does not write over it", async () => {
  const broken = '{ "approvals": { "mode": "off", \n';
  await using rig = await makeRig({ config: broken });
  const got = await runProgram(["config", "get", "approvals.timeout"], { rig });
  assertEquals([got.code, got.stdout.trim()], [0, "300"]);
  assertMatch(got.stderr, /config\.jsonc/);
  const set = await runProgram(["config", "set", "approvals.timeout", "5"], { rig });
  assertEquals(set.code, 1);
  assertMatch(set.stderr, /config\.jsonc/);
  assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), broken);
});

Deno.test("core 55: with a broken file the gateway starts on defaults, says so, and a turn runs", async () => {
  await using rig = await makeRig({ config: '{ "model": ' });
  await using host = await startGateway({ rig, args: ["--demo"] });
  const { sid } = await host.session({ cwd: rig.workspace });
  assertMatch((await host.event("session.info", sid)).config_warning, /config\.jsonc/);
  assertEquals((await host.turn(sid, "hello")).status, "complete");
});

Deno.test("core 56: a key goes to .env with mode 0600, not into the config; what is shown is masked", async () => {
  await using rig = await makeRig({ config: COMMENTED });
  const key = "sk-or-v1-0123456789abcdef";
  const set = await runProgram(["config", "set", "OPENROUTER_API_KEY", key], { rig });
  assertEquals(set.code, 0);
  assertEquals((set.stdout + set.stderr).includes(key), false);
  assertMatch(
    await Deno.readTextFile(`${rig.home}/.env`),
    new RegExp(`^OPENROUTER_API_KEY="?${key}"?$`, "m"),
  );
  assertEquals((await Deno.stat(`${rig.home}/.env`)).mode! & 0o777, 0o600);
  assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), COMMENTED);
});
