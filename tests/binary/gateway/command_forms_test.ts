/** Every command of the catalogue in every form of this wire (tui-gateway.md B.15, D): the same command, the same answer. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { GatewayHost, Json } from "../../support/gateway_driver.ts";
import { withGateway } from "./scene.ts";

interface Row {
  readonly arg?: string;
  /** Directive of `command.dispatch`; `exec` when absent. */
  readonly type?: "send" | "prefill";
}

/** An argument with which each command can be run over and over. */
const ROWS: Readonly<Record<string, Row>> = {
  help: {},
  model: {},
  tools: { arg: "list" },
  toolsets: {},
  skills: {},
  context: {},
  new: { arg: "Elsewhere" },
  clear: { arg: "Elsewhere" },
  sessions: {},
  resume: {},
  branch: {},
  compress: {},
  undo: { arg: "1", type: "prefill" },
  retry: { type: "send" },
  rollback: {},
  steer: { arg: "to the left", type: "send" },
  queue: { arg: "then this", type: "send" },
  background: { arg: "beside" },
  agents: {},
  stop: {},
  history: {},
  save: {},
  status: {},
  usage: {},
  profile: {},
  title: {},
  reasoning: { arg: "high" },
  fast: { arg: "status" },
  busy: { arg: "queue" },
  verbose: { arg: "all" },
  personality: { arg: "none" },
  yolo: { arg: "on" },
  config: {},
  reload: {},
  "reload-mcp": {},
  "reload-skills": {},
  memory: {},
  learn: { arg: "to do it", type: "send" },
  version: {},
  quit: {},
};

