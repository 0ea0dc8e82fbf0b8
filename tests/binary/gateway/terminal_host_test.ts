/**
 * A terminal front end of the family this protocol comes from, as it talks from its start to its end (tui-gateway.md
 * A–D, the methods of B.17 included), once on stdio and once on a WebSocket: one conversation, with the parameters
 * such a host sends and the members it reads.
 */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { installFakeSudo } from "../../support/fake_sudo.ts";
import type { GatewayEvent, GatewayHost, Json } from "../../support/gateway_driver.ts";
import type { ModelServer, ModelServerRequest, ScriptTurn } from "../../support/model_server.ts";
import type { Rig } from "../../support/program.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";
import { withWsGateway, type WsHost } from "./ws_scene.ts";

const PASSWORD = "Tr0ub4dor&3-horse";
const SECRET = "w34ther-k3y-0123456789";
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** What both drivers can do. */
interface Host {
  readonly frames: readonly Json[];
  readonly events: readonly GatewayEvent[];
  call(method: string, params?: Json): Promise<Json>;
  event(type: string, sid: string, nth?: number): Promise<Json>;
  until<T>(look: () => T | undefined, what: string): Promise<T>;
}

/** One program, many screens: all that it says goes through here. */
class Front {
  readonly host: Host;
  sid = "";

  constructor(host: Host) {
    this.host = host;
  }

  async rpc(method: string, params: Json = {}): Promise<Json> {
    const frame = await this.host.call(method, params);
    assert(!frame.error, `${method}: ${JSON.stringify(frame.error)}`);
    return frame.result;
  }

  async code(method: string, params: Json = {}): Promise<number> {
    const frame = await this.host.call(method, params);
    assert(frame.error, `${method} succeeded: ${JSON.stringify(frame.result)}`);
    return frame.error.code;
  }

  /** With the session's id. */
  on(method: string, params: Json = {}): Promise<Json> {
    return this.rpc(method, { session_id: this.sid, ...params });
  }

  count(type: string): number {
    return this.host.events.filter((event) => event.type === type && event.session_id === this.sid).length;
  }

  /** Slash commands: `slash.exec`, and `command.dispatch` when that answers an error (D.1). */
  async slash(line: string): Promise<Json> {
    const tried = await this.host.call("slash.exec", { session_id: this.sid, command: line.slice(1) });
    if (!tried.error) return tried.result;
    const [name, ...rest] = line.slice(1).split(" ");
    return await this.on("command.dispatch", { name, arg: rest.join(" ") });
  }

  async turn(text: string, during: () => Promise<unknown> = () => Promise.resolve()): Promise<Json> {
    const [done, idle] = [this.count("message.complete"), this.idleCount()];
    assertEquals((await this.on("prompt.submit", { text })).status, "streaming");
    await during();
    const complete = await this.host.event("message.complete", this.sid, done);
    await this.host.until(() => this.idleCount() > idle || undefined, "session.info after the turn");
    return complete;
  }

  idleCount(): number {
    const mine = this.host.events.filter((event) => event.session_id === this.sid);
    const last = mine.findLastIndex((event) => event.type === "message.complete");
    return mine.slice(last).filter((event) => event.type === "session.info" && !event.payload.running)
      .length +
      last;
  }
}

async function prepare(rig: Rig): Promise<Record<string, string>> {
  const skill = `${rig.home}/skills/weather`;
  await Deno.mkdir(skill, { recursive: true });
  await Deno.writeTextFile(
    `${skill}/SKILL.md`,
    "---\nname: weather\ndescription: Tells it.\nrequired_environment_variables:\n" +
      "  - name: WEATHER_KEY\n    prompt: A key\n---\nLook out.\n",
  );
  await Deno.mkdir(`${rig.workspace}/build`);
  await Deno.writeFile(`${rig.workspace}/a.png`, Uint8Array.from(atob(PNG), (c) => c.charCodeAt(0)));
  return { PATH: (await installFakeSudo(rig, PASSWORD)).path };
}

