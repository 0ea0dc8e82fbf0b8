/** Running the server: metrics, structured logs, draining, proxies, detailed health. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { API_KEY, rawRequest, startApi, statusOf } from "../../support/api_driver.ts";
import { query } from "../../support/core_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig } from "../../support/program.ts";
import { ask, refusal, startRun, untilStatus } from "./run_scene.ts";

const HI = { messages: [{ role: "user", content: "hi" }] };

/** The value of one sample; `undefined` when it is not there. */
function sample(text: string, name: string): number | undefined {
  const line = text.split("\n").find((line) => line.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

Deno.test("metrics: off they are not there; on they need the key and count requests, turns, tokens and runs", async () => {
  await using model = await startModelServer({ turns: ["one", "two"] });
  {
    await using api = await startApi({ model });
    assertEquals(await refusal(api, "/metrics"), [404, "not_found"]);
  }
  await using api = await startApi({ model, env: { API_SERVER_METRICS: "true" } });
  assertEquals((await ask(api, "/metrics", { key: null })).status, 401);
  assertEquals((await api.chat(HI).then((response) => response.json())).choices[0].message.content, "one");
  await untilStatus(api, await startRun(api), "completed");
  await refusal(api, "/v1/nothing-like-this/0123456789");
  const response = await api.call("/metrics");
  assertEquals(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  const requests = (method: string, route: string, status: number) =>
    sample(text, `hermes_http_requests_total{method="${method}",route="${route}",status="${status}"}`);
  assertEquals(requests("POST", "/v1/chat/completions", 200), 1);
  assertEquals(requests("POST", "/v1/runs", 202), 1);
  assertEquals(requests("GET", "/metrics", 401), 1);
  assertEquals(requests("GET", "none", 404), 1);
  assertEquals(sample(text, 'hermes_turns_total{outcome="completed"}'), 2);
  assertEquals(sample(text, 'hermes_runs_total{status="completed"}'), 1);
  assertEquals([sample(text, "hermes_active_turns"), sample(text, "hermes_active_runs")], [0, 0]);
  assert((sample(text, 'hermes_model_tokens_total{kind="output"}') ?? 0) > 0);
  assertEquals(sample(text, 'hermes_http_response_seconds_count{route="/v1/chat/completions"}'), 1);
  assertEquals(text.includes("0123456789"), false);
  for (const line of text.trimEnd().split("\n")) {
    assertMatch(line, /^(# (HELP|TYPE) \w+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$/);
  }
});

Deno.test("--log-format json: one object per line, a line per request with its id, and no secret", async () => {
  await using model = await startModelServer({ turns: ["one"] });
  await using api = await startApi({ model, args: ["--log-format", "json"] });
  const good = await api.chat(HI);
  await good.body?.cancel();
  const bad = await api.call("/v1/models?key=sk-0123456789abcdefghij", { key: "wrong-key-0123456789" });
  await bad.body?.cancel();
  const lines = await eventually(() => {
    const all = api.stderr().trimEnd().split("\n").map((line) => JSON.parse(line));
    return all.filter((line) => line.message === "request").length === 2 && all;
  });
  const [first, second] = lines.filter((line) => line.message === "request");
  const { time, duration_ms, peer, ...rest } = first;
  assertEquals(rest, {
    level: "INFO",
    logger: "hermes",
    message: "request",
    request_id: good.headers.get("x-request-id"),
    method: "POST",
    path: "/v1/chat/completions",
    status: 200,
    key: "full",
  });
  assertMatch(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  assertEquals([typeof duration_ms, peer], ["number", "127.0.0.1"]);
  assertEquals([second.status, second.request_id, second.path], [
    401,
    bad.headers.get("x-request-id"),
    "/v1/models",
  ]);
  const refusalLine = lines.find((line) => /^401 for/.test(line.message));
  assert(refusalLine.message.endsWith(second.request_id));
  for (const secret of [API_KEY, "wrong-key", "sk-0123456789"]) {
    assertEquals(api.stderr().includes(secret), false);
  }
});

Deno.test("--log-format json: a key that was made is stored, not logged", async () => {
  await using rig = await makeRig();
  await using api = await startApi({ rig, key: null, args: ["--log-format", "json"] });
  const key = /^API_SERVER_KEY="?([\w-]{43})/m.exec(await Deno.readTextFile(`${rig.home}/.env`))?.[1] ?? "";
  await eventually(() => api.stderr().includes("stored it in"));
  assertEquals([key.length, api.stderr().includes(key)], [43, false]);
  for (const line of api.stderr().trimEnd().split("\n")) {
    assertEquals(typeof JSON.parse(line).message, "string");
  }
});

Deno.test("api 57: draining lets a turn end, refuses new ones with 503, and answers reads", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "a" }, { delay_ms: 4_000, text: "b" }] }],
  });
  await using api = await startApi({ model, args: ["--drain", "30"] });
  const id = await startRun(api);
  await eventually(() => model.calls().length === 1);
  const stopped = api.stop("SIGTERM");
  const state = await eventually(async () => {
    const { body } = await ask(api, "/health/detailed");
    return body.gateway_state === "draining" && body;
  });
  assertEquals([state.status, state.gateway_drainable], ["degraded", false]);
  for (
    const [path, body] of [
      ["/v1/runs", { input: "x" }],
      ["/v1/chat/completions", HI],
      ["/v1/responses", { input: "x" }],
      ["/api/sessions", {}],
    ] as const
  ) {
    const refused = await ask(api, path, { body });
    assertEquals([path, refused.status, refused.body.error.code, refused.headers.get("retry-after")], [
      path,
      503,
      "gateway_draining",
      "1",
    ]);
  }
  const events = await (await api.call(`/v1/runs/${id}/events`)).text();
  assertMatch(events, /"event":"run.completed".*"output":"ab"/);
  assertEquals((await stopped).code, 0);
});

