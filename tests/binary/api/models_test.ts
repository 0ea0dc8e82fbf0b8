/** Which model a request runs on, with which key, and what is told of models. */
import { assert, assertEquals } from "../../support/assert.ts";
import { startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig } from "../../support/program.ts";
import { ask, refusal, untilStatus, type Wire } from "./run_scene.ts";

const messages = [{ role: "user", content: "hi" }];

Deno.test("D3, core F.4: custom:<name>:<model>, the user's aliases, and what the endpoint in force lists are honoured", async () => {
  const respond = ({ body }: { body: { model: string } }) => body.model;
  await using home = await startModelServer({ respond, models: ["scripted", "listed"] });
  await using other = await startModelServer({ respond });
  await using api = await startApi({
    model: home,
    config: {
      custom_providers: [{ name: "two", base_url: other.url, models: { "two-b": {} } }],
      model_aliases: { quick: { model: "listed", provider: "custom" } },
    },
  });
  await ask(api, "/api/model/options?refresh=1", {});
  const said = async (model: string) => {
    const { body } = await ask(api, "/v1/chat/completions", { body: { messages, model } });
    return [body.choices[0].message.content, body.runtime?.provider ?? null];
  };
  assertEquals(await said("custom:two:two-b"), ["two-b", "custom:two"]);
  assertEquals(await said("custom:two::two-b"), ["two-b", "custom:two"]);
  assertEquals(await said("two:two-b"), ["two-b", "custom:two"]);
  assertEquals(await said("custom:llama3:8b"), ["llama3:8b", "custom"]);
  assertEquals(await said("quick"), ["listed", "custom"]);
  assertEquals(await said("listed"), ["listed", "custom"]);
  assertEquals((await said("who-knows"))[0], "scripted");
  assertEquals([home.calls().length, other.calls().length], [4, 3]);
});

Deno.test("api 32: a model that another provider has is asked there; the next request has the default again", async () => {
  await using home = await startModelServer({ turns: ["from home", "home again"] });
  await using other = await startModelServer({ turns: ["from elsewhere", "by its prefix"] });
  await using api = await startApi({
    model: home,
    config: { providers: { box: { base_url: other.url, models: ["big-model"] } } },
  });
  const say = async (fields: Record<string, unknown>) => {
    const { body } = await ask(api, "/v1/chat/completions", { body: { messages, ...fields } });
    return [
      body.choices[0].message.content,
      body.model,
      body.runtime?.model ?? null,
      body.runtime?.route_source ?? null,
    ];
  };
  assertEquals(await say({}), ["from home", "hermes-agent", null, null]);
  assertEquals(await say({ model: "big-model" }), [
    "from elsewhere",
    "big-model",
    "big-model",
    "raw_request",
  ]);
  assertEquals(await say({ model: "box:big-model" }), [
    "by its prefix",
    "box:big-model",
    "big-model",
    "raw_request",
  ]);
  assertEquals(await say({}), ["home again", "hermes-agent", null, null]);
  assertEquals([home.calls().length, other.calls().length], [2, 2]);
});

Deno.test("model_routes: an alias is called at its own address with its own key, and neither is told", async () => {
  const key = "sk-route-0123456789abcdefghij";
  await using home = await startModelServer({ turns: ["default", "aliased key only"] });
  await using other = await startModelServer({ turns: ["aliased"] });
  await using api = await startApi({
    model: home,
    server: {
      model_routes: {
        far: { model: "far-model", base_url: other.url, api_key: key },
        near: { model: "scripted", api_key: `${key}-near` },
      },
    },
  });
  const say = async (model: string) => await (await api.chat({ model, messages })).text();
  const texts = [await say("far"), await say("hermes-agent"), await say("near")];
  assertEquals(texts.map((text) => JSON.parse(text).choices[0].message.content), [
    "aliased",
    "default",
    "aliased key only",
  ]);
  assertEquals([other.calls()[0]!.body.model, other.calls()[0]!.headers.authorization], [
    "far-model",
    `Bearer ${key}`,
  ]);
  const homeKeys = home.calls().map((call) => call.headers.authorization);
  assertEquals([homeKeys[0] === homeKeys[1], homeKeys[1]], [false, `Bearer ${key}-near`]);
  const rest = await (await api.call("/v1/models")).text() +
    await (await api.call("/api/model/options")).text();
  assertEquals([...texts, rest, api.stderr()].some((text) => text.includes(key)), false);
  assertEquals(
    await refusal(api, "/v1/chat/completions", { body: { model: "far", provider: "custom", messages } }),
    [
      400,
      null,
    ],
  );
});

