/** Keys with scopes: what each may do, what it sees, and how it is made, kept and taken away. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, type Rig, runProgram } from "../../support/program.ts";
import { ask, risky, startRun, untilStatus } from "./run_scene.ts";

/** Makes a key by the command line; the secret is all that stands on stdout. */
async function addKey(rig: Rig, name: string, scopes: string, ...more: string[]): Promise<string> {
  const args = ["serve", "keys", "add", name, "--scopes", scopes, ...more];
  const { code, stdout, stderr } = await runProgram(args, { rig });
  assertEquals([code, /^hk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}\n$/.test(stdout)], [0, true], stderr);
  return stdout.trim();
}

/** Status and code of a request under a key. */
async function outcome(
  api: ApiServer,
  key: string,
  path: string,
  options: { method?: string; body?: unknown } = {},
): Promise<[number, string | null]> {
  const response = await api.call(path, { ...options, key });
  const text = await response.text();
  return [response.status, text.startsWith("{") ? JSON.parse(text).error?.code ?? null : null];
}

const HI = { messages: [{ role: "user", content: "hi" }] };

/** The keys are added while the server runs: the file that its start has written stays. */
async function withKeys(rig: Rig, wanted: Record<string, string[]>): Promise<Record<string, string>> {
  const keys: Record<string, string> = {};
  for (const [name, [scopes, ...more]] of Object.entries(wanted)) {
    keys[name] = await addKey(rig, name, scopes!, ...more);
  }
  return keys;
}

Deno.test("keys: each scope opens its routes and nothing else; what is missing is 403 and named", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["one", "two", "three"] });
  await using api = await startApi({ model, rig });
  const keys = await withKeys(rig, { chat: ["chat"], reader: ["runs:read"], boss: ["admin"] });
  const refused = await api.chat(HI, { key: keys.reader! });
  assertEquals([refused.status, await refused.json()], [403, {
    error: {
      message: 'The key "reader" does not have the scope "chat"',
      type: "invalid_request_error",
      param: null,
      code: "insufficient_scope",
    },
  }]);
  assertEquals(await outcome(api, keys.chat!, "/v1/chat/completions", { body: HI }), [200, null]);
  const closed: [number, string | null] = [403, "insufficient_scope"];
  for (
    const [path, options] of [
      ["/v1/runs", { body: { input: "go" } }],
      ["/v1/runs", {}],
      ["/v1/runs/run_1/approval", { body: { choice: "once" } }],
      ["/api/sessions", {}],
      ["/health/detailed", {}],
      ["/metrics", {}],
    ] as const
  ) {
    assertEquals([path, await outcome(api, keys.chat!, path, options)], [path, closed]);
  }
  assertEquals(await outcome(api, keys.reader!, "/v1/runs"), [200, null]);
  assertEquals(await outcome(api, keys.reader!, "/v1/runs", { body: { input: "go" } }), closed);
  assertEquals(await outcome(api, keys.reader!, "/v1/models"), [200, null]);
  assertEquals(await outcome(api, keys.boss!, "/health/detailed"), [200, null]);
  assertEquals(await outcome(api, keys.boss!, "/v1/chat/completions", { body: HI }), [200, null]);
});

