/** Every method and every event of the contract, met in the real program and held against its shape. */
import { assert, assertEquals } from "../../support/assert.ts";
import { installFakeSudo } from "../../support/fake_sudo.ts";
import { type GatewayHost, type Json, startGateway } from "../../support/gateway_driver.ts";
import { type ModelServerRequest, type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { installPoppler, PDF } from "../../support/poppler.ts";
import { makeRig, modelConfig, type Rig } from "../../support/program.ts";
import { Contract, output } from "./contract_check.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";

/** Methods that this program can only refuse, with their number. */
const REFUSING: Readonly<Record<string, number>> = {
  "voice.toggle": 5025,
  "voice.record": 5025,
  "voice.tts": 4020,
  "learning.frames": 5000,
  "learning.detail": 5000,
  "learning.delete": 5000,
  "learning.edit": 5000,
};

/** The keys of B.14. */
const CONFIG_KEYS = (
  "full mtime provider profile project prompt skin personality reasoning fast busy verbose yolo approvals.mode " +
  "approval_mode details_mode details_mode.tools thinking_mode compact statusbar mouse indicator model cwd"
).split(" ");

const SETTINGS: Readonly<Record<string, string | boolean>> = {
  model: "scripted",
  fast: "normal",
  reasoning: "full",
  busy: "queue",
  verbose: "cycle",
  "approvals.mode": "manual",
  yolo: true,
  personality: "none",
  prompt: "Be brief.",
  skin: "default",
  details_mode: "expanded",
  "details_mode.thinking": "",
  thinking_mode: "full",
  compact: "on",
  statusbar: "off",
  mouse: "wheel",
  indicator: "ascii",
};

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function prepare(rig: Rig): Promise<void> {
  const skill = `${rig.home}/skills/weather`;
  await Deno.mkdir(skill, { recursive: true });
  await Deno.mkdir(`${rig.workspace}/build`);
  await Deno.writeTextFile(
    `${skill}/SKILL.md`,
    "---\nname: weather\ndescription: Tells it.\nrequired_environment_variables:\n" +
      "  - name: WEATHER_KEY\n    prompt: A key\n---\nLook out.\n",
  );
  await Deno.writeTextFile(`${rig.workspace}/a.pdf`, PDF);
  await Deno.writeFile(`${rig.workspace}/a.png`, Uint8Array.from(atob(PNG), (c) => c.charCodeAt(0)));
}

Deno.test("every method of the contract answers in its shape", async () => {
  const contract = new Contract(await output("--schema"));
  const turns = [
    toolTurn({ tool: "write_file", args: { path: "new.txt", content: "1\n" } }),
    "written",
    toolTurn(terminal("rm -rf build")),
    "asked",
    toolTurn({ tool: "clarify", args: { question: "Which?" } }),
    "answered",
    toolTurn({ tool: "terminal", args: { command: "sleep 30", background: true } }),
    "started",
  ];
  await withGateway({ model: { turns }, prepare: installPoppler }, async ({ host, rig }) => {
    await prepare(rig);
    const call = (name: string, params: Json = {}) => contract.call(host, name, params);
    await call("client.capabilities", { server_requests: false, client: { name: "test", version: "1" } });
    const { session_id, stored_session_id } = await call("session.create", {
      cols: 90,
      cwd: rig.workspace,
      title: "First",
      reasoning_effort: "low",
      source: "tui",
      close_on_disconnect: false,
    });
    const on = { session_id };
    const turn = async (nth: number, during: () => Promise<unknown> = () => Promise.resolve()) => {
      await call("prompt.submit", { ...on, text: `turn ${nth}` });
      await during();
      await host.event("message.complete", session_id, nth);
      await host.idle(session_id);
    };
    await turn(0);
    const { checkpoints } = await call("rollback.list", on);
    await call("rollback.diff", { ...on, hash: checkpoints[0].hash });
    await call("rollback.restore", { ...on, hash: 1, file_path: "new.txt" });
    await turn(1, async () => {
      const { request_id } = await host.event("approval.request", session_id);
      await call("approval.pending", on);
      await call("approval.received", { ...on, request_id });
      await call("session.activate", on);
      await call("approval.respond", { ...on, request_id, choice: "once" });
    });
    await turn(2, async () => {
      const { request_id } = await host.event("clarify.request", session_id);
      assertEquals((await call("clarify.respond", { request_id, answer: "that" })).status, "ok");
    });
    await turn(3);
    const { processes } = await call("process.list", on);
    await call("agents.list");
    await call("process.kill", { ...on, process_id: processes[0].session_id });
    await call("process.stop", on);

    for (const name of ["history", "usage", "status", "title", "context_breakdown", "save", "branch"]) {
      await call(`session.${name}`, on);
    }
    await call("session.title", { ...on, title: "Named" });
    await call("session.cwd.set", { ...on, cwd: rig.workspace });
    await call("session.events.since", { ...on, last_seen: 3 });
    await call("session.interrupt", on);
    await call("session.steer", { ...on, text: "x" });
    await call("session.undo", on);
    await call("session.compress", { ...on, focus_topic: "all" });
    await call("session.resume", { session_id: stored_session_id, cols: 80 });
    await call("terminal.resize", { ...on, cols: 70 });
    await call("image.attach", { ...on, path: "a.png look" });
    const sent = await call("image.attach_bytes", { ...on, content_base64: PNG, filename: "b.png" });
    await call("image.detach", { ...on, path: sent.path });
    await call("file.attach", { ...on, data_url: `data:text/plain;base64,${btoa("x")}`, name: "x.txt" });
    for (const list of ["toolsets.list", "tools.list", "tools.show", "config.show"]) await call(list, on);
    await call("plugins.list");
    await call("insights.get", { days: 1 });
    await call("llm.oneshot", { ...on, instructions: "Name it.", input: "x", max_tokens: 9, temperature: 1 });
    await call("pdf.attach", { ...on, path: "a.pdf", first_page: 1, last_page: 1 });
    await call("input.detect_drop", { ...on, text: `${rig.workspace}/a.png` });
    await call("input.detect_drop", { ...on, text: "no file" });
    await call("clipboard.paste", on);
    await call("paste.collapse", { text: "a\nb" });
    await call("complete.slash", { text: "/re" });
    await call("complete.path", { word: "a", cwd: rig.workspace, ...on });
    await call("sudo.respond", { request_id: "00000000", password: "x" });
    await call("secret.respond", { request_id: "00000000", value: "x" });
    await call("request.answer", { id: "srq-000000000000", result: { value: "" } });
    await call("clarify.lock", { request_id: "00000000", question_id: "q1", answer: "x" });
    await call("command.resolve", { name: "bg" });
    for (const command of ["/status", "/steer left", "/undo", "/weather now", "/new", "/model"]) {
      await call("command.dispatch", { ...on, command });
    }
    await call("slash.exec", { ...on, command: "/status" });
    for (const key of CONFIG_KEYS) {
      await call("config.get", { ...on, key });
    }
    for (const [key, value] of Object.entries(SETTINGS)) await call("config.set", { ...on, key, value });
    await call("config.set", { ...on, key: "cwd", value: rig.workspace });
    await call("shell.exec", { ...on, command: "true" });
    await call("cli.exec", { argv: ["gateway"] });
    await call("cli.exec", { argv: ["--version"], timeout: 60 });
    await call("model.options", { include_unconfigured: true, refresh: false });
    await call("model.save_key", { slug: "openrouter", api_key: "sk-or-v1-0123456789abcdef0123456789" });
    await call("model.disconnect", { slug: "openrouter" });
    await call("setup.runtime_check", on);
    await call("tools.configure", { ...on, action: "disable", names: ["todo", "nowhere"] });
    await call("reload.mcp");
    await call("reload.mcp", { ...on, confirm: true });
    for (const action of ["list", "search", "browse"]) await call("skills.manage", { action, query: "" });
    await call("skills.manage", { action: "inspect", query: "weather" });
    await call("subagent.interrupt", { subagent_id: "sa-0-00000000" });
    await call("subagent.steer", { ...on, subagent_id: "sa-0-00000000", text: "x" });
    await call("subagent.list", on);
    await call("subagent.tail", { ...on, subagent_id: "sa-0-00000000" });
    await call("delegation.pause", { paused: true });
    const { path } = await call("spawn_tree.save", { ...on, subagents: [1], label: "x", started_at: 5 });
    await call("spawn_tree.list", { cross_session: true, limit: 5 });
    await call("spawn_tree.load", { path });
    await call("pet.select", { slug: "cat" });
    await call("browser.manage", { action: "status" });
    await call("plugins.manage", { action: "list" });
    for (const name of ["charge", "charge_status", "auto_reload", "step_up", "state"]) {
      await call(`billing.${name}`);
    }
    await call("prompt.background", { ...on, text: "aside" });
    await call("session.set_pinned", { ...on, pinned: true });
    await call("session.close", on);
    await call("session.delete", { session_id: stored_session_id });
    for (
      const name of [
        "session.list",
        "session.active_list",
        "session.most_recent",
        "session.events.stats",
        "gateway.capabilities",
        "ping",
        "commands.catalog",
        "delegation.status",
        "setup.status",
        "reload.env",
        "skills.reload",
        "credits.view",
        "pet.cells",
        "pet.gallery",
      ]
    ) await call(name);
    for (const [name, code] of Object.entries(REFUSING)) assertEquals((await host.refused(name)).code, code);

    const methods = contract.document.methods.map(({ name }: Json) => name);
    const unmet = methods.filter((name: string) => !contract.seen.has(name) && !(name in REFUSING));
    assertEquals(unmet, []);
  });
});

/** What the model does, by the prompt: a tool call, then words. */
const TOOLS: Readonly<Record<string, ScriptTurn>> = {
  think: {
    steps: [
      { reasoning: "hm, hm" },
      ...toolTurn(terminal("for i in 1 2 3; do echo $i; sleep 0.3; done")).steps,
    ],
  },
  list: toolTurn({ tool: "todo", args: { todos: [{ id: "1", content: "x", status: "pending" }] } }),
  write: toolTurn({ tool: "write_file", args: { path: "w.txt", content: "w" } }),
  remove: toolTurn(terminal("rm -rf build")),
  ask: toolTurn({ tool: "clarify", args: { question: "Which?", choices: ["a", "b"] } }),
  root: toolTurn(terminal("sudo id")),
  weather: toolTurn({ tool: "skill_view", args: { name: "weather" } }),
  delegate: toolTurn({ tool: "delegate_task", args: { goal: "list" } }),
  fail: { steps: [{ error: { status: 400, message: "no" } }] },
};

function respond(request: ModelServerRequest): ScriptTurn {
  const last = request.body.messages.at(-1);
  if (last.role === "tool") return "done";
  const said = typeof last.content === "string" ? last.content : "";
  const system = String(request.body.messages[0]?.content);
  if (system.includes("You are a subagent")) {
    return { steps: [{ reasoning: "I see" }, ...(TOOLS["list"] as { steps: [] }).steps] };
  }
  return TOOLS[said] ?? "words";
}

const CONFIG = { approvals: { timeout: 1 }, auxiliary: { title_generation: { model: "scripted" } } };

/** What a background task has brought may have a turn of its own at that moment: then this one is queued behind it. */
async function turnOf(host: GatewayHost, sid: string, text: string): Promise<void> {
  const before = host.eventsOf("message.complete", sid).length;
  const { status } = await host.request("prompt.submit", { session_id: sid, text });
  await host.event("message.complete", sid, before + (status === "queued" ? 1 : 0), 15_000);
  await host.idle(sid);
}

Deno.test("every event of the contract comes in its shape", async () => {
  const contract = new Contract(await output("--schema"));
  await using model = await startModelServer({ respond });
  await using rig = await makeRig({ config: modelConfig(model.url, CONFIG) });
  const sudo = await installFakeSudo(rig, "never-given");
  await prepare(rig);
  await using host: GatewayHost = await startGateway({ rig, env: { PATH: sudo.path } });
  const { sid } = await host.session({ cwd: rig.workspace });
  // Approvals, passwords and secrets are left open until their time is up.
  for (const text of Object.keys(TOOLS)) if (text !== "ask") await turnOf(host, sid, text);
  await host.event("subagent.complete", sid);
  await host.idle(sid);
  await host.request("prompt.background", { session_id: sid, text: "aside" });
  await host.event("background.complete", sid);
  await host.request("config.set", { key: "skin", value: "default" });
  await host.request("session.compress", { session_id: sid });
  await host.event("session.title", sid);
  const asked = host.eventsOf("message.complete", sid).length;
  await host.request("prompt.submit", { session_id: sid, text: "ask" });
  await host.event("clarify.request", sid);
  await host.request("client.capabilities", { server_requests: true });
  await host.until(() => host.frames.find((frame) => frame.method === "clarify"), "the request");
  await host.request("session.interrupt", { session_id: sid });
  await host.event("request.cancel", sid);
  await host.event("message.complete", sid, asked);

  for (const event of host.events) contract.event(event);
  const unmet = Object.keys(contract.document["x-events"]).filter((type) => !contract.seen.has(type));
  assertEquals(unmet, []);
  assert(host.events.length > 50, String(host.events.length));
});
