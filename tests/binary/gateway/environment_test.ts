/** Environment variables that a start of the gateway honours (tui-gateway.md I), each seen from the wire. */
import { assert, assertEquals } from "../../support/assert.ts";
import { stdioServer } from "../../support/mcp_server.ts";
import { eventually } from "../../support/program.ts";
import { dangerous, exists, sentTexts, terminal, toolTurn, withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

Deno.test("HERMES_YOLO_MODE asks nothing in this process, and every session says so", async () => {
  const model = { turns: [toolTurn(terminal(dangerous("build"))), "gone"] };
  await withGateway({ model, env: { HERMES_YOLO_MODE: "yes" } }, async ({ host, rig }) => {
    await Deno.mkdir(`${rig.workspace}/build`);
    const { sid } = await host.session({ cwd: rig.workspace });
    assertEquals((await host.turn(sid, "go")).text, "gone");
    assertEquals(host.eventsOf("approval.request"), []);
    assertEquals(await exists(`${rig.workspace}/build`), false);
    assertEquals(host.eventsOf("session.info", sid)[0]!.payload.yolo, true);
    assertEquals((await host.request("config.get", { key: "yolo", session_id: sid })).value, "1");
  });
});

Deno.test("HERMES_TUI_TOOLSETS offers these toolsets and no others; all is no filter", async () => {
  const toolsets = async (value: string): Promise<string[]> => {
    let found: string[] = [];
    await withGateway({ env: { HERMES_TUI_TOOLSETS: value } }, async ({ host }) => {
      const { sid } = await host.session();
      found = Object.keys(host.eventsOf("session.info", sid)[0]!.payload.tools).toSorted();
    });
    return found;
  };
  assertEquals(await toolsets("file, todo"), ["file", "todo"]);
  assert((await toolsets("all")).length > 5);
});

Deno.test("core B.2: HERMES_TUI_TOOLSETS offers the MCP servers it names and no others, also in focus mode", async () => {
  const mcp_servers = { box: stdioServer({ tools: ["echo"] }), desk: stdioServer({ tools: ["env"] }) };
  const offered = async (value: string, more: Record<string, unknown> = {}): Promise<string[]> => {
    let found: string[] = [];
    const config = { mcp_servers, mcp_discovery_timeout: 20, ...more };
    await withGateway(
      { config, model: { turns: ["ok"] }, env: { HERMES_TUI_TOOLSETS: value } },
      async (scene) => {
        const { sid } = await scene.host.session();
        await scene.host.turn(sid, "go");
        const tools = scene.model.calls()[0]!.body.tools as { function: { name: string } }[];
        found = tools.map((tool) => tool.function.name).filter((name) => /^(mcp__|patch$)/.test(name))
          .toSorted();
      },
    );
    return found;
  };
  const focus = { agent: { coding_context: "focus" } };
  assertEquals(await offered("file"), ["patch"]);
  assertEquals(await offered("file,mcp-box"), ["mcp__box__echo", "patch"]);
  assertEquals(await offered("file,desk", focus), ["mcp__desk__env", "patch"]);
  assertEquals(await offered("all", focus), ["mcp__box__echo", "mcp__desk__env", "patch"]);
  // Not named, they stay as `platform_toolsets.cli` has them.
  const listed = { ...focus, platform_toolsets: { cli: ["file", "box"] } };
  assertEquals(await offered("", listed), ["mcp__box__echo", "patch"]);
});

Deno.test("HERMES_IGNORE_RULES leaves the project's file out of the prompt", async () => {
  for (const [env, told] of [[{}, true], [{ HERMES_IGNORE_RULES: "1" }, false]] as const) {
    await withGateway({ model: { turns: ["ok"] }, env }, async ({ host, model, rig }) => {
      await Deno.writeTextFile(`${rig.workspace}/AGENTS.md`, "Whistle while you work.\n");
      const { sid } = await host.session({ cwd: rig.workspace });
      await host.turn(sid, "go");
      assertEquals(sentTexts(model.calls()[0], "system").join().includes("Whistle while"), told);
    });
  }
});

Deno.test("TERMINAL_CWD is where sessions without a cwd start; one that is no directory is passed over", async () => {
  for (const name of ["there", "nowhere"]) {
    await withGateway({ env: { TERMINAL_CWD: name } }, async ({ host, rig }) => {
      await Deno.mkdir(`${rig.workspace}/there`);
      const { info } = await host.request("session.create");
      assertEquals(info.cwd, name === "there" ? `${rig.workspace}/there` : rig.workspace);
    });
  }
});

Deno.test("HERMES_MODEL and HERMES_INFERENCE_MODEL choose the model of new sessions, and write nothing", async () => {
  for (const name of ["HERMES_MODEL", "HERMES_INFERENCE_MODEL"]) {
    const scene = { model: { models: ["scripted", "other"] }, env: { [name]: "other" } };
    await withGateway(scene, async ({ host, rig }) => {
      const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
      assertEquals((await host.request("session.create")).info.model, "other", name);
      assertEquals(
        (await host.request("session.create", { model: "scripted" })).info.model,
        "scripted",
        name,
      );
      assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
    });
  }
});

Deno.test("HERMES_TUI_TOOL_PROGRESS=verbose adds the texts of calls, their end kept", async () => {
  const lines = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  const model = { turns: [toolTurn(terminal(`printf '${lines.join("\\n")}'`)), "ok"] };
  await withGateway({ model, env: { HERMES_TUI_TOOL_PROGRESS: "verbose" } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "go");
    const { args_text } = await host.event("tool.start", sid);
    const { result_text } = await host.event("tool.complete", sid);
    for (const text of [args_text, result_text]) {
      assert(text.includes("line 29"), text);
      assert(text.length <= 1000 && text.split("\n").length <= 16, text);
    }
  });
});

