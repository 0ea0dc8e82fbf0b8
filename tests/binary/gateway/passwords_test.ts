/** Passwords and secrets asked of the human, against the real program: gateway rows 32–34, core C.6 and C.7. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { installFakeSudo } from "../../support/fake_sudo.ts";
import { startGateway } from "../../support/gateway_driver.ts";
import type { GatewayHost } from "../../support/gateway_driver.ts";
import { type ModelServer, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";

const PASSWORD = "Tr0ub4dor&3-horse";

interface SudoScene {
  readonly rig: Rig;
  readonly model: ModelServer;
  readonly host: GatewayHost;
  readonly sudo: Awaited<ReturnType<typeof installFakeSudo>>;
}

async function withSudo(
  options: { config?: Record<string, unknown>; env?: Record<string, string> },
  test: (scene: SudoScene) => Promise<void>,
): Promise<void> {
  await using model = await startModelServer({});
  await using rig = await makeRig({ config: modelConfig(model.url, options.config) });
  const sudo = await installFakeSudo(rig, PASSWORD);
  await using host = await startGateway({ rig, env: { PATH: sudo.path, ...options.env } });
  await test({ rig, model, host, sudo });
}

/** Every byte that the program wrote: frames, stderr, and the files of its home. */
async function traces(host: GatewayHost, rig: Rig): Promise<string> {
  const files: string[] = [];
  for await (const entry of Deno.readDir(rig.home)) {
    if (!entry.isFile || entry.name === ".env") continue;
    files.push(new TextDecoder("latin1").decode(await Deno.readFile(`${rig.home}/${entry.name}`)));
  }
  return [...host.lines, host.stderr, ...files].join("\n");
}

Deno.test("core C.6: sudo asks once per session, the command keeps its own input, the password is nowhere", async () => {
  await withSudo({}, async ({ host, model, rig, sudo }) => {
    model.push(
      toolTurn(terminal("echo line | sudo tee made.txt; sudo env; cat; sudo cat /dev/stdin; echo $?")),
      toolTurn(terminal("set -x; sudo id -u && echo again")),
      "Done.",
    );
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const asked = await host.event("sudo.request", sid);
    assertMatch(asked.request_id, /^[0-9a-f]{8}$/);
    assertMatch(asked.command, /^echo line \| sudo tee/);
    const answer = { request_id: asked.request_id, password: PASSWORD };
    assertEquals(await host.request("sudo.respond", answer), { status: "ok" });
    assertEquals((await host.event("message.complete", sid)).text, "Done.");
    assertEquals(await host.request("sudo.respond", answer), { status: "expired" });
    assertEquals(host.eventsOf("sudo.request", sid).length, 1);
    assertEquals(host.eventsOf("sudo.expire", sid).length, 0);
    assertEquals(await Deno.readTextFile(`${rig.workspace}/made.txt`), "line\n");
    const [first, second] = host.eventsOf("tool.complete", sid).map((event) => event.payload.result);
    assertEquals([first.exit_code, first.output.endsWith("\n0")], [0, true]);
    assertEquals(second.exit_code, 0);
    assertMatch(second.output, /again/);
    assert((await sudo.calls()).filter((call) => call.startsWith("-S -p ")).length >= 4);
    assert(!(await sudo.seen()).includes(PASSWORD));
    assert(!(await traces(host, rig)).includes(PASSWORD));
    assert(!JSON.stringify(model.requests.map((request) => request.body)).includes(PASSWORD));
  });
});

