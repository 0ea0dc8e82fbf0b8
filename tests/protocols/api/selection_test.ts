import { HermesError, type ModelChoice, type ResolvedModel } from "@/core/mod.ts";
import { assertEquals } from "../../support/assert.ts";
import { createClient, createFakeHermes, type FakeHermes, resultOf, userSays } from "./fake_hermes.ts";

const ROUTES = {
  fast: { model: "tiny", provider: "other" },
  own: { model: "big", base_url: "http://box:1/v1", api_key: "sk-route" },
};

/** `other` and `custom` can be used, `keyless` has no credentials. */
function createFake(settings: Record<string, unknown> = {}): FakeHermes {
  const fake = createFakeHermes({ model_routes: ROUTES, ...settings });
  fake.resolve = (choice?: ModelChoice) => {
    if (choice?.provider === "keyless") throw new HermesError("missing_api_key", "No key for keyless");
    if (choice?.provider && !["other", "custom", "builtin"].includes(choice.provider)) {
      throw new HermesError("invalid_provider", `Unknown provider "${choice.provider}"`);
    }
    return { isDemo: choice?.provider === "builtin", source: "config" } as ResolvedModel;
  };
  fake.play = ({ submitted }) =>
    resultOf({
      model: submitted.options.model?.model ?? "scripted",
      provider: submitted.options.model?.provider ?? "custom",
    });
  return fake;
}

async function ask(fake: FakeHermes, fields: Record<string, unknown>) {
  const response = await createClient(fake).chat({ ...userSays("hi"), ...fields });
  return {
    status: response.status,
    choice: fake.submitted.at(-1)?.options.model,
    body: await response.json(),
  };
}

Deno.test("the virtual model, an empty and an unusable name all mean the default, and add no runtime", async () => {
  for (const model of ["hermes-agent", "", undefined, 5, "x".repeat(201), "a\nb"]) {
    const { choice, body } = await ask(createFake(), { model });
    assertEquals([choice, body.runtime, body.model], [undefined, undefined, "hermes-agent"]);
  }
});

Deno.test("api 31: an unknown name runs on the default, is echoed, and runtime tells the truth", async () => {
  const { choice, body } = await ask(createFake(), { model: "gpt-4o" });
  assertEquals([choice, body.model], [undefined, "gpt-4o"]);
  assertEquals(body.runtime, {
    provider: "custom",
    model: "scripted",
    route_source: "global",
    requested: { model: "gpt-4o" },
  });
});

Deno.test("api 32: a name that a configured provider has is used, for that request only", async () => {
  const fake = createFake();
  const { choice, body } = await ask(fake, { model: "known-model" });
  assertEquals(choice, { provider: "other", model: "known-model" });
  assertEquals(body.runtime.route_source, "raw_request");
  assertEquals((await ask(fake, {})).choice, undefined);
});

Deno.test("provider prefixes name the provider, in both spellings", async () => {
  for (const model of ["other:m:free", "other::m:free"]) {
    assertEquals((await ask(createFake(), { model })).choice, { provider: "other", model: "m:free" });
  }
  assertEquals((await ask(createFake(), { model: "nobody:m" })).choice, undefined);
});

Deno.test("direct_model_requests true passes every name on, false none", async () => {
  assertEquals((await ask(createFake({ direct_model_requests: true }), { model: "gpt-4o" })).choice, {
    model: "gpt-4o",
  });
  assertEquals(
    (await ask(createFake({ direct_model_requests: false }), { model: "known-model" })).choice,
    undefined,
  );
});

Deno.test("api 33: an alias is routed; a provider that contradicts it is 400", async () => {
  const { choice, body } = await ask(createFake(), { model: "fast" });
  assertEquals(choice, { provider: "other", model: "tiny" });
  assertEquals(body.model, "fast");
  assertEquals(body.runtime, {
    provider: "other",
    model: "tiny",
    route_source: "model_routes",
    requested: { model: "fast" },
  });
  assertEquals((await ask(createFake(), { model: "fast", provider: "other" })).status, 200);
  for (const [model, provider] of [["fast", "custom"], ["own", "custom"]]) {
    const fake = createFake();
    const { status, body } = await ask(fake, { model, provider });
    assertEquals([status, body.error.param, fake.submitted.length], [400, "provider", 0]);
  }
});

Deno.test("a named provider is always honoured: unknown is 400, without credentials 502, never another one", async () => {
  assertEquals((await ask(createFake(), { provider: "other", model: "m" })).choice, {
    provider: "other",
    model: "m",
  });
  assertEquals((await ask(createFake(), { provider: "other" })).choice, { provider: "other" });
  const unknown = await ask(createFake(), { provider: "nobody" });
  assertEquals([unknown.status, unknown.body.error.param], [400, "provider"]);
  const keyless = await ask(createFake(), { provider: "keyless", model: "m" });
  assertEquals([keyless.status, keyless.body.error.code], [502, "agent_incomplete"]);
});

Deno.test("the demo is always named in runtime", async () => {
  const fake = createFake();
  fake.resolve = () => ({ isDemo: true, source: "config" }) as ResolvedModel;
  fake.play = () => resultOf({ provider: "builtin", model: "demo" });
  assertEquals((await ask(fake, {})).body.runtime, {
    provider: "builtin",
    model: "demo",
    route_source: "global",
  });
});

Deno.test("api 6: models lists the virtual model first, then the aliases, and no secret", async () => {
  const { call } = createClient(createFake());
  const text = await (await call("/v1/models")).text();
  assertEquals(text.includes("sk-route") || text.includes("http://box"), false);
  const { object, data } = JSON.parse(text);
  assertEquals(object, "list");
  assertEquals(
    data.map((
      { created, ...row }: { created: number },
    ) => (assertEquals(Number.isInteger(created), true), row)),
    [
      {
        id: "hermes-agent",
        object: "model",
        owned_by: "hermes",
        permission: [],
        root: "hermes-agent",
        parent: null,
      },
      {
        id: "fast",
        object: "model",
        owned_by: "hermes",
        permission: [],
        root: "tiny",
        parent: "hermes-agent",
      },
      { id: "own", object: "model", owned_by: "hermes", permission: [], root: "big", parent: "hermes-agent" },
    ],
  );
  assertEquals((await (await call("/v1/models/fast")).json()).root, "tiny");
  const unknown = await call("/v1/models/a/b%20c");
  assertEquals([unknown.status, (await unknown.json()).error.code], [404, "model_not_found"]);
});

Deno.test("model options pass refresh on and report a failure as 500", async () => {
  const fake = createFake();
  const { call } = createClient(fake);
  assertEquals((await (await call("/api/model/options?refresh=on")).json()).query, {
    refresh: true,
    includeUnconfigured: true,
  });
  assertEquals((await (await call("/api/model/options")).json()).query.refresh, false);
  fake.hermes.models.options = () => Promise.reject(new Error("no"));
  const failed = await call("/api/model/options");
  assertEquals([failed.status, (await failed.json()).error.code], [500, "model_options_failed"]);
});
