/** The end of a run is told to an address of the list: signed, tried again, and not forgotten over a restart. */
import { DatabaseSync } from "node:sqlite";
import OpenAI from "openai";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig } from "../../support/program.ts";
import { ask, refusal, startRun, untilStatus, type Wire } from "./run_scene.ts";

const SECRET = "whsec_" + btoa("0123456789abcdef0123456789abcdef");

interface Received {
  readonly headers: Headers;
  readonly text: string;
}

interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: Received[];
}

/** Answers with the given statuses in turn, then 200; `port` 0 = any. */
function startReceiver(statuses: number[] = [], port = 0): Receiver {
  const received: Received[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, async (request) => {
    received.push({ headers: request.headers, text: await request.text() });
    const status = statuses.shift() ?? 200;
    return new Response(null, { status, ...(status === 302 ? { headers: { Location: "/elsewhere" } } : {}) });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    received,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

async function eventOf({ headers, text }: Received): Promise<Wire> {
  const client = new OpenAI({ apiKey: "none", webhookSecret: SECRET });
  return await client.webhooks.unwrap(text, headers);
}

Deno.test("callbacks: the end of a run arrives once, and npm openai takes its signature", async () => {
  await using receiver = startReceiver();
  await using model = await startModelServer({ turns: ["all done"] });
  await using api = await startApi({
    model,
    server: { callback_urls: [`${receiver.url}/hooks/*`] },
    env: { API_SERVER_CALLBACK_SECRET: SECRET },
  });
  const id = await startRun(api, { input: "go", callback_url: `${receiver.url}/hooks/ci?build=7` });
  await eventually(() => receiver.received.length > 0);
  const event = await eventOf(receiver.received[0]!);
  const status = await untilStatus(api, id, "completed");
  assertEquals([event.object, event.type, event.id], ["event", "run.completed", `evt_${id.slice(4)}`]);
  assertEquals(event.data, status);
  assertEquals(event.data.output, "all done");
  assertEquals(receiver.received[0]!.headers.get("webhook-id"), event.id);
  const forged = {
    ...receiver.received[0]!,
    text: receiver.received[0]!.text.replace("all done", "all gone"),
  };
  let refused = "";
  await eventOf(forged).catch((error) => refused = error.constructor.name);
  assertEquals(refused, "InvalidWebhookSignatureError");
  await startRun(api).then((next) => untilStatus(api, next, "completed", "failed"));
  assertEquals(receiver.received.length, 1);
});

Deno.test("callbacks: what is not taken is tried again with the same id; a redirect is not followed", async () => {
  await using receiver = startReceiver([302]);
  await using model = await startModelServer({ turns: ["done"] });
  await using api = await startApi({
    model,
    server: { callback_urls: [`${receiver.url}/hook`] },
    env: { API_SERVER_CALLBACK_SECRET: SECRET },
  });
  const id = await startRun(api, { input: "go", callback_url: `${receiver.url}/hook` });
  await eventually(() => receiver.received.length === 2);
  const [first, second] = [await eventOf(receiver.received[0]!), await eventOf(receiver.received[1]!)];
  assertEquals([first.id, second.id, second.type], [`evt_${id.slice(4)}`, first.id, "run.completed"]);
  const told = /the callback of run run_\w+ failed: the answer was 302; again in 1 s/;
  await eventually(() => told.test(api.stderr()), 5_000, "the warning");
});

Deno.test("callbacks: a run whose server was killed is told by the next server", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [{ steps: [{ text: "half" }, { stall: true }] }] });
  await using receiver = startReceiver();
  const options = {
    model,
    rig,
    server: { callback_urls: [`${receiver.url}/*`] },
    env: { API_SERVER_CALLBACK_SECRET: SECRET },
  };
  let id: string;
  {
    await using api = await startApi(options);
    id = await startRun(api, { input: "go", callback_url: `${receiver.url}/x` });
    await untilStatus(api, id, "running");
    await api.stop("SIGKILL");
  }
  assertEquals(receiver.received.length, 0);
  await using api = await startApi(options);
  await ask(api, "/v1/models");
  await eventually(() => receiver.received.length > 0, 10_000);
  const event = await eventOf(receiver.received[0]!);
  assertEquals([event.type, event.data.run_id, event.data.status], ["run.interrupted", id, "interrupted"]);
});

