/** What reaches no turn: authentication, hosts, origins, sizes, shapes (against the real socket). */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import {
  API_KEY,
  type ApiServer,
  collectSse,
  rawRequest,
  startApi,
  statusOf,
} from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";

const HI = { messages: [{ role: "user", content: "hi" }] };

function jsonOf(answer: string): Record<string, Record<string, unknown>> {
  const body = answer.slice(answer.indexOf("\r\n\r\n") + 4);
  return JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1));
}

function get(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Connection: "close", ...headers }).map(([name, value]) =>
    `${name}: ${value}\r\n`
  );
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

async function assertAlive(api: ApiServer): Promise<void> {
  assertEquals((await (await api.call("/health")).json()).status, "ok");
}

Deno.test("api 5, 6: models needs exactly the key, and shows no secret", async () => {
  await using api = await startApi({
    server: { model_routes: { quick: { model: "tiny", api_key: "sk-route-0123456789abcdef" }, broken: {} } },
  });
  for (const authorization of [null, `bearer ${API_KEY}`, "Bearer wrong", `Basic ${API_KEY}`]) {
    const response = await api.call("/v1/models", {
      key: null,
      headers: authorization === null ? {} : { Authorization: authorization },
    });
    assertEquals([authorization, response.status], [authorization, 401]);
    assertEquals(await response.json(), {
      error: {
        message: "Invalid API key",
        type: "invalid_request_error",
        param: null,
        code: "invalid_api_key",
      },
    });
  }
  const odd = await rawRequest(api.port, get("/v1/models", { Host: "localhost", Authorization: "Bearer é" }));
  assertEquals(statusOf(odd), 401);
  const text = await (await api.call("/v1/models")).text();
  assertEquals(text.includes("sk-route"), false);
  const rows = JSON.parse(text).data.map(({ id, root }: { id: string; root: string }) => [id, root]);
  assertEquals(rows, [["hermes-agent", "hermes-agent"], ["quick", "tiny"]]);
});

Deno.test("api 7, FC-22.2: a foreign host or origin is refused; the host passes once it is allowed", async () => {
  {
    await using api = await startApi();
    for (const method of ["GET", "OPTIONS"]) {
      const response = await api.call("/health", { method, headers: { Origin: "http://evil" } });
      assertEquals([response.status, (await response.json()).error.code], [403, "origin_not_allowed"]);
      assertEquals(response.headers.get("access-control-allow-origin"), null);
    }
    const refused = await rawRequest(api.port, get("/v1/models", { Host: "attacker.example" }));
    assertEquals([statusOf(refused), jsonOf(refused).error!.code], [403, "host_not_allowed"]);
    for (const host of ["localhost", `127.0.0.1:${api.port}`, "[::1]:1"]) {
      assertEquals(statusOf(await rawRequest(api.port, get("/health", { Host: host }))), 200);
    }
  }
  await using api = await startApi({ env: { API_SERVER_ALLOWED_HOSTS: "attacker.example, other.test" } });
  const headers = { Host: "attacker.example", Authorization: `Bearer ${API_KEY}` };
  assertEquals(statusOf(await rawRequest(api.port, get("/v1/models", headers))), 200);
});