const ACTS: Readonly<Record<string, ScriptTurn>> = {
  "remove the build": toolTurn(terminal("rm -rf build")),
  "ask me": toolTurn({ tool: "clarify", args: { question: "Which?", choices: ["left", "right"] } }),
  "as root": toolTurn(terminal("sudo id -u")),
  "the weather": toolTurn({ tool: "skill_view", args: { name: "weather" } }),
  "write it": toolTurn({ tool: "write_file", args: { path: "made.txt", content: "1\n" } }),
  "take long": { steps: [{ text: "begun" }, { stall: true }] },
};

function respond({ body }: ModelServerRequest): ScriptTurn {
  const last = body.messages.at(-1);
  if (last.role !== "user") return "done";
  const text = typeof last.content === "string" ? last.content : JSON.stringify(last.content);
  if (text.includes("Summarise the conversation")) return "THE SUMMARY";
  return Object.entries(ACTS).find(([words]) => text.includes(words))?.[1] ?? "said";
}

/** Before the first prompt: what the screen is drawn from. */
async function start(front: Front, rig: Rig): Promise<void> {
  const [ready] = front.host.frames;
  assertEquals([ready.method, ready.params.type, typeof ready.params.payload.skin], [
    "event",
    "gateway.ready",
    "object",
  ]);
  const catalog = await front.rpc("commands.catalog");
  assert(catalog.pairs.length > 30 && catalog.canon["/bg"] === "/background" && catalog.skill_count === 1);
  const { config } = await front.rpc("config.get", { key: "full" });
  assertEquals(config.model.default, "scripted");
  assert((await front.rpc("config.get", { key: "mtime" })).mtime > 0);
  assertEquals(await front.rpc("setup.status"), { provider_configured: true });
  assertEquals((await front.rpc("session.most_recent")).session_id, null);
  const created = await front.rpc("session.create", { cols: 100, cwd: rig.workspace });
  assertEquals([created.info.lazy, created.message_count], [true, 0]);
  front.sid = created.session_id;
  const info = await front.host.event("session.info", front.sid);
  assertEquals([info.lazy, info.model, info.running, info.cwd], [
    undefined,
    "scripted",
    false,
    rig.workspace,
  ]);
  for (
    const key of ["details_mode", "statusbar", "mouse", "indicator", "busy", "fast", "reasoning", "skin"]
  ) {
    assertEquals(typeof (await front.on("config.get", { key })).value, "string", key);
  }
  assertEquals(await front.on("terminal.resize", { cols: 120 }), { cols: 120 });
  assertEquals(await front.code("voice.toggle", { action: "status" }), 5025);
  assertEquals(await front.rpc("pet.cells", { state: "idle", cols: 80, graphics: "none" }), {
    enabled: false,
  });
  assertEquals((await front.rpc("credits.view")).logged_in, false);
}

async function typing(front: Front): Promise<void> {
  const slash = await front.rpc("complete.slash", { text: "/mod" });
  assertEquals([slash.items[0].text, slash.replace_from], ["model", 1]);
  assertEquals((await front.on("complete.path", { word: "a." })).items[0].text, "a.png");
  const references = (await front.rpc("complete.path", { word: "@" })).items.map(({ text }: Json) => text);
  assertEquals(references, ["@diff", "@staged", "@file:", "@folder:", "@url:", "@git:"]);
  assertEquals(await front.on("input.detect_drop", { text: "hello there" }), { matched: false });
  const paste = await front.rpc("paste.collapse", { text: "one\ntwo\nthree" });
  assertEquals([paste.lines, await Deno.readTextFile(paste.path)], [3, "one\ntwo\nthree"]);
  assertEquals(await front.rpc("shell.exec", { command: "echo hi" }), {
    stdout: "hi\n",
    stderr: "",
    code: 0,
  });
  assertEquals(await front.code("shell.exec", { command: "rm -rf build" }), 4005);
}

