/** The log files of the data home, and what `/tools` lists: core.md D.1, B.1. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import { eventually, makeRig, modelConfig } from "../../support/program.ts";
import { withCore } from "../../support/core_driver.ts";

Deno.test("core D.1: a warning is in agent.log and errors.log, 0600 and without the key; stdout stays clean", async () => {
  const key = "sk-live-0123456789abcdef";
  const server = { command: "/no/such/program", args: [key], env: { API_KEY: key } };
  await using rig = await makeRig({
    config: { ...modelConfig("http://127.0.0.1:9/v1"), mcp_servers: { [`box ${key}`]: server } },
  });
  await using host = await startGateway({ rig });
  await host.session();
  const text = async (name: string) => await Deno.readTextFile(`${rig.home}/logs/${name}`).catch(() => "");
  await eventually(async () => (await text("errors.log")).includes("MCP server"), 15_000, "the warning");
  await host.end();
  for (const name of ["agent.log", "errors.log"]) {
    const log = await text(name);
    assertMatch(
      log,
      /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[WARNING\] hermes: MCP server "box .*" cannot be used: .*\n$/m,
    );
    assertEquals(log.includes(key), false, name);
    assertEquals(Deno.statSync(`${rig.home}/logs/${name}`).mode! & 0o777, 0o600, name);
  }
});

Deno.test("core B.1, B.9: /tools leaves out web_search without a service, and lists it with one", async () => {
  const listed = async (config: Record<string, unknown>) => {
    let output = "";
    let offered: string[] = [];
    await withCore({ model: { turns: ["ok"] }, config }, async ({ host, model, open }) => {
      const { sid } = await open();
      await host.turn(sid, "hi");
      offered = model.calls()[0]!.body.tools.map((tool: { function: { name: string } }) =>
        tool.function.name
      );
      output = (await host.request("slash.exec", { session_id: sid, command: "/tools" })).output;
    });
    const names = output.split("\n").slice(1).map((line) => line.split(":")[0]!);
    assertEquals(names.toSorted(), offered.toSorted());
    return names;
  };
  const without = await listed({});
  assert(without.includes("terminal") && !without.includes("web_search"), without.join());
  assert((await listed({ web: { search_backend: "duckduckgo" } })).includes("web_search"));
});

Deno.test("core D.1: with DEBUG each turn leaves a line: how it ended, why, what it took, and nothing that was said", async () => {
  await using rig = await makeRig({
    config: {
      ...modelConfig("http://127.0.0.1:9/v1"),
      logging: { level: "DEBUG" },
      agent: { api_max_retries: 1 },
    },
  });
  await using host = await startGateway({ rig });
  const { sid } = await host.session();
  await host.request("prompt.submit", { session_id: sid, text: "my question" });
  await host.event("message.complete", sid, 0);
  await host.end();
  const log = await Deno.readTextFile(`${rig.home}/logs/agent.log`);
  const [line, ...more] = log.split("\n").filter((one) => one.includes(" Turn "));
  assertEquals(more, []);
  assertMatch(
    line!,
    /\[DEBUG\] hermes: Turn \S+ of session \S+ \(tui, custom:\S+\): failed, \S+ .*; 1 calls, 0 tokens in, 0 out, \d+ ms$/,
  );
  assert(!log.includes("my question"));
});
