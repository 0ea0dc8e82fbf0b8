/** Smaller wishes of the configuration in a turn: efforts by model, messages before all others, announcements, patience. */
import { announcesAction, mayContinue } from "../../src/core/announcements.ts";
import { configuredEffort } from "../../src/core/efforts.ts";
import { retryDelay } from "../../src/core/model_call.ts";
import type { Message, ModelFailure, ResolvedModel, Settings } from "../../src/core/mod.ts";
import { Patience } from "../../src/core/patience.ts";
import { readPrefill } from "../../src/core/prefill.ts";
import { repairForRequest } from "../../src/core/request_repair.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import {
  callTool,
  done,
  failure,
  makeScriptedCore,
  openSession,
  prompt,
  type Reply,
  say,
  text,
} from "../support/scripted_core.ts";

const agent = (more: Record<string, unknown>) => (s: Settings): Settings => ({
  ...s,
  agent: { ...s.agent, ...more },
});

Deno.test("core A.12: an effort for a model is found in any spelling and stands before the one for all", () => {
  const settings = agent({
    reasoning_effort: "low",
    reasoning_overrides: { "openai/gpt-5.6": "high", "Kimi-K3": false, blank: " " },
  })({ agent: {} } as Settings);
  const of = (model: string | null) => configuredEffort(settings, () => model);
  assertEquals(["gpt-5-6", "openai/GPT-5.6", "kimi-k3", "blank", "other", null].map(of), [
    "high",
    "high",
    "none",
    "low",
    "low",
    "low",
  ]);
});

Deno.test("core A.12: the session's own effort stands before the one for its model", async () => {
  await using core = await makeScriptedCore({ settings: agent({ reasoning_overrides: { m: "high" } }) });
  const { session } = await openSession(core);
  core.push(say("a"), say("b"));
  await prompt(session, "one");
  assertEquals(session.reasoningEffort, "high");
  await session.setReasoningEffort("minimal");
  await prompt(session, "two");
  assertEquals(core.requests.map((request) => request.reasoningEffort), ["high", "minimal"]);
});

Deno.test("core A.2: prefill messages and the ephemeral prompt are in every request and in no row", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({
      ...agent({ ephemeral_system_prompt: "Be kind." })(s),
      prefill_messages_file: "p.json",
    }),
  });
  const examples = [{ role: "user", content: "2+2?" }, { role: "assistant", content: "4" }];
  await Deno.writeTextFile(`${core.services.home}/p.json`, JSON.stringify(examples));
  const { session, events } = await openSession(core);
  core.push(say("one"), say("two"));
  await prompt(session, "first");
  await prompt(session, "second");
  assertEquals(core.requests.map(({ messages }) => messages.map((m) => m.content)), [
    ["2+2?", "4", "first"],
    ["2+2?", "4", "first", "one", "second"],
  ]);
  for (const { system } of core.requests) assert(system.endsWith("\n\nBe kind."));
  const row = core.services.store().getSession(session.headId)!;
  assert(!row.systemPrompt!.includes("Be kind."));
  assertEquals(core.services.store().loadMessages(session.headId).length, 4);
  assertEquals(events.filter((event) => event.type === "status"), []);
});

Deno.test("core A.2: a prefill file that cannot be used is told, and the turn goes on without it", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, prefill_messages_file: "none.json" }),
  });
  const { session, events } = await openSession(core);
  core.push(say("ok"));
  assertEquals((await prompt(session, "hi")).text, "ok");
  const warning = events.find((event) => event.type === "status");
  assert(warning?.type === "status" && warning.text.startsWith("prefill_messages_file cannot be used"));
  assertEquals(events[0]!.type, "turn.start");
  const platform = createDenoPlatform();
  const path = `${core.services.home}/bad.json`;
  for (
    const bad of ["{}", "[1]", '[{"role":"system","content":"x"}]', '[{"role":"user","content":1}]', "{"]
  ) {
    await Deno.writeTextFile(path, bad);
    assertEquals((await readPrefill(path, "/", platform)).type, "unusable");
  }
});

Deno.test("core A.8: an announcement without a call is asked to be done, twice at most, and is shown once", async () => {
  await using core = await makeScriptedCore({ settings: agent({ intent_ack_continuation: true }) });
  const { session, events } = await openSession(core);
  core.push(say("I'll read the file."), callTool("reader", { limit: 1 }), say("It is empty."));
  const result = await prompt(session, "what is in it?");
  assertEquals([result.text, core.ran.length], ["It is empty.", 1]);
  const second = core.requests[1]!.messages;
  assertEquals(second.map((m) => m.role), ["user", "assistant", "user"]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => [row.role, row.content]).slice(0, 2), [
    ["user", "what is in it?"],
    ["assistant", "I'll read the file.\n\n"],
  ]);
  assertEquals(rows.filter((row) => row.role === "user").length, 1);
  core.push(say("Let me check."), say("Let me look at it."), say("Now I'll run it."));
  assertEquals((await prompt(session, "go")).text, "Let me check.\n\nLet me look at it.\n\nNow I'll run it.");
  const shown = events.flatMap((event) => event.type === "text.delta" ? [event.text] : []);
  assertEquals(shown.slice(-5).join(""), "Let me check.\n\nLet me look at it.\n\nNow I'll run it.");
});

