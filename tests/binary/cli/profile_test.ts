/** `hermes -p <name>`: a data home beside others (core.md D.1). */
import { startApi } from "../../support/api_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig, runProgram } from "../../support/program.ts";

Deno.test("core D.1: -p and --profile take the profile's own home, -p default the root, also from inside a profile", async () => {
  await using rig = await makeRig({ config: { agent: { max_turns: 7 } } });
  const office = `${rig.home}/profiles/office`;
  await Deno.mkdir(office, { recursive: true });
  await Deno.writeTextFile(`${office}/config.jsonc`, '{ "agent": { "max_turns": 8 } }');
  const turns = async (args: string[], env: Record<string, string> = {}) =>
    await runProgram([...args, "config", "get", "agent.max_turns"], { rig, env });
  const told = (stdout: string) => ({ code: 0, stdout, stderr: "" });
  assertEquals(await turns([]), told("7\n"));
  assertEquals(await turns(["-p", "office"]), told("8\n"));
  assertEquals(await turns(["--profile", "office"]), told("8\n"));
  assertEquals(await turns(["--profile=office"]), told("8\n"));
  assertEquals(await turns(["-p", "default"], { HERMES_HOME: office }), told("7\n"));
  assertEquals(await turns(["-p", "office"], { HERMES_HOME: office }), told("8\n"));
});

Deno.test("core D.1: HERMES_PROFILE chooses where no home is named; a sticky profile of others is only told of", async () => {
  await using rig = await makeRig();
  const root = `${rig.env["HOME"]}/.hermes`;
  await Deno.mkdir(`${root}/profiles/office`, { recursive: true });
  const path = async (env: Record<string, string>) => await runProgram(["config", "path"], { rig, env });
  const chosen = await path({ HERMES_HOME: "", HERMES_PROFILE: "office" });
  assertEquals(chosen, { code: 0, stdout: `${root}/profiles/office/config.jsonc\n`, stderr: "" });
  assertEquals((await path({ HERMES_PROFILE: "office" })).stdout, `${rig.home}/config.jsonc\n`);
  await Deno.writeTextFile(`${root}/active_profile`, "office\n");
  const sticky = await path({ HERMES_HOME: "" });
  assertEquals([sticky.code, sticky.stdout], [0, `${root}/config.jsonc\n`]);
  assertMatch(
    sticky.stderr,
    /^hermes: the profile "office" is marked as active.*hermes -p office uses it\n$/,
  );
});

Deno.test("core D.1: a profile that does not exist, or cannot, is refused with exit 2 and makes nothing", async () => {
  await using rig = await makeRig();
  const refused = async (name: string) => {
    const { code, stdout, stderr } = await runProgram(["-p", name, "run", "--demo", "hi"], { rig });
    assertEquals([code, stdout], [2, ""], name);
    return stderr;
  };
  assertMatch(await refused("office"), /there is no profile "office".*hermes -p office setup makes one/);
  assertMatch(await refused("../x"), /"\.\.\/x" is no profile/);
  assertMatch(await refused("sudo"), /is reserved/);
  assertEquals([...Deno.readDirSync(rig.home)], []);
  const set = await runProgram(["-p", "office", "config", "set", "agent.max_turns", "5"], { rig });
  assertEquals(set.code, 0);
  assertEquals(Deno.statSync(`${rig.home}/profiles/office/config.jsonc`).isFile, true);
});

Deno.test("core F.5: the model of /v1/models is called like the profile", async () => {
  await using rig = await makeRig();
  const home = `${rig.home}/profiles/office`;
  await Deno.mkdir(home, { recursive: true });
  await using api = await startApi({ rig, env: { HERMES_HOME: home, API_SERVER_MODEL_NAME: "" } });
  const { data } = await (await api.call("/v1/models")).json();
  assertEquals(data.map((row: { id: string }) => row.id), ["office"]);
});
