/** Which conversation a chat turn belongs to, and who may answer its questions. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, readSse, type SseFrame, startApi } from "../../support/api_driver.ts";
import { type ModelServer, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig } from "../../support/program.ts";

type Turn = readonly [role: "user" | "assistant" | "system", content: string];

async function say(api: ApiServer, turns: readonly Turn[], headers: Record<string, string> = {}) {
  const messages = turns.map(([role, content]) => ({ role, content }));
  const response = await api.chat({ messages }, { headers });
  const body = await response.json();
  return {
    id: response.headers.get("x-hermes-session-id")!,
    text: body.choices[0].message.content as string,
  };
}

function sent(model: ModelServer, n: number): string {
  return JSON.stringify(model.calls()[n]!.body.messages);
}

Deno.test("api 28, FC-09: a conversation keeps its session; a stranger with the same words gets another", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({
    turns: ["anna one", "bert one", "bert two", "anna two", "anna three"],
  });
  const open: Turn[] = [["system", "be brief"], ["user", "hi"]];
  const anna: Turn[] = [...open];
  const bert: Turn[] = [...open];
  let ids: string[];
  {
    await using api = await startApi({ model, rig });
    const a1 = await say(api, anna);
    const b1 = await say(api, bert);
    const b2 = await say(api, [...bert, ["assistant", b1.text], ["user", "bert asks"]]);
    anna.push(["assistant", a1.text], ["user", "anna asks"]);
    const a2 = await say(api, anna);
    anna.push(["assistant", a2.text], ["user", "anna again"]);
    ids = [a1.id, b1.id, b2.id, a2.id];
  }
  await using restarted = await startApi({ model, rig });
  const a3 = await say(restarted, anna);
  const [a1, b1, b2, a2] = ids;
  assertMatch(a1!, /^api-[0-9a-f]{16}$/);
  assert(a1 !== b1);
  assertEquals([b2, a2, a3.id], [b1, a1, a1]);
  for (const n of [2]) assertEquals(/anna/.test(sent(model, n)), false);
  for (const n of [3, 4]) assertEquals(/bert/.test(sent(model, n)), false);
  assertMatch(sent(model, 4), /anna one.*anna asks.*anna two.*anna again/);
});

Deno.test("api 29: a session named by the client carries on from the server's transcript, also after a restart", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["one", "two"] });
  const header = { "X-Hermes-Session-Id": "my-session" };
  {
    await using api = await startApi({ model, rig });
    assertEquals((await say(api, [["user", "first question"]], header)).id, "my-session");
  }
  await using api = await startApi({ model, rig });
  assertEquals(
    await say(api, [["user", "not mine"], ["assistant", "nor this"], ["user", "second"]], header),
    {
      id: "my-session",
      text: "two",
    },
  );
  assertMatch(sent(model, 1), /first question.*one.*second/);
  assertEquals(/not mine|nor this/.test(sent(model, 1)), false);
});

Deno.test("two turns of one named session run one after the other", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ delay_ms: 100, text: "first answer" }] }, "second answer"],
  });
  await using api = await startApi({ model });
  const header = { "X-Hermes-Session-Id": "shared" };
  const both = [say(api, [["user", "a"]], header), say(api, [["user", "b"]], header)];
  assertEquals((await Promise.all(both)).map(({ text }) => text), ["first answer", "second answer"]);
  assertMatch(sent(model, 1), /first answer/);
});

// ── Approvals on chat streams ───────────────────────────────────────────────────────────────────────────────

interface Asking {
  readonly completionId: string;
  // deno-lint-ignore no-explicit-any
  readonly approvals: any[];
  /** The rest of the stream. */
  readonly rest: () => Promise<SseFrame[]>;
}

/** Starts a streamed turn and reads until `count` approvals have been asked for. */
async function startAsking(api: ApiServer, prompt: string, count: number): Promise<Asking> {
  const response = await api.chat({ messages: [{ role: "user", content: prompt }], stream: true });
  const frames = readSse(response);
  const approvals = [];
  let completionId = "";
  while (approvals.length < count) {
    const { value, done } = await frames.next();
    if (done) throw new Error("the stream ended before the approvals were asked for");
    completionId ||= value.json?.id ?? "";
    if (value.event === "approval.request") {
      assertEquals(value.json.choices, []);
      approvals.push(value.json.hermes.approval);
    }
  }
  return {
    completionId,
    approvals,
    rest: async () => {
      const rest: SseFrame[] = [];
      for await (const frame of frames) rest.push(frame);
      return rest;
    },
  };
}