Deno.test("A6, A11: a Host that names nothing is 400 with all headers; other hosts and origins slip by nothing", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  const run = (head: string) =>
    rawRequest(
      api.port,
      `POST /v1/runs HTTP/1.1\r\n${head}\r\nAuthorization: Bearer ${api.key}\r\nContent-Length: 2\r\n\r\n{}`,
    );
  const odd = await run("Host: a b");
  assertEquals([statusOf(odd), odd.includes('"code":"invalid_request"')], [400, true]);
  for (const name of ["x-request-id: req_", "content-security-policy: ", "x-frame-options: DENY"]) {
    assert(odd.toLowerCase().includes(name.toLowerCase()), name);
  }
  const host = `127.0.0.1:${api.port}`;
  for (
    const [head, status] of [
      [`Host: ${host}`, 400],
      [`Host: ${host}\r\nOrigin: http://${host}`, 400],
      [`Host: ${host}\r\nOrigin: http://localhost:${api.port}`, 403],
      [`Host: ${host}\r\nOrigin: http://127.0.0.1`, 403],
      [`Host: ${host}\r\nOrigin: http://127.0.0.1:1`, 403],
      [`Host: ${host}\r\nOrigin: http://${host}.evil.test`, 403],
      [`Host: ${host}\r\nOrigin: http://evil.test@${host}`, 403],
      [`Host: ${host}\r\nOrigin: http://${host}/x`, 403],
      [`Host: ${host}\r\nOrigin: http://${host}\r\nOrigin: http://evil.test`, 403],
      [`Host: ${host}\r\nOrigin: file://${host}`, 403],
      [`Host: ${host}\r\nOrigin: null`, 403],
      [`Host: evil.test\r\nOrigin: http://evil.test`, 403],
      [`Host: ${host}\r\nX-Forwarded-Host: evil.test\r\nOrigin: http://evil.test`, 403],
      [`Host: ${host}\r\nHost: evil.test`, 400],
      [`Host: 127.0.0.1.evil.test`, 403],
      [`Host: 127.0.0.1@evil.test`, 403],
    ] as const
  ) assertEquals([head, statusOf(await run(head))], [head, status]);
  assertEquals((await (await api.call("/v1/runs")).json()).data, []);
});

Deno.test("api 8, FC-22.1: an allowed page may send its headers and read the answers", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({ model, env: { API_SERVER_CORS_ORIGINS: "https://app.test" } });
  const wanted = "authorization, content-type, idempotency-key, x-hermes-session-id, x-hermes-session-key";
  const preflight = await api.call("/v1/chat/completions", {
    method: "OPTIONS",
    key: null,
    headers: {
      Origin: "https://app.test",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": wanted,
    },
  });
  await preflight.body?.cancel();
  assertEquals([preflight.status, preflight.headers.get("access-control-max-age")], [200, "600"]);
  assertEquals(preflight.headers.get("access-control-allow-origin"), "https://app.test");
  assertMatch(preflight.headers.get("vary") ?? "", /Origin/);
  const allowed = preflight.headers.get("access-control-allow-headers")!.toLowerCase().split(", ");
  for (const name of wanted.split(", ")) assert(allowed.includes(name), name);
  const stream = await api.chat({ ...HI, stream: true }, { headers: { Origin: "https://app.test" } });
  assertEquals(stream.headers.get("access-control-allow-origin"), "https://app.test");
  const exposed = stream.headers.get("access-control-expose-headers") ?? "";
  assert(exposed.includes("X-Hermes-Session-Id") && exposed.includes("X-Hermes-Session-Key"));
  assertEquals((await collectSse(stream)).at(-1)!.data, "[DONE]");
});

Deno.test("api 9, 12, FC-02.2: bodies of a wrong shape are 400 JSON, and the server lives on", async () => {
  await using api = await startApi();
  for (
    const body of ["{", "", "[]", '"x"', "{}", '{"messages":[]}', '{"messages":"hi"}', '{"messages":[1]}']
  ) {
    const response = await api.chat(body);
    assertEquals([body, response.status, response.headers.get("content-type")], [
      body,
      400,
      "application/json",
    ]);
    const { error } = await response.json();
    assertEquals([typeof error.message, error.type], ["string", "invalid_request_error"]);
  }
  const bytes = await fetch(`${api.url}/v1/chat/completions`, {
    method: "POST",
    headers: { Authorization: `Bearer ${API_KEY}` },
    body: new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]),
  });
  assertEquals([bytes.status, (await bytes.json()).error.message], [400, "Invalid JSON in request body"]);
  await assertAlive(api);
});

Deno.test("api 10: a body over the limit is 413, sized or chunked, and the server lives on", async () => {
  await using api = await startApi();
  const head = (extra: string) =>
    `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${API_KEY}\r\n` +
    `Connection: close\r\n${extra}\r\n\r\n`;
  const sized = await rawRequest(api.port, head("Content-Length: 10000001"));
  assertEquals([statusOf(sized), jsonOf(sized).error!.code], [413, "body_too_large"]);
  const megabyte = `100000\r\n${" ".repeat(0x100000)}\r\n`;
  const chunked = await rawRequest(
    api.port,
    head("Transfer-Encoding: chunked") + megabyte.repeat(11) + "0\r\n\r\n",
  );
  assertEquals([statusOf(chunked), jsonOf(chunked).error!.code], [413, "body_too_large"]);
  await assertAlive(api);
});