async function ask(front: Front, rig: Rig): Promise<void> {
  const { host } = front;
  // Such a host answers an approval without naming it: exactly one waits.
  await front.turn("remove the build", async () => {
    const { command, choices } = await host.event("approval.request", front.sid);
    assertEquals([command, choices], ["rm -rf build", ["once", "session", "always", "deny"]]);
    assertEquals(await front.on("approval.respond", { choice: "once" }), { resolved: 1 });
  });
  assert(await Deno.stat(`${rig.workspace}/build`).then(() => false, () => true), "it ran");
  await front.turn("ask me", async () => {
    const { request_id, question, choices } = await host.event("clarify.request", front.sid);
    assertEquals([question, choices], ["Which?", ["left", "right"]]);
    assertEquals(await front.rpc("clarify.respond", { request_id, answer: "left" }), { status: "ok" });
  });
  await front.turn("as root", async () => {
    const { request_id } = await host.event("sudo.request", front.sid);
    assertEquals(await front.rpc("sudo.respond", { request_id, password: PASSWORD }), { status: "ok" });
  });
  await front.turn("the weather", async () => {
    const { request_id, env_var } = await host.event("secret.request", front.sid);
    assertEquals(env_var, "WEATHER_KEY");
    assertEquals(await front.rpc("secret.respond", { request_id, value: SECRET }), { status: "ok" });
  });
  const told = JSON.stringify(host.frames);
  assert(!told.includes(PASSWORD) && !told.includes(SECRET), "no secret in any frame");
}

async function turns(front: Front, model: ModelServer): Promise<void> {
  const { host } = front;
  const attached = await front.on("image.attach", { path: "a.png" });
  assertEquals([attached.attached, attached.count, attached.width, attached.height], [true, 1, 1, 1]);
  await front.turn("look");
  const sent = model.calls().at(-1)!.body.messages.at(-1).content;
  assert(sent.some((part: Json) => part.type === "image_url"), "the image went along");
  assertEquals((await front.on("prompt.submit", { text: "take long" })).status, "streaming");
  await host.until(
    () =>
      host.events.some((event) => event.type === "message.delta" && event.payload.text === "begun") ||
      undefined,
    "the first words",
  );
  const completes = front.count("message.complete");
  assertEquals((await front.on("session.steer", { text: "left" })).status, "queued");
  assertEquals(await front.on("session.interrupt"), { status: "interrupted" });
  assertEquals((await host.event("message.complete", front.sid, completes)).status, "interrupted");
  assertEquals((await front.turn("go on")).text, "said");
}

async function around(front: Front, rig: Rig): Promise<void> {
  await front.turn("write it");
  const { checkpoints } = await front.on("rollback.list");
  assertMatch((await front.on("rollback.diff", { hash: checkpoints[0].hash })).diff, /made\.txt/);
  assertEquals((await front.on("rollback.restore", { hash: checkpoints[0].hash })).success, true);
  assert(await Deno.stat(`${rig.workspace}/made.txt`).then(() => false, () => true), "it is gone");
  const { usage } = front.host.events.findLast((event) => event.type === "message.complete")!.payload;
  const now = await front.on("session.usage");
  assertEquals([now.calls, now.total], [usage.calls, usage.total]);
  assertMatch((await front.on("session.status")).output, /^Hermes TUI Status\n/);
  const { providers, model } = await front.on("model.options");
  assert(model === "scripted" && providers.some(({ is_current }: Json) => is_current));
  assertEquals((await front.on("config.set", { key: "model", value: "other --session" })).value, "other");
  assertEquals((await front.on("config.set", { key: "model", value: "scripted" })).value, "scripted");
  for (const [key, value] of [["compact", ""], ["statusbar", "bottom"], ["details_mode", "expanded"]]) {
    assertEquals((await front.on("config.set", { key, value })).key, key);
  }
  assertEquals((await front.on("session.title", { title: "The build" })).title, "The build");
  assertMatch((await front.slash("/status")).output, /The build/);
  assertMatch((await front.slash("/help")).output, /\/model/);
  assertEquals((await front.slash("/weather now")).type, "skill");
  assertEquals((await front.slash("/queue later")).type, "send");
  assertEquals((await front.rpc("delegation.status")).paused, false);
  assert((await front.rpc("skills.manage", { action: "list" })).skills);
  assertEquals((await front.rpc("plugins.manage", { action: "list" })).plugins, []);
  assertEquals((await front.rpc("browser.manage", { action: "status" })).connected, false);
  const tree = await front.on("spawn_tree.save", { subagents: [{ id: "sa-0-1" }], label: "one" });
  assertEquals((await front.rpc("spawn_tree.load", { path: tree.path })).label, "one");
  assertEquals(await front.on("process.stop"), { killed: 0 });
  assertEquals((await front.rpc("reload.env")).updated >= 0, true);
  assertEquals((await front.on("reload.mcp", { confirm: true })).status, "reloaded");
}

