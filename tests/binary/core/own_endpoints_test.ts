/** Servers of the user's own, through the real program: their only model, their address, their certificates (core E.4, F.8). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { failing, withCore } from "../../support/core_driver.ts";
import { type ModelServer, startModelServer } from "../../support/model_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";
import { startAcp } from "../../support/acp_driver.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { startApi } from "../../support/api_driver.ts";
import { startTlsFront, writeCertificates } from "../../support/tls.ts";

const custom = (url: string) => ({ model: { provider: "custom", base_url: url } });
const lists = ({ requests }: ModelServer) => requests.filter(({ method }) => method === "GET").length;

Deno.test("core F.8: one model on a local endpoint and none set: run uses it, and model show names it", async () => {
  await using server = await startModelServer({ models: ["solo"], turns: ["Hello."], loop: true });
  await using rig = await makeRig({ config: custom(server.url) });
  const { code, stdout, stderr } = await runProgram(["run", "hi"], { rig });
  assertEquals([code, stdout], [0, "Hello.\n"], stderr);
  assertEquals([server.calls()[0]!.body.model, lists(server)], ["solo", 1]);
  assertMatch((await runProgram(["model", "show"], { rig })).stdout, /model +solo/);
});

Deno.test("core F.8: several models and none set: exit 1, the error names them, and nothing is called", async () => {
  await using server = await startModelServer({ models: ["left", "right"] });
  await using rig = await makeRig({ config: custom(server.url) });
  const { code, stdout, stderr } = await runProgram(["run", "hi"], { rig });
  assertEquals([code, stdout, server.calls().length], [1, "", 0]);
  assertMatch(
    stderr,
    /No model is chosen for provider "custom"\. .* offers 2: left, right\. .*model\.default/,
  );
});

Deno.test("core F.8: serve uses the only model too, also of a server that is there later than it", async () => {
  const port = await freePort();
  await using api = await startApi({ config: custom(`http://127.0.0.1:${port}/v1`) });
  assertMatch(api.stderr(), /no turn can run yet: No model is chosen .* gave no list of its models/);
  await using server = await startModelServer({ port, models: ["solo"], turns: ["Late."], loop: true });
  const answer = await api.chat({ messages: [{ role: "user", content: "hi" }] });
  const body = await answer.json();
  assertEquals([answer.status, body.choices?.[0]?.message.content], [200, "Late."], JSON.stringify(body));
  assertEquals(server.calls()[0]!.body.model, "solo");
});

Deno.test("core F.8: an editor and a host get a session on the only model, with nothing set up beside the address", async () => {
  await using server = await startModelServer({ models: ["solo"], turns: ["Hello."], loop: true });
  await using rig = await makeRig({ config: custom(server.url) });
  await using acp = startAcp(rig);
  await acp.initialize();
  const { sessionId } = await acp.request("session/new", { cwd: rig.workspace, mcpServers: [] });
  const { stopReason } = await acp.prompt(sessionId, "hi");
  assertEquals([stopReason, server.calls()[0]!.body.model], ["end_turn", "solo"]);
  await using fresh = await makeRig({ config: custom(server.url) });
  await using host = await startGateway({ rig: fresh });
  const { sid } = await host.session({ cwd: fresh.workspace });
  assertEquals([(await host.turn(sid, "hi")).text, server.calls()[1]!.body.model], ["Hello.", "solo"]);
});

async function freePort(): Promise<number> {
  await using server = await startModelServer();
  return server.port;
}

Deno.test("core F.8: an address whose list is at its other form: doctor, the picker and the 404 say which", async () => {
  await using server = await startModelServer({
    routes: {
      "/models": ({ path }: { path: string }) => path === "/v1/models" ? { data: [{ id: "m" }] } : null,
    },
    respond: ({ path }) => path.startsWith("/v1/") ? "Right." : failing(404, "Not Found"),
  });
  const bare = server.url.replace(/\/v1$/, "");
  await using rig = await makeRig({ config: { model: { ...custom(bare).model, default: "m" } } });
  const told = new RegExp(`its list of models is at ${server.url}: make that the base URL`);
  const flat = (text: string) => text.replace(/\s+/g, " ");
  const { stdout } = await runProgram(["doctor", "--json"], { rig });
  const finding = JSON.parse(stdout).findings.find(({ check }: { check: string }) => check === "base URL");
  assertEquals(finding.status, "warn");
  assertMatch(finding.message, told);
  assertMatch(flat((await runProgram(["model", "list"], { rig })).stdout), told);
  const { code, stderr } = await runProgram(["run", "hi"], { rig });
  assertEquals(code, 1);
  assertMatch(flat(stderr), told);
  const setup = await runProgram(
    ["setup", "--provider", "custom", "--base-url", bare, "--model", "m"],
    { rig },
  );
  assertEquals(setup.code, 1);
  assertMatch(flat(setup.stderr), told);
});

Deno.test("core E.4: ssl_ca_cert and ssl_verify of an endpoint work in the program as it is delivered", async () => {
  await using model = await startModelServer({ turns: ["Sealed."], loop: true });
  await using rig = await makeRig();
  const { ca, ...certificates } = await writeCertificates(rig.workspace);
  await using front = await startTlsFront(new URL(model.url).origin, { ca, ...certificates });
  const run = async (entry: Record<string, unknown>) => {
    await rig.writeConfig({
      model: { provider: "box", default: "scripted" },
      providers: { box: { base_url: `${front.origin}/v1`, ...entry } },
      agent: { api_max_retries: 1 },
    });
    return await runProgram(["run", "hi"], { rig });
  };
  for (const entry of [{ ssl_ca_cert: ca }, { ssl_verify: ca }, { ssl_verify: false }]) {
    const { code, stdout, stderr } = await run(entry);
    assertEquals([code, stdout, stderr], [0, "Sealed.\n", ""], JSON.stringify(entry));
  }
  const stranger = await run({});
  assertEquals(stranger.code, 1);
  assertMatch(stranger.stderr, /certificate .*ssl_ca_cert/is);
  const misspelt = await run({ ssl_verify: false, ssl_cert: "x" });
  assertEquals(misspelt.code, 0);
  assertMatch(misspelt.stderr, /providers\.box\.ssl_cert is no setting of an endpoint/);
});

Deno.test("core A.11: a limit of the upstream goes to the next model at once, with one request and no wait", async () => {
  await using other = await startModelServer({ turns: ["From the other."] });
  await withCore({
    model: { turns: [failing(429, "z-ai/glm-5.2 is temporarily rate-limited upstream")], loop: true },
    config: { fallback_providers: [{ provider: "custom", model: "spare", base_url: other.url }] },
  }, async ({ host, open, model }) => {
    const { sid } = await open();
    const start = performance.now();
    assertEquals((await host.turn(sid, "one")).text, "From the other.");
    assertEquals(model.calls().length, 1);
    assert(performance.now() - start < 2_000, "it waited before it went on");
  });
});

Deno.test("core E.3: config set of a text over a list exits with an error and keeps the list", async () => {
  await using rig = await makeRig({
    config: { fallback_providers: [{ provider: "custom", model: "spare" }] },
  });
  const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
  const { code, stderr } = await runProgram(["config", "set", "fallback_providers", "zz"], { rig });
  assert(code !== 0);
  assertMatch(stderr, /it is a list of 1/);
  assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
});
