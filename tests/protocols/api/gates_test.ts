import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { createClient, createFakeHermes, KEY } from "./fake_hermes.ts";

const SECURITY = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "permissions-policy": "camera=(), microphone=(), geolocation=()",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "x-xss-protection": "0",
  "referrer-policy": "no-referrer",
};

async function errorOf(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()).error;
}

function assertSecured(response: Response): void {
  for (const [name, value] of Object.entries(SECURITY)) assertEquals(response.headers.get(name), value);
  assertMatch(response.headers.get("x-request-id") ?? "", /^req_[0-9a-f]{24}$/);
}

Deno.test("api 3: /health answers without a key, with all security headers", async () => {
  const { call } = createClient(createFakeHermes());
  for (const path of ["/health", "/v1/health"]) {
    const response = await call(path, { headers: { Authorization: "" } });
    assertEquals(response.status, 200);
    assertEquals(await response.json(), { status: "ok", platform: "hermes-agent", version: "1.2.3" });
    assertSecured(response);
  }
});

Deno.test("api 5: whatever is not exactly the bearer key is 401", async () => {
  const fake = createFakeHermes();
  const { call } = createClient(fake);
  for (const value of ["", `bearer ${KEY}`, "Bearer wrong", "Bearer \u00e9", `Basic ${KEY}`, KEY]) {
    const response = await call("/v1/models", { headers: { Authorization: value, "User-Agent": "probe" } });
    assertEquals(response.status, 401);
    assertEquals(response.headers.get("www-authenticate"), "Bearer");
    assertEquals(await errorOf(response), {
      message: "Invalid API key",
      type: "invalid_request_error",
      param: null,
      code: "invalid_api_key",
    });
    assertSecured(response);
  }
  assertEquals(fake.logged.length, 6);
  assertEquals(fake.logged.join("\n").includes(KEY), false);
  assertEquals((await call("/v1/models", { headers: { Authorization: `Bearer  ${KEY} ` } })).status, 200);
});

Deno.test("A4: a key in other letters is compared by its UTF-8 bytes, which a header carries one by one", async () => {
  const key = "schl\u00fcssel-\u043a\u043b\u044e\u0447-0123456789";
  const { call } = createClient(createFakeHermes(), { key });
  const onWire = (text: string) => String.fromCharCode(...new TextEncoder().encode(text));
  const status = async (token: string) =>
    (await call("/v1/models", { headers: { Authorization: `Bearer ${token}` } })).status;
  assertEquals(await status(onWire(key)), 200);
  assertEquals(await status(onWire(`${key}\u00fc`)), 401);
  assertEquals(await status("schl\u00fcssel"), 401);
});

Deno.test("the key is checked before the body is read", async () => {
  const { chat } = createClient(createFakeHermes());
  assertEquals((await chat("{", { Authorization: "Bearer wrong" })).status, 401);
});

Deno.test("api 7: a foreign Origin or Host is refused everywhere, in JSON and without CORS headers", async () => {
  const { call } = createClient(createFakeHermes());
  for (const method of ["GET", "OPTIONS"]) {
    const response = await call("/health", { method, headers: { Origin: "http://evil" } });
    assertEquals(response.status, 403);
    assertEquals((await errorOf(response)).code, "origin_not_allowed");
    assertEquals(response.headers.get("access-control-allow-origin"), null);
    assertSecured(response);
  }
  for (const host of ["evil.test", "evil.test:8642", "127.0.0.1.evil.test", "localhost.evil.test"]) {
    const response = await call("/health", { headers: { Host: host } });
    assertEquals([host, response.status], [host, 403]);
    assertEquals((await errorOf(response)).code, "host_not_allowed");
  }
  for (const host of ["localhost", "LOCALHOST:8642", "[::1]:8642", "127.0.0.1"]) {
    assertEquals([host, (await call("/health", { headers: { Host: host } })).status], [host, 200]);
  }
});

Deno.test("api 7: a name in allowed_hosts passes; a server on one address takes only that, on all any", async () => {
  const fake = createFakeHermes();
  const allowed = createClient(fake, { allowedHosts: ["my.box"] });
  assertEquals((await allowed.call("/health", { headers: { Host: "My.Box:8642" } })).status, 200);
  const one = createClient(fake, { host: "192.168.1.5", loopback: false });
  assertEquals((await one.call("/health", { headers: { Host: "192.168.1.5:80" } })).status, 200);
  assertEquals((await one.call("/health", { headers: { Host: "localhost" } })).status, 403);
  for (const host of ["0.0.0.0", "::"]) {
    const any = createClient(fake, { host, loopback: false });
    assertEquals((await any.call("/health", { headers: { Host: "any.thing" } })).status, 200);
  }
});