Deno.test("callbacks: a clock that was put back meanwhile does not hold up what is owed", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["done"] });
  await using receiver = startReceiver();
  const options = {
    model,
    rig,
    server: { callback_urls: [`${receiver.url}/*`] },
    env: { API_SERVER_CALLBACK_SECRET: SECRET },
  };
  let id: string;
  {
    await using closed = startReceiver([500]);
    await using api = await startApi({
      ...options,
      server: { callback_urls: [`${closed.url}/*`, `${receiver.url}/*`] },
    });
    id = await startRun(api, { input: "go", callback_url: `${closed.url}/x` });
    await eventually(() => closed.received.length === 1);
    await api.stop("SIGKILL");
  }
  const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
  // As if the first try had been made five hours later than it is now.
  db.prepare("UPDATE api_callbacks SET url = ?, next_at = ?").run(
    `${receiver.url}/x`,
    Date.now() / 1_000 + 18_000,
  );
  db.close();
  await using api = await startApi(options);
  await ask(api, "/v1/models");
  await eventually(() => receiver.received.length > 0, 10_000, "the callback");
  assertEquals((await eventOf(receiver.received[0]!)).data.run_id, id);
});

Deno.test("callbacks: an address that is not on the list, or no secret, is 400 and makes no run", async () => {
  await using model = await startModelServer({ turns: ["never"] });
  const list = ["https://ci.example.com/hooks/*", "http://10.0.0.7/exact", "https://open.example*"];
  {
    await using api = await startApi({
      model,
      server: { callback_urls: list },
      env: { API_SERVER_CALLBACK_SECRET: SECRET },
    });
    for (
      const url of [
        "https://ci.example.com/other",
        "https://ci.example.com/hooks/../other",
        "https://ci.example.com.evil.test/hooks/x",
        "http://ci.example.com/hooks/x",
        "https://ci.example.com:8443/hooks/x",
        "https://user@ci.example.com/hooks/x",
        "http://10.0.0.7/exact/more",
        "http://169.254.169.254/latest",
        "https://open.example.evil.test/",
        "file:///etc/passwd",
        "nonsense",
        7,
      ]
    ) {
      const answer = await ask(api, "/v1/runs", { body: { input: "go", callback_url: url } });
      assertEquals([url, answer.status, answer.body.error.param], [url, 400, "callback_url"]);
    }
    assertEquals((await ask(api, "/v1/runs")).body.data, []);
  }
  await using api = await startApi({ model, server: { callback_urls: list } });
  assertEquals(
    await refusal(api, "/v1/runs", { body: { input: "go", callback_url: "https://ci.example.com/hooks/x" } }),
    [400, "callback_not_configured"],
  );
  assertEquals(model.calls().length, 0);
});

Deno.test("A10: a repeated request is the same run, also when its address is no longer on the list", async () => {
  await using rig = await makeRig();
  await using receiver = startReceiver();
  await using model = await startModelServer({ turns: ["done"] });
  const env = { API_SERVER_CALLBACK_SECRET: SECRET };
  const body = { input: "go", callback_url: `${receiver.url}/hook` };
  const headers = { "Idempotency-Key": "build-7" };
  let id: string;
  {
    await using api = await startApi({ model, rig, server: { callback_urls: [body.callback_url] }, env });
    id = await startRun(api, body, headers);
    await untilStatus(api, id, "completed");
    await eventually(() => receiver.received.length === 1);
  }
  await using api = await startApi({ model, rig, env });
  const again = await ask(api, "/v1/runs", { body, headers });
  assertEquals([again.status, again.body], [202, { run_id: id, status: "completed", replayed: true }]);
  assertEquals(await refusal(api, "/v1/runs", { body }), [400, "callback_not_allowed"]);
});

Deno.test("callbacks: a metadata service is never reached, though it is on the list", async () => {
  await using model = await startModelServer({ turns: ["done"] });
  await using api = await startApi({
    model,
    server: { callback_urls: ["http://169.254.169.254/*"] },
    env: { API_SERVER_CALLBACK_SECRET: SECRET },
  });
  const id = await startRun(api, { input: "go", callback_url: "http://169.254.169.254/latest" });
  await untilStatus(api, id, "completed");
  await eventually(() => /failed: it leads to a cloud metadata service/.test(api.stderr()));
  assert(!api.stderr().includes(SECRET));
});

Deno.test("callbacks: the agent's commands do not see the secret", async () => {
  const command = "printenv API_SERVER_CALLBACK_SECRET | wc -c";
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command } }] }, "done"],
  });
  await using api = await startApi({ model, env: { API_SERVER_CALLBACK_SECRET: SECRET } });
  await untilStatus(api, await startRun(api), "completed");
  assertMatch(String(model.calls()[1]!.body.messages.at(-1).content), /"output":"\s*0"/);
});
