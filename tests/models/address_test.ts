/** The second form of an address is told of (core.md F.8), and Google's own is completed (core.md F.1). */
import { baseUrlOf } from "@/models/endpoints.ts";
import { failing } from "../support/core_driver.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { type ModelServer, startModelServer } from "../support/model_server.ts";
import { endpoint, makeModels, onlyLoopback, play, requestOf } from "./helpers.ts";

/** Everything is below `/v1`, and nothing anywhere else. */
function startStrict(): Promise<ModelServer> {
  return startModelServer({
    routes: {
      "/models": ({ path }: { path: string }) =>
        path === "/v1/models" ? { data: [{ id: "scripted" }] } : null,
    },
    respond: ({ path }) => path.startsWith("/v1/") ? "Right." : failing(404, "Not Found"),
  });
}

Deno.test("core F.8: the form that has the list is told by the picker, by addressAdvice() and by the 404 of a turn", async () => {
  await using server = await startStrict();
  const bare = server.url.replace(/\/v1$/, "");
  const models = makeModels({ config: endpoint(bare), platform: onlyLoopback });
  const model = models.resolve();
  const { failure } = await play(models.client(model), requestOf("hi"));
  assertEquals([failure?.kind, failure?.status], ["model_not_found", 404]);
  const advice = `its list of models is at ${server.url}: make that the base URL`;
  assertMatch(failure!.message, new RegExp(`^HTTP 404 from custom: Not Found \\(${advice}\\)$`));
  assertEquals(await models.addressAdvice!(model), advice);
  const { providers } = await models.options({});
  const row = (providers as { slug: string; warning?: string }[]).find(({ slug }) => slug === "custom");
  assertEquals(row?.warning, advice);

  const right = makeModels({ config: endpoint(server.url), platform: onlyLoopback });
  assertEquals(await right.addressAdvice!(right.resolve()), null);
  assertEquals((await play(right.client(right.resolve()), requestOf("hi"))).text, "Right.");
});

Deno.test("core F.8: a 404 for the name of a model says so, and the Messages wire takes both forms", async () => {
  await using server = await startModelServer({ respond: () => failing(404, "no such model") });
  const models = makeModels({ config: endpoint(server.url), platform: onlyLoopback });
  const { failure } = await play(models.client(models.resolve()), requestOf("hi"));
  assertMatch(failure!.message, /\(check the model name and the base URL\)$/);

  await using strict = await startStrict();
  const config = endpoint(strict.url.replace(/\/v1$/, ""), { api_mode: "anthropic_messages" });
  const messages = makeModels({ config, platform: onlyLoopback });
  assertEquals(await messages.addressAdvice!(messages.resolve()), null);
});

Deno.test("core F.8: addressAdvice() asks servers of others only when it may", async () => {
  const asked: string[] = [];
  const watched = {
    ...onlyLoopback,
    fetch: (url: string) => {
      asked.push(url);
      return Promise.reject(new TypeError("offline"));
    },
  };
  const models = makeModels({ config: endpoint("https://llm.example.com/v1"), platform: watched });
  assertEquals(await models.addressAdvice!(models.resolve()), null);
  assertEquals(asked, []);
  assertEquals(await models.addressAdvice!(models.resolve(), { online: true }), null);
  assertEquals(asked, ["https://llm.example.com/v1/models"]);
});

Deno.test("core F.1: an address of Gemini that ends in /v1beta is completed, any other stays", async () => {
  const google = "https://generativelanguage.googleapis.com/v1beta";
  assertEquals(baseUrlOf("gemini", `${google}/`), `${google}/openai`);
  assertEquals(baseUrlOf("gemini", `${google}/openai`), `${google}/openai`);
  assertEquals(baseUrlOf("", google), `${google}/openai`);
  assertEquals(baseUrlOf("", "http://box/v1beta"), "http://box/v1beta");

  await using server = await startModelServer({ turns: ["Hello."], loop: true });
  const address = server.url.replace(/\/v1$/, "/v1beta");
  const key = "proxy-key-1234";
  const configured = { model: { provider: "gemini", default: "g", base_url: address, api_key: key } };
  const named = makeModels({
    config: { model: { provider: "gemini", default: "g" } },
    env: { GEMINI_BASE_URL: address },
  });
  for (const models of [makeModels({ config: configured }), named]) {
    assertEquals((await play(models.client(models.resolve()), requestOf("hi"))).text, "Hello.");
  }
  const [first, second] = server.calls();
  assertEquals([first!.path, second!.path], Array(2).fill("/v1beta/openai/chat/completions"));
  // The key that was written beside the address is still known as its key.
  assertEquals(first!.headers["authorization"], `Bearer ${key}`);
});