Deno.test("api 8: a listed origin gets its preflight and readable answers, errors included", async () => {
  const { call, chat } = createClient(createFakeHermes(), { origins: ["https://app.test"] });
  const origin = { Origin: "https://app.test" };
  const preflight = await call("/v1/chat/completions", {
    method: "OPTIONS",
    headers: { ...origin, Authorization: "" },
  });
  assertEquals(preflight.status, 200);
  assertEquals(preflight.headers.get("access-control-allow-origin"), "https://app.test");
  assertEquals(preflight.headers.get("vary"), "Origin");
  assertEquals(preflight.headers.get("access-control-max-age"), "600");
  assertEquals(
    preflight.headers.get("access-control-allow-methods"),
    "GET, POST, PATCH, DELETE, OPTIONS",
  );
  assertEquals(
    preflight.headers.get("access-control-allow-headers"),
    "Authorization, Content-Type, Idempotency-Key, X-Hermes-Session-Id, X-Hermes-Session-Key, Last-Event-ID, X-Hermes-Tool-Items",
  );
  const refused = await chat("{", origin);
  assertEquals(refused.status, 400);
  assertEquals(refused.headers.get("access-control-allow-origin"), "https://app.test");
  assertEquals(
    refused.headers.get("access-control-expose-headers"),
    "X-Hermes-Session-Id, X-Hermes-Session-Key, X-Hermes-Completed, X-Hermes-Partial, X-Hermes-Error, X-Hermes-Ignored, Idempotency-Replayed, Retry-After, X-Request-Id",
  );
  assertEquals((await call("/health")).headers.get("access-control-allow-origin"), null);
  assertEquals((await call("/health", { headers: { Origin: "https://app.test.evil" } })).status, 403);
});

Deno.test("the origin list * allows every page, without Vary", async () => {
  const { call } = createClient(createFakeHermes(), { origins: ["*"] });
  const response = await call("/health", { headers: { Origin: "https://any.test" } });
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("access-control-allow-origin"), "*");
  assertEquals(response.headers.get("vary"), null);
});

Deno.test("api 10: a declared length above the limit is 413, an unreadable one 400", async () => {
  const { chat } = createClient(createFakeHermes());
  const large = await chat("{}", { "Content-Length": "10000001" });
  assertEquals([large.status, (await errorOf(large)).code], [413, "body_too_large"]);
  const odd = await chat("{}", { "Content-Length": "ten" });
  assertEquals([odd.status, (await errorOf(odd)).code], [400, "invalid_content_length"]);
});

Deno.test("api 10: a body that grows over the limit while it is read is 413", async () => {
  const { app } = createClient(createFakeHermes());
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 1_000_000;
      controller.enqueue(new Uint8Array(1_000_000).fill(32));
    },
  });
  const response = await app.request("http://127.0.0.1:8642/v1/chat/completions", {
    method: "POST",
    headers: { Authorization: `Bearer ${KEY}` },
    body,
  });
  assertEquals([response.status, (await errorOf(response)).code], [413, "body_too_large"]);
  assert(sent <= 13_000_000, `read on to ${sent} bytes`);
});

Deno.test("api 11: unknown route 404, wrong method 405 with Allow, slashes do not matter", async () => {
  const { call } = createClient(createFakeHermes());
  const unknown = await call("/nope", { headers: { Authorization: "" } });
  assertEquals([unknown.status, (await errorOf(unknown)).code], [404, "not_found"]);
  assertSecured(unknown);
  const wrong = await call("/v1/models", { method: "PUT", headers: { Authorization: "" } });
  assertEquals([wrong.status, (await errorOf(wrong)).code], [405, "method_not_allowed"]);
  assertEquals(wrong.headers.get("allow"), "GET, HEAD");
  assertEquals((await call("/v1/chat/completions")).headers.get("allow"), "POST");
  for (const path of ["//v1/models/", "/v1//models", "/v1/models///?x=1"]) {
    const response = await call(path);
    assertEquals([path, response.status], [path, 200]);
    assertEquals((await response.json()).data[0].id, "hermes-agent");
  }
  for (const path of ["/v1/embeddings", "/v1/runs/x/nothing"]) {
    assertEquals((await call(path, { body: {} })).status, 404);
  }
});

Deno.test("HEAD /health is answered like GET, without a body", async () => {
  const { call } = createClient(createFakeHermes());
  const response = await call("/health", { method: "HEAD" });
  assertEquals([response.status, await response.text()], [200, ""]);
});