Deno.test("gateway 32: an unanswered sudo question expires with its id, nothing runs, a late answer is expired", async () => {
  await withSudo({ config: { approvals: { timeout: 1 } } }, async ({ host, model, sudo }) => {
    model.push(toolTurn(terminal("touch before; sudo id")), "Nobody came.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("sudo.request", sid);
    assertEquals(await host.event("sudo.expire", sid), { request_id });
    const complete = await host.event("message.complete", sid);
    assertEquals([complete.status, complete.text], ["complete", "Nobody came."]);
    const { result } = host.eventsOf("tool.complete", sid)[0]!.payload;
    assertEquals([result.status, result.outcome, result.exit_code], ["blocked", "timeout", -1]);
    assertEquals(await host.request("sudo.respond", { request_id, password: "late" }), { status: "expired" });
    assertEquals((await host.refused("sudo.respond", { password: "late" })).code, 4009);
    assertEquals((await sudo.calls()).filter((call) => !call.startsWith("-n")), []);
  });
});

Deno.test("core C.6: an empty password declines; a wrong one is told, forgotten and asked for again", async () => {
  await withSudo({}, async ({ host, model }) => {
    const { sid } = await host.session();
    model.push(toolTurn(terminal("sudo id")), toolTurn(terminal("sudo whoami")), "Fine.");
    await host.request("prompt.submit", { session_id: sid, text: "one" });
    const first = await host.event("sudo.request", sid);
    await host.request("sudo.respond", { request_id: first.request_id, password: "" });
    await host.event("message.complete", sid);
    await host.idle(sid);
    const tool = (nth: number) => host.eventsOf("tool.complete", sid)[nth]!.payload.result;
    for (const nth of [0, 1]) {
      const { status, outcome, user_consent } = tool(nth);
      assertEquals([status, outcome, user_consent], ["blocked", "denied", false]);
    }
    assertEquals(host.eventsOf("sudo.request", sid).length, 1);

    model.push(toolTurn(terminal("sudo echo in")), toolTurn(terminal("sudo echo in")), "Now.");
    await host.request("prompt.submit", { session_id: sid, text: "two" });
    const second = await host.event("sudo.request", sid, 1);
    await host.request("sudo.respond", { request_id: second.request_id, password: "wrong-one" });
    const third = await host.event("sudo.request", sid, 2);
    await host.request("sudo.respond", { request_id: third.request_id, password: PASSWORD });
    await host.event("message.complete", sid, 1);
    assertEquals([tool(2).sudo_auth_failed, tool(2).exit_code], [true, 1]);
    assertEquals([tool(3).sudo_auth_failed, tool(3).output], [undefined, "in"]);
    for (const line of host.lines) assert(!line.includes("wrong-one"));
  });
});

Deno.test("core C.6: SUDO_PASSWORD is used without a question; text that only mentions sudo is left alone", async () => {
  await withSudo({ env: { SUDO_PASSWORD: PASSWORD } }, async ({ host, model, rig, sudo }) => {
    model.push(
      toolTurn(terminal(`echo "sudo id"; echo 'x; sudo id'; grep -c sudo /dev/null`)),
      toolTurn(terminal("sudo echo in; echo $SUDO_PASSWORD; env")),
      "Done.",
    );
    const { sid } = await host.session();
    assertEquals((await host.turn(sid, "go")).text, "Done.");
    assertEquals(host.eventsOf("sudo.request", sid).length, 0);
    const [plain, second] = host.eventsOf("tool.complete", sid).map((event) => event.payload.result);
    assertMatch(plain.output, /^sudo id\nx; sudo id\n0/);
    assertMatch(second.output, /^in\n\n/);
    assertEquals((await sudo.calls()).filter((call) => call.startsWith("-S")).length, 1);
    assert(!(await traces(host, rig)).includes(PASSWORD));
  });
});

Deno.test("core C.6: a background command gets the password too, and what is written to it afterwards", async () => {
  await withSudo({}, async ({ host, model }) => {
    model.push(toolTurn({ tool: "terminal", args: { command: "sudo cat", background: true } }), "Started.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("sudo.request", sid);
    await host.request("sudo.respond", { request_id, password: PASSWORD });
    await host.event("message.complete", sid);
    await host.idle(sid);
    const id = host.eventsOf("tool.complete", sid)[0]!.payload.result.session_id;
    model.push(
      toolTurn(
        { tool: "process", args: { action: "submit", session_id: id, data: "hello there" } },
        { tool: "process", args: { action: "close", session_id: id } },
        { tool: "process", args: { action: "wait", session_id: id, timeout: 10 } },
      ),
      "Done.",
    );
    assertEquals((await host.turn(sid, "write to it")).text, "Done.");
    const waited = host.eventsOf("tool.complete", sid).at(-1)!.payload.result;
    assertMatch(JSON.stringify(waited), /hello there/);
    for (const line of host.lines) assert(!line.includes(PASSWORD));
  });
});

Deno.test("gateway 34 (sudo): an interrupt closes the question without sudo.expire; a late answer is expired", async () => {
  await withSudo({}, async ({ host, model }) => {
    model.push(toolTurn(terminal("sudo id")), "never");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    const { request_id } = await host.event("sudo.request", sid);
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    assertEquals(host.eventsOf("sudo.expire", sid).length, 0);
    assertEquals(await host.request("sudo.respond", { request_id, password: "x" }), { status: "expired" });
  });
});

const SECRET = "kx-92-VERY-private-value";
const SKILL = `---
name: weather
description: Tells the weather.
required_environment_variables:
  - name: WEATHER_KEY
    prompt: Key of the weather service
  - name: HERMES_YOLO_MODE
  - name: OPENAI_API_KEY
---
Call the service.
`;

async function withSkill(
  config: Record<string, unknown>,
  test: (scene: { host: GatewayHost; model: ModelServer; rig: Rig }) => Promise<void>,
): Promise<void> {
  await withGateway({ config }, async ({ host, model, rig }) => {
    await Deno.mkdir(`${rig.home}/skills/weather`, { recursive: true });
    await Deno.writeTextFile(`${rig.home}/skills/weather/SKILL.md`, SKILL);
    await test({ host, model, rig });
  });
}

Deno.test("gateway 33, core C.7: a secret goes into .env and to children; the model, the frames and the logs never see it", async () => {
  await withSkill({}, async ({ host, model, rig }) => {
    model.push(
      toolTurn(terminal("true")),
      toolTurn({ tool: "skill_view", args: { name: "weather" } }),
      toolTurn(terminal('echo "<$WEATHER_KEY>" | tr a-z A-Z; echo $WEATHER_KEY; echo ${#WEATHER_KEY}')),
      "Done.",
    );
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "weather?" });
    const asked = await host.event("secret.request", sid);
    assertEquals([asked.env_var, asked.prompt, asked.metadata], [
      "WEATHER_KEY",
      "Key of the weather service",
      { skill: "weather" },
    ]);
    assertEquals((await host.refused("secret.respond", { value: SECRET })).code, 4009);
    const answer = { request_id: asked.request_id, value: SECRET };
    assertEquals(await host.request("secret.respond", answer), { status: "ok" });
    assertEquals((await host.event("message.complete", sid)).text, "Done.");
    assertEquals(await host.request("secret.respond", answer), { status: "expired" });
    const [, view, run] = host.eventsOf("tool.complete", sid).map((event) => event.payload.result);
    assertEquals(view.captured_environment_variables, { WEATHER_KEY: "stored" });
    assertEquals(view.missing_required_environment_variables, ["HERMES_YOLO_MODE", "OPENAI_API_KEY"]);
    assertMatch(run.output, new RegExp(`\\n${SECRET.length}$`));
    assertEquals(host.eventsOf("secret.request", sid).length, 1);
    assertMatch(await Deno.readTextFile(`${rig.home}/.env`), new RegExp(`^WEATHER_KEY=.*${SECRET}`, "m"));
    assertEquals((await Deno.stat(`${rig.home}/.env`)).mode! & 0o777, 0o600);
    assert(!(await traces(host, rig)).includes(SECRET));
    assert(!JSON.stringify(model.requests.map((request) => request.body)).includes(SECRET));
  });
});

