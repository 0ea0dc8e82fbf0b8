/** Failures of the provider: core rows 15–18, 62, FC-04. Back-off is real, so `Retry-After` keeps most waits short. */
import { failing, rows, sent, sessionRow, strictFault, withCore } from "../../support/core_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";

/** Seconds named by the retry notes of a session, in order. */
function delays(events: readonly { payload?: { kind?: string; text?: string } }[]): number[] {
  return events.map((event) => /trying again in ([\d.]+) s/.exec(event.payload?.text ?? "")?.[1])
    .filter((found) => found !== undefined).map(Number);
}

Deno.test("core 15: 503 twice, then an answer: two notes with growing delays, one user row", async () => {
  await withCore(
    { model: { turns: [failing(503, "busy"), failing(503, "busy"), "At last."] } },
    async (scene) => {
      const { sid, stored } = await scene.open();
      const complete = await scene.host.turn(sid, "go", 30_000);
      assertEquals([complete.status, complete.text], ["complete", "At last."]);
      const [first, second] = delays(scene.host.eventsOf("status.update", sid));
      assert(first! >= 2 && first! <= 3 && second! >= 4 && second! <= 6, `${first} then ${second}`);
      assertEquals(rows(scene.rig, stored).map((row) => row.role), ["user", "assistant"]);
    },
  );
});

Deno.test("core 15: 429 with Retry-After 1 waits about one second", async () => {
  await withCore({
    model: { turns: [failing(429, "slow down", { "retry-after": "1" }), "Done."] },
  }, async ({ host, open }) => {
    const { sid } = await open();
    const start = performance.now();
    assertEquals((await host.turn(sid, "go")).text, "Done.");
    const took = performance.now() - start;
    assert(took >= 1_000, `${took} ms`);
    assertWithin(took, 2_500);
    assertEquals(delays(host.eventsOf("status.update", sid)), [1]);
  });
});

Deno.test("core 16: 401 goes to the fallback at once; the next turn starts on the primary again", async () => {
  await using other = await startModelServer({ turns: ["From the other."], key: "other-key-1234" });
  await withCore({
    model: { turns: [failing(401, "bad key"), "From the primary."] },
    config: {
      providers: { second: { base_url: other.url, api_key: "other-key-1234", model: "spare" } },
      fallback_providers: [{ provider: "custom:second", model: "spare" }],
    },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    const start = performance.now();
    assertEquals((await host.turn(sid, "one")).text, "From the other.");
    assertWithin(performance.now() - start, 2_000);
    assertEquals([model.calls().length, other.calls().length], [1, 1]);
    assertEquals(other.calls()[0]!.body.model, "spare");
    assertMatch(other.calls()[0]!.body.messages[0].content, /Model: spare\nProvider: custom:second/);
    assertEquals((await host.turn(sid, "two")).text, "From the primary.");
    assertEquals([model.calls().length, other.calls().length], [2, 1]);
    assertEquals(model.calls()[1]!.body.messages[0], model.calls()[0]!.body.messages[0]);
    assertEquals(rows(rig, stored).map((row) => row.content), [
      "one",
      "From the other.",
      "two",
      "From the primary.",
    ]);
  });
});

Deno.test("core 16: after a rate limit the next turn, too, starts on the fallback", async () => {
  await using other = await startModelServer({ turns: ["First.", "Second."] });
  await withCore({
    model: { turns: [failing(429, "slow down")], loop: true },
    config: {
      agent: { api_max_retries: 1 },
      providers: { second: { base_url: other.url, model: "spare" } },
      fallback_providers: [{ provider: "custom:second", model: "spare" }],
    },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "one")).text, "First.");
    assertEquals((await host.turn(sid, "two")).text, "Second.");
    assertEquals([model.calls().length, other.calls().length], [1, 2]);
  });
});

