import { DatabaseSync } from "node:sqlite";
import type { UsageCost } from "../../src/core/contract.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { agent, makeStore, sessionRow, user } from "./rig.ts";

const USAGE = { input: 60, output: 7, cacheRead: 40, cacheWrite: 1, reasoning: 2 };

Deno.test("createSession() keeps every field of the row over a restart", async () => {
  await using rig = await makeStore({ file: true });
  const config = {
    model: "m",
    provider: "p",
    baseUrl: "http://x",
    apiMode: "chat",
    reasoningEffort: "high",
    serviceTier: "fast",
    mode: "accept_edits",
    additionalDirectories: ["/a", "/b"],
    fingerprint: "f",
    compressionRestsUntil: 9e9,
    compressionError: "no summary",
    compressionFallbacks: 1,
  };
  await rig.store.createSession(
    sessionRow("s1", {
      config,
      title: " A  title ",
      systemPrompt: "be\nkind",
      sessionKey: "k",
      startedAt: 1.5,
    }),
  );
  rig.store.close();
  const row = rig.open().getSession("s1")!;
  assertEquals(row.config, config);
  assertEquals([row.title, row.systemPrompt, row.sessionKey, row.startedAt], [
    "A title",
    "be\nkind",
    "k",
    1.5,
  ]);
  assertEquals([row.source, row.cwd, row.parentId, row.endReason], ["acp", "/work", null, null]);
});

Deno.test("createSession() refuses an id that exists and a parent that does not", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  await assertRejects(() => rig.store.createSession(sessionRow("s1")), /exists already/);
  await assertRejects(() => rig.store.createSession(sessionRow("s2", { parentId: "nobody" })), /nobody/);
  assertEquals(rig.store.getSession("s2"), null);
});

Deno.test("updateSession() changes what is given and leaves the rest", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1", { config: { model: "a" }, systemPrompt: "p" }));
  await rig.store.updateSession("s1", { cwd: "/other" });
  await rig.store.updateSession("s1", { config: { model: "b", mode: "dont_ask" }, systemPrompt: null });
  const row = rig.store.getSession("s1")!;
  assertEquals([row.cwd, row.systemPrompt], ["/other", null]);
  assertEquals(row.config, { model: "b", mode: "dont_ask" });
  await assertRejects(() => rig.store.updateSession("nobody", { cwd: "/" }), /No session "nobody"/);
});

Deno.test("endSession() keeps the first reason, reopenSession() clears it", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.endSession("s1", "tui_close");
  await rig.store.endSession("s1", "idle");
  assertEquals(rig.store.getSession("s1")!.endReason, "tui_close");
  await rig.store.reopenSession("s1");
  const row = rig.store.getSession("s1")!;
  assertEquals([row.endReason, row.endedAt], [null, null]);
});

Deno.test("addUsage() and appendMessages() add calls up, and the first call names the model of the session", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.addUsage("s1", USAGE, { model: "m1", provider: "p" });
  await rig.store.addUsage("s1", USAGE, { model: "m2", provider: "p" });
  await rig.store.appendMessages("s1", [user("hi"), agent("yes")], [
    { usage: USAGE, model: { model: "m2", provider: "p" } },
  ]);
  const row = rig.store.getSession("s1")!;
  assertEquals(row.usage, { input: 180, output: 21, cacheRead: 120, cacheWrite: 3, reasoning: 6 });
  assertEquals([row.apiCallCount, row.messageCount], [3, 2]);
  assertEquals(rig.store.listSessions({ limit: 1 })[0]!.model, "m1");
});