/** Ids, paths and numbers that differ from session to session. */
function normalised(value: Json): Json {
  const text = JSON.stringify(value)
    .replace(/\d{8}_\d{6}_[0-9a-f]{6}/g, "KEY")
    .replace(/bg_[0-9a-f]{6}/g, "TASK")
    .replace(/hermes_conversation_[\d_]+/g, "FILE")
    .replace(/"session_id":"[0-9a-f]{8}"/g, '"session_id":"SID"')
    .replace(/(\\n|"output":")KEY[^"]*?(?=\\nOpen one)/g, "$1ROWS")
    .replace(/ #\d+/g, "");
  return JSON.parse(text);
}

/** A session in which something was said. */
async function spoken(host: GatewayHost): Promise<string> {
  const { sid } = await host.session();
  await host.turn(sid, "say it");
  return sid;
}

type Form = (name: string, arg: string) => [method: string, params: Json];

const FORMS: Readonly<Record<string, Form>> = {
  "command.dispatch {command}": (name, arg) => ["command.dispatch", { command: `/${name} ${arg}` }],
  "command.dispatch {command} without a slash": (name, arg) => ["command.dispatch", {
    command: `${name.toUpperCase()}  ${arg} `,
  }],
  "command.dispatch {name, arg}": (name, arg) => ["command.dispatch", { name, arg }],
  "command.dispatch {name with a slash, arg}": (name, arg) => ["command.dispatch", { name: `/${name}`, arg }],
  "slash.exec": (name, arg) => ["slash.exec", { command: `/${name} ${arg}` }],
  "slash.exec without a slash": (name, arg) => ["slash.exec", { command: `${name} ${arg}` }],
};

Deno.test("D.2: every command of the catalogue answers alike in both forms of command.dispatch and in slash.exec", async () => {
  await withGateway({ model: { respond: () => "said" } }, async ({ host }) => {
    const catalog = await host.request("commands.catalog");
    const names = catalog.pairs.map(([name]: [string, string]) => name.slice(1));
    assertEquals(names.toSorted(), Object.keys(ROWS).toSorted());
    const aliases = Object.entries(catalog.canon as Record<string, string>);
    const run = async (form: Form, name: string, arg: string) => {
      const [method, params] = form(name, arg);
      return normalised(await host.request(method, { session_id: await spoken(host), ...params }));
    };
    for (const name of names as string[]) {
      const { arg = "", type = "exec" } = ROWS[name]!;
      const first = await run(FORMS["command.dispatch {command}"]!, name, arg);
      assertEquals(first.type, type, name);
      assert(typeof (type === "exec" ? first.output : first.message) === "string", name);
      const { type: _, ...printed } = first;
      for (const [label, form] of Object.entries(FORMS)) {
        const expected = label.startsWith("slash.exec") && type === "exec" ? printed : first;
        assertEquals(await run(form, name, arg), expected, `${name} by ${label}`);
      }
      for (const [alias] of aliases.filter(([, to]) => to === `/${name}`)) {
        const by = FORMS["command.dispatch {command}"]!;
        assertEquals(await run(by, alias.slice(1), arg), first, alias);
      }
    }
  });
});

/** Wrong use of each command that can be used wrongly, with its number. */
const REFUSED: readonly (readonly [command: string, code: number])[] = [
  ["/queue", 4004],
  ["/steer", 4004],
  ["/background", 4004],
  ["/undo x", 4004],
  ["/undo 0", 4004],
  ["/yolo perhaps", 4004],
  ["/reasoning much", 4004],
  ["/tools explode", 4004],
  ["/reload-mcp perhaps", 4004],
  ["/busy perhaps", 4002],
  ["/verbose perhaps", 4002],
  ["/fast on", 4002],
  [`/title ${"x".repeat(101)}`, 4022],
  ["/resume nowhere", 4007],
  ["/model no/such:thing --provider nowhere", 5001],
  ["/personality nobody", 5001],
  ["/nothing-of-the-kind", 4018],
  ["", 4018],
];

Deno.test("D.1: wrong use has its number in every form, and changes nothing", async () => {
  await withGateway({ model: { respond: () => "said" } }, async ({ host, rig }) => {
    const sid = await spoken(host);
    const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    const state = async () => [
      (await host.request("session.history", { session_id: sid })).messages.length,
      (await host.request("session.title", { session_id: sid })).title,
      (await host.request("config.get", { key: "yolo", session_id: sid })).value,
      (await host.request("session.active_list")).sessions.length,
    ];
    const was = await state();
    for (const [command, code] of REFUSED) {
      const [name, ...rest] = command.slice(1).split(" ");
      const tries: [string, Json][] = [
        ["command.dispatch", { command }],
        ["command.dispatch", { name, arg: rest.join(" ") }],
        ...(command === "" ? [] : [["slash.exec", { command }] as [string, Json]]),
      ];
      for (const [method, params] of tries) {
        const refused = await host.refused(method, { session_id: sid, ...params });
        assertEquals(refused.code, code, `${command} by ${method}: ${refused.message}`);
      }
    }
    assertEquals((await host.refused("slash.exec", { session_id: sid, command: "" })).code, 4004);
    for (const method of ["command.dispatch", "slash.exec"]) {
      assertEquals((await host.refused(method, { session_id: "00000000", command: "/status" })).code, 4001);
    }
    assertEquals(await state(), was);
    assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
  });
});

Deno.test("D.1: during a turn the mirrored commands warn in slash.exec, those that need rest are 4009", async () => {
  const turns = [{ steps: [{ text: "slow ", delay_ms: 100 }, { stall: true as const }] }];
  await withGateway({ model: { turns, models: ["scripted", "other"] } }, async ({ host }) => {
    const { sid } = await host.session();
    const on = { session_id: sid };
    await host.request("prompt.submit", { ...on, text: "go" });
    await host.event("message.delta", sid);
    for (const command of ["/model custom:other", "/compress", "/personality none"]) {
      const { output, warning } = await host.request("slash.exec", { ...on, command });
      assertEquals([output, warning.startsWith("session busy")], ["", true], command);
      const { code, message } = await host.refused("command.dispatch", { ...on, command });
      assertEquals([code, message.startsWith("session busy")], [4009, true], command);
    }
    for (const command of ["/undo", "/retry"]) {
      assertEquals((await host.refused("command.dispatch", { ...on, command })).code, 4009);
      assertEquals((await host.refused("slash.exec", { ...on, command })).code, 4009);
    }
    const steered = await host.request("command.dispatch", { ...on, command: "/steer left" });
    assertEquals(steered.type, "exec");
    await host.request("session.interrupt", on);
  });
});