Deno.test("draining ends at its bound: what still runs is interrupted then", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [{ steps: [{ text: "a" }, { stall: true }] }] });
  let id: string;
  {
    await using api = await startApi({ model, rig, args: ["--drain", "0.3"] });
    id = await startRun(api);
    await eventually(() => model.calls().length === 1);
    assertEquals((await api.stop("SIGTERM")).code, 0);
  }
  await using api = await startApi({ model, rig });
  assertEquals((await ask(api, `/v1/runs/${id}`)).body.status, "interrupted");
});

function get(headers: Record<string, string>): string {
  const lines = Object.entries({ Connection: "close", ...headers }).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  return `GET /health HTTP/1.1\r\n${lines.join("")}\r\n`;
}

Deno.test("trusted_hosts: X-Forwarded-* of a trusted peer counts, that of a stranger is only text", async () => {
  const forwarded = { "X-Forwarded-Host": "agent.example.com", "X-Forwarded-For": "203.0.113.9, 127.0.0.1" };
  const seen = async (server: Record<string, unknown>, headers: Record<string, string>) => {
    await using api = await startApi({ server, args: ["--log-format", "json"] });
    const status = statusOf(await rawRequest(api.port, get(headers)));
    const line = await eventually(() =>
      api.stderr().split("\n").filter((text) => text.includes('"request"')).map((text) => JSON.parse(text))[0]
    );
    return [status, line.peer];
  };
  const host = { Host: "localhost", ...forwarded };
  assertEquals(await seen({}, host), [200, "127.0.0.1"]);
  const trusting = { trusted_hosts: ["127.0.0.0/8"] };
  assertEquals(await seen(trusting, host), [403, "203.0.113.9"]);
  assertEquals(await seen({ ...trusting, allowed_hosts: ["agent.example.com"] }, host), [200, "203.0.113.9"]);
  assertEquals(await seen({ trusted_hosts: ["10.0.0.0/8"] }, host), [200, "127.0.0.1"]);
});

Deno.test("api A13: a request that was let in and is refused while draining leaves no session behind", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ delay_ms: 4_000, text: "a" }] }] });
  const limits = { gateway: { api_server: { max_concurrent_runs: 4 } } };
  await using rig = await makeRig();
  await using api = await startApi({ model, rig, config: limits, args: ["--drain", "30"] });
  const run = await startRun(api);
  /** The rest of its body comes when the test says so. */
  const post = async (path: string, body: unknown) => {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: api.port });
    const text = JSON.stringify(body);
    const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${API_KEY}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${text.length}\r\nConnection: close\r\n\r\n`;
    const send = (part: string) => connection.write(new TextEncoder().encode(part));
    await send(head + text.slice(0, 5));
    return async () => {
      await send(text.slice(5));
      return await new Response(connection.readable).text();
    };
  };
  const finish = await Promise.all([
    post("/v1/chat/completions", { ...HI, stream: true }),
    post("/v1/chat/completions", HI),
    post("/v1/responses", { input: "x" }),
  ]);
  // Only a fifth one is turned away.
  await eventually(async () => (await ask(api, "/v1/chat/completions", { body: {} })).status === 429);
  const stopped = api.stop("SIGTERM");
  await eventually(async () => (await ask(api, "/health/detailed")).body.gateway_state === "draining");
  for (const answer of await Promise.all(finish.map((end) => end()))) {
    assertEquals(statusOf(answer), 503);
    assertMatch(answer, /"code":"gateway_draining"/);
  }
  const { session_id } = (await ask(api, `/v1/runs/${run}`)).body;
  assertEquals((await stopped).code, 0);
  assertEquals(query(rig, "SELECT id FROM sessions"), [{ id: session_id }]);
});

Deno.test("A13, D7: requests that are on their way when the signal comes are answered, not dropped", async () => {
  await using model = await startModelServer({ respond: () => ({ steps: [{ stall: true }] }) });
  const body = JSON.stringify({ messages: [{ role: "user", content: "hi" }] });
  const statuses: string[] = [];
  for (const ms of [20, 40, 60, 80, 100, 120]) {
    await using api = await startApi({ model });
    const answer = rawRequest(
      api.port,
      `POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${api.key}\r\n` +
        `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await new Promise((resolve) => setTimeout(resolve, ms));
    assertEquals((await api.stop("SIGTERM")).code, 0);
    statuses.push(/^HTTP\/1\.1 (\d+)/.exec(await answer)?.[1] ?? "dropped");
  }
  // Refused by a server that goes away, or begun and interrupted by it.
  assertEquals(statuses.filter((status) => status !== "502" && status !== "503"), []);
});