async function answer(api: ApiServer, id: string, body: unknown): Promise<unknown[]> {
  const response = await api.call(`/v1/runs/${id}/approval`, { body });
  const json = await response.json();
  return [response.status, json.error?.code ?? json.resolved];
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

const remove = (name: string) => ({ tool: "terminal", args: { command: `rm -rf ${name}` } });

Deno.test("FC-14.2: of two questions the named one is settled, once; the other still waits", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [remove("p1"), remove("p2")] }, "done"],
  });
  await using api = await startApi({ model });
  const { workspace } = api.rig;
  for (const name of ["p1", "p2"]) await Deno.mkdir(`${workspace}/${name}`);
  const { completionId, approvals, rest } = await startAsking(api, "clean up", 2);
  await eventually(() => api.stderr().includes(`/v1/runs/${completionId}/approval`), 5_000, "the log line");
  const [first, second] = ["p1", "p2"].map((name) =>
    approvals.find((ask) => ask.command === `rm -rf ${name}`)
  );
  assertEquals([first.run_id, first.event, first.choices.includes("once")], [
    completionId,
    "approval.request",
    true,
  ]);
  assertEquals(await answer(api, completionId, { choice: "once" }), [400, "invalid_approval_request"]);
  assertEquals(await answer(api, completionId, { choice: "once", request_id: second.request_id }), [200, 1]);
  assertEquals(await answer(api, completionId, { choice: "once", request_id: second.request_id }), [
    409,
    "approval_not_pending",
  ]);
  assertEquals(await answer(api, completionId, { choice: "once", request_id: "f".repeat(32) }), [
    409,
    "approval_not_pending",
  ]);
  assertEquals(await answer(api, completionId, { choice: "maybe" }), [400, "invalid_approval_choice"]);
  assertEquals(await answer(api, "chatcmpl-unknown", { choice: "once" }), [404, "run_not_found"]);
  assertEquals(await exists(`${workspace}/p1`), true);
  assertEquals(await answer(api, completionId, { choice: "deny", reason: "keep p1" }), [200, 1]);
  const frames = await rest();
  assertEquals(frames.at(-2)!.json.choices[0].finish_reason, "stop");
  assertEquals([await exists(`${workspace}/p1`), await exists(`${workspace}/p2`)], [true, false]);
  assertMatch(sent(model, 1), /denied.*keep p1/);
  assertEquals(await answer(api, completionId, { choice: "once" }), [409, "approval_not_active"]);
});

Deno.test("FC-14.1: of ten waiting streams each answer reaches its own", async () => {
  await using model = await startModelServer({
    respond: ({ body }) => {
      const last = body.messages.at(-1);
      return last.role === "tool" ? "done" : { steps: [remove(String(last.content))] };
    },
  });
  await using api = await startApi({ model });
  const names = Array.from({ length: 10 }, (_, i) => `dir${i}`);
  for (const name of names) await Deno.mkdir(`${api.rig.workspace}/${name}`);
  const asking = await Promise.all(names.map((name) => startAsking(api, name, 1)));
  const choose = (i: number, choice: string) => answer(api, asking[i]!.completionId, { choice });
  assertEquals(await choose(3, "once"), [200, 1]);
  assertEquals(await choose(5, "deny"), [200, 1]);
  const foreign = { choice: "once", request_id: asking[1]!.approvals[0].request_id };
  assertEquals(await answer(api, asking[0]!.completionId, foreign), [409, "approval_not_pending"]);
  await Promise.all([asking[3]!.rest(), asking[5]!.rest()]);
  const left = await Promise.all(names.map((name) => exists(`${api.rig.workspace}/${name}`)));
  assertEquals(left, names.map((_, i) => i !== 3));
  for (const i of [0, 1, 2, 4, 6, 7, 8, 9]) await choose(i, "deny");
  await Promise.all(asking.filter((_, i) => i !== 3 && i !== 5).map((stream) => stream.rest()));
});

Deno.test("a consent for the session holds for that completion only", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [remove("a")] },
      { steps: [remove("b")] },
      "done",
      { steps: [remove("c")] },
      "done again",
    ],
  });
  await using api = await startApi({ model });
  const first = await startAsking(api, "one", 1);
  assertEquals(await answer(api, first.completionId, { choice: "session" }), [200, 1]);
  assertEquals((await first.rest()).filter((frame) => frame.event === "approval.request"), []);
  const second = await startAsking(api, "two", 1);
  assertEquals(await answer(api, second.completionId, { choice: "deny" }), [200, 1]);
  await second.rest();
});

Deno.test("an unanswered question ends as unanswered, and the turn goes on", async () => {
  await using model = await startModelServer({ turns: [{ steps: [remove("a")] }, "nobody answered"] });
  await using api = await startApi({ model, config: { approvals: { timeout: 1 } } });
  const asking = await startAsking(api, "one", 1);
  const frames = await asking.rest();
  assertEquals(frames.at(-2)!.json.choices[0].finish_reason, "stop");
  assertMatch(sent(model, 1), /\\"outcome\\":\s*\\"timeout\\"/);
});

Deno.test("a sensitive file is asked about with its diff, and written only when allowed", async () => {
  const write = { tool: "write_file", args: { path: ".env", content: "A=2\n" } };
  await using model = await startModelServer({
    turns: [{ steps: [write] }, "no", { steps: [write] }, "yes"],
  });
  await using api = await startApi({ model });
  const file = `${api.rig.workspace}/.env`;
  for (const [choice, expected] of [["deny", false], ["once", true]] as const) {
    const asking = await startAsking(api, `please ${choice}`, 1);
    assertMatch(asking.approvals[0].command, /\+A=2/);
    assertEquals(await answer(api, asking.completionId, { choice }), [200, 1]);
    await asking.rest();
    assertEquals([choice, await exists(file)], [choice, expected]);
  }
});
