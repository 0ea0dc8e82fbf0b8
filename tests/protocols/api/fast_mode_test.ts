/** The fast mode of one request (api-server.md D3): asked for on every turn-starting route, and honest about its effect. */
import { assertEquals } from "../../support/assert.ts";
import { createClient, createFakeHermes, userSays } from "./fake_hermes.ts";

const BODIES: readonly (readonly [string, Record<string, unknown>])[] = [
  ["/v1/chat/completions", userSays("hi")],
  ["/v1/responses", { input: "hi" }],
  ["/v1/runs", { input: "hi" }],
];

Deno.test("D3: service_tier and fast ask for the fast mode of this turn; without them the session decides", async () => {
  const fake = createFakeHermes();
  Object.assign(fake.hermes, { processes: () => ({ list: () => [] }) });
  fake.resolve =
    (() => ({ isDemo: false, source: "config", fastFactor: 2 })) as unknown as typeof fake.resolve;
  const { call } = createClient(fake);
  for (const [path, body] of BODIES) {
    for (
      const [model_options, fast] of [
        [{ fast: true }, true],
        [{ fast: "yes" }, true],
        [{ service_tier: "priority" }, true],
        [{ service_tier: "default" }, false],
        [{ service_tier: "default", fast: true }, true],
        [{ fast: false }, undefined],
        [{}, undefined],
      ] as const
    ) {
      const response = await call(path, { body: { ...body, model_options } });
      await response.text();
      assertEquals([response.status < 300, fake.submitted.at(-1)!.options.fast], [true, fast]);
      assertEquals(response.headers.get("x-hermes-ignored"), null);
    }
  }
});

Deno.test("A9: a model without a fast mode says that the option has no effect", async () => {
  const { call } = createClient(createFakeHermes());
  for (const [path, body] of BODIES.slice(0, 2)) {
    const response = await call(path, {
      body: { ...body, model_options: { service_tier: "priority", fast: true }, tool_choice: "required" },
    });
    await response.text();
    assertEquals(
      response.headers.get("x-hermes-ignored"),
      "tool_choice, model_options.service_tier, model_options.fast",
    );
  }
});