Deno.test("api 11: unknown routes, wrong methods, and slashes that do not matter", async () => {
  await using api = await startApi();
  const unknown = await api.call("/nope");
  assertEquals([unknown.status, (await unknown.json()).error.code], [404, "not_found"]);
  const wrong = await api.call("/v1/models", { method: "PUT" });
  assertEquals([wrong.status, (await wrong.json()).error.code], [405, "method_not_allowed"]);
  // `created` is the time of each answer.
  const ids = async (path: string) =>
    (await (await api.call(path)).json()).data.map(({ id }: { id: string }) => id);
  assertEquals(await ids("//v1/models/"), await ids("/v1/models"));
});

Deno.test("api 13, 17, 30: what a turn cannot use is refused before it", async () => {
  await using model = await startModelServer({ turns: ["hello", "hello"] });
  await using api = await startApi({ model });
  const code = async (response: Response) => {
    const { error } = await response.json();
    return [response.status, error.code, error.param];
  };
  const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
  for (const body of [{ messages: [{ role: "system", content: "x" }] }, user("  ")]) {
    const response = await api.chat(body);
    assertEquals((await response.json()).error.message, "No user message found in messages");
  }
  const param = "messages[0].content";
  assertEquals(await code(await api.chat(user([{ type: "file" }]))), [
    400,
    "unsupported_content_type",
    param,
  ]);
  assertEquals(
    await code(await api.chat(user([{ type: "image_url", image_url: { url: "data:text/plain,x" } }]))),
    [400, "unsupported_content_type", param],
  );
  assertEquals(
    await code(await api.chat(user([{ type: "image_url", image_url: { url: "ftp://x/y" } }]))),
    [400, "invalid_image_url", param],
  );
  assertEquals(await code(await api.chat(user([{ type: "input_audio" }]))), [
    400,
    "unsupported_content_type",
    param,
  ]);
  for (
    const [name, value] of [
      ["X-Hermes-Session-Id", "../x"],
      ["X-Hermes-Session-Id", "x".repeat(257)],
      ["X-Hermes-Session-Key", "x".repeat(257)],
    ]
  ) {
    assertEquals((await code(await api.chat(HI, { headers: { [name!]: value! } })))[0], 400);
  }
  assertEquals(model.calls().length, 0);
  for (const stream of [false, true]) {
    const response = await api.chat({ ...HI, stream }, { headers: { "X-Hermes-Session-Key": "agent:a/b" } });
    assertEquals(response.headers.get("x-hermes-session-key"), "agent:a/b");
    await response.text();
  }
});

Deno.test("A7: a body nested beyond 500 levels is 400 on every route that reads one, not 500", async () => {
  await using model = await startModelServer({ respond: () => "said" });
  await using api = await startApi({ model });
  const nested = (levels: number) => '{"a":'.repeat(levels) + "1" + "}".repeat(levels);
  const paths: [string, string][] = [
    ["/v1/chat/completions", '"messages":[{"role":"user","content":"x"}]'],
    ["/v1/responses", '"input":"x"'],
    ["/v1/runs", '"input":"x"'],
    ["/api/sessions", '"title":"t"'],
  ];
  for (const [path, rest] of paths) {
    for (const [levels, isTaken] of [[499, true], [500, false], [100_000, false]] as const) {
      const body = `{"metadata":${nested(levels)},"text":{"format":{"type":"json_schema"}},${rest}}`;
      const response = await api.call(path, { body, headers: { "Idempotency-Key": `k${levels}` } });
      const answer = await response.json();
      assertEquals([path, levels, response.ok], [path, levels, isTaken]);
      if (isTaken) continue;
      assertEquals([response.status, answer.error.type], [400, "invalid_request_error"]);
      assertEquals(answer.error.message, "Request body is nested more than 500 levels deep");
    }
  }
  assertEquals(api.stderr().includes("[ERROR]"), false);
});