Deno.test("core D.3, F.9: a session adds up known prices; one unknown price makes the sum unknown; the first call is billed", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  const model = { model: "m1", provider: "p", baseUrl: "http://x/v1" };
  const call = (usd: number | null, more: Partial<UsageCost> = {}) =>
    store.addUsage("s1", USAGE, model, { day: null, seconds: 0, usd, ...more });
  await store.createSession(sessionRow("s1"));
  const cost = () => store.getSession("s1")!.cost;
  assertEquals(cost(), null);
  await store.addUsage("s1", USAGE, model);
  assertEquals(cost(), null);
  await call(0, { status: "included", source: "none" });
  assertEquals(cost(), { usd: 0, status: "included", source: "none" });
  await call(0.5, { status: "estimated", source: "official_snapshot" });
  await store.addUsage("s1", USAGE, { model: "m2", provider: "q" }, { day: null, seconds: 0, usd: 0.25 });
  assertEquals(cost(), { usd: 0.75, status: "estimated", source: "official_snapshot" });
  await call(0, { status: "included", source: "none" });
  assertEquals(cost()!.status, "estimated");
  await call(null);
  await call(0.25);
  assertEquals(cost(), { usd: null, status: "unknown", source: "official_snapshot" });
  const db = new DatabaseSync(rig.path, { readOnly: true });
  const [row] = db.prepare("SELECT * FROM sessions").all();
  const models = db.prepare("SELECT * FROM session_model_usage ORDER BY model").all();
  db.close();
  assertEquals([row!["estimated_cost_usd"], row!["billing_provider"], row!["billing_base_url"]], [
    1,
    "p",
    "http://x/v1",
  ]);
  const route = (m: typeof models[0]) => [m["model"], m["provider"], m["base_url"], m["billing_mode"]];
  assertEquals(
    models.map((m) => [...route(m), m["api_call_count"], m["estimated_cost_usd"], m["cost_status"]]),
    [
      ["m1", "p", "http://x/v1", "included", 2, 0, "included"],
      ["m1", "p", "http://x/v1", "metered", 2, 0.75, "estimated"],
      ["m1", "p", "http://x/v1", "unknown", 2, null, "unknown"],
      ["m2", "q", "", "metered", 1, 0.25, "estimated"],
    ],
  );
});

Deno.test("deleteSession() takes the chain and the delegates, branches lose their parent", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.appendMessages("root", [user("one")]);
  await store.branch("root", sessionRow("branch"));
  await store.rotate("root", sessionRow("tip"), [user("summary")]);
  await store.createSession(
    sessionRow("helper", { source: "subagent", parentId: "tip", config: { delegateFrom: "tip" } }),
  );
  assertEquals(await store.deleteSession("root"), true);
  assertEquals(["root", "tip", "helper"].map((id) => store.getSession(id)), [null, null, null]);
  assertEquals(store.getSession("branch")!.parentId, null);
  assertEquals(store.loadMessages("branch").length, 1);
  assertEquals(store.search("summary"), []);
  assertEquals(await store.deleteSession("root"), false);
  assertEquals(store.check(), "ok");
});

Deno.test("findByPrefix() finds ids by their beginning only", async () => {
  await using rig = await makeStore();
  for (const id of ["20260101_a", "20260102_b", "x%"]) await rig.store.createSession(sessionRow(id));
  assertEquals(rig.store.findByPrefix("2026").map((row) => row.id), ["20260101_a", "20260102_b"]);
  assertEquals(rig.store.findByPrefix("20260102").map((row) => row.id), ["20260102_b"]);
  assertEquals(rig.store.findByPrefix("%"), []);
  assertEquals(rig.store.findByPrefix(""), []);
});

Deno.test("setMeta() replaces, getMeta() of an unknown key is null", async () => {
  await using rig = await makeStore();
  await rig.store.setMeta("k", "1");
  await rig.store.setMeta("k", "2");
  assertEquals([rig.store.getMeta("k"), rig.store.getMeta("none")], ["2", null]);
});

Deno.test("close() ends the store: later calls fail with shutting_down", async () => {
  await using rig = await makeStore();
  rig.store.close();
  rig.store.close();
  await assertRejects(() => rig.store.setMeta("k", "1"), /closed/);
  let code = "";
  try {
    rig.store.getSession("s1");
  } catch (error) {
    code = (error as { code: string }).code;
  }
  assert(code === "shutting_down");
});