Deno.test("keys: runs, responses and sessions belong to the key that made them; to others they are not there", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["1", "2", "3", "4", "5", "6"] });
  await using api = await startApi({ model, rig });
  const all = "chat,runs,approve,sessions";
  const keys = await withKeys(rig, { anna: [all], bert: [all], boss: ["admin"] });
  const as = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });
  const run =
    (await ask(api, "/v1/runs", { body: { input: "go", session_id: "shared" }, ...as(keys.anna!) })).body
      .run_id;
  await eventually(async () => (await ask(api, `/v1/runs/${run}`)).body.status === "completed");
  const made = await ask(api, "/v1/responses", {
    body: { input: "hi", conversation: "c" },
    ...as(keys.anna!),
  });
  const response = made.body.id;
  for (
    const [path, options, code] of [
      [`/v1/runs/${run}`, {}, "run_not_found"],
      [`/v1/runs/${run}/events`, {}, "run_not_found"],
      [`/v1/runs/${run}/stop`, { method: "POST" }, "run_not_found"],
      [`/v1/runs/${run}/steer`, { body: { input: "x" } }, "run_not_found"],
      [`/v1/runs/${run}/approval`, { body: { choice: "once" } }, "run_not_found"],
      [`/v1/responses/${response}`, {}, "response_not_found"],
      [`/v1/responses/${response}`, { method: "DELETE" }, "response_not_found"],
      [
        "/v1/responses",
        { body: { input: "x", previous_response_id: response } },
        "previous_response_not_found",
      ],
      ["/api/sessions/shared", {}, "session_not_found"],
      ["/api/sessions/shared/messages", {}, "session_not_found"],
      ["/api/sessions/shared/chat", { body: { message: "x" } }, "session_not_found"],
      ["/api/sessions/shared", { method: "DELETE" }, "session_not_found"],
      ["/v1/runs", { body: { input: "x", session_id: "shared" } }, "session_not_found"],
    ] as const
  ) {
    assertEquals([path, await outcome(api, keys.bert!, path, options)], [path, [404, code]]);
  }
  const chat = await api.chat(HI, { key: keys.bert!, headers: { "X-Hermes-Session-Id": "shared" } });
  assertEquals([chat.status, (await chat.json()).error.code], [404, "session_not_found"]);
  // A name of a conversation is each key's own: this one starts fresh.
  const other = await ask(api, "/v1/responses", {
    body: { input: "who am I", conversation: "c" },
    ...as(keys.bert!),
  });
  assertEquals(other.status, 200);
  assertEquals(JSON.stringify(model.calls().at(-1)!.body).includes('"hi"'), false);
  const ids = async (key: string, path: string, field: string) =>
    (await ask(api, path, as(key))).body.data.map((row: Record<string, string>) => row[field]);
  assertEquals(await ids(keys.bert!, "/v1/runs", "run_id"), []);
  for (const key of [keys.anna!, keys.boss!, api.key]) {
    assertEquals(await ids(key, "/v1/runs", "run_id"), [run]);
  }
  assertEquals((await ids(keys.anna!, "/api/sessions", "id")).includes("shared"), true);
  assertEquals((await ids(keys.bert!, "/api/sessions", "id")).includes("shared"), false);
  assertEquals((await ids(api.key, "/api/sessions", "id")).includes("shared"), true);
  assertEquals((await outcome(api, keys.anna!, "/api/sessions/shared/messages"))[0], 200);
});

Deno.test("keys: the full key does not write into what a scoped key has taken, and reads and forks it", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["for anna", "for anna too", "for the owner"] });
  await using api = await startApi({ model, rig });
  const keys = await withKeys(rig, { anna: ["chat,sessions"] });
  const as = { Authorization: `Bearer ${keys.anna}` };
  const named = { "X-Hermes-Session-Id": "main" };
  const first = await api.chat(HI, { key: keys.anna!, headers: named });
  assertEquals([first.status, (await first.json()).object], [200, "chat.completion"]);
  const hers = await ask(api, "/v1/responses", { body: { input: "hi", conversation: "c" }, headers: as });
  const secret = "the owner's secret";
  for (
    const [path, options] of [
      ["/v1/chat/completions", { body: { messages: [{ role: "user", content: secret }] }, headers: named }],
      ["/v1/responses", { body: { input: secret }, headers: named }],
      ["/v1/runs", { body: { input: secret }, headers: named }],
      ["/v1/runs", { body: { input: secret, session_id: "main" } }],
      ["/api/sessions", { body: { id: "main" } }],
    ] as const
  ) {
    const { status, body } = await ask(api, path, options);
    assertEquals([path, status, body.error?.code], [path, 409, "session_exists"]);
  }
  assertEquals((await ask(api, "/api/sessions/main")).status, 200);
  assertEquals((await ask(api, "/api/sessions/main/fork", { body: { id: "mine" } })).status, 201);
  assertEquals((await outcome(api, keys.anna!, "/api/sessions/mine"))[0], 404);
  // Her answer can be continued, in a session of its own; no name of the full key spells one of hers.
  const id = keys.anna!.split("_")[1];
  const spelled = await ask(api, "/v1/responses", { body: { input: secret, conversation: `key:${id}:c` } });
  assertEquals(spelled.status, 200);
  assertEquals(JSON.stringify(model.calls().at(-1)!.body.messages).includes("for anna"), false);
  model.push("continued");
  const continued = await ask(api, "/v1/responses", {
    body: { input: secret, previous_response_id: hers.body.id },
  });
  assertEquals([continued.status, JSON.stringify(model.calls().at(-1)!.body).includes("for anna too")], [
    200,
    true,
  ]);
  const [old, fresh] = [hers, continued].map(({ headers }) => headers.get("x-hermes-session-id"));
  assert(old !== fresh);
  const { body: kept } = await ask(api, `/api/sessions/${fresh}/messages`);
  assertEquals(kept.data.map((row: { content: unknown }) => row.content), [
    "hi",
    "for anna too",
    secret,
    "continued",
  ]);
  for (const session of ["main", old]) {
    const { body } = await ask(api, `/api/sessions/${session}/messages`, { headers: as });
    assertEquals(JSON.stringify(body).includes(secret), false);
  }
});