Deno.test("HERMES_TUI_RPC_POOL_WORKERS: so many workers at a time, and never less than two", async () => {
  await withGateway({ env: { HERMES_TUI_RPC_POOL_WORKERS: "1" } }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    const shell = (command: string) => host.post("shell.exec", { session_id: sid, command });
    const held = ["a", "b"].map((name) => shell(`touch ${name}; until [ -e go ]; do sleep 0.05; done`));
    const third = await shell("touch c");
    for (const name of ["a", "b"]) {
      await eventually(async () => await exists(`${rig.workspace}/${name}`) || undefined, 5_000, name);
    }
    assertEquals(await host.request("ping"), { pong: true });
    assertEquals(await exists(`${rig.workspace}/c`), false);
    await Deno.writeTextFile(`${rig.workspace}/go`, "");
    for (const id of [...await Promise.all(held), third]) {
      assertEquals((await host.response(id)).result.code, 0);
    }
    assertEquals(await exists(`${rig.workspace}/c`), true);
  });
});

Deno.test("HERMES_TUI_GATEWAY_SHUTDOWN_GRACE_S: a worker that is not done by then is -32000, and the exit is 0", async () => {
  await withGateway({ env: { HERMES_TUI_GATEWAY_SHUTDOWN_GRACE_S: "0.3" } }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    const id = await host.post("shell.exec", { session_id: sid, command: "touch began; sleep 25" });
    await eventually(async () => await exists(`${rig.workspace}/began`) || undefined, 5_000, "the start");
    const { code } = await host.end();
    assertEquals([code, (await host.response(id)).error.code], [0, -32000]);
  });
});

Deno.test("gateway.ws_max_message_bytes bounds a message in bytes, not in characters", async () => {
  const config = { gateway: { ws_max_message_bytes: 2000 } };
  await withWsGateway({ config }, async ({ connect }) => {
    const host = await connect();
    const padded = (text: string) => JSON.stringify({ id: 1, method: "ping", params: { text } });
    host.socket.send(padded("x".repeat(1900)));
    await host.until(() => host.frames.find((frame) => frame.id === 1), "the answer");
    host.socket.send(padded("é".repeat(990)));
    assertEquals((await host.closed).code, 1009);
  });
});

Deno.test("B.11 display_kind hidden: the model reads the prompt, no list shows it, and no ordinal counts it", async () => {
  await withGateway({ model: { turns: ["one", "two"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    const hidden = { session_id: sid, text: "remember the door", display_kind: "hidden" };
    await host.request("prompt.submit", hidden);
    await host.event("message.complete", sid);
    await host.idle(sid);
    await host.request("prompt.submit", { session_id: sid, text: "seen", display_kind: "other" });
    await host.event("message.complete", sid, 1);
    await host.idle(sid);
    assertEquals(sentTexts(model.calls()[1], "user"), ["remember the door", "seen"]);
    const { messages } = await host.request("session.history", { session_id: sid });
    assertEquals(messages.map((row: { text: string }) => row.text), ["one", "seen", "two"]);
    const cut = {
      session_id: sid,
      text: "x",
      truncate_before_row_id: messages[1].row_id,
      confirm_truncate: true,
    };
    assertEquals(
      (await host.refused("prompt.submit", { ...cut, truncate_before_user_ordinal: 1 })).code,
      4030,
    );
  });
});
