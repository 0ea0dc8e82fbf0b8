/** The client of docs/examples against the real program: typed calls, both dialects, and a line that breaks. */
import { stripTypeScriptTypes } from "node:module";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import {
  type Answer,
  type ClientOptions,
  ConnectionLost,
  GatewayClient,
  GatewayError,
  type Question,
} from "../../../docs/examples/gateway_client.ts";
import { type Connect, pipes, webSocket } from "../../../docs/examples/gateway_connections.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram, startProgram } from "../../support/program.ts";
import { dangerous, exists, terminal, toolTurn } from "./scene.ts";
import { TOKEN, withWsGateway } from "./ws_scene.ts";

const EXAMPLES = new URL("../../../docs/examples/", import.meta.url);

Deno.test("docs/examples/gateway_types.d.ts is what gateway --types writes", async () => {
  await using rig = await makeRig();
  const { stdout, code } = await runProgram(["gateway", "--types"], { rig });
  assertEquals(code, 0);
  const kept = await Deno.readTextFile(new URL("gateway_types.d.ts", EXAMPLES));
  assert(kept === stdout, "write it anew: hermes gateway --types > docs/examples/gateway_types.d.ts");
});

Deno.test("the examples run where types are only taken away, as in Node", async () => {
  for (const name of ["gateway_client.ts", "gateway_connections.ts"]) {
    const text = await Deno.readTextFile(new URL(name, EXAMPLES));
    // Throws for syntax that is more than types, such as parameter properties.
    assert(stripTypeScriptTypes(text).includes("export "), name);
  }
});

/** A host on the pipes of a child process, as a host starts one. */
async function onStdio(
  turns: Parameters<typeof startModelServer>[0],
  options: ClientOptions,
  test: (client: GatewayClient, workspace: string) => Promise<void>,
): Promise<void> {
  await using model = await startModelServer(turns);
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const child = startProgram(["gateway"], { rig });
  const stderr = new Response(child.stderr).text();
  const ended = Promise.withResolvers<string>();
  const client = new GatewayClient(pipes(child.stdin, child.stdout), {
    ...options,
    retries: 0,
    onClosed: ended.resolve,
  });
  try {
    await client.open();
    await test(client, rig.workspace);
  } finally {
    client.close();
    assertEquals((await child.status).code, 0, await stderr);
    assertEquals(await ended.promise, "closed by the host");
  }
}

Deno.test("the client on stdio: a typed turn, its deltas, and an error by its code", async () => {
  await onStdio({ turns: ["hello there"] }, {}, async (client, cwd) => {
    const { session_id } = await client.request("session.create", { cwd });
    const deltas: string[] = [];
    const stop = client.on("message.delta", ({ text }, sid) => {
      if (sid === session_id) deltas.push(text);
    });
    const done = await client.prompt(session_id, "hi");
    stop();
    assertEquals([done.status, done.text, deltas.join("")], ["complete", "hello there", "hello there"]);
    const refused = await client.request("session.usage", { session_id: "nope" }).catch((error) => error);
    assert(refused instanceof GatewayError);
    assertEquals(refused.code, 4001);
  });
});

for (const dialect of ["events", "requests"] as const) {
  Deno.test(`the client in the dialect "${dialect}": approvals and questions reach one handler, answers count`, async () => {
    const turns = [
      toolTurn(terminal(dangerous("build"))),
      "removed",
      toolTurn({ tool: "clarify", args: { question: "Which?", choices: ["red", "blue"] } }),
      "picked",
      toolTurn(terminal(dangerous("other"))),
      "kept",
    ];
    let next: Answer = { choice: "once" };
    const asked: Question[] = [];
    const options: ClientOptions = { dialect, answer: (question) => (asked.push(question), next) };
    await onStdio({ turns }, options, async (client, cwd) => {
      for (const name of ["build", "other"]) await Deno.mkdir(`${cwd}/${name}`);
      const { session_id } = await client.request("session.create", { cwd });
      assertEquals((await client.prompt(session_id, "1")).text, "removed");
      assertEquals([asked[0]!.kind, asked[0]!.params["command"]], ["approval", "rm -rf build"]);
      next = { text: "blue" };
      let said: unknown = null;
      client.on("tool.complete", ({ name, result }) => {
        if (name === "clarify") said = result;
      });
      assertEquals((await client.prompt(session_id, "2")).text, "picked");
      assert(JSON.stringify(said).includes("blue"), JSON.stringify(said));
      next = { choice: "deny" };
      await client.prompt(session_id, "3");
      assertEquals([await exists(`${cwd}/build`), await exists(`${cwd}/other`)], [false, true]);
      assertEquals(asked.length, 3);
    });
  });
}

