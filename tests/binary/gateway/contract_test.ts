/** The contract for hosts: what it says is what the program does, and what docs/gateway.md names is in it. */
import { assert, assertEquals } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { Contract, output } from "./contract_check.ts";
import { dangerous, terminal, toolTurn, withGateway } from "./scene.ts";

Deno.test("gateway --schema is an OpenRPC document in which every method and parameter has a shape", async () => {
  const { document } = new Contract(await output("--schema"));
  assertEquals(document.openrpc, "1.3.2");
  const names = document.methods.map((method: Json) => method.name);
  assertEquals(new Set(names).size, names.length);
  assert(names.length > 85, String(names.length));
  for (const { name, params, result } of document.methods) {
    assert(Object.keys(result.schema).length > 0, name);
    for (const param of params) assert(Object.keys(param.schema).length > 0, `${name} ${param.name}`);
  }
});

Deno.test("gateway --types compiles, and types what a host writes", async () => {
  const types = await output("--types");
  const dir = await Deno.makeTempDir({ prefix: "hermes-types-" });
  try {
    await Deno.writeTextFile(`${dir}/gateway.d.ts`, types);
    const host = (line: string) =>
      `import type { Events, Methods, Request } from "./gateway.d.ts";\n${line}\n`;
    await Deno.writeTextFile(
      `${dir}/good.ts`,
      host(
        'export const r: Request<"prompt.submit"> = { id: 1, method: "prompt.submit", params: { session_id: "a", text: "b" } };\n' +
          'export const s: Methods["session.create"]["result"]["session_id"] = "a";\n' +
          'export const c: Events["message.complete"]["status"] = "interrupted";\n' +
          'export const n: Events["message.start"] = undefined;',
      ),
    );
    await Deno.writeTextFile(
      `${dir}/bad.ts`,
      host('export const c: Events["message.complete"]["status"] = "maybe";'),
    );
    await Deno.writeTextFile(
      `${dir}/worse.ts`,
      host('export const r: Request = { id: 1, method: "no.such" };'),
    );
    const check = async (file: string) => {
      const { code } = await new Deno.Command("deno", {
        args: ["check", "--no-config", "--quiet", file],
        cwd: dir,
        stdout: "null",
        stderr: "null",
      }).output();
      return code === 0;
    };
    assertEquals([await check("good.ts"), await check("bad.ts"), await check("worse.ts")], [
      true,
      false,
      false,
    ]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("every method and event of the contract is named in docs/gateway.md, and no other", async () => {
  const { document } = new Contract(await output("--schema"));
  const doc = await Deno.readTextFile(new URL("../../../docs/gateway.md", import.meta.url));
  const list = doc.slice(doc.indexOf("## Everything by name"));
  const named = (heading: string) => {
    const part = list.slice(list.indexOf(heading) + heading.length);
    const end = part.search(/\n#/);
    return [...part.slice(0, end === -1 ? undefined : end).matchAll(/`([\w.]+)`/g)].map((match) => match[1]!)
      .sort();
  };
  assertEquals(named("### Methods"), document.methods.map((method: Json) => method.name).sort());
  assertEquals(named("### Events"), Object.keys(document["x-events"]).sort());
});

Deno.test("what the program answers and tells has the shape of the contract", async () => {
  const contract = new Contract(await output("--schema"));
  const turns = [
    toolTurn({ tool: "todo", args: { todos: [{ id: "1", content: "x", status: "pending" }] } }),
    "1",
    toolTurn(terminal("rm -rf build")),
    "2",
    toolTurn({ tool: "clarify", args: { question: "Which?" } }),
    "3",
    { steps: [{ error: { status: 400, message: "no" } }] },
    "beside",
  ];
  await withGateway({ model: { turns } }, async ({ host, rig }) => {
    const call = (name: string, params: Json = {}) => contract.call(host, name, params);
    await Deno.mkdir(`${rig.workspace}/build`);
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "x");
    assertEquals(dangerous("build"), "rm -rf build");
    const { session_id } = await call("session.create", { cols: 90, title: "First" });
    const on = { session_id };
    for (const [n, text] of ["todo", "remove", "ask", "fail"].entries()) {
      await call("prompt.submit", { ...on, text });
      if (text === "remove") {
        await host.event("approval.request", session_id);
        await call("approval.pending", on);
        await call("session.activate", on);
        await call("approval.respond", { ...on, choice: "once" });
      }
      if (text === "ask") {
        const { request_id } = await host.event("clarify.request", session_id);
        await call("clarify.respond", { request_id, answer: "that" });
      }
      await host.event("message.complete", session_id, n);
      await host.idle(session_id);
    }
    for (
      const name of [
        "session.history",
        "session.usage",
        "session.status",
        "session.title",
        "session.interrupt",
        "session.context_breakdown",
        "session.events.since",
        "session.branch",
        "session.save",
        "process.list",
        "clipboard.paste",
        "rollback.list",
      ]
    ) await call(name, on);
    for (
      const name of [
        "session.list",
        "session.active_list",
        "session.most_recent",
        "session.events.stats",
        "ping",
        "commands.catalog",
        "delegation.status",
        "setup.status",
        "reload.env",
        "reload.mcp",
        "credits.view",
        "billing.state",
        "pet.gallery",
        "plugins.manage",
        "browser.manage",
        "gateway.capabilities",
      ]
    ) await call(name);
    await call("session.steer", { ...on, text: "x" });
    await call("session.compress", on);
    await call("complete.slash", { text: "/re" });
    await call("complete.path", { word: "a" });
    await call("command.resolve", { name: "bg" });
    await call("command.dispatch", { ...on, command: "/queue x" });
    await call("slash.exec", { ...on, command: "/status" });
    await call("config.get", { key: "busy" });
    await call("config.set", { key: "busy", value: "queue" });
    await call("input.detect_drop", { ...on, text: `${rig.workspace}/a.txt` });
    await call("paste.collapse", { text: "a\nb" });
    await call("shell.exec", { command: "true" });
    await call("cli.exec", { argv: ["gateway"] });
    await call("model.options", { include_unconfigured: true });
    await call("tools.configure", { action: "disable", names: ["todo"] });
    const { path } = await call("spawn_tree.save", { session_id: "x", subagents: [1] });
    await call("spawn_tree.list", { cross_session: true });
    await call("spawn_tree.load", { path });
    await call("prompt.background", { ...on, text: "aside" });
    await host.event("background.complete", session_id);
    await call("session.undo", on);
    await call("session.close", on);
    for (const event of host.events) contract.event(event);
    const seen = new Set(host.events.map((event) => event.type));
    for (
      const type of [
        "gateway.ready",
        "message.start",
        "tool.complete",
        "approval.request",
        "clarify.request",
        "error",
      ]
    ) {
      assert(seen.has(type), type);
    }
  });
});