async function sessions(front: Front): Promise<void> {
  const parent = front.sid;
  const branch = await front.on("session.branch", { name: "Another way" });
  assertEquals([branch.title, typeof branch.parent], ["Another way", "string"]);
  front.sid = branch.session_id;
  await front.turn("in the branch");
  const { removed } = await front.on("session.undo");
  assertEquals(removed, 2);
  const active = (await front.rpc("session.active_list", { current_session_id: front.sid })).sessions;
  assertEquals(active.map((row: Json) => [row.id, row.current]), [[parent, false], [front.sid, true]]);
  const before = (await front.rpc("session.activate", { session_id: parent })).message_count;
  assertEquals(await front.rpc("session.close", { session_id: front.sid }), { closed: true });
  front.sid = parent;
  const compressed = await front.on("session.compress", { focus_topic: "the build" });
  assertEquals([compressed.status, compressed.before_messages >= before - 2], ["compressed", true]);
  const listed = (await front.rpc("session.list", { limit: 200 })).sessions;
  assertEquals(listed.map((row: Json) => row.title).sort(), ["Another way", "The build #2"]);
  assertMatch((await front.on("session.save")).file, /hermes_conversation_.*\.json$/);
  assertEquals(await front.rpc("session.close", { session_id: parent }), { closed: true });
  const recent = await front.rpc("session.most_recent");
  const resumed = await front.rpc("session.resume", { session_id: recent.session_id, cols: 100 });
  front.sid = resumed.session_id;
  assertEquals([resumed.info.title, resumed.running, resumed.messages[0].text], [
    "The build #2",
    false,
    "remove the build",
  ]);
  assertEquals(resumed.message_count, resumed.messages.length);
  assertEquals((await front.turn("and on")).text, "said");
  const other = listed.find((row: Json) => row.title === "Another way");
  assertEquals(await front.rpc("session.delete", { session_id: other.id }), { deleted: other.id });
}

async function whole(host: Host, rig: Rig, model: ModelServer): Promise<void> {
  const front = new Front(host);
  await start(front, rig);
  await typing(front);
  await ask(front, rig);
  await turns(front, model);
  await around(front, rig);
  await sessions(front);
}

const MODEL = { respond, models: ["scripted", "other"] };

function onStdio(host: GatewayHost): Host {
  return {
    frames: host.frames,
    events: host.events,
    call: async (method, params = {}) => await host.response(await host.post(method, params)),
    event: (type, sid, nth) => host.event(type, sid, nth),
    until: (look, what) => host.until(look, what),
  };
}

function onWs(host: WsHost): Host {
  return {
    frames: host.frames,
    events: host.events,
    call: (method, params) => host.call(method, params),
    event: (type, sid, nth) => host.event(type, sid, nth),
    until: (look, what) => host.until(look, what),
  };
}

Deno.test("A–D: a terminal front end's whole conversation, on stdio", async () => {
  await withGateway({ model: MODEL, prepare }, async ({ host, rig, model }) => {
    await whole(onStdio(host), rig, model);
    const { code, stderr } = await host.end();
    assertEquals(code, 0);
    assert(!stderr.includes(PASSWORD) && !stderr.includes(SECRET));
  });
});

Deno.test("A–D: a terminal front end's whole conversation, on a WebSocket", async () => {
  await withWsGateway({ model: MODEL, prepare }, async ({ connect, rig, model }) => {
    await whole(onWs(await connect()), rig, model);
  });
});