Deno.test("core 16: a fallback that is the primary itself, or broken, is passed over", async () => {
  await withCore({
    model: { turns: [failing(401, "bad key")], loop: true },
    config: { fallback_providers: [{ provider: "custom", model: "scripted" }, "nonsense", { model: "x" }] },
  }, async ({ model, host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "one")).status, "error");
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("core 17: a context overflow compresses, asks again in the same turn, and the window the provider named counts", async () => {
  const overflow = failing(
    400,
    "This model's maximum context length is 65536 tokens. However, you asked for more.",
  );
  await withCore({
    model: { turns: ["one.", "two.", "three.", overflow, "SUMMARY OF ALL", "After."] },
    modelSettings: { context_length: undefined },
  }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    for (const text of ["a", "b", "c"]) await host.turn(sid, text);
    const complete = await host.turn(sid, "d", 20_000);
    assertEquals([complete.status, complete.text], ["complete", "After."]);
    const last = sent(model.calls().at(-1));
    assertMatch(last[0].content, /SUMMARY OF ALL/);
    assertMatch(last.at(-1).content, /d$/);
    assertEquals(strictFault(last), null);
    assertEquals(sessionRow(rig, stored).end_reason, "compression");
    assertEquals((await host.request("session.usage", { session_id: sid })).context_max, 65_536);
  });
});

Deno.test("core 18: an endpoint that answers one JSON object is understood, and streamed from no more", async () => {
  const whole = (content: string) => ({
    steps: [{
      json: {
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "scripted",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
        usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      },
    }],
  });
  await withCore({ model: { turns: [whole("First."), whole("Second.")] } }, async ({ model, host, open }) => {
    const { sid } = await open();
    assertEquals((await host.turn(sid, "a")).text, "First.");
    assertEquals(host.streamed(sid), "First.");
    assertEquals((await host.turn(sid, "b")).text, "Second.");
    assertEquals(model.calls().map((request) => request.body.stream === true), [true, false]);
  });
});

Deno.test("FC-04: 401, 429, 500 and a refused connection are failed turns; each prompt stays stored; health returns", async () => {
  await withCore({
    model: { turns: [failing(401, "no"), failing(429, "no"), failing(500, "no"), "Fine."] },
    config: { agent: { api_max_retries: 1 } },
  }, async ({ rig, host, open, model }) => {
    const { sid, stored } = await open();
    for (const status of [401, 429, 500]) {
      const complete = await host.turn(sid, `try ${status}`);
      assertEquals(complete.status, "error");
      assertMatch(complete.text, new RegExp(`^Error: .*${status}`));
    }
    const complete = await host.turn(sid, "now");
    assertEquals([complete.status, complete.text], ["complete", "Fine."]);
    assertEquals(strictFault(sent(model.calls().at(-1))), null);
    assertEquals(rows(rig, stored).filter((row) => row.role === "user").map((row) => row.content), [
      "try 401",
      "try 429",
      "try 500",
      "now",
    ]);
    await model.close();
    assertEquals((await host.turn(sid, "anyone?")).status, "error");
    assertEquals(rows(rig, stored).at(-1)!.content, "anyone?");
  });
});

Deno.test("FC-04, core 19: a stream that dies after some text keeps the text once, marked incomplete", async () => {
  const torn = { steps: [{ text: "a " }, { text: "b " }, { text: "c " }, { reset: true as const }] };
  await withCore({ model: { turns: [torn], loop: true } }, async ({ rig, model, host, open }) => {
    const { sid, stored } = await open();
    const complete = await host.turn(sid, "tell");
    assertEquals([complete.status, complete.partial], ["error", true]);
    assertEquals([host.streamed(sid), model.calls().length], ["a b c ", 1]);
    const last = rows(rig, stored).at(-1)!;
    assertEquals([last.role, last.content?.trim(), last.finish_reason], ["assistant", "a b c", "incomplete"]);
  });
});

Deno.test("FC-04: hermes run exits 1 and says why; its result is failed", async () => {
  await withCore({ model: { turns: [failing(401, "wrong key")] } }, async ({ rig }) => {
    const { code, stdout, stderr } = await runProgram(["run", "--json", "hi"], { rig });
    const result = JSON.parse(stdout.trimEnd().split("\n").at(-1)!);
    assertEquals([code, result.outcome, result.error.status], [1, "failed", 401]);
    assertMatch(stderr, /401/);
  });
});

Deno.test("core 62: the key of one provider is never sent to the host of another", async () => {
  await using other = await startModelServer({ turns: ["ok"] });
  await using rig = await makeRig({
    config: { model: { default: "m", provider: "custom", base_url: other.url } },
    env: { OPENAI_API_KEY: "sk-openai-0123456789abcdef", OPENROUTER_API_KEY: "sk-or-0123456789abcdef" },
  });
  const { code } = await runProgram(["run", "hi"], { rig });
  assertEquals(code, 0);
  assertEquals(other.calls().length, 1);
  const head = JSON.stringify(other.calls()[0]!.headers) + JSON.stringify(other.calls()[0]!.body);
  assertEquals([head.includes("sk-openai"), head.includes("sk-or-")], [false, false]);
});

Deno.test("core 62: a base URL that moves a known provider to another host does not take its key along", async () => {
  await using other = await startModelServer({ turns: ["ok"], loop: true });
  await using rig = await makeRig({
    config: { model: { default: "gpt-5.4", provider: "openrouter", base_url: other.url } },
    env: { OPENROUTER_API_KEY: "sk-or-0123456789abcdef" },
  });
  await runProgram(["run", "hi"], { rig });
  for (const request of other.requests) {
    assertEquals(JSON.stringify(request.headers).includes("sk-or-"), false);
  }
});