Deno.test("core C.7: a secret that is skipped is told as skipped, and not asked for again in this session", async () => {
  await withSkill({}, async ({ host, model }) => {
    const look = toolTurn({ tool: "skill_view", args: { name: "weather" } });
    model.push(look, look, "Done.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "weather?" });
    const { request_id } = await host.event("secret.request", sid);
    await host.request("secret.respond", { request_id, value: "" });
    await host.event("message.complete", sid);
    assertEquals(host.eventsOf("secret.request", sid).length, 1);
    const views = host.eventsOf("tool.complete", sid).map((event) => event.payload.result);
    assertEquals(views[0].captured_environment_variables, { WEATHER_KEY: "skipped" });
    assertEquals(views[0].setup_needed, true);
  });
});

Deno.test("gateway 34: a secret is pending and the turn is interrupted: no secret.expire, a late answer is expired", async () => {
  await withSkill({}, async ({ host, model, rig }) => {
    model.push(toolTurn({ tool: "skill_view", args: { name: "weather" } }), "never");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "weather?" });
    const { request_id } = await host.event("secret.request", sid);
    await host.request("session.interrupt", { session_id: sid });
    assertEquals((await host.event("message.complete", sid)).status, "interrupted");
    assertEquals(host.eventsOf("secret.expire", sid).length, 0);
    assertEquals(await host.request("secret.respond", { request_id, value: SECRET }), { status: "expired" });
    const env = await Deno.readTextFile(`${rig.home}/.env`).catch(() => "");
    assert(!env.includes(SECRET));
  });
});

Deno.test("gateway 32 (secret): unanswered it expires with its id and the turn goes on", async () => {
  await withSkill({ approvals: { timeout: 1 } }, async ({ host, model }) => {
    model.push(toolTurn({ tool: "skill_view", args: { name: "weather" } }), "Went on.");
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "weather?" });
    const { request_id } = await host.event("secret.request", sid);
    assertEquals(await host.event("secret.expire", sid), { request_id });
    assertEquals((await host.event("message.complete", sid)).text, "Went on.");
  });
});
