import { HermesError } from "@/core/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { createClient, createFakeHermes } from "./fake_hermes.ts";

Deno.test("api 4: detailed health needs the key and says how each part does, in names and numbers only", async () => {
  const fake = createFakeHermes();
  const { call } = createClient(fake, {
    disk: () => Promise.resolve({ usedPercent: 12.5, freeBytes: 1000 }),
  });
  assertEquals((await call("/health/detailed", { headers: { Authorization: "" } })).status, 401);
  const body = await (await call("/health/detailed")).json();
  assertEquals(body.status, "ok");
  assertEquals(body.readiness, {
    status: "ok",
    checks: {
      state_db: { status: "ok" },
      response_store: { status: "ok" },
      run_store: { status: "ok" },
      config: { status: "ok" },
      model: { status: "ok" },
      disk: { status: "ok", used_percent: 12.5, free_bytes: 1000 },
      gateway: {
        status: "ok",
        state: "running",
        connected_platforms: 1,
        platforms: { api_server: { state: "connected" } },
      },
      background_queues: { status: "ok", active_api_runs: 0, process_completions: 0, active_delegations: 0 },
    },
  });
  assertEquals([body.gateway_busy, body.gateway_drainable, body.exit_reason], [false, true, null]);
});

Deno.test("detailed health is 200 and degraded when a part fails, without its message", async () => {
  const fake = createFakeHermes();
  fake.resolve = () => {
    throw new HermesError("no_provider_configured", "secret place /home/me");
  };
  fake.hermes.store = () => {
    throw new TypeError("cannot open /home/me/hermes.db");
  };
  const response = await createClient(fake, {
    disk: () => Promise.resolve({ usedPercent: 97, freeBytes: 1 }),
  }).call("/health/detailed");
  const text = await response.text();
  assertEquals([response.status, text.includes("/home/me")], [200, false]);
  const { status, readiness } = JSON.parse(text);
  assertEquals(status, "degraded");
  assertEquals(readiness.checks.model, { status: "degraded", detail: "no_provider_configured" });
  assertEquals(readiness.checks.state_db, { status: "degraded", detail: "TypeError" });
  assertEquals(readiness.checks.disk.status, "degraded");
  const unreadable = { status: "degraded", detail: "store_failed" };
  assertEquals([readiness.checks.response_store, readiness.checks.run_store], [unreadable, unreadable]);
});

Deno.test("api 58: every true capability and every listed endpoint has a route that works", async () => {
  const { call } = createClient(createFakeHermes(), { origins: ["https://app.test"] });
  const body = await (await call("/v1/capabilities")).json();
  const { features } = body;
  assertEquals(features.cors, true);
  const off = Object.entries(features).filter(([, value]) => value === false).map(([name]) => name).sort();
  assertEquals(off, [
    "admin_config_rw",
    "audio_api",
    "jobs_admin",
    "memory_write_api",
    "metrics",
    "realtime_voice",
    "reasoning_streaming",
    "run_callbacks",
    "session_model_lock",
  ]);
  assertEquals(features.runs_idempotency, { supported: true, durable: true, retention_seconds: 86400 });
  assertEquals(features.browser_extension_control.enabled, false);
  for (const { method, path } of Object.values(body.endpoints) as { method: string; path: string }[]) {
    const response = await call(path.replace(/\{\w+\}/, "x"), {
      method,
      ...(method === "POST" || method === "PATCH" ? { body: {} } : {}),
    });
    const code = response.ok ? null : (await response.json()).error.code;
    assertEquals([path, code === "not_found" || code === "method_not_allowed"], [path, false]);
  }
});