Deno.test("keys: a title that another key's session has is taken, and does not say by which", async () => {
  await using rig = await makeRig();
  await using api = await startApi({ rig });
  const { bert } = await withKeys(rig, { bert: ["sessions"] });
  await ask(api, "/api/sessions", { body: { id: "hidden-id", title: "Plans" } });
  const as = { Authorization: `Bearer ${bert}` };
  await ask(api, "/api/sessions", { body: { id: "his" }, headers: as });
  for (
    const [path, method, body] of [
      ["/api/sessions", "POST", { title: "Plans" }],
      ["/api/sessions/his", "PATCH", { title: "Plans" }],
      ["/api/sessions/his/fork", "POST", { title: "Plans" }],
    ] as const
  ) {
    const answer = await ask(api, path, { method, body, headers: as });
    assertEquals([path, answer.status, answer.body.error?.code], [path, 400, "invalid_title"]);
    assertEquals(JSON.stringify(answer.body).includes("hidden-id"), false);
  }
});

Deno.test("keys: an id under which nothing came about is free for everybody", async () => {
  await using rig = await makeRig();
  await using api = await startApi({ rig });
  const { ann, bert } = await withKeys(rig, { ann: ["sessions"], bert: ["sessions"] });
  const create = (key: string, id: string, title?: string) =>
    outcome(api, key, "/api/sessions", { body: { id, ...(title === undefined ? {} : { title }) } });
  assertEquals(await create(ann!, "source", "Plans"), [201, null]);
  assertEquals(await create(ann!, "one", "Plans"), [400, "invalid_title"]);
  const fork = { body: { id: "two", title: "Plans" } };
  assertEquals(await outcome(api, ann!, "/api/sessions/source/fork", fork), [400, "invalid_title"]);
  assertEquals(await create(bert!, "one"), [201, null]);
  assertEquals(await create(api.key, "two"), [201, null]);
  // Of several who want one id at the same moment it is one's, whatever becomes of the others.
  const titles = ["Plans", "a", "Plans", "b", "Plans"];
  const raced = await Promise.all(titles.map((title) => create(ann!, "three", title)));
  assertEquals(raced.filter(([status]) => status === 201).length, 1);
  assertEquals(await outcome(api, ann!, "/api/sessions/three"), [200, null]);
  assertEquals(await outcome(api, bert!, "/api/sessions/three"), [404, "session_not_found"]);
});

Deno.test("keys: one Idempotency-Key under two keys is two runs; ownership outlives a restart", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["1", "2"] });
  let keys: Record<string, string>;
  const ids: string[] = [];
  {
    await using api = await startApi({ model, rig });
    keys = await withKeys(rig, { anna: ["runs"], bert: ["runs"] });
    for (const key of [keys.anna!, keys.bert!]) {
      const headers = { Authorization: `Bearer ${key}`, "Idempotency-Key": "same" };
      ids.push(await startRun(api, { input: "go" }, headers));
    }
    for (const id of ids) await untilStatus(api, id, "completed");
    await api.stop();
  }
  assert(ids[0] !== ids[1]);
  const config = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  await using api = await startApi({ model, rig, server: config.gateway.api_server });
  assertEquals((await outcome(api, keys.anna!, `/v1/runs/${ids[0]}`))[0], 200);
  assertEquals(await outcome(api, keys.anna!, `/v1/runs/${ids[1]}`), [404, "run_not_found"]);
});

Deno.test("keys: above its rate a key gets 429 with Retry-After, others do not", async () => {
  await using rig = await makeRig();
  await using api = await startApi({ rig });
  const keys = await withKeys(rig, { slow: ["chat", "--rate-limit", "2"], free: ["chat"] });
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) statuses.push((await outcome(api, keys.slow!, "/v1/models"))[0]);
  assertEquals(statuses, [200, 200, 429]);
  const limited = await api.call("/v1/models", { key: keys.slow! });
  assertEquals((await limited.json()).error, {
    message: "This key may send 2 requests per minute",
    type: "rate_limit_error",
    param: null,
    code: "rate_limit_exceeded",
  });
  const wait = Number(limited.headers.get("retry-after"));
  assert(wait >= 1 && wait <= 30, `Retry-After is ${wait}`);
  assertEquals(limited.headers.get("x-should-retry"), null);
  assertEquals((await outcome(api, keys.free!, "/v1/models"))[0], 200);
});