Deno.test("core A.8: without the setting, in other wires, and for real answers nothing is asked", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("I'll read the file."));
  assertEquals((await prompt(session, "go")).text, "I'll read the file.");
  const model = (apiMode: string) => ({ apiMode, model: "vendor/Big-1" }) as ResolvedModel;
  assertEquals(mayContinue("auto", model("codex_responses")), true);
  assertEquals(mayContinue("auto", model("chat_completions")), false);
  assertEquals([mayContinue(["big"], model("x")), mayContinue(["small"], model("x"))], [true, false]);
  assertEquals(mayContinue(false, model("codex_responses")), false);
  for (
    const answer of [
      "Shall I look at it?",
      "Done. I checked everything.",
      `Let me read it. ${"x".repeat(600)}`,
    ]
  ) {
    assertEquals(announcesAction(answer), false, answer);
  }
});

Deno.test("core A.5: streams that break off in a call, and endpoints that stay silent, have numbers of their own", () => {
  const failed = (kind: ModelFailure["kind"]): ModelFailure => ({
    kind,
    message: "",
    model: "m",
    provider: "p",
    retryable: true,
  });
  const env: Record<string, string> = {};
  const patience = new Patience((name) => env[name]);
  assertEquals(patience.attempts(failed("connection"), true, 9), 3);
  env["HERMES_STREAM_RETRIES"] = "0";
  assertEquals(patience.attempts(failed("connection"), true, 9), 1);
  assertEquals(patience.attempts(failed("connection"), false, 9), 9);
  env["HERMES_STREAM_STALE_GIVEUP"] = "3";
  const silent = () => patience.attempts(failed("timeout"), false, 9);
  assertEquals([silent(), silent(), silent(), silent()], [9, 9, 1, 1]);
  patience.answered();
  assertEquals(silent(), 9);
});

Deno.test("core D.1: HERMES_DUMP_REQUESTS writes down a request that failed for good, for the owner alone", async () => {
  await using core = await makeScriptedCore();
  core.services.env = (name) => name === "HERMES_DUMP_REQUESTS" ? "1" : undefined;
  const { session } = await openSession(core);
  const failed = { kind: "auth", message: "no", provider: "fake", model: "m", retryable: false } as const;
  core.push([[{ type: "error", toolInFlight: false, failure: failed }]], [[text("ok"), done()]]);
  await prompt(session, "the question");
  await prompt(session, "again");
  const files = [...Deno.readDirSync(`${core.services.home}/sessions`)].map(({ name }) => name);
  assertEquals(files.length, 1);
  assertMatch(files[0]!, /^request_dump_.+\.json$/);
  const path = `${core.services.home}/sessions/${files[0]}`;
  const { failure, request } = JSON.parse(await Deno.readTextFile(path));
  assertEquals([failure.kind, request.messages[0].content], ["auth", "the question"]);
  assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
});

Deno.test("core A.8: a model that only thought is shown its thought, twice; then it is asked as before", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const thought = (value: string): Reply => [[{ type: "reasoning", text: value }, done()]];
  core.push(thought("first idea"), thought("second idea"), thought("third"), say("Here."));
  assertEquals((await prompt(session, "go")).text, "Here.");
  const last = core.requests.map(({ messages }) => String(messages.at(-1)!.content));
  assertMatch(last[1]!, /first idea[\s\S]*give the answer/);
  assertMatch(last[2]!, /second idea/);
  assertEquals([last[0], last[3]], ["go", "go"]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => [row.role, row.content]), [["user", "go"], ["assistant", "Here."]]);
});

Deno.test("core A.16: a model whose window is below 64,000 is refused with advice, and the prompt is kept", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const models = core.services.models as { resolve: () => ResolvedModel };
  const { resolve } = models;
  models.resolve = () => ({ ...resolve(), contextWindow: 32_000 });
  const result = await prompt(session, "hi");
  assertEquals([result.outcome, result.exitReason, core.requests.length], ["failed", "invalid_model", 0]);
  assertMatch(result.failure!.message, /window of 32000 tokens.*at least 64,000.*model\.context_length/);
  assertEquals(session.history().map((m) => m.content), ["hi"]);
  models.resolve = resolve;
  core.push(say("ok"));
  assertEquals((await prompt(session, "again")).text, "ok");
});

Deno.test("core A.11: an overflow without compression ends the turn and says what is switched off", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, compression: { ...s.compression, enabled: false } }),
  });
  const { session } = await openSession(core);
  core.push([[failure("context_overflow")]]);
  const result = await prompt(session, "go");
  assertEquals([result.outcome, core.requests.length], ["failed", 1]);
  assertMatch(result.failure!.message, /compaction_disabled: compression\.enabled is false/);
});

Deno.test("core A.11: the endpoint of one maker that is overloaded is left alone for long, up to two minutes", () => {
  const overloaded = (provider: string, model: string): ModelFailure => ({
    kind: "overloaded",
    message: "",
    provider,
    model,
    retryable: true,
  });
  const waits = [1, 2, 3, 4, 5].map((n) => retryDelay(overloaded("zai", "GLM-5.2-air"), n, 1));
  assertEquals(waits, [30_000, 60_000, 90_000, 120_000, 120_000]);
  assertEquals(retryDelay(overloaded("zai", "glm-4.5"), 1, 0), 2_000);
});

Deno.test("core A.1: requests hold no space around texts and no half characters; the history keeps both", () => {
  const history: Message[] = [
    { role: "user", content: " a\n" },
    { role: "assistant", content: "\ud83d b \n\n" },
    { role: "user", content: [{ type: "text", text: " c " }] },
  ];
  assertEquals(repairForRequest(history).map((m) => m.content), ["a", "\ufffd b", [{
    type: "text",
    text: " c ",
  }]]);
  assertEquals(history[0]!.content, " a\n");
});
