/**
 * The whole catalogue of methods (tui-gateway.md B, A.7): what each answers to parameters that are missing, of a wrong
 * type, or name what does not exist. Every refusal has its own number, and the gateway lives on.
 */
import { assertEquals } from "../../support/assert.ts";
import { withGateway } from "./scene.ts";

/** `SID` stands for a live session without a turn. */
const SID = "SID";

type Case = readonly [method: string, params: unknown, code: number];

const SESSION_METHODS = [
  "session.activate",
  "session.interrupt",
  "session.history",
  "session.usage",
  "session.status",
  "session.title",
  "session.compress",
  "session.branch",
  "session.undo",
  "session.save",
  "session.cwd.set",
  "session.context_breakdown",
  "session.events.since",
  "prompt.submit",
  "prompt.background",
  "approval.pending",
  "approval.respond",
  "terminal.resize",
  "image.attach",
  "clipboard.paste",
  "input.detect_drop",
  "slash.exec",
  "process.list",
  "rollback.list",
  "rollback.diff",
  "rollback.restore",
];

const CASES: readonly Case[] = [
  ["session.create", { cwd: "/does/not/exist" }, 4017],
  ["session.create", { cwd: 5 }, -32602],
  ["session.create", { messages: "x" }, -32602],
  ["session.list", { limit: "many" }, -32602],
  ["session.resume", {}, 4006],
  ["session.resume", { session_id: "no such" }, 4007],
  ["session.set_pinned", {}, 4006],
  ["session.set_pinned", { session_id: "no such", pinned: true }, 4007],
  ["session.delete", {}, 4006],
  ["session.delete", { session_id: "no such" }, 4007],
  ["session.steer", { session_id: SID }, 4002],
  ["session.steer", { session_id: SID, text: " " }, 4002],
  ["session.steer", { session_id: "none", text: "" }, 4002],
  ["session.steer", { session_id: "none", text: "x" }, 4001],
  ["session.steer", { session_id: SID, text: 1 }, -32602],
  ["session.title", { session_id: SID, title: "" }, 4021],
  ["session.title", { session_id: SID, title: "x".repeat(101) }, 4022],
  ["session.title", { session_id: SID, title: 7 }, -32602],
  ["session.branch", { session_id: SID }, 4008],
  ["session.branch", { session_id: SID, count: "2" }, -32602],
  ["session.cwd.set", { session_id: SID }, 4016],
  ["session.cwd.set", { session_id: SID, cwd: "/does/not/exist" }, 4017],
  ["session.events.since", { session_id: SID, last_seen: "x" }, -32602],
  ["prompt.submit", { session_id: SID }, 4012],
  ["prompt.submit", { session_id: SID, text: "  " }, 4012],
  ["prompt.submit", { session_id: SID, text: 5 }, -32602],
  ["prompt.submit", { session_id: SID, text: "x", confirm_truncate: true }, 4004],
  ["prompt.submit", { session_id: SID, text: "x", truncate_before_row_id: 1 }, 4029],
  ["prompt.background", { session_id: SID, text: "" }, 4012],
  ["clarify.respond", {}, 4009],
  ["clarify.respond", { request_id: "0d9c41aa", answer: "x" }, 4009],
  ["sudo.respond", {}, 4009],
  ["secret.respond", { request_id: "" }, 4009],
  ["approval.respond", { session_id: SID, choice: "maybe" }, 4002],
  ["approval.received", { session_id: SID }, 4006],
  ["clarify.lock", {}, 4002],
  ["request.answer", {}, 4002],
  ["config.get", {}, 4002],
  ["config.get", { key: "nope" }, 4002],
  ["config.set", { key: "nope", value: "x" }, 4002],
  ["config.set", { key: "busy", value: "nope" }, 4002],
  ["config.set", { key: "model", value: "" }, 4002],
  ["config.set", { key: "cwd", value: "" }, 4016],
  ["config.set", { key: "personality", value: "pirate" }, 5001],
  ["config.set", { key: "busy", value: {} }, -32602],
  ["command.resolve", {}, 4011],
  ["command.resolve", { name: "nope" }, 4011],
  ["command.dispatch", { session_id: SID }, 4018],
  ["command.dispatch", { session_id: SID, name: "queue" }, 4004],
  ["command.dispatch", { session_id: SID, command: "/undo x" }, 4004],
  ["command.dispatch", { session_id: SID, command: "/undo" }, 4018],
  ["command.dispatch", { session_id: SID, command: "/retry" }, 4018],
  ["command.dispatch", { command: "/status" }, 4001],
  ["slash.exec", { session_id: SID, command: " " }, 4004],
  ["slash.exec", { session_id: SID, command: "/nope" }, 4018],
  ["cli.exec", { argv: "x" }, 4003],
  ["cli.exec", { argv: [1] }, 4003],
  ["shell.exec", {}, 4004],
  ["shell.exec", { command: "rm -rf /" }, 4005],
  ["shell.exec", { command: 1 }, -32602],
  ["process.kill", { session_id: SID }, 4012],
  ["process.kill", { session_id: SID, process_id: "none" }, 4044],
  ["subagent.interrupt", {}, 4000],
  ["subagent.steer", { session_id: SID, text: "x" }, 4000],
  ["subagent.steer", { session_id: SID, subagent_id: "sa-0-00000000", text: "" }, 4002],
  ["subagent.steer", { session_id: "none", subagent_id: "sa-0-00000000", text: "x" }, 4001],
  ["spawn_tree.save", {}, 4000],
  ["spawn_tree.load", {}, 4000],
  ["spawn_tree.load", { path: "../../etc/passwd" }, 4030],
  ["terminal.resize", { session_id: SID, cols: "wide" }, -32602],
  ["image.attach", { session_id: SID }, 4015],
  ["image.attach", { session_id: SID, path: "none.png" }, 4016],
  ["paste.collapse", {}, 4004],
  ["rollback.diff", { session_id: SID }, 4014],
  ["rollback.restore", { session_id: SID }, 4014],
  ["rollback.diff", { session_id: SID, hash: 1 }, 5022],
  ["tools.configure", { action: "nope", names: ["terminal"] }, 4017],
  ["tools.configure", { action: "enable", names: [] }, 4018],
  ["tools.configure", { action: "enable", names: "terminal" }, -32602],
  ["skills.manage", { action: "nope" }, 4017],
  ["plugins.manage", { action: "nope" }, 4017],
  ["plugins.manage", { action: "toggle" }, 4019],
  ["browser.manage", { action: "nope" }, 4015],
  ["model.save_key", {}, 4001],
  ["model.save_key", { slug: "openrouter" }, 4001],
  ["model.save_key", { slug: "nope", api_key: "x" }, 4002],
  ["model.disconnect", {}, 4001],
  ["model.options", { session_id: "none" }, 4001],
  ["pet.select", {}, 4004],
  ["voice.toggle", {}, 5025],
  ["learning.detail", { id: "x" }, 5000],
  ["session.redirect", { session_id: SID, text: "x" }, -32601],
  ["cron.manage", {}, -32601],
];