/** A WebSocket that the test can cut. */
function cuttable(port: number): { connect: Connect; cut(): void } {
  let close = () => {};
  const inner = webSocket(`ws://127.0.0.1:${port}/api/ws?token=${TOKEN}`);
  return {
    connect: async (listener) => {
      const connection = await inner(listener);
      close = () => connection.close();
      return connection;
    },
    cut: () => close(),
  };
}

Deno.test("the client over a WebSocket: a line that breaks in mid-turn loses no event and repeats none", async () => {
  const words = Array.from({ length: 60 }, (_, at) => `w${at} `);
  const turns = [{ steps: words.map((text) => ({ text, delay_ms: 10 })) }];
  await withWsGateway({ model: { turns } }, async ({ port }) => {
    const line = cuttable(port);
    const restored: unknown[] = [];
    const client = new GatewayClient(line.connect, {
      retryMs: 20,
      onRestored: ({ complete }) => restored.push(complete),
    });
    await client.open();
    const { session_id } = await client.request("session.create");
    let text = "";
    let cuts = 0;
    client.on("message.delta", (delta) => {
      text += delta.text;
      const due = cuts === 0 ? "w5 " : cuts === 1 ? "w30 " : null;
      if (due !== null && text.includes(due)) {
        cuts++;
        line.cut();
      }
    });
    const done = await client.prompt(session_id, "count");
    assertEquals([done.status, text, done.text.trim()], ["complete", words.join(""), words.join("").trim()]);
    assertEquals([cuts, restored], [2, [true, true]]);
    client.close();
  });
});

for (const dialect of ["events", "requests"] as const) {
  Deno.test(`the client over a WebSocket ("${dialect}"): a question that is open when the line breaks is answered once`, async () => {
    const turns = [toolTurn(terminal(dangerous("build"))), "removed"];
    await withWsGateway({ model: { turns } }, async ({ port, rig }) => {
      await Deno.mkdir(`${rig.workspace}/build`);
      const line = cuttable(port);
      const restored = Promise.withResolvers<void>();
      let asked = 0;
      const client = new GatewayClient(line.connect, {
        dialect,
        retryMs: 20,
        onRestored: () => restored.resolve(),
        answer: async () => {
          asked++;
          line.cut();
          await restored.promise;
          return { choice: "once" };
        },
      });
      await client.open();
      const { session_id } = await client.request("session.create", { cwd: rig.workspace });
      assertEquals((await client.prompt(session_id, "go")).text, "removed");
      assertEquals([asked, await exists(`${rig.workspace}/build`)], [1, false]);
      client.close();
    });
  });
}

Deno.test("the client over a WebSocket: after a restart of the gateway the session goes on under a new live id", async () => {
  await using model = await startModelServer({ turns: ["first", "second"] });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  const port = freePort();
  const env = { HERMES_DASHBOARD_SESSION_TOKEN: TOKEN };
  const start = async () => {
    const child = startProgram(["gateway", "--ws", "--port", String(port)], { rig, env });
    const text = { out: "" };
    const done = Promise.all([
      child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
        new WritableStream({ write: (part) => void (text.out += part) }),
      ),
      new Response(child.stderr).text(),
    ]);
    await eventually(() => text.out.includes("HERMES_BACKEND_READY") || undefined, 10_000, "the ready line");
    return async () => {
      child.kill("SIGTERM");
      await child.stdin.close();
      await Promise.all([child.status, done]);
    };
  };
  let stop = await start();
  const moved = Promise.withResolvers<{ session_id: string; was: string; complete: boolean }>();
  const client = new GatewayClient(webSocket(`ws://127.0.0.1:${port}/api/ws?token=${TOKEN}`), {
    retryMs: 20,
    retries: 50,
    onRestored: moved.resolve,
  });
  await client.open();
  const { session_id } = await client.request("session.create");
  assertEquals((await client.prompt(session_id, "one")).text, "first");
  await stop();
  stop = await start();
  const now = await moved.promise;
  assertEquals([now.was, now.complete], [session_id, false]);
  assertEquals((await client.prompt(now.session_id, "two")).text, "second");
  const { messages } = await client.request("session.history", { session_id: now.session_id });
  assertEquals(messages.map((row) => row.text), ["one", "first", "two", "second"]);
  client.close();
  await stop();
});

Deno.test("the client gives up when nobody answers, and says so once", async () => {
  const reasons: string[] = [];
  const gone = new GatewayClient(webSocket(`ws://127.0.0.1:${freePort()}/api/ws?token=x`), {
    onClosed: (reason) => reasons.push(reason),
  });
  await assertRejects(() => gone.open(), /cannot connect/);
  assert(await gone.request("ping").catch((error) => error) instanceof ConnectionLost);
  gone.close();
  assertEquals(reasons, ["closed by the host"]);
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}
