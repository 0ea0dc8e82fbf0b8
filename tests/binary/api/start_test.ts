/** How `hermes serve` starts and ends: key rules, busy port, newer database, ready line, signals. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import {
  type ApiServer,
  collectSse,
  contentOf,
  readSse,
  type SseFrame,
  startApi,
} from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, runProgram } from "../../support/program.ts";

async function isOpen(port: number): Promise<boolean> {
  try {
    (await Deno.connect({ hostname: "127.0.0.1", port })).close();
    return true;
  } catch {
    return false;
  }
}

/** Status of `GET /v1/models` under a key. */
async function statusWith(api: ApiServer, key: string): Promise<number> {
  const response = await api.call("/v1/models", { key });
  await response.body?.cancel();
  return response.status;
}

/** A port that nobody listens on, at least just now. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("api 1: on loopback a key is made, stored 0600, shown once, and used again at the next start", async () => {
  await using rig = await makeRig();
  let key = "";
  {
    await using api = await startApi({ rig, key: null });
    const env = await Deno.readTextFile(`${rig.home}/.env`);
    key = /^API_SERVER_KEY="?([A-Za-z0-9_-]{43})"?$/m.exec(env)?.[1] ?? "";
    assert(key !== "", env);
    assertEquals((await Deno.stat(`${rig.home}/.env`)).mode! & 0o777, 0o600);
    await eventually(() => api.stderr().split(key).length - 1 === 3, 5_000, "three places with the key");
    assertMatch(
      api.stderr(),
      new RegExp(`curl ${api.url}/v1/chat/completions -H "Authorization: Bearer ${key}"`),
    );
    assertEquals(api.stdout(), `${api.readyLine}\n`);
    assertEquals(await statusWith(api, key), 200);
  }
  await using again = await startApi({ rig, key: null });
  assertEquals(await statusWith(again, key), 200);
  assertEquals(await statusWith(again, "k".repeat(43)), 401);
  assertEquals(again.stderr().includes(key), false);
});

for (
  const [name, args, env, message] of [
    ["without a key on 0.0.0.0", ["--host", "0.0.0.0"], {}, /Cannot serve on 0\.0\.0\.0 without a key/],
    [
      "with the key changeme",
      [],
      { API_SERVER_KEY: "changeme" },
      /Cannot use API_SERVER_KEY: it is a placeholder/,
    ],
    [
      "with a key of 15 characters",
      [],
      { API_SERVER_KEY: "123456789012345" },
      /Cannot use API_SERVER_KEY: it is shorter than 16 characters/,
    ],
  ] as const
) {
  Deno.test(`api 1: ${name} it does not start, and nothing is bound`, async () => {
    await using rig = await makeRig();
    const port = freePort();
    const { code, stdout, stderr } = await runProgram(["serve", "--port", String(port), ...args], {
      rig,
      env,
    });
    assert(code !== 0);
    assertEquals(stdout, "");
    assertMatch(stderr, message);
    assertEquals(await isOpen(port), false);
  });
}

Deno.test("api 2: a busy port is an error that names it, never another port", async () => {
  await using rig = await makeRig();
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const { code, stdout, stderr } = await runProgram(["serve", "--port", String(port)], {
    rig,
    env: { API_SERVER_KEY: "k".repeat(32) },
  });
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, new RegExp(`port ${port} is in use`));
});

Deno.test("api 3, 4: health is public, its details are not", async () => {
  await using api = await startApi();
  const health = await api.call("/health", { key: null });
  const { version, ...rest } = await health.json();
  assertEquals([health.status, rest], [200, { status: "ok", platform: "hermes-agent" }]);
  assertMatch(version, /^\d+\.\d+\.\d+/);
  assertEquals(health.headers.get("x-frame-options"), "DENY");
  const refused = await api.call("/health/detailed", { key: null });
  assertEquals([refused.status, (await refused.json()).error.code], [401, "invalid_api_key"]);
  const details = await (await api.call("/health/detailed")).json();
  assertEquals(details.readiness.checks.state_db, { status: "ok" });
  assertEquals(details.readiness.checks.model, { status: "degraded", detail: "no_provider_configured" });
  assertEquals([details.pid, details.version], [api.process.pid, version]);
});

Deno.test("settings: a malformed port means the default, environment beats the file, flags beat both", async () => {
  await using rig = await makeRig({
    config: { gateway: { api_server: { model_name: "from-file", port: "x" } } },
  });
  {
    await using api = await startApi({
      rig,
      server: { model_name: "from-file", port: 1 },
      env: { API_SERVER_PORT: "x" },
    });
    assertEquals(api.readyLine, `API server listening on ${api.url} (model: from-file)`);
  }
  await using api = await startApi({
    rig,
    server: { model_name: "from-file" },
    env: { API_SERVER_MODEL_NAME: "from-env" },
  });
  assertEquals(api.readyLine, `API server listening on ${api.url} (model: from-env)`);
  const { data } = await (await api.call("/v1/models")).json();
  assertEquals(data.map((row: { id: string }) => row.id), ["from-env"]);
});

Deno.test("flags that cannot be meant end with usage and code 2", async () => {
  await using rig = await makeRig();
  for (const args of [["--nope"], ["--port", "70000"], ["--port", "x"], ["extra"]]) {
    const { code, stdout, stderr } = await runProgram(["serve", ...args], { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
    assertMatch(stderr, /hermes serve --help/);
  }
  const help = await runProgram(["serve", "--help"], { rig });
  assertEquals(help.code, 0);
  assertMatch(help.stdout, /--port/);
});

Deno.test("api 57: SIGTERM ends a stream cleanly, refuses new turns, and exits 0", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "partial" }, { stall: true }] }] });
  await using api = await startApi({ model });
  const frames: SseFrame[] = [];
  const response = await api.chat({ messages: [{ role: "user", content: "hi" }], stream: true });
  let stopped: Promise<Deno.CommandStatus> | null = null;
  for await (const frame of readSse(response)) {
    frames.push(frame);
    if (frame.json?.choices[0]?.delta?.content === "partial") stopped = api.stop("SIGTERM");
  }
  assertEquals(contentOf(frames), "partial");
  assertEquals(frames.at(-1)!.data, "[DONE]");
  assertEquals(frames.at(-2)!.json.choices[0].finish_reason, "error");
  assertEquals(frames.at(-2)!.json.hermes.completed, false);
  assertEquals((await stopped!).code, 0);
});

Deno.test("an idle server ends at once on SIGINT, code 0", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({ model });
  assertEquals(
    contentOf(
      await collectSse(await api.chat({ messages: [{ role: "user", content: "hi" }], stream: true })),
    ),
    "hello",
  );
  const before = performance.now();
  assertEquals((await api.stop("SIGINT")).code, 0);
  assertWithin(performance.now() - before, 1500);
});

Deno.test("core D.2, A1 step 3: a database that a newer program has written is refused, and nothing is changed", async () => {
  await using rig = await makeRig();
  const path = `${rig.home}/hermes.db`;
  {
    using db = new DatabaseSync(path);
    db.exec(
      "CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES (999)",
    );
  }
  const before = await Deno.readFile(path);
  const port = freePort();
  const { code, stdout, stderr } = await runProgram(["serve", "--demo", "--port", String(port)], { rig });
  assertEquals([code, stdout], [1, ""]);
  assertMatch(stderr, /newer hermes has written it .*update hermes/);
  assertEquals(await isOpen(port), false);
  assertEquals(await Deno.readFile(path), before);
  // Not even a key was made.
  assertEquals(await Deno.readTextFile(`${rig.home}/.env`).catch(() => ""), "");
});