Deno.test("B, A.7: every method refuses what it cannot take by its own number", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const wrong: string[] = [];
    const check = async (method: string, given: unknown, code: number) => {
      const params = JSON.parse(JSON.stringify(given).replaceAll(`"${SID}"`, `"${sid}"`));
      const { error } = await host.response(await host.post(method, params));
      if (error?.code !== code) wrong.push(`${method} ${JSON.stringify(given)}: ${error?.code}, not ${code}`);
    };
    for (const [method, params, code] of CASES) await check(method, params, code);
    for (const method of SESSION_METHODS) {
      for (const id of ["ffffffff", "", null, 7, { a: 1 }]) {
        const more = method === "prompt.submit" || method === "prompt.background" ? { text: "x" } : {};
        await check(method, { session_id: id, ...more }, 4001);
      }
    }
    assertEquals(wrong, []);
    assertEquals(await host.request("ping"), { pong: true });
  });
});

Deno.test("B: what hosts may call at any time needs no parameters", async () => {
  await withGateway({}, async ({ host }) => {
    for (
      const method of [
        "session.list",
        "session.active_list",
        "session.most_recent",
        "session.events.stats",
        "commands.catalog",
        "complete.slash",
        "complete.path",
        "delegation.status",
        "delegation.pause",
        "gateway.capabilities",
        "client.capabilities",
        "model.options",
        "process.stop",
        "reload.env",
        "reload.mcp",
        "setup.status",
        "setup.runtime_check",
        "skills.manage",
        "skills.reload",
        "spawn_tree.list",
        "plugins.manage",
        "browser.manage",
        "credits.view",
        "billing.state",
        "pet.cells",
        "pet.gallery",
        "session.create",
      ]
    ) {
      const { result } = await host.response(await host.post(method, null));
      assertEquals(typeof result, "object", method);
    }
    assertEquals(await host.request("session.close", { session_id: "none" }), { closed: false });
    assertEquals(await host.request("session.close"), { closed: false });
  });
});
