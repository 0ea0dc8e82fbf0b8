/** Servers of the user's own: what they must be asked or told first (core.md F.8). */
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { type ModelServerOptions, startModelServer } from "../support/model_server.ts";
import { makeModels, play, requestOf } from "./helpers.ts";

async function withOllama(
  options: ModelServerOptions,
  model: Record<string, unknown>,
  run: (
    rig: Awaited<ReturnType<typeof startModelServer>>,
    models: ReturnType<typeof makeModels>,
  ) => Promise<void>,
) {
  await using server = await startModelServer(options);
  const config = { model: { default: "qwen3", provider: "ollama", base_url: server.url, ...model } };
  await run(server, makeModels({ config }));
}

const shown = (parameters: string, trained: number) => ({
  parameters,
  model_info: { "qwen3.context_length": trained },
});

Deno.test("core 63: a model that Ollama runs with a small num_ctx is refused with advice, and nothing is sent", () =>
  withOllama({ routes: { "/api/show": shown("num_ctx    8192", 131_072) } }, {}, async (server, models) => {
    const { failure } = await play(models.client(models.resolve()), requestOf("x"));
    assertEquals([failure?.kind, failure?.retryable, server.calls().length], ["config", false, 0]);
    assertMatch(failure!.message, /8192 tokens \(num_ctx\).*at least 64,000.*model\.context_length/);
    assertEquals(server.requests[0]!.body, { name: "qwen3", model: "qwen3" });
  }));

Deno.test("Ollama is told the window it shall run with: num_ctx, what the model was trained for, or the config's", async () => {
  const sent = async (routes: Record<string, unknown>, model: Record<string, unknown> = {}) => {
    let seen: unknown[] = [];
    await withOllama({ turns: ["a", "b"], routes }, model, async (server, models) => {
      for (let n = 0; n < 2; n++) await play(models.client(models.resolve()), requestOf("x"));
      const asked = server.requests.filter((request) => request.path === "/api/show").length;
      seen = [...server.calls().map((call) => call.body.options), asked, models.resolve().contextWindow];
    });
    return seen;
  };
  const num = (num_ctx: number) => ({ num_ctx });
  assertEquals(await sent({ "/api/show": shown("num_ctx 65536", 131_072) }), [
    num(65_536),
    num(65_536),
    1,
    65_536,
  ]);
  assertEquals(await sent({ "/api/show": shown("", 131_072) }), [num(131_072), num(131_072), 1, 131_072]);
  assertEquals(await sent({}, { context_length: 70_000 }), [num(70_000), num(70_000), 0, 70_000]);
  // A server that is none, or an old one, is called as it is.
  assertEquals((await sent({})).slice(0, 2), [undefined, undefined]);
});

Deno.test("LM Studio loads the model with a window before the first call, and only when it must", async () => {
  const entry = { type: "llm", key: "qwen3", max_context_length: 100_000 };
  const loaded = { ...entry, loaded_instances: [{ id: "i", config: { context_length: 80_000 } }] };
  const run = async (listed: unknown) => {
    await using server = await startModelServer({
      turns: ["a", "b"],
      routes: { "/api/v1/models/load": { status: "loaded" }, "/api/v1/models": { models: [listed] } },
    });
    const models = makeModels({
      config: { model: { default: "qwen3", provider: "lmstudio" } },
      env: { LM_BASE_URL: server.url },
    });
    for (let n = 0; n < 2; n++) {
      const { text, failure } = await play(models.client(models.resolve()), requestOf("x"));
      assert(text !== "", failure?.message);
    }
    const loads = server.requests.filter((request) => request.path === "/api/v1/models/load");
    return [loads.map((request) => request.body), models.resolve().contextWindow];
  };
  assertEquals(await run(entry), [[{ model: "qwen3", context_length: 65_536 }], 65_536]);
  assertEquals(await run(loaded), [[], 80_000]);
});

Deno.test("other servers are asked nothing", async () => {
  await using server = await startModelServer({ turns: ["a"] });
  const models = makeModels({
    config: { model: { default: "m", provider: "custom", base_url: server.url } },
  });
  await play(models.client(models.resolve()), requestOf("x"));
  assertEquals(server.requests.map((request) => request.path), ["/v1/chat/completions"]);
});