Deno.test("keys: a workspace is where the tools of its sessions work", async () => {
  await using rig = await makeRig();
  await Deno.mkdir(`${rig.workspace}/inside`);
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "pwd" } }] }, "done"],
  });
  await using api = await startApi({ model, rig });
  const keys = await withKeys(rig, { ci: ["chat", "--workspace", `${rig.workspace}/inside`] });
  assertEquals(await outcome(api, keys.ci!, "/v1/chat/completions", { body: HI }), [200, null]);
  const result = model.calls()[1]!.body.messages.at(-1);
  assertMatch(String(result.content), new RegExp(`${rig.workspace}/inside\\b`));
});

Deno.test("keys: approvals of its own runs are for the scope approve, and always for admin alone", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [{ steps: [risky("x")] }, "done"] });
  await using api = await startApi({ model, rig });
  const keys = await withKeys(rig, { ci: ["runs,approve"], blind: ["runs"] });
  const id = await startRun(api, { input: "go" }, { Authorization: `Bearer ${keys.ci}` });
  await untilStatus(api, id, "waiting_for_approval");
  const answer = (key: string, choice: string) =>
    outcome(api, key, `/v1/runs/${id}/approval`, { body: { choice } });
  assertEquals(await answer(keys.blind!, "once"), [403, "insufficient_scope"]);
  assertEquals(await answer(keys.ci!, "always"), [403, "insufficient_scope"]);
  assertEquals(await answer(keys.ci!, "deny"), [200, null]);
  await untilStatus(api, id, "completed");
});

Deno.test("keys: the secret is shown once and kept nowhere; a revoked key is refused at once", async () => {
  await using rig = await makeRig();
  await using api = await startApi({ rig });
  const key = await addKey(rig, "ci", "runs,approve");
  assertEquals((await outcome(api, key, "/v1/models"))[0], 200);
  const kept = await Deno.readTextFile(`${rig.home}/config.jsonc`);
  const secret = key.split("_").slice(2).join("_");
  assertEquals([kept.includes(secret), api.stderr().includes(secret)], [false, false]);
  const again = await runProgram(["serve", "keys", "add", "ci", "--scopes", "chat"], { rig });
  assertEquals([again.code, again.stdout], [1, ""]);
  const listed = await runProgram(["serve", "keys", "list"], { rig });
  assertMatch(listed.stdout, /^ci +hk_[0-9a-f]{12}_… {2}runs,approve\n$/);
  const json = JSON.parse((await runProgram(["serve", "keys", "list", "--json"], { rig })).stdout);
  assertEquals(json.keys, [{
    name: "ci",
    id: key.split("_")[1],
    scopes: ["runs", "approve"],
    workspace: null,
    rate_limit: null,
  }]);
  for (
    const wrong of [
      key.slice(0, -1) + (key.endsWith("A") ? "B" : "A"),
      `hk_${"0".repeat(12)}_${secret}`,
      "hk_",
    ]
  ) {
    assertEquals(await outcome(api, wrong, "/v1/models"), [401, "invalid_api_key"]);
  }
  assertEquals((await runProgram(["serve", "keys", "revoke", "ci"], { rig })).code, 0);
  assertEquals(await outcome(api, key, "/v1/models"), [401, "invalid_api_key"]);
  assertEquals((await runProgram(["serve", "keys", "revoke", "ci"], { rig })).code, 1);
});

Deno.test("keys: what cannot be meant is wrong usage and changes nothing; a broken entry opens nothing", async () => {
  await using rig = await makeRig();
  for (
    const args of [
      ["add"],
      ["add", "ci"],
      ["add", "ci", "--scopes", "all"],
      ["add", "../x", "--scopes", "chat"],
      ["add", "ci", "--scopes", "chat", "--rate-limit", "0"],
      ["add", "ci", "--scopes", "chat", "--workspace", "/nowhere/at/all"],
      ["revoke"],
      ["nope"],
    ]
  ) {
    const { code, stdout } = await runProgram(["serve", "keys", ...args], { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
  }
  assertEquals((await runProgram(["serve", "--scopes", "chat"], { rig })).code, 2);
  const key = await addKey(rig, "ci", "chat");
  const { gateway } = JSON.parse(await Deno.readTextFile(`${rig.home}/config.jsonc`));
  const entry = gateway.api_server.keys.ci;
  await using api = await startApi({ rig, server: { keys: { ci: { ...entry, scopes: ["chat", "root"] } } } });
  await eventually(() =>
    /gateway\.api_server\.keys\.ci opens nothing: its scopes must be/.test(api.stderr())
  );
  assertEquals((await outcome(api, key, "/v1/models"))[0], 401);
});