const FEATURES =
  "chat_completions chat_completions_streaming responses_api responses_streaming run_submission runs_idempotency " +
  "run_status run_events_sse run_events_replay run_stop run_steer run_approval_response tool_progress_events " +
  "approval_events session_resources model_options session_chat session_chat_streaming session_fork " +
  "session_model_lock reasoning_streaming admin_config_rw jobs_admin memory_write_api skills_api audio_api " +
  "realtime_voice client_tools session_continuity_header session_key_header cors browser_extension_control";

Deno.test("api 58: capabilities has every key of the contract, and each endpoint it lists is there", async () => {
  await using api = await startApi();
  const { body } = await ask(api, "/v1/capabilities");
  for (const name of FEATURES.split(" ")) assert(name in body.features, name);
  assertEquals([body.object, body.platform, body.auth], ["hermes.api_server.capabilities", "hermes-agent", {
    type: "bearer",
    required: true,
  }]);
  assertEquals(body.features.runs_idempotency, { supported: true, durable: true, retention_seconds: 86400 });
  for (
    const [name, { method, path }] of Object.entries(body.endpoints as Record<string, Record<string, string>>)
  ) {
    const place = path!.replace(/\{\w+\}/g, "not-there");
    const response = await api.call(place, {
      method: method!,
      ...(method === "GET" || method === "DELETE" ? {} : { body: "{" }),
    });
    const text = await response.text();
    const error = text.startsWith("{") ? JSON.parse(text).error : null;
    assert(
      error?.code !== "not_found" && error?.code !== "method_not_allowed",
      `${name}: ${response.status}`,
    );
  }
});

Deno.test("api 58: a saved endpoint that is dead is asked only with refresh=1, and then named", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [] });
  using dead = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let asked = 0;
  const accepting = (async () => {
    for await (const connection of dead) {
      asked++;
      connection.close();
    }
  })();
  try {
    await using api = await startApi({
      rig,
      model,
      config: {
        providers: { dead: { base_url: `http://127.0.0.1:${dead.addr.port}/v1`, models: ["saved"] } },
      },
    });
    const rowOf = async (query: string) => {
      const { body } = await ask(api, `/api/model/options${query}`);
      return body.providers.find((row: { name: string; slug: string }) => /dead/.test(row.slug));
    };
    const plain = await rowOf("");
    assertEquals([plain.models, asked], [["saved"], 0]);
    const refreshed = await rowOf("?refresh=1");
    assertEquals([refreshed.models, asked > 0, typeof refreshed.warning], [["saved"], true, "string"]);
  } finally {
    dead.close();
    await accepting.catch(() => {/* closed */});
  }
});

Deno.test("D3: a request's model goes before the one that its session was created with, for that request only", async () => {
  await using model = await startModelServer({ respond: () => "said" });
  await using api = await startApi({ model });
  assertEquals((await ask(api, "/api/sessions", { body: { id: "s", model: "b" } })).status, 201);
  const used = async (path: string, body: Wire) => {
    const before = model.calls().length;
    const { status, body: answer } = await ask(api, path, { body });
    if (answer.run_id) await untilStatus(api, answer.run_id, "completed");
    assertEquals(status < 300, true);
    return [model.calls()[before]!.body.model, answer.runtime?.route_source];
  };
  const path = "/api/sessions/s/chat";
  assertEquals(await used(path, { message: "1" }), ["b", undefined]);
  assertEquals(await used(path, { message: "2", model: "c" }), ["c", "raw_request"]);
  assertEquals(await used("/v1/runs", { session_id: "s", input: "3", model: "c" }), ["c", undefined]);
  assertEquals(await used(path, { message: "4" }), ["b", undefined]);
  // A fork begins with what its source was created with.
  assertEquals((await ask(api, "/api/sessions/s/fork", { body: { id: "child" } })).status, 201);
  assertEquals(await used("/api/sessions/child/chat", { message: "5", model: "c" }), ["c", "raw_request"]);
  assertEquals(await used("/api/sessions/child/chat", { message: "6" }), ["b", undefined]);
});
